package content

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// This file writes block references as SiYuan does, with their ids and anchors.

var (
	footnote   = lazyregexp.New(`\[\^[^\]\s]+\]`)
	siyuanLink = lazyregexp.New(`\]\(siyuan://blocks/\d{14}-[0-9a-z]{7}`)
)

// Normalize writes the block references in Markdown as SiYuan does: ((id 'anchor')), where the anchor follows the
// block's text, or ((id "anchor")), where it stays. A bare ((id)) gets the beginning of the block's text as its
// anchor. Content that may not be written is removed ([Admit]). Code is unchanged except for [ProtectCode]. Footnotes and
// siyuan:// links are allowed, with a warning that they make no backlink.
//
// replaced is the block or document whose content the text replaces; empty for new ones.
func Normalize(ctx context.Context, r *action.Request, markdown string, replaced kernel.ID) (string, []string, error) {
	normal, warnings, err := normalize(ctx, r, markdown)
	if err != nil {
		return "", nil, err
	}
	admitted, more, err := Admit(ctx, r, Written{Data: normal, Over: replaced})
	return ProtectCode(admitted), append(more, warnings...), err
}

// normalize is like Normalize, but skips [Admit].
func normalize(ctx context.Context, r *action.Request, markdown string) (string, []string, error) {
	places := outsideCode(markdown, reference)
	var named, bare []kernel.ID
	for _, m := range places {
		target, following, staying := referenceParts(markdown, m)
		id := kernel.ID(target)
		named = appendNew(named, id)
		if following == "" && staying == "" {
			bare = appendNew(bare, id)
		}
	}
	found, err := readablePlaces(ctx, r, named)
	if err != nil {
		return "", nil, err
	}
	anchors, err := anchorsOf(ctx, r, found, bare)
	if err != nil {
		return "", nil, err
	}
	var b strings.Builder
	var warnings []string
	at := 0
	for _, m := range places {
		id, following, staying := referenceParts(markdown, m)
		if _, ok := found[kernel.ID(id)]; !ok {
			continue
		}
		b.WriteString(markdown[at:m[0]])
		at = m[1]
		switch {
		case following != "":
			b.WriteString("((" + id + " '" + following + "'))")
		case staying != "":
			b.WriteString("((" + id + ` "` + staying + `"))`)
		default:
			b.WriteString("((" + id + " '" + cmp.Or(anchors[kernel.ID(id)], id) + "'))")
		}
	}
	b.WriteString(markdown[at:])
	if len(outsideCode(markdown, footnote)) > 0 {
		warnings = append(warnings, "footnotes make no backlink; ((id 'anchor')) does")
	}
	if len(outsideCode(markdown, siyuanLink)) > 0 {
		warnings = append(warnings, "links to siyuan://blocks/… make no backlink; ((id 'anchor')) does")
	}
	return b.String(), warnings, nil
}

// referenceParts returns the parts of a reference: the id of the block, and the anchor that follows the block's text or
// the one that stays. m are the positions of a match of [reference] in text. At most one of the anchors is not empty.
func referenceParts(text string, m []int) (id, following, staying string) {
	group := func(n int) string {
		if from, to := m[2*n], m[2*n+1]; from >= 0 {
			return text[from:to]
		}
		return ""
	}
	return group(1), group(2), group(3)
}

// appendNew appends s to list unless it is there already.
func appendNew[T comparable](list []T, s T) []T {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// readablePlaces returns the places of the blocks that the caller may read. Others are treated as missing.
func readablePlaces(ctx context.Context, r *action.Request, ids []kernel.ID) (map[kernel.ID]action.Target, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := r.Places(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := map[kernel.ID]action.Target{}
	for id, t := range found {
		if r.Readable(t.Notebook) {
			out[id] = t
		}
	}
	return out, nil
}

// anchorsOf returns an anchor text for each block in found: its first readable line.
func anchorsOf(ctx context.Context, r *action.Request, found map[kernel.ID]action.Target, ids []kernel.ID) (map[kernel.ID]string, error) {
	out := map[kernel.ID]string{}
	ids = slices.DeleteFunc(ids, func(id kernel.ID) bool { _, ok := found[id]; return !ok })
	if len(ids) == 0 {
		return out, nil
	}
	texts, err := r.Kernel.Kramdowns(ctx, ids, "md")
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		t := found[id]
		if out[id] = anchorOf(texts[id]); id != t.Root && out[id] != "" {
			continue
		}
		title := t.Title
		if title == "" { // the place came from an index without the title
			p, err := r.Kernel.Place(ctx, id)
			if err != nil {
				continue
			}
			title = p.Title
		}
		out[id] = anchorText(title)
	}
	return out, nil
}

var leadingMarks = lazyregexp.New(`^(?:#{1,6}|>|[-*+]|\d{1,9}[.)]|\[[^\]]\])[ \t]+`)

// anchorOf returns the first readable line of a block, without marks.
func anchorOf(kramdown string) string {
	for text := range strings.SplitSeq(Visible(kramdown), "\n") {
		text = strings.TrimSpace(text)
		for {
			rest := strings.TrimSpace(leadingMarks.ReplaceAllString(text, ""))
			if rest == text {
				break
			}
			text = rest
		}
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "$$") || strings.HasPrefix(text, "{{") {
			continue
		}
		if text = anchorText(text); strings.Trim(text, "#>-|: ") != "" {
			return text
		}
	}
	return ""
}

// anchorText returns a text that is valid between the quotes of a reference: one short line without marks of
// emphasis.
func anchorText(text string) string {
	text = reference.ReplaceAllString(Clean(text), "$2$3")
	text = strings.NewReplacer("'", "’", "**", "", "`", "", "==", "", "((", "", "))", "", "\n", " ").Replace(text)
	const limit = 64
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit]) + "…"
	}
	return strings.TrimSpace(text)
}
