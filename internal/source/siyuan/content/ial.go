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

// This file reads and changes attribute lists, which hold the ids and attributes of blocks in kramdown.

var (
	attrList = lazyregexp.New(`^\{:(?:[ \t]+[A-Za-z][\w:.-]*="[^"\n]*")+[ \t]*\}`)
	attrPair = lazyregexp.New(`([A-Za-z][\w:.-]*)="([^"\n]*)"`)
	anyList  = lazyregexp.New(`\{:(?:[\s\v]+[A-Za-z][\w:.-]*=(?:"[^"\n]*"|'[^'\n]*'|[^\s"'}]+))+[\s\v]*\}`)

	// unescape reads the values of attributes. The vault writes _ as &#95; where a value has what stands for a line break.
	unescape = strings.NewReplacer("&quot;", `"`, "&lt;", "<", "&gt;", ">", "&#123;", "{", "&#125;", "}", "_esc_newline_", "\n",
		"&#95;", "_", "&amp;", "&")
)

// hiddenKind says why a part of kramdown is hidden.
type hiddenKind uint8

const (
	zeroWidthChar  hiddenKind = iota // a zero-width character
	inlineList                       // an attribute list behind text on the same line
	listLine                         // a line that is an attribute list, with the line break before it
	endOfContainer                   // the rest of the end of a quote or an embedded page
)

// span is a part of kramdown that readers do not see.
type span struct {
	from, to int
	kind     hiddenKind
}

// attrsOf parses an attribute list.
func attrsOf(list string) map[string]string {
	out := map[string]string{}
	for _, pair := range attrPair.FindAllStringSubmatch(list, -1) {
		out[pair[1]] = unescape.Replace(pair[2])
	}
	return out
}

// Attributes returns the attributes of all blocks in a kramdown text by block id, including "id" and "updated".
func Attributes(kramdown string) map[kernel.ID]map[string]string {
	out := map[kernel.ID]map[string]string{}
	for _, s := range hiddenSpans(kramdown) {
		if s.kind != inlineList && s.kind != listLine {
			continue
		}
		attrs := attrsOf(kramdown[s.from:s.to])
		if id := kernel.ID(attrs["id"]); id.Valid() {
			out[id] = attrs
		}
	}
	return out
}

// canonicalForm returns kramdown in a form in which equal states are equal texts: with sorted attributes, without times,
// which change with every write, and without what nobody sees. It also omits anchors that follow another block's
// text: the kernel rewrites them when that block changes, and a hash over them would allow guessing hidden text.
func canonicalForm(kramdown string) string {
	if strings.Contains(kramdown, "((") {
		kramdown = followingRef.ReplaceAllString(kramdown, "$1$4")
	}
	var b strings.Builder
	at := 0
	for _, s := range hiddenSpans(kramdown) {
		b.WriteString(kramdown[at:s.from])
		at = s.to
		if s.kind != inlineList && s.kind != listLine {
			continue
		}
		var attrs []string
		for _, pair := range attrPair.FindAllStringSubmatch(kramdown[s.from:s.to], -1) {
			if pair[1] != "updated" && pair[1] != "created" {
				attrs = append(attrs, pair[0])
			}
		}
		slices.Sort(attrs)
		if kramdown[s.from] == '\n' {
			b.WriteByte('\n')
		}
		b.WriteString("{: " + strings.Join(attrs, " ") + "}")
	}
	b.WriteString(kramdown[at:])
	return strings.TrimSpace(b.String())
}

// KeepAttrs restores attributes that blocks had before a write and have lost now, and reads them back. Both maps are
// by block id, as [Attributes] and the client's BatchAttrs return them. A block that is missing in now is gone and
// skipped. The id and the times belong to the kernel.
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
		if lost := missingAttrs(attrs, got); len(lost) > 0 {
			return &tool.Error{
				Op: "keep attributes of", Kind: kernel.Mismatch, Subject: string(id),
				Message: "the block was written and some of its attributes are gone",
				Hint:    `set them again: block(action="set_attrs")`, Facts: map[string]any{"attributes": maps.Clone(lost)},
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

// RemoveTimes removes the times of changes from the attribute lists of a Markdown text, outside code. The kernel keeps
// times that it finds in a text, so changed blocks would seem as old as before.
func RemoveTimes(markdown string) string {
	if !listTime.MatchString(markdown) {
		return markdown
	}
	var b strings.Builder
	at := 0
	for _, m := range outsideCode(markdown, wholeList) {
		list := listTime.ReplaceAllString(markdown[m[0]:m[1]], "")
		if strings.TrimSpace(list[2:len(list)-1]) == "" {
			continue // the list has nothing else
		}
		b.WriteString(markdown[at:m[0]])
		b.WriteString(list)
		at = m[1]
	}
	return b.String() + markdown[at:]
}

var (
	// listAndRest matches an attribute list with everything after it up to a blank line. The kernel may continue a list
	// over line ends, so where it ends is not decided here.
	listAndRest    = lazyregexp.New(`\{:[\s\v](?:[^\n]|\n[^\n])*`)
	listUntilBrace = lazyregexp.New(`\{:[\s\v](?:"[^"]*"|'[^']*'|[^}])*`) // a list up to its end
	listID         = lazyregexp.New(`([\s\v])id\s*=\s*("\s*[^"\n]*\s*"|'\s*[^'\n]*\s*'|[^\s}"']*)`)
	idLike         = lazyregexp.New(`\d{14}-[0-9A-Za-z]{7}|&`)
)

// RenewIDs gives the blocks of a Markdown text new ids, except ids in keep. The kernel takes ids from a text: copied
// Markdown would create second blocks with the same ids, and overwriting a document with it would remove both.
// RenewIDs does not ask whether an id exists, since the answer would reveal blocks in hidden notebooks.
//
// A value that is not a valid id, at which the kernel fails, is replaced too, except in code.
func RenewIDs(markdown string, keep map[kernel.ID]bool) string {
	if !listAndRest.MatchString(markdown) {
		return markdown
	}
	markdown = listAndRest.ReplaceAllStringFunc(markdown, func(text string) string { return renewIDs(text, keep, idLike.MatchString) })
	var b strings.Builder
	at := 0
	for _, m := range outsideCode(markdown, listUntilBrace) {
		b.WriteString(markdown[at:m[0]])
		b.WriteString(renewIDs(markdown[m[0]:m[1]], keep, func(value string) bool { return !kernel.ID(value).Valid() }))
		at = m[1]
	}
	return b.String() + markdown[at:]
}

// hasID reports whether the kernel may find a block id in a text.
func hasID(markdown string) bool {
	for _, m := range outsideCode(markdown, listAndRest) {
		if listID.MatchString(markdown[m[0]:m[1]]) {
			return true
		}
	}
	return false
}

// renewIDs replaces the ids in an attribute list for which old is true. The kernel accepts both kinds of quotes, and
// none.
func renewIDs(list string, keep map[kernel.ID]bool, old func(value string) bool) string {
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
