package tree

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

var (
	// ialEscapes escapes what must not stand between the quotes of an attribute value; ialUnescapes reverses it.
	ialEscapes = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "{", "&#123;", "}", "&#125;", "\n", "_esc_newline_",
		"_esc_newline", "&#95;esc_newline")
	ialUnescapes = strings.NewReplacer("&quot;", `"`, "&lt;", "<", "&gt;", ">", "&#123;", "{", "&#125;", "}", "_esc_newline_", "\n",
		"&#95;", "_", "&amp;", "&")
)

// EscapeAttr returns the value of an attribute as it stands between quotes; [UnescapeAttr] reverses it.
func EscapeAttr(value string) string { return ialEscapes.Replace(value) }

// UnescapeAttr returns the value of an attribute from the text between its quotes, as [EscapeAttr] or SiYuan writes it.
func UnescapeAttr(text string) string { return ialUnescapes.Replace(text) }

// ParseIAL parses an inline attribute list, {: name="value" ...}. Names become lower case. Anything but pairs of name
// and value is skipped.
func ParseIAL(text string) map[string]string {
	attrs := map[string]string{}
	for {
		eq := strings.Index(text, `="`)
		if eq < 0 {
			return attrs
		}
		start := eq
		for start > 0 && nameByte(text[start-1]) {
			start--
		}
		end := strings.IndexByte(text[eq+2:], '"')
		if end < 0 {
			return attrs
		}
		if start < eq {
			attrs[strings.ToLower(text[start:eq])] = UnescapeAttr(text[eq+2 : eq+2+end])
		}
		text = text[eq+2+end+1:]
	}
}

// nameByte reports whether c can be in the name of an attribute.
func nameByte(c byte) bool {
	return c == '_' || c == ':' || c == '.' || c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// ValidAttrName reports whether [ParseIAL] reads back a name in lower case that [IAL] has written.
func ValidAttrName(name string) bool {
	for i := range len(name) {
		if !nameByte(name[i]) {
			return false
		}
	}
	return name != ""
}

// IAL returns attributes as {: name="value" ...}: id first, the others by name.
func IAL(attrs map[string]string) string {
	var out strings.Builder
	out.WriteString("{:")
	for _, name := range Names(attrs) {
		out.WriteString(" " + name + `="` + EscapeAttr(attrs[name]) + `"`)
	}
	return out.String() + "}"
}

// Names returns the names of attributes in the order in which they are written: id first, the others sorted.
func Names(attrs map[string]string) []string {
	return slices.SortedFunc(maps.Keys(attrs), func(a, b string) int {
		switch {
		case a == b:
			return 0
		case a == "id":
			return -1
		case b == "id":
			return 1
		}
		return cmp.Compare(a, b)
	})
}
