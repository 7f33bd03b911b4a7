package search

import (
	"html"
	"strings"

	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// textOfDOM is the text that the editor's form of a block shows.
func textOfDOM(dom string) string {
	var b strings.Builder
	for {
		start := strings.IndexByte(dom, '<')
		if start < 0 {
			b.WriteString(dom)
			break
		}
		b.WriteString(dom[:start])
		if strings.HasPrefix(dom[start:], "</div") {
			b.WriteByte('\n')
		}
		dom = dom[kernel.TagEnd(dom, start):]
	}
	text := content.Clean(html.UnescapeString(b.String()))
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), "\n")
}
