package kerneltest

import (
	"regexp"
	"strings"
)

var (
	ialLine = regexp.MustCompile(`^\{:\s+[^}]*\}\s*$`)
	ialPair = regexp.MustCompile(`([\w:-]+)="([^"]*)"`)

	// ialEscapes are the characters an attribute value may not hold between its quotes.
	ialEscapes   = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "{", "&#123;", "}", "&#125;", "\n", "_esc_newline_")
	ialUnescapes = strings.NewReplacer("&quot;", `"`, "&lt;", "<", "&gt;", ">", "&#123;", "{", "&#125;", "}", "_esc_newline_", "\n", "&amp;", "&")
)

// parseIAL reads {: name="value" ...}.
func parseIAL(text string) map[string]string {
	attrs := map[string]string{}
	for _, pair := range ialPair.FindAllStringSubmatch(text, -1) {
		attrs[strings.ToLower(pair[1])] = ialUnescapes.Replace(pair[2])
	}
	return attrs
}

// ial renders attributes as {: name="value" ...}.
func ial(attrs map[string]string) string {
	var out strings.Builder
	out.WriteString("{:")
	for _, name := range sortedKeys(attrs) {
		out.WriteString(" " + name + `="` + ialEscapes.Replace(attrs[name]) + `"`)
	}
	return out.String() + "}"
}
