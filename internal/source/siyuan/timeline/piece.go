package timeline

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// piece is one block of a document: what it says itself, without the blocks in it.
type piece struct {
	ID, Parent kernel.ID
	Type       string
	Text       string
	// look is everything else that a reader could tell it by: targets of links, attributes. What
	// differs between a document that can be edited and a copy of it is left out.
	look string
}

// most bounds the blocks of a document that are asked for at once.
const most = 102_400

// now are the blocks of a document as it is, in order.
func now(ctx context.Context, r *action.Request, doc kernel.ID) ([]piece, error) {
	raw, err := r.Kernel.DocumentHTML(ctx, doc, most)
	if err != nil {
		return nil, err
	}
	var got struct {
		Content    string `json:"content"`
		BlockCount int    `json:"blockCount"` // at the top
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return nil, &tool.Error{Op: "read document", Kind: tool.API, Subject: string(doc), Message: "the answer has another shape than expected", Err: err}
	}
	if top := len(kernel.ParseDOM(got.Content)); top < got.BlockCount {
		return nil, tooLarge(doc, fmt.Sprintf("%d of its %d blocks could be read", top, got.BlockCount))
	}
	return piecesOf(got.Content), nil
}

func tooLarge(doc kernel.ID, message string) error {
	return &tool.Error{Op: "compare", Kind: tool.TooLarge, Subject: string(doc), Message: "the document is too large to compare: " + message}
}

// piecesOf takes a document in the editor's form apart, each block before those in it.
func piecesOf(dom string) []piece {
	var out []piece
	var walk func(blocks []kernel.DOMBlock, parent kernel.ID)
	walk = func(blocks []kernel.DOMBlock, parent kernel.ID) {
		for _, b := range blocks {
			own := ownPart(dom, &b)
			out = append(out, piece{ID: b.ID, Parent: parent, Type: b.Type, Text: textOf(own), look: lookOf(own)})
			walk(b.Blocks, b.ID)
		}
	}
	walk(kernel.ParseDOM(dom), "")
	return out
}

// chrome begins what the editor shows around a block: handles before, attributes after.
var chrome = regexp.MustCompile(`<div class="protyle-(?:action|attr)`)

// ownPart is the text of a block without the blocks in it and what the editor puts around.
func ownPart(dom string, b *kernel.DOMBlock) string {
	var own strings.Builder
	at := b.Start
	for _, inner := range b.Blocks {
		own.WriteString(dom[at:inner.Start])
		at = inner.End
	}
	own.WriteString(dom[at:b.End])
	text := own.String()
	if i := chrome.FindStringIndex(text); i != nil {
		text = text[:i[0]]
	}
	return text
}

var breaks = regexp.MustCompile(`(?i)^<(?:br|/td|/th|/tr|/div)\b`)

// textOf is what a reader sees of a block; of formulas and the like their source.
func textOf(own string) string {
	var b strings.Builder
	for rest := own; rest != ""; {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:i])
		end := kernel.TagEnd(rest, i)
		if breaks.MatchString(rest[i:end]) {
			b.WriteByte('\n')
		}
		rest = rest[end:]
	}
	text := strings.TrimSpace(content.Clean(html.UnescapeString(b.String())))
	if m := sourceAttr.FindStringSubmatch(own); text == "" && m != nil {
		text = html.UnescapeString(m[1])
	}
	return text
}

var sourceAttr = regexp.MustCompile(`\sdata-content="([^"]*)"`)

var lookAttr = regexp.MustCompile(`\s(?:data-type|data-subtype|data-href|data-src|src|data-content|data-id|data-av-id|fold|name|alias|memo|bookmark|style|custom-[a-z0-9-]+)="[^"]*"|protyle-task--done`)

func lookOf(own string) string { return strings.Join(lookAttr.FindAllString(own, -1), "") }
