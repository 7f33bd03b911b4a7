package timeline

import (
	"context"
	"fmt"
	"html"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file reads the blocks of a document in a form in which versions can be compared.

// blockState is one block of a document, without the blocks in it.
type blockState struct {
	ID, Parent kernel.ID
	Type       string
	Text       string
	// stableText is Text without the anchors of dynamic references, which the kernel rewrites at any time; "" if there
	// are none.
	stableText string
	// appearance is everything else that a reader sees, such as targets of links and attributes. It leaves out what
	// always differs between an editable document and a copy of it.
	appearance string
}

// visibleBlocks is like [currentBlocks], but leaves out text that the reader must not see.
func visibleBlocks(ctx context.Context, r *action.Request, doc kernel.ID) ([]blockState, error) {
	return readBlocks(ctx, r, doc, func(dom string) (string, error) { return content.Redact(ctx, r, dom) })
}

// currentBlocks returns the current blocks of a document, in order, including those below a folded heading, which
// getDoc leaves out.
func currentBlocks(ctx context.Context, r *action.Request, doc kernel.ID) ([]blockState, error) {
	return readBlocks(ctx, r, doc, func(dom string) (string, error) { return dom, nil })
}

func readBlocks(ctx context.Context, r *action.Request, doc kernel.ID, read func(dom string) (string, error)) ([]blockState, error) {
	dom, err := r.Kernel.DOM(ctx, doc)
	if err != nil {
		return nil, err
	}
	children, err := r.Kernel.ChildBlocks(ctx, doc)
	if err != nil {
		return nil, err
	}
	if top := len(kernel.ParseDOM(dom)); top < len(children) {
		return nil, tooLargeError(doc, fmt.Sprintf("%d of its %d blocks could be read", top, len(children)))
	}
	if dom, err = read(dom); err != nil {
		return nil, err
	}
	return parseBlocks(dom), nil
}

func tooLargeError(doc kernel.ID, message string) error {
	return &tool.Error{Op: "compare", Kind: tool.TooLarge, Subject: string(doc), Message: "the document is too large to compare: " + message}
}

// parseBlocks returns the blocks in the DOM of a document, each before those in it.
func parseBlocks(dom string) []blockState {
	var out []blockState
	var walk func(blocks []kernel.DOMBlock, parent kernel.ID)
	walk = func(blocks []kernel.DOMBlock, parent kernel.ID) {
		for _, b := range blocks {
			ownDOM := withoutChildren(dom, &b)
			p := blockState{ID: b.ID, Parent: parent, Type: b.Type, Text: textOf(ownDOM), appearance: appearanceOf(ownDOM)}
			if dynamicRef.MatchString(ownDOM) {
				p.stableText = textOf(dynamicRef.ReplaceAllString(ownDOM, "$1\ufffc$2"))
			}
			out = append(out, p)
			walk(b.Blocks, b.ID)
		}
	}
	walk(kernel.ParseDOM(dom), "")
	return out
}

// dynamicRef matches a reference whose anchor follows the block that it refers to.
var dynamicRef = lazyregexp.New(`(<span data-type="[^"]*block-ref[^"]*" data-subtype="d"[^>]*>)[^<]*(</span>)`)

// comparableText returns the text to compare with another version of the block.
func (p *blockState) comparableText() string {
	if p.stableText != "" {
		return p.stableText
	}
	return p.Text
}

// editorChrome matches the start of what the editor shows around a block: handles before it, attributes after it.
var editorChrome = lazyregexp.New(`<div class="protyle-(?:action|attr)`)

// withoutChildren returns the DOM of a block without the blocks in it, and without what the editor shows around it.
func withoutChildren(dom string, b *kernel.DOMBlock) string {
	var out strings.Builder
	at := b.Start
	for _, inner := range b.Blocks {
		out.WriteString(dom[at:inner.Start])
		at = inner.End
	}
	out.WriteString(dom[at:b.End])
	text := out.String()
	for {
		i := editorChrome.FindStringIndex(text)
		if i == nil {
			return text
		}
		end := divEnd(text, i[0])
		text = text[:i[0]] + languageAttr(text[i[0]:end]) + text[end:]
	}
}

// divEnd returns the index right after the div that begins at start.
func divEnd(text string, start int) int {
	depth := 0
	for at := start; ; {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			return len(text)
		}
		tag := text[at+i:]
		at = kernel.TagEnd(text, at+i)
		switch {
		case strings.HasPrefix(tag, "</div"):
			if depth--; depth == 0 {
				return at
			}
		case strings.HasPrefix(tag, "<div"):
			depth++
		}
	}
}

var languageName = lazyregexp.New(`protyle-action__language"[^>]*>([^<]+)<`)

// languageAttr returns the language of a code block as an attribute. In the DOM it is in the handle, which is removed.
func languageAttr(handle string) string {
	if m := languageName.FindStringSubmatch(handle); m != nil {
		return `<i data-content="` + m[1] + `"></i>`
	}
	return ""
}

var lineBreakTag = lazyregexp.New(`(?i)^<(?:br|/td|/th|/tr|/div)\b`)

// textOf returns the text of a block as a reader sees it. For formulas and the like it is their source.
func textOf(ownDOM string) string {
	var b strings.Builder
	for rest := ownDOM; rest != ""; {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:i])
		end := kernel.TagEnd(rest, i)
		if lineBreakTag.MatchString(rest[i:end]) {
			b.WriteByte('\n')
		}
		rest = rest[end:]
	}
	text := strings.TrimSpace(content.Clean(html.UnescapeString(b.String())))
	if m := sourceAttr.FindStringSubmatch(ownDOM); text == "" && m != nil {
		text = html.UnescapeString(m[1])
	}
	return text
}

var sourceAttr = lazyregexp.New(`\sdata-content="([^"]*)"`)

// visibleAttr matches the attributes that are compared. Whether a block is folded is not, since a copy is shown
// unfolded.
var visibleAttr = lazyregexp.New(`\s(?:data-type|data-subtype|data-href|data-title|data-src|src|data-content|data-inline-memo-content|data-id|data-av-id|data-sb-layout|` +
	`align|colspan|rowspan|name|alias|memo|bookmark|style|custom-[a-z0-9-]+)="[^"]*"|protyle-task--done`)

// appearanceOf returns the attributes by which a reader can tell blocks apart in addition to their text. Those of the
// block itself are sorted, since the kernel writes them in any order.
func appearanceOf(ownDOM string) string {
	end := kernel.TagEnd(ownDOM, 0)
	block := visibleAttr.FindAllString(ownDOM[:end], -1)
	slices.Sort(block)
	return strings.Join(append(block, visibleAttr.FindAllString(ownDOM[end:], -1)...), "")
}
