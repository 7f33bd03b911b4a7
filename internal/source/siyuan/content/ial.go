package content

import (
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/kernel"
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
