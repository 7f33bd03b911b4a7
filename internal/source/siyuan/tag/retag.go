package tag

import (
	"context"
	"errors"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file changes a tag in the texts of blocks and nothing else in them.

// rewriteEndpoints are the endpoints used to rewrite blocks.
var rewriteEndpoints = []string{
	"query/sql", "notebook/lsNotebooks", "block/getBlockDOMs", "block/getBlockDOM", "block/getBlockTreeInfos", "block/batchUpdateBlock",
	"attr/batchGetBlockAttrs", "attr/batchSetBlockAttrs", "attr/setBlockAttrs", "attr/getBlockAttrs",
}

// relabel maps a tag to its new label, or to "" to remove the tag but keep its text.
type relabel func(label string) string

// renameLabel returns a relabel that renames a tag and the tags below it.
func renameLabel(old, label string) relabel {
	return func(have string) string {
		if have == old || strings.HasPrefix(have, old+"/") {
			return label + have[len(old):]
		}
		return have
	}
}

// removeLabel removes a tag, but not the tags below it.
func removeLabel(label string) relabel {
	return func(have string) string {
		if have == label {
			return ""
		}
		return have
	}
}

// batchSize is the number of blocks that are read and written in one batch.
const batchSize = 100

// rewriteTags changes the tags in blocks and nothing else. If it fails after writing some blocks, the error says how many;
// repeating the call continues with the rest.
func rewriteTags(ctx context.Context, r *action.Request, list []taggedBlock, change relabel) error {
	var texts []kernel.ID
	var documents []kernel.Attributes
	for i := range list {
		if u := &list[i]; u.Type != "d" {
			texts = append(texts, u.ID)
		} else if tags, changed := u.relabelled(change); changed {
			documents = append(documents, kernel.Attributes{ID: u.ID, Attrs: map[string]string{"tags": tags}})
		}
	}
	for _, root := range documentsOf(list) { // the user interface shows them after the action
		r.RefreshDocument(root)
	}
	written := 0
	for chunk := range slices.Chunk(texts, batchSize) {
		n, err := retagTexts(ctx, r, chunk, change)
		if written += n; err != nil {
			return halfDoneError(err, written)
		}
	}
	for chunk := range slices.Chunk(documents, batchSize) {
		if err := r.Kernel.BatchSetAttrs(ctx, chunk); err != nil {
			return halfDoneError(err, written)
		}
		written += len(chunk)
	}
	return nil
}

// halfDoneError adds to an error the number of blocks written before it.
func halfDoneError(err error, written int) error {
	if written == 0 {
		return err
	}
	out := &tool.Error{
		Op: "write", Kind: tool.KindOf(err), Err: err, Message: fmt.Sprintf("the tag was changed in %d blocks, and not in others", written),
		Hint: "call it again: it goes on with those that still have the tag", Facts: map[string]any{"partial": true, "blocks": written},
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		out.OutcomeUnknown = e.OutcomeUnknown
	}
	return out
}

// retagTexts changes the tags in the texts of blocks that contain no other blocks, and returns how many it wrote. It
// uses the editor's form, because only there a tag differs from text that looks like one.
func retagTexts(ctx context.Context, r *action.Request, ids []kernel.ID, change relabel) (int, error) {
	doms, err := r.Kernel.DOMs(ctx, ids)
	if err != nil {
		return 0, err
	}
	var in []kernel.Replacement
	var changed []kernel.ID
	for _, id := range ids {
		now := retagDOM(doms[id], change)
		if now == doms[id] {
			continue
		}
		// Without the tag, its text could form the beginning of a reference.
		if now, _, err = content.Admit(ctx, r, content.Written{Data: now, DOM: true, Over: id, Was: doms[id]}); err != nil {
			return 0, err
		}
		in = append(in, kernel.Replacement{ID: id, BlockContent: kernel.BlockContent{DataType: "dom", Data: now}})
		changed = append(changed, id)
	}
	if len(in) == 0 {
		return 0, nil
	}
	before, err := r.Kernel.BatchAttrs(ctx, changed)
	if err != nil {
		return 0, err
	}
	if _, err := r.Kernel.BatchUpdate(ctx, in); err != nil {
		return 0, err
	}
	after, err := r.Kernel.BatchAttrs(ctx, changed)
	if err != nil {
		return len(in), err
	}
	for _, attrs := range before {
		delete(attrs, "av-names") // computed by the kernel
	}
	return len(in), content.KeepAttrs(ctx, r.Kernel, before, after)
}

var (
	typeAttr = lazyregexp.New(`\sdata-type="([^"]*)"`)
	// dynamicRef matches a reference that shows the text of its target, which the reader may not be allowed to see.
	dynamicRef = lazyregexp.New(`\sdata-subtype="d"`)
	// Elements that the kernel adds for display: virtual references, reference counts, and the heading of a folded
	// section.
	virtualRef  = lazyregexp.New(`(?s)<span data-type="virtual-block-ref"[^>]*>(.*?)</span>`)
	derivedAttr = lazyregexp.New(`\s(?:refcount|parent-heading)="[^"]*"`)
)

// zeroWidth surrounds a tag in the editor's form.
const zeroWidth = "\u200b"

// retagDOM changes the tags of a block in the editor's form. If nothing changes, it returns dom itself.
func retagDOM(dom string, change relabel) string {
	plain := virtualRef.ReplaceAllString(dom, "$1")
	var b strings.Builder
	copied, at := 0, 0
	for {
		i := strings.Index(plain[at:], "<span")
		if i < 0 {
			break
		}
		start := at + i
		at = kernel.TagEnd(plain, start)
		end := strings.IndexByte(plain[at:], '<')
		if end < 0 || !strings.HasPrefix(plain[at+end:], "</span>") { // text spans are not nested
			continue
		}
		open, text := plain[start:at], plain[at:at+end]
		from := start
		at += end + len("</span>")
		kinds := kindsOf(open)
		if !slices.Contains(kinds, "tag") || dynamicRef.MatchString(open) {
			continue
		}
		label := html.UnescapeString(strings.ReplaceAll(text, zeroWidth, ""))
		with := change(label)
		if with == label {
			continue
		}
		var now string
		if with != "" {
			now = open + zeroWidth + html.EscapeString(with) + "</span>"
		} else {
			now = withoutTag(open, kinds, strings.ReplaceAll(text, zeroWidth, ""))
			if before := strings.TrimSuffix(plain[copied:from], zeroWidth); strings.HasSuffix(before, ">") && !strings.HasSuffix(before, "</span>") {
				from = copied + len(before)
			}
			if strings.HasPrefix(plain[at:], zeroWidth) {
				at += len(zeroWidth)
			}
		}
		b.WriteString(plain[copied:from])
		b.WriteString(now)
		copied = at
	}
	if copied == 0 {
		return dom
	}
	b.WriteString(plain[copied:])
	out := b.String()
	if end := kernel.TagEnd(out, 0); strings.HasPrefix(out, "<div") {
		out = derivedAttr.ReplaceAllString(out[:end], "") + out[end:]
	}
	return out
}

// kindsOf returns the types of a span, such as "tag" or "strong".
func kindsOf(open string) []string {
	m := typeAttr.FindStringSubmatch(open)
	if m == nil {
		return nil
	}
	return strings.Fields(m[1])
}

// withoutTag returns a span without its type tag. Its other types and its style are kept.
func withoutTag(open string, kinds []string, text string) string {
	rest := strings.Join(slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return kind == "tag" }), " ")
	if rest == "" {
		if typeAttr.ReplaceAllString(open, "") == "<span>" {
			return text
		}
		rest = "text" // the editor's type for a span that only has a style
	}
	at := typeAttr.FindStringIndex(open)
	return open[:at[0]] + ` data-type="` + rest + `"` + open[at[1]:] + text + "</span>"
}

// relabelled returns the new value of a document's tags attribute.
func (u *taggedBlock) relabelled(change relabel) (tags string, changed bool) {
	var out []string
	for _, label := range u.labels() {
		with := change(label)
		changed = changed || with != label
		if with != "" {
			out = append(out, with)
		}
	}
	return strings.Join(out, ","), changed
}

// documentsOf returns the distinct documents of blocks.
func documentsOf(list []taggedBlock) []kernel.ID {
	found := map[kernel.ID]bool{}
	for i := range list {
		found[list[i].Root] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// leftOverError returns the error if n blocks still have a tag that should be gone; nil if n is 0.
func leftOverError(label string, n int) error {
	if n == 0 {
		return nil
	}
	return &tool.Error{
		Op: "write", Kind: kernel.Mismatch, Subject: label, OutcomeUnknown: true,
		Message: "the kernel accepted the change, and blocks still have the tag", Facts: map[string]any{"blocks": n},
		Hint: `search(action="fulltext", hasTags=true) finds the blocks, block(action="update") changes them`,
	}
}
