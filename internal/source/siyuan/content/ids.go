package content

import (
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/kernel"
)

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
