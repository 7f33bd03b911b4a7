package notes_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// wantNoLeak fails the test if the outcome of a call contains a secret of a place that the caller did not send itself.
func wantNoLeak(t testing.TB, w *workspace, p *place, name string, args object, out *outcome) {
	t.Helper()
	text := w.withoutReferences(withoutEcho(out.allText(), args))
	for _, secret := range p.secretForms() {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("%s %s shows %q of %s: …%s…", name, encode(args), secret, p.name(), around(text, i))
			return
		}
	}
}

// around returns the part of text around position i.
func around(text string, i int) string { return text[max(0, i-150):min(len(text), i+150)] }

// hitMarks are the tags that a search puts around its hits; they may split a word.
var hitMarks = regexp.MustCompile(`</?mark>|\\u003c/?mark\\u003e`)

// withoutEcho returns text in lower case without the strings in the arguments.
func withoutEcho(text string, args object) string {
	text = hitMarks.ReplaceAllString(text, "")
	var given []string
	collectStrings(args, &given)
	for _, g := range given { // an answer may repeat a part of a path
		given = append(given, strings.FieldsFunc(g, func(c rune) bool { return c == '/' || c == '#' })...)
	}
	given = slices.DeleteFunc(given, func(g string) bool { return len(g) < 5 })
	slices.SortFunc(given, func(a, b string) int { return len(b) - len(a) })
	for _, g := range given {
		quoted := strings.Trim(string(encode(g)), `"`)
		twice := strings.Trim(string(encode(quoted)), `"`)
		if len(g) < 9 { // a short word is only removed where it is a whole JSON string
			for _, mark := range []string{`"`, `\"`, `\\\"`} {
				text = strings.ReplaceAll(text, mark+g+mark, "«»")
			}
			continue
		}
		for _, form := range []string{twice, quoted, g} {
			text = strings.ReplaceAll(text, form, "«»")
		}
	}
	return strings.ToLower(text)
}

// withoutReferences returns text without the references from the open notebook to hidden blocks, because a caller may
// read and write their ids.
func (w *workspace) withoutReferences(text string) string {
	for _, id := range w.referredIDs {
		for _, before := range []string{"((", "siyuan://blocks/", `data-id="`, `data-id=\"`, `data-id=\\\"`, "id='", "id=&#39;", `id=\u0026#39;`} {
			text = strings.ReplaceAll(text, before+id, before)
		}
	}
	// SiYuan records in a block the ids of the databases in which it is a row. They stand in the file of a readable
	// document, and a write that left them out would lose them.
	return strings.ReplaceAll(text, string(w.hidden.id("dabx")), "")
}

// collectStrings collects the strings in a value that are long enough to be a name.
func collectStrings(v any, out *[]string) {
	raw, _ := json.Marshal(v)
	var plain any
	_ = json.Unmarshal(raw, &plain)
	walkStrings(plain, func(s string) {
		if len(s) > 4 {
			*out = append(*out, s)
		}
	})
}

// walkStrings calls f for each string in a JSON value, except the names of members.
func walkStrings(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, one := range v {
			walkStrings(one, f)
		}
	case map[string]any:
		for _, one := range v {
			walkStrings(one, f)
		}
	}
}

// secretForms returns the forms in which something of a place might appear, in lower case.
func (p *place) secretForms() []string {
	out := append([]string{string(p.nb)}, p.kernelIDs...)
	for _, word := range []string{"zq" + p.code, "20240102030405-" + p.code, p.cjk} {
		escaped := strings.Trim(strconv.QuoteToASCII(word), `"`)
		out = append(out, word, escaped, url.QueryEscape(word), hex.EncodeToString([]byte(word)))
		out = append(out, inBase64(word)...)
	}
	for i := range out {
		out[i] = strings.ToLower(out[i])
	}
	return slices.Compact(out)
}

// inBase64 returns the Base64 forms of a word, for each of its three possible alignments.
func inBase64(word string) []string {
	var out []string
	for skip := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", skip) + word))
		from := []int{0, 2, 3}[skip]        // the first letter that depends on nothing before the word
		whole := (skip + len(word)) * 8 / 6 // the end of the letters that depend on nothing after the word
		if whole-from >= 5 {
			out = append(out, text[from:whole])
		}
	}
	return out
}
