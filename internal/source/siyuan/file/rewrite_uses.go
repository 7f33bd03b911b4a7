package file

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// rewriteUses mends the blocks that write an asset's old path in another form than the file has, such as
// assets/a%20b.png: the kernel rewrites those alone that write it as it is. It returns the blocks that write the old
// path all the same.
func rewriteUses(ctx context.Context, r *action.Request, old, renamed string) (stale []kernel.ID, err error) {
	forms, pairs := escapedForms(tail(old), tail(renamed))
	if len(forms) == 0 {
		return nil, nil
	}
	uses, err := r.Kernel.Naming(ctx, forms)
	if err != nil || len(uses) == 0 {
		return nil, err
	}
	uses = slices.DeleteFunc(uses, func(b kernel.NamingBlock) bool { return b.InText == 0 })
	for chunk := range slices.Chunk(uses, 50) {
		if err := rewriteBlocks(ctx, r, chunk, strings.NewReplacer(pairs...)); err != nil {
			return nil, err
		}
	}
	left, err := r.Kernel.Naming(ctx, forms)
	for _, b := range left {
		stale = append(stale, b.ID)
	}
	return stale, err
}

// escape is one percent-encoded byte.
var escape = lazyregexp.New(`%[0-9a-fA-F]{2}`)

// escapedForms are the ways to write a path with escapes, and each with what to write instead, for a replacer.
func escapedForms(old, renamed string) (forms, pairs []string) {
	add := func(from, to string) {
		if from != old && !slices.Contains(forms, from) {
			forms, pairs = append(forms, from), append(pairs, from, to)
		}
	}
	from, to := (&url.URL{Path: old}).EscapedPath(), (&url.URL{Path: renamed}).EscapedPath()
	add(strings.ReplaceAll(old, " ", "%20"), strings.ReplaceAll(renamed, " ", "%20"))
	add(from, to)
	add(escape.ReplaceAllStringFunc(from, strings.ToLower), to)
	return forms, append(pairs, old, renamed) // SQL shows what is written plainly with escapes as well
}

// rewriteBlocks replaces in the editor's form of blocks. Their Markdown would be read anew, and of what it makes several
// blocks, such as HTML with empty lines, the kernel keeps the first only.
func rewriteBlocks(ctx context.Context, r *action.Request, blocks []kernel.NamingBlock, replace *strings.Replacer) error {
	ids := make([]kernel.ID, len(blocks))
	for i, b := range blocks {
		ids[i] = b.ID
	}
	doms, err := r.Kernel.DOMs(ctx, ids)
	if err != nil {
		return err
	}
	var changes []kernel.Replacement
	for _, b := range blocks {
		dom := doms[b.ID]
		if mended := replace.Replace(dom); mended != dom {
			changes = append(changes, kernel.Replacement{ID: b.ID, BlockContent: kernel.BlockContent{DataType: "dom", Data: mended}})
			r.RefreshDocument(b.Root)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	_, err = r.Kernel.BatchUpdate(ctx, changes)
	return err
}
