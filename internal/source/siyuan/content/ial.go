package content

import (
	"context"
	"maps"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

var (
	attrList = lazyregexp.New(`^\{:(?:[ \t]+[A-Za-z][\w:.-]*="[^"\n]*")+[ \t]*\}`)
	attrPair = lazyregexp.New(`([A-Za-z][\w:.-]*)="([^"\n]*)"`)
	anyList  = lazyregexp.New(`\{:(?:[\s\v]+[A-Za-z][\w:.-]*=(?:"[^"\n]*"|'[^'\n]*'|[^\s"'}]+))+[\s\v]*\}`)

	unescape = strings.NewReplacer("&quot;", `"`, "&lt;", "<", "&gt;", ">", "&#123;", "{", "&#125;", "}", "_esc_newline_", "\n", "&amp;", "&")
)

// kind is why a stretch of kramdown is not shown.
type kind uint8

const (
	width  kind = iota // a character without a width
	inline             // an attribute list behind text on the same line
	line               // a line that is an attribute list, with the line break before it
	tail               // what is left of the end of a quote or an embedded page
)

// span is a stretch of kramdown that readers do not see.
type span struct {
	from, to int
	kind     kind
}

// attrsOf reads an attribute list.
func attrsOf(list string) map[string]string {
	out := map[string]string{}
	for _, pair := range attrPair.FindAllStringSubmatch(list, -1) {
		out[pair[1]] = unescape.Replace(pair[2])
	}
	return out
}

// Attributes are the attributes of all blocks in a kramdown text by block id, "id" and "updated"
// among them.
func Attributes(kramdown string) map[kernel.ID]map[string]string {
	out := map[kernel.ID]map[string]string{}
	for _, s := range hidden(kramdown) {
		if s.kind != inline && s.kind != line {
			continue
		}
		attrs := attrsOf(kramdown[s.from:s.to])
		if id := kernel.ID(attrs["id"]); id.Valid() {
			out[id] = attrs
		}
	}
	return out
}

// canonical is kramdown in a form in which equal states are equal texts: attributes sorted,
// without the times, which change with every write, and without what nobody sees. Nor are anchors
// in it that follow another block: the kernel writes them anew when that one changes, and a hash
// would let anybody try what a text says that may not be read.
func canonical(kramdown string) string {
	if strings.Contains(kramdown, "((") {
		kramdown = followingRef.ReplaceAllString(kramdown, "$1$4")
	}
	var b strings.Builder
	at := 0
	for _, s := range hidden(kramdown) {
		b.WriteString(kramdown[at:s.from])
		at = s.to
		if s.kind != inline && s.kind != line {
			continue
		}
		var kept []string
		for _, pair := range attrPair.FindAllStringSubmatch(kramdown[s.from:s.to], -1) {
			if pair[1] != "updated" && pair[1] != "created" {
				kept = append(kept, pair[0])
			}
		}
		slices.Sort(kept)
		if kramdown[s.from] == '\n' {
			b.WriteByte('\n')
		}
		b.WriteString("{: " + strings.Join(kept, " ") + "}")
	}
	b.WriteString(kramdown[at:])
	return strings.TrimSpace(b.String())
}

// KeepAttrs sets attributes again that blocks had before a write and do not have now, and reads
// them back. Both maps are by block id, as [Attributes] and the client's BatchAttrs
// return them; a block that is not in now is gone and is passed over. The id and the times are
// the kernel's own.
func KeepAttrs(ctx context.Context, k *kernel.Client, before, now map[kernel.ID]map[string]string) error {
	for id, attrs := range before {
		have, ok := now[id]
		if !ok {
			continue
		}
		missing := missingAttrs(attrs, have)
		if len(missing) == 0 {
			continue
		}
		if err := k.SetAttrs(ctx, id, missing); err != nil {
			return err
		}
		got, err := k.Attrs(ctx, id)
		if err != nil {
			return err
		}
		if left := missingAttrs(attrs, got); len(left) > 0 {
			return &tool.Error{
				Op: "keep attributes of", Kind: kernel.Mismatch, Subject: string(id),
				Message: "the block was written and some of its attributes are gone",
				Hint:    `set them again: block(action="set_attrs")`, Facts: map[string]any{"attributes": maps.Clone(left)},
			}
		}
	}
	return nil
}

func missingAttrs(want, have map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range want {
		switch name {
		case "id", "updated", "created", "type", "colgroup":
			continue
		}
		if have[name] != value {
			out[name] = value
		}
	}
	return out
}

var (
	wholeList = lazyregexp.New(`\{:(?:[ \t]+[A-Za-z][\w:.-]*="[^"\n]*")+[ \t]*\}`)
	listTime  = lazyregexp.New(`[ \t]updated="\d{14}"`)
)

// Undated takes the times of changes out of the attribute lists of a Markdown text, but not out of
// code. The kernel keeps those that it finds, so that blocks which were read, changed and written
// again would seem to be as old as before.
func Undated(markdown string) string {
	if !listTime.MatchString(markdown) {
		return markdown
	}
	var b strings.Builder
	at := 0
	for _, m := range outsideCode(markdown, wholeList) {
		list := listTime.ReplaceAllString(markdown[m[0]:m[1]], "")
		if strings.TrimSpace(list[2:len(list)-1]) == "" {
			continue // nothing else is in it
		}
		b.WriteString(markdown[at:m[0]])
		b.WriteString(list)
		at = m[1]
	}
	return b.String() + markdown[at:]
}

var (
	// lists is an attribute list with all that follows it up to an empty line: where it ends is for
	// the kernel to say, which takes it over the ends of lines.
	lists  = lazyregexp.New(`\{:[\s\v](?:[^\n]|\n[^\n])*`)
	list   = lazyregexp.New(`\{:[\s\v](?:"[^"]*"|'[^']*'|[^}])*`) // up to its end
	listID = lazyregexp.New(`([\s\v])id\s*=\s*("\s*[^"\n]*\s*"|'\s*[^'\n]*\s*'|[^\s}"']*)`)
	idLike = lazyregexp.New(`\d{14}-[0-9A-Za-z]{7}|&`)
)

// RenewIDs gives the blocks of a Markdown text new ids, but for those in keep. The kernel keeps
// ids that it finds in a text, so one that was copied from blocks would make second
// blocks of their ids, and overwriting a document with it would remove both. What exists is not
// asked: an answer would tell of blocks in notebooks that the caller must not know.
//
// What is not an id at all, at which the kernel fails, gets a new one too, but in code it is text.
func RenewIDs(markdown string, keep map[kernel.ID]bool) string {
	if !lists.MatchString(markdown) {
		return markdown
	}
	markdown = lists.ReplaceAllStringFunc(markdown, func(text string) string { return renew(text, keep, idLike.MatchString) })
	var b strings.Builder
	at := 0
	for _, m := range outsideCode(markdown, list) {
		b.WriteString(markdown[at:m[0]])
		b.WriteString(renew(markdown[m[0]:m[1]], keep, func(value string) bool { return !kernel.ID(value).Valid() }))
		at = m[1]
	}
	return b.String() + markdown[at:]
}

// hasID reports whether the kernel may find an id for a block in a text.
func hasID(markdown string) bool {
	for _, m := range outsideCode(markdown, lists) {
		if listID.MatchString(markdown[m[0]:m[1]]) {
			return true
		}
	}
	return false
}

// renew gives new ids to those in an attribute list that old says it of. The kernel takes either
// quotes, and whatever stands in their place where there are none.
func renew(list string, keep map[kernel.ID]bool, old func(value string) bool) string {
	return listID.ReplaceAllStringFunc(list, func(attr string) string {
		part := listID.FindStringSubmatch(attr)
		value := strings.Trim(part[2], `"'`)
		switch {
		case keep[kernel.ID(value)]:
			return part[1] + `id="` + value + `"`
		case old(value):
			return part[1] + `id="` + string(kernel.NewID()) + `"`
		}
		return attr
	})
}
