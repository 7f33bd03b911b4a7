package content

import (
	"context"
	"errors"
	"html"
	"iter"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file finds the references in texts that show hidden blocks.

// Redactor hides what the kernel copied from hidden blocks: the anchors of references that follow the text of their
// block. Such an anchor shows the block's text, including anchors in that text. Hidden and missing blocks are treated
// alike.
//
// A nil Redactor hides nothing. A Redactor is immutable and safe for concurrent use.
type Redactor struct {
	hides map[kernel.ID]bool
	known map[kernel.ID]bool // ids that were looked up
}

// The forms of a reference whose anchor follows its block. The kernel writes a quote in an anchor as an entity, so
// the next quote ends it. If a block with a reference is written while the other block cannot be reached, as in a
// closed notebook, the kernel removes the id and leaves the anchor.
// The groups of followingRef are everything before the anchor, the id in that, the anchor, and the rest; those of
// followingSpan are the opening tag, the anchor, and the closing tag.
var (
	followingRef  = lazyregexp.New(`(\(\([ \t]*(\d{14}-[0-9a-z]{7})?[ \t]+')([^'\n]*)('[ \t]*\)\))`)
	followingSpan = lazyregexp.New(`(?s)(<span\s[^>]*data-type="[^"]*block-ref[^"]*"[^>]*>)(.*?)(</span>)`)
	spanID        = lazyregexp.New(`\sdata-id="(\d{14}-[0-9a-z]{7})"`)
)

// maxFollowed bounds how many references in a row are followed; anchors beyond that are hidden.
const maxFollowed = 8

// NewRedactor returns a redactor for texts in Markdown, kramdown or the editor's form. It makes no request if no
// notebook is hidden or no text has a reference whose anchor follows another block. Otherwise it makes one request for
// each step from blocks to those that they refer to.
func NewRedactor(ctx context.Context, r *action.Request, texts ...string) (*Redactor, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return nil, err
	}
	return newRedactor(ctx, r, dynamicRefs(texts...))
}

// NewBlockRedactor returns a redactor for places that copy the texts of blocks, such as the rows of a database.
func NewBlockRedactor(ctx context.Context, r *action.Request, blocks []kernel.ID) (*Redactor, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return nil, err
	}
	return newRedactor(ctx, r, slices.DeleteFunc(slices.Clone(blocks), func(id kernel.ID) bool { return !id.Valid() }))
}

func newRedactor(ctx context.Context, r *action.Request, next []kernel.ID) (_ *Redactor, err error) {
	v := &Redactor{hides: map[kernel.ID]bool{}, known: map[kernel.ID]bool{}}
	refs := map[kernel.ID][]kernel.ID{} // of blocks that may be read
	for range maxFollowed {
		if next, err = v.lookUp(ctx, r, next, refs); err != nil || len(next) == 0 {
			break
		}
	}
	for _, id := range next {
		v.hides[id] = true
	}
	for changed := true; changed; {
		changed = false
		for id, to := range refs {
			if !v.hides[id] && slices.ContainsFunc(to, func(to kernel.ID) bool { return v.hides[to] }) {
				v.hides[id], changed = true, true
			}
		}
	}
	return v, err
}

// lookUp looks up blocks, and returns those that they refer to and that are not known yet.
func (v *Redactor) lookUp(ctx context.Context, r *action.Request, ids []kernel.ID, refs map[kernel.ID][]kernel.ID) (next []kernel.ID, err error) {
	type row struct {
		ID       kernel.ID `json:"id"`
		Notebook kernel.ID `json:"box"`
		Type     string    `json:"type"`
		Markdown string    `json:"markdown"`
	}
	for chunk := range slices.Chunk(ids, 200) {
		rows, err := kernel.SQL[row](ctx, r.Kernel, "SELECT DISTINCT id, box, type, markdown FROM blocks WHERE id IN ("+
			kernel.QuoteIDs(chunk)+") LIMIT 1000")
		if e, ok := errors.AsType[*tool.Error](err); err != nil && (!ok || e.Code != kernel.CodeReadOnly) {
			return nil, err
		}
		for _, id := range chunk {
			v.hides[id], v.known[id] = true, true
		}
		for i := range rows {
			row := &rows[i]
			if !r.Readable(row.Notebook) {
				continue
			}
			switch {
			case row.Type == "d": // an anchor to a document is its title
				v.hides[row.ID] = false
			case !isCollecting(row.Type, row.Markdown):
				v.hides[row.ID] = false
				refs[row.ID] = dynamicRefs(row.Markdown)
			}
		}
	}
	for _, to := range refs {
		for _, id := range to {
			if !v.known[id] {
				next = appendNew(next, id)
			}
		}
	}
	return next, nil
}

// dynamicRefs returns the blocks whose texts are shown by references in texts.
func dynamicRefs(texts ...string) []kernel.ID {
	var ids []kernel.ID
	seen := map[kernel.ID]bool{}
	for _, text := range texts {
		for id := range dynamicRefIDs(text) {
			if id := kernel.ID(id); id.Valid() && !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// dynamicRefIDs yields the ids of the references in a text whose anchors follow their blocks, "" if the id is lost.
func dynamicRefIDs(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if strings.Contains(text, "((") {
			for _, m := range followingRef.FindAllStringSubmatch(text, -1) {
				if !yield(m[2]) {
					return
				}
			}
		}
		if strings.Contains(text, "block-ref") {
			for _, m := range followingSpan.FindAllStringSubmatch(text, -1) {
				if id, follows := spanTarget(m[1]); follows && !yield(id) {
					return
				}
			}
		}
	}
}

// spanTarget returns the block of a reference in the editor's form, and whether its anchor follows that block.
func spanTarget(tag string) (id string, follows bool) {
	if m := spanID.FindStringSubmatch(tag); m != nil {
		id = m[1]
	}
	return id, !strings.Contains(tag, ` data-subtype="s"`)
}

// Text returns a text without the hidden anchors. The references stay, without an anchor.
func (v *Redactor) Text(text string) string {
	if v == nil {
		return text
	}
	if strings.Contains(text, "((") {
		text = followingRef.ReplaceAllStringFunc(text, func(found string) string {
			if m := followingRef.FindStringSubmatch(found); v.isHidden(m[2]) {
				return m[1] + m[4]
			}
			return found
		})
	}
	if strings.Contains(text, "block-ref") {
		text = followingSpan.ReplaceAllStringFunc(text, func(found string) string {
			m := followingSpan.FindStringSubmatch(found)
			if id, follows := spanTarget(m[1]); follows && v.isHidden(id) {
				return m[1] + m[3]
			}
			return found
		})
	}
	return text
}

// HidesAnchorIn reports whether a text has an anchor that must be hidden.
func (v *Redactor) HidesAnchorIn(text string) bool {
	if v != nil {
		for id := range dynamicRefIDs(text) {
			if v.isHidden(id) {
				return true
			}
		}
	}
	return false
}

// HidesBlock reports whether copies of a block's text must be hidden.
func (v *Redactor) HidesBlock(id kernel.ID) bool { return v != nil && v.isHidden(string(id)) }

// isHidden reports whether the text of a block is hidden; it is for a block that was not looked up.
func (v *Redactor) isHidden(id string) bool {
	return v.hides[kernel.ID(id)] || !v.known[kernel.ID(id)]
}

// hiddenAnchors returns the spans of the hidden anchors in kramdown.
func (v *Redactor) hiddenAnchors(kramdown string) []span {
	if v == nil || !strings.Contains(kramdown, "((") {
		return nil
	}
	var out []span
	for _, m := range followingRef.FindAllStringSubmatchIndex(kramdown, -1) {
		idFrom, idTo, anchorFrom, anchorTo := m[4], m[5], m[6], m[7] // groups 2 and 3
		id := ""
		if idFrom >= 0 { // else the id is lost
			id = kramdown[idFrom:idTo]
		}
		if v.isHidden(id) && anchorFrom < anchorTo {
			out = append(out, span{anchorFrom, anchorTo, zeroWidthChar})
		}
	}
	return out
}

// isCollecting reports whether the kernel puts content from elsewhere into the text of a block: results of an embedded
// query, or rows of a database.
func isCollecting(blockType, markdown string) bool {
	return databaseOrQuery(blockType) || (isContainer(blockType) || containers[blockType]) && collectsInside(markdown)
}

// databaseOrQuery reports whether blocks of a type show content from elsewhere.
func databaseOrQuery(blockType string) bool {
	switch blockType {
	case "query_embed", "av", "NodeBlockQueryEmbed", "NodeAttributeView":
		return true
	}
	return false
}

// containers are the types of [isContainer] as searches name them.
var containers = map[string]bool{
	"NodeList": true, "NodeListItem": true, "NodeBlockquote": true, "NodeSuperBlock": true, "NodeCallout": true,
}

// collectsInside reports whether Markdown contains such a block.
func collectsInside(markdown string) bool {
	return strings.Contains(markdown, "NodeAttributeView") || strings.Contains(strings.ReplaceAll(markdown, "{{{", ""), "{{")
}

var (
	lineMarks         = lazyregexp.New(`^(?:[ \t>]*(?:#{1,6}|[-*+]|\d{1,9}[.)]|\[[^\]]\])(?:[ \t]+|$)|[ \t>]+)*`)
	collectingPattern = lazyregexp.New(`\{\{[^\n]*|<div data-type="NodeAttributeView"[^\n]*|^\}\}\}`)
)

// plainText returns approximately the text of a block's Markdown, to replace the kernel's own text if that has hidden
// content.
func plainText(markdown string) string {
	var out []string
	for text := range strings.SplitSeq(Visible(markdown), "\n") {
		text = collectingPattern.ReplaceAllString(text[len(lineMarks.FindString(text)):], "")
		text = strings.NewReplacer("**", "", "==", "").Replace(reference.ReplaceAllString(text, "$2$3"))
		if text = strings.TrimSpace(html.UnescapeString(text)); text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, " ")
}

// WithLinks returns [Visible] with links instead of references, for readers that do not know references.
func WithLinks(kramdown string) string {
	return reference.ReplaceAllStringFunc(Visible(kramdown), func(found string) string {
		m := reference.FindStringSubmatch(found)
		anchor := html.UnescapeString(m[2] + m[3])
		if anchor == "" {
			anchor = "…"
		}
		return "[" + strings.NewReplacer("[", `\[`, "]", `\]`).Replace(anchor) + "](siyuan://blocks/" + m[1] + ")"
	})
}
