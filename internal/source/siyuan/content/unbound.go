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

// The attributes of a block that is a row of databases: their ids, and their ids and names as HTML.
const (
	boundIDs   = "custom-avs"
	boundNames = "av-names"
)

var (
	boundAttr = lazyregexp.New(`\s(?:` + boundIDs + `|` + boundNames + `)="[^"]*"`)
	// boundShown is how the editor's form shows the names below a block.
	boundShown = lazyregexp.New(`(?s)<div class="protyle-attr--av">.*?</div>`)
	// How many blocks refer to one, and words that are the name of a block.
	refCount      = lazyregexp.New(`\srefcount="[^"]*"`)
	refCountShown = lazyregexp.New(`(?s)<div class="protyle-attr--refcount[^>]*>.*?</div>`)
	virtualRef    = lazyregexp.New(`(?s)<span data-type="virtual-block-ref"[^>]*>(.*?)</span>`)
)

// UnboundAttrs takes out of the attributes of a block which databases it is a row of, where some
// notebook may not be read: nothing says whose they are.
func UnboundAttrs(ctx context.Context, r *action.Request, attrs map[string]string) error {
	restricted, err := r.Levels.Restricted(ctx)
	if restricted {
		delete(attrs, boundIDs)
		delete(attrs, boundNames)
	}
	return err
}

// Unbound takes out of a text as kramdown or in the editor's form what the kernel has put there
// of blocks that may not be read: as [UnboundAttrs] does, the anchors that a [Veil] hides, how
// many refer to a block, and which words are names of others.
func Unbound(ctx context.Context, r *action.Request, text string) (string, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return text, err
	}
	veil, err := NewVeil(ctx, r, text)
	if err != nil {
		return "", err
	}
	return unbound(veil.Text(text)), nil
}

func unbound(text string) string {
	text = boundAttr.ReplaceAllString(boundShown.ReplaceAllString(text, ""), "")
	if strings.Contains(text, "refcount") {
		text = refCount.ReplaceAllString(refCountShown.ReplaceAllString(text, ""), "")
	}
	if strings.Contains(text, "virtual-block-ref") {
		text = virtualRef.ReplaceAllString(text, "$1")
	}
	return text
}

// UnboundBlocks does the same for blocks as [kernel.Client.ChildBlocks] lists them, and takes out
// of their texts what embedded queries found and what rows of databases say, which may be of any
// notebook.
func UnboundBlocks(ctx context.Context, r *action.Request, blocks []kernel.Block) error {
	return UnboundTexts(ctx, r, blocks, func(b *kernel.Block) (string, *string, *string) { return b.Type, &b.Content, &b.Markdown })
}

// UnboundTexts is [UnboundBlocks] for anything that has the type, the text and the Markdown of a
// block. Types are as the index or as searches have them.
func UnboundTexts[T any](ctx context.Context, r *action.Request, list []T, of func(*T) (blockType string, text, markdown *string)) error {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return err
	}
	texts := make([]string, len(list))
	for i := range list {
		_, _, markdown := of(&list[i])
		texts[i] = *markdown
	}
	veil, err := NewVeil(ctx, r, texts...)
	if err != nil {
		return err
	}
	for i := range list {
		blockType, text, markdown := of(&list[i])
		*text, *markdown = veil.Both(blockType, *text, *markdown)
	}
	return nil
}

// Both is the text of a block and its Markdown, as readers may see them.
func (v *Veil) Both(blockType, text, markdown string) (string, string) {
	switch {
	case v == nil:
	case databaseOrQuery(blockType):
		text = ""
	case v.Covers(markdown):
		markdown = v.Text(markdown)
		text = plainText(markdown)
	case collects(blockType, markdown):
		text = plainText(markdown)
	}
	return text, markdown
}

// PlainTexts are the texts of those of some blocks in whose own texts the kernel has put what may
// not be read; none where every notebook may be. It costs a request for the blocks.
func PlainTexts(ctx context.Context, r *action.Request, ids []kernel.ID) (map[kernel.ID]string, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted || len(ids) == 0 {
		return nil, err
	}
	texts, err := r.Kernel.Kramdowns(ctx, ids, "md")
	if err != nil {
		return nil, err
	}
	veil, err := NewVeil(ctx, r, slices.Collect(maps.Values(texts))...)
	out := map[kernel.ID]string{}
	for id, text := range texts {
		if veil.Covers(text) || collectsInside(text) {
			out[id] = plainText(veil.Text(text))
		}
	}
	return out, err
}

// Copied reports whether some blocks or documents show what the kernel has put there of others that may not be read. It
// costs requests only where some notebook may not be read.
func Copied(ctx context.Context, r *action.Request, ids []kernel.ID) (bool, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return false, err
	}
	texts, err := r.Kernel.Kramdowns(ctx, ids, "md")
	if err != nil {
		return false, err
	}
	veil, err := NewVeil(ctx, r, slices.Collect(maps.Values(texts))...)
	if err != nil {
		return false, err
	}
	for _, text := range texts {
		if veil.Covers(text) {
			return true, nil
		}
	}
	return false, nil
}
