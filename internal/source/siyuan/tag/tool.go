// Package tag is the tool of tags: listing them, and renaming or removing one everywhere. A tag belongs to every
// notebook with a block that has it, so a write needs the level in all of them. A hidden notebook is treated as if it
// did not exist: it needs no level and keeps the tag. Otherwise a caller could write a tag into a note of their own
// and find out from the refusal whether a hidden note has it.
package tag

import (
	"context"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// Tool returns the tool.
func Tool() action.Tool {
	return action.Tool{
		Name:    "tag",
		About:   "Tags (#like this#, #with/levels#), written without #. rename and remove reach all notebooks, children too, and need rw or rwd in each that has it.",
		Actions: []*action.Action{list(), rename(), remove()},
	}
}

// taggedBlock is a block that has tags.
type taggedBlock struct {
	ID   kernel.ID `json:"id"`
	Box  kernel.ID `json:"box"`
	Root kernel.ID `json:"root_id"`
	Type string    `json:"type"`
	Tag  string    `json:"tag"` // "#a# #b/c#"
	// Markdown is set for blocks with references, where a tag may be in the anchor text of a reference.
	Markdown string `json:"markdown"`
}

// taggedBlocks returns the readable blocks whose tags match an SQL condition, each once. It leaves out containers, such
// as lists: they have no tags of their own, but the index gives them the tags of the blocks in them.
func taggedBlocks(ctx context.Context, r *action.Request, where string) ([]taggedBlock, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil {
		return nil, err
	}
	if restricted {
		boxes, err := r.VisibleNotebookIDs(ctx)
		if err != nil {
			return nil, err
		}
		where += " AND box IN (" + kernel.QuoteIDs(boxes) + ")"
	}
	rows, err := kernel.SQL[taggedBlock](ctx, r.Kernel,
		"SELECT DISTINCT id, box, root_id, type, tag, CASE WHEN instr(markdown, '((') > 0 THEN markdown ELSE '' END AS markdown FROM blocks WHERE tag <> '' AND type NOT IN ('l', 'i', 'b', 's', 'callout') AND "+where+" LIMIT 1000000")
	if err != nil {
		return nil, err
	}
	seen, out := map[kernel.ID]bool{}, rows[:0]
	for _, row := range rows {
		if !seen[row.ID] { // rows may be duplicated
			seen[row.ID] = true
			out = append(out, row)
		}
	}
	return out, ownTags(ctx, r, out)
}

// ownTags removes tags that a block only shows because it copies the text of an unreadable block.
func ownTags(ctx context.Context, r *action.Request, list []taggedBlock) error {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = list[i].Markdown
	}
	redactor, err := content.NewRedactor(ctx, r, texts...)
	for i := range list {
		u := &list[i]
		if !redactor.HidesAnchorIn(u.Markdown) {
			continue
		}
		visible := redactor.Text(u.Markdown)
		labels := slices.DeleteFunc(u.labels(), func(label string) bool { return !strings.Contains(visible, "#"+label+"#") })
		u.Tag = ""
		for _, label := range labels {
			u.Tag += "#" + label + "# "
		}
	}
	return err
}

// labels returns the tags of a block.
func (u *taggedBlock) labels() []string {
	var out []string
	for part := range strings.SplitSeq(u.Tag, "#") {
		if label := strings.TrimSpace(part); label != "" {
			out = append(out, label)
		}
	}
	return out
}

// hasOrBelow reports whether a block has the tag or one below it.
func (u *taggedBlock) hasOrBelow(label string) bool {
	for _, l := range u.labels() {
		if l == label || strings.HasPrefix(l, label+"/") {
			return true
		}
	}
	return false
}

// blocksWithTagOrBelow returns the readable blocks that have the tag or one below it. The SQL condition uses no LIKE
// pattern, because a pattern with % or _ needs ESCAPE, on which the kernel panics.
func blocksWithTagOrBelow(ctx context.Context, r *action.Request, label string) ([]taggedBlock, error) {
	found, err := taggedBlocks(ctx, r, "(instr(tag, "+kernel.Quote("#"+label+"#")+") > 0 OR instr(tag, "+kernel.Quote("#"+label+"/")+") > 0)")
	return slices.DeleteFunc(found, func(u taggedBlock) bool { return !u.hasOrBelow(label) }), err
}

// needsEverywhere returns an [action.Need] for a level in every readable notebook that has the tag. A tag that only hidden notebooks have is
// treated as missing.
func needsEverywhere(level access.Level, param string) action.Need {
	return action.On(level, "every notebook that has "+param, param, func(ctx context.Context, r *action.Request) ([]action.Target, error) {
		label := cleanLabel(r.Text(param))
		found, err := blocksWithTagOrBelow(ctx, r, label)
		if err != nil {
			return nil, err
		}
		boxes := map[kernel.ID]bool{}
		var out []action.Target
		for i := range found {
			box := found[i].Box
			if boxes[box] {
				continue
			}
			boxes[box] = true
			out = append(out, action.Target{What: access.Tag, Subject: label, Notebook: box})
		}
		if len(out) == 0 {
			return nil, access.NotFound(access.Tag, label)
		}
		return out, nil
	})
}

// cleanLabel returns a label without the marks that people write around it.
func cleanLabel(label string) string { return strings.Trim(strings.TrimSpace(label), "#") }
