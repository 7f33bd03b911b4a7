package content

import (
	"strings"

	"collie/internal/lazyregexp"
)

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
