package timeline

import (
	"cmp"
	"slices"

	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// This file compares two versions of a document, block by block.

// The kinds of changes from an earlier version to the current document.
const (
	added   = "added"   // only in the current document
	removed = "removed" // only in the earlier version
	changed = "changed"
	moved   = "moved"
)

// change is one block that differs between the versions.
type change struct {
	Kind   string    `json:"kind" about:"added means: since the copy"`
	ID     kernel.ID `json:"id" about:"the block"`
	Type   string    `json:"type" about:"its type"`
	Before string    `json:"before,omitempty" about:"text in the copy, up to 400 characters"`
	After  string    `json:"after,omitempty" about:"text now"`
	// Format means that the texts are equal and something else differs, such as a link or an
	// attribute.
	Format bool `json:"formatOnly,omitempty" about:"the text is the same"`
}

// maxShownRunes bounds the text that a change shows, in characters.
const maxShownRunes = 400

// diffBlocks compares the blocks of an earlier version with the current ones. It lists the current blocks in their order,
// then the removed ones.
func diffBlocks(before, after []blockState) []change {
	indexBefore := map[kernel.ID]int{}
	for i, p := range before {
		indexBefore[p.ID] = i
	}
	ordered := longestOrdered(after, indexBefore)
	var out []change
	seen := map[kernel.ID]bool{}
	for _, p := range after {
		seen[p.ID] = true
		i, existed := indexBefore[p.ID]
		switch {
		case !existed:
			out = append(out, change{Kind: added, ID: p.ID, Type: p.Type, After: content.Clip(p.Text, maxShownRunes)})
		case before[i].comparableText() != p.comparableText() || before[i].Type != p.Type || before[i].appearance != p.appearance:
			out = append(out, change{changed, p.ID, p.Type, content.Clip(before[i].Text, maxShownRunes), content.Clip(p.Text, maxShownRunes), before[i].comparableText() == p.comparableText()})
		case before[i].Parent != p.Parent || !ordered[p.ID]:
			out = append(out, change{Kind: moved, ID: p.ID, Type: p.Type, After: content.Clip(p.Text, maxShownRunes)})
		}
	}
	for _, p := range before {
		if !seen[p.ID] {
			out = append(out, change{Kind: removed, ID: p.ID, Type: p.Type, Before: content.Clip(p.Text, maxShownRunes)})
		}
	}
	return out
}

// longestOrdered returns a longest sequence of blocks that have the same order in both versions; all others were moved.
// indexBefore has the index of each block in the earlier version.
func longestOrdered(after []blockState, indexBefore map[kernel.ID]int) map[kernel.ID]bool {
	var ends, tails []int // of runs by length: where they end in before, and in after
	previous := make([]int, len(after))
	for j, p := range after {
		previous[j] = -1
		i, existed := indexBefore[p.ID]
		if !existed {
			continue
		}
		n, _ := slices.BinarySearchFunc(ends, i, cmp.Compare[int])
		if n > 0 {
			previous[j] = tails[n-1]
		}
		if n == len(ends) {
			ends, tails = append(ends, i), append(tails, j)
		} else {
			ends[n], tails[n] = i, j
		}
	}
	ordered := map[kernel.ID]bool{}
	if len(tails) > 0 {
		for j := tails[len(tails)-1]; j >= 0; j = previous[j] {
			ordered[after[j].ID] = true
		}
	}
	return ordered
}

// countByKind returns the number of changes of each kind.
func countByKind(changes []change) map[string]int {
	out := map[string]int{added: 0, removed: 0, changed: 0, moved: 0}
	for _, c := range changes {
		out[c.Kind]++
	}
	return out
}
