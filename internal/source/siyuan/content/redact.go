package content

import (
	"context"
	"maps"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// This file removes from texts what the kernel has copied into them from hidden blocks.

// The attributes of a block that is a row of databases: their ids, and their ids and names as HTML.
const (
	databaseIDs   = "custom-avs"
	databaseNames = "av-names"
)

var (
	membershipAttr = lazyregexp.New(`\s(?:` + databaseIDs + `|` + databaseNames + `)="[^"]*"`)
	// shownDatabases matches how the editor's form shows those names below a block.
	shownDatabases = lazyregexp.New(`(?s)<div class="protyle-attr--av">.*?</div>`)
	// The number of references to a block, and words that are names of blocks.
	refCount      = lazyregexp.New(`\srefcount="[^"]*"`)
	shownRefCount = lazyregexp.New(`(?s)<div class="protyle-attr--refcount[^>]*>.*?</div>`)
	virtualRef    = lazyregexp.New(`(?s)<span data-type="virtual-block-ref"[^>]*>(.*?)</span>`)
)

// RedactAttrs removes from a block's attributes the databases of which it is a row, if some notebook is hidden,
// because the attributes do not show whose databases those are.
func RedactAttrs(ctx context.Context, r *action.Request, attrs map[string]string) error {
	restricted, err := r.Levels.Restricted(ctx)
	if restricted {
		delete(attrs, databaseIDs)
		delete(attrs, databaseNames)
	}
	return err
}

// Redact removes from a text, as kramdown or in the editor's form, what the kernel has copied into it from hidden
// blocks: the names of databases as in [RedactAttrs], the anchors that a [Redactor] hides, the number of references to a
// block, and which words are names of others.
func Redact(ctx context.Context, r *action.Request, text string) (string, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return text, err
	}
	redactor, err := NewRedactor(ctx, r, text)
	if err != nil {
		return "", err
	}
	return withoutDatabases(redactor.Text(text)), nil
}

func withoutDatabases(text string) string {
	text = membershipAttr.ReplaceAllString(shownDatabases.ReplaceAllString(text, ""), "")
	if strings.Contains(text, "refcount") {
		text = refCount.ReplaceAllString(shownRefCount.ReplaceAllString(text, ""), "")
	}
	if strings.Contains(text, "virtual-block-ref") {
		text = virtualRef.ReplaceAllString(text, "$1")
	}
	return text
}

// RedactBlocks is like [Redact] for blocks as [kernel.Client.ChildBlocks] lists them. It also removes the results of
// embedded queries and the texts of database rows, which may come from any notebook.
func RedactBlocks(ctx context.Context, r *action.Request, blocks []kernel.Block) error {
	return RedactTexts(ctx, r, blocks, func(b *kernel.Block) (string, *string, *string) { return b.Type, &b.Content, &b.Markdown })
}

// RedactTexts is like [RedactBlocks] for any items with the type, text and Markdown of a block. Types are as in the
// index or in search results.
func RedactTexts[T any](ctx context.Context, r *action.Request, list []T, of func(*T) (blockType string, text, markdown *string)) error {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return err
	}
	texts := make([]string, len(list))
	for i := range list {
		_, _, markdown := of(&list[i])
		texts[i] = *markdown
	}
	redactor, err := NewRedactor(ctx, r, texts...)
	if err != nil {
		return err
	}
	for i := range list {
		blockType, text, markdown := of(&list[i])
		*text, *markdown = redactor.TextAndMarkdown(blockType, *text, *markdown)
	}
	return nil
}

// TextAndMarkdown returns the text of a block and its Markdown as readers may see them.
func (v *Redactor) TextAndMarkdown(blockType, text, markdown string) (string, string) {
	switch {
	case v == nil:
	case databaseOrQuery(blockType):
		text = ""
	case v.HidesAnchorIn(markdown):
		markdown = v.Text(markdown)
		text = plainText(markdown)
	case isCollecting(blockType, markdown):
		text = plainText(markdown)
	}
	return text, markdown
}

// PlainTexts returns the texts of those blocks into whose own texts the kernel has copied hidden content; none if no
// notebook is hidden. It makes one request for the blocks.
func PlainTexts(ctx context.Context, r *action.Request, ids []kernel.ID) (map[kernel.ID]string, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted || len(ids) == 0 {
		return nil, err
	}
	texts, err := r.Kernel.Kramdowns(ctx, ids, "md")
	if err != nil {
		return nil, err
	}
	redactor, err := NewRedactor(ctx, r, slices.Collect(maps.Values(texts))...)
	out := map[kernel.ID]string{}
	for id, text := range texts {
		if redactor.HidesAnchorIn(text) || collectsInside(text) {
			out[id] = plainText(redactor.Text(text))
		}
	}
	return out, err
}

// ShowCopies reports whether some blocks or documents show content that the kernel copied from hidden ones. It makes
// requests only if some notebook is hidden.
func ShowCopies(ctx context.Context, r *action.Request, ids []kernel.ID) (bool, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return false, err
	}
	texts, err := r.Kernel.Kramdowns(ctx, ids, "md")
	if err != nil {
		return false, err
	}
	redactor, err := NewRedactor(ctx, r, slices.Collect(maps.Values(texts))...)
	if err != nil {
		return false, err
	}
	for _, text := range texts {
		if redactor.HidesAnchorIn(text) {
			return true, nil
		}
	}
	return false, nil
}
