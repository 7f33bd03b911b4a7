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

// rewriteEndpoints are the endpoints of a change of blocks.
var rewriteEndpoints = []string{
	"query/sql", "notebook/lsNotebooks", "block/getBlockDOMs", "block/getBlockDOM", "block/getBlockTreeInfos", "block/batchUpdateBlock",
	"attr/batchGetBlockAttrs", "attr/batchSetBlockAttrs", "attr/setBlockAttrs", "attr/getBlockAttrs",
}

// relabel says what becomes of a tag: its label from now on, "" where it is taken away and its text stays.
type relabel func(label string) string

// renameLabel gives a tag and those below it another label.
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

// batchSize is how many blocks are read and written at once.
const batchSize = 100

// rewrite changes the tags of blocks and nothing else in them. An error after some blocks were written says how many;
// repeating the call continues with the rest.
func rewrite(ctx context.Context, r *action.Request, list []taggedBlock, change relabel) error {
	var texts []kernel.ID
	var documents []kernel.Attributes
	for i := range list {
		if u := &list[i]; u.Type != "d" {
			texts = append(texts, u.ID)
		} else if tags, changed := u.relabelled(change); changed {
			documents = append(documents, kernel.Attributes{ID: u.ID, Attrs: map[string]string{"tags": tags}})
		}
	}
	for _, root := range documentsOf(list) { // shown once the action has succeeded
		r.RefreshDocument(root)
	}
	written := 0
	for chunk := range slices.Chunk(texts, batchSize) {
		n, err := retagTexts(ctx, r, chunk, change)
		if written += n; err != nil {
			return halfDone(err, written)
		}
	}
	for chunk := range slices.Chunk(documents, batchSize) {
		if err := r.Kernel.BatchSetAttrs(ctx, chunk); err != nil {
			return halfDone(err, written)
		}
		written += len(chunk)
	}
	return nil
}

// halfDone adds to an error how many blocks had been written before it.
func halfDone(err error, written int) error {
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
		// What was a tag may be the beginning of a reference as text.
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
		delete(attrs, "av-names") // made by the kernel when it is read
	}
	return len(in), content.KeepAttrs(ctx, r.Kernel, before, after)
}

var (
	typeAttr = lazyregexp.New(`\sdata-type="([^"]*)"`)
	// dynamicRef finds a reference whose text is that of another block, which its reader may not be allowed to know.
	dynamicRef = lazyregexp.New(`\sdata-subtype="d"`)
	// What the kernel adds where it shows a block: words that are names of others, how many refer to it, and the heading
	// whose folded section it is in.
	virtualRef  = lazyregexp.New(`(?s)<span data-type="virtual-block-ref"[^>]*>(.*?)</span>`)
	derivedAttr = lazyregexp.New(`\s(?:refcount|parent-heading)="[^"]*"`)
)

// zeroWidth stands at the edges of a tag in the editor's form.
const zeroWidth = "\u200b"

// retagDOM changes the tags in a block in the editor's form. It returns dom itself where none is another one then.
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
		if end < 0 || !strings.HasPrefix(plain[at+end:], "</span>") { // the span of a text has none in it
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

// kindsOf returns what a span is: "tag", "strong".
func kindsOf(open string) []string {
	m := typeAttr.FindStringSubmatch(open)
	if m == nil {
		return nil
	}
	return strings.Fields(m[1])
}

// withoutTag returns a span that is not a tag any more: what else it is stays, and so does how it looks.
func withoutTag(open string, kinds []string, text string) string {
	rest := strings.Join(slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return kind == "tag" }), " ")
	if rest == "" {
		if typeAttr.ReplaceAllString(open, "") == "<span>" {
			return text
		}
		rest = "text" // what the editor calls a span that only has a style
	}
	at := typeAttr.FindStringIndex(open)
	return open[:at[0]] + ` data-type="` + rest + `"` + open[at[1]:] + text + "</span>"
}

// relabelled returns the tags of a document as its attribute has them after a change.
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

// documentsOf returns the documents of blocks.
func documentsOf(list []taggedBlock) []kernel.ID {
	found := map[kernel.ID]bool{}
	for i := range list {
		found[list[i].Root] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// leftOver is the error for n blocks that still have a tag after it was to go; nil for none.
func leftOver(label string, n int) error {
	if n == 0 {
		return nil
	}
	return &tool.Error{
		Op: "write", Kind: kernel.Mismatch, Subject: label, OutcomeUnknown: true,
		Message: "the kernel accepted the change, and blocks still have the tag", Facts: map[string]any{"blocks": n},
		Hint: `search(action="fulltext", hasTags=true) finds the blocks, block(action="update") changes them`,
	}
}
