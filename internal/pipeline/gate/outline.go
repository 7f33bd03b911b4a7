package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// longestName is the length, in characters, up to which a string in the arguments may be a name, an id or a
// path.
const longestName = 80

// maxOutline is the size of arguments, in bytes, above which there is no outline.
const maxOutline = 64 << 10

// contentArguments are the arguments that hold the user's texts, however short they are.
var contentArguments = []string{
	"body", "content", "contents", "data", "html", "kramdown", "markdown", "memo", "replacement", "text", "value", "values",
}

// outline returns args in which strings that may be a note's contents are replaced by their sizes. Waiting
// calls are stored in a file, which should hold no contents; names are enough for a person to decide.
func outline(args json.RawMessage) json.RawMessage {
	if len(args) > maxOutline {
		return fmt.Appendf(nil, `"(%d bytes)"`, len(args))
	}
	var b bytes.Buffer
	options := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	from, to := jsontext.NewDecoder(bytes.NewReader(args), options...), jsontext.NewEncoder(&b, options...)
	for {
		t, err := from.ReadToken()
		if err != nil { // the end: args were parsed as JSON before
			return bytes.TrimSpace(b.Bytes())
		}
		if t.Kind() == '"' && !isName(from) {
			if text := t.String(); mayBeContents(from.StackPointer(), text) {
				t = jsontext.String(fmt.Sprintf("(%d characters)", utf8.RuneCountInString(text)))
			}
		}
		if err := to.WriteToken(t); err != nil {
			return json.RawMessage("{}")
		}
	}
}

// isName reports whether the last string that d read is the name of a member.
func isName(d *jsontext.Decoder) bool {
	kind, n := d.StackIndex(d.StackDepth())
	return kind == '{' && n%2 == 1
}

func mayBeContents(at jsontext.Pointer, text string) bool {
	if utf8.RuneCountInString(text) > longestName || strings.ContainsAny(text, "\r\n") {
		return true
	}
	for name := range at.Tokens() {
		if slices.Contains(contentArguments, strings.ToLower(name)) {
			return true
		}
	}
	return false
}
