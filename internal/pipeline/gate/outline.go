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

// longestName is how long a string of the arguments may be, in characters, to be taken for a
// name, an id or a path.
const longestName = 80

// mostOutline is the size of arguments, in bytes, that nobody wants to read an outline of.
const mostOutline = 64 << 10

// contents are the arguments that hold what a user wrote, however short it is.
var contents = []string{
	"body", "content", "contents", "data", "html", "kramdown", "markdown", "memo", "replacement", "text", "value", "values",
}

// outline is args with the strings that may be a note's contents replaced by their size: what
// waits lies in a file, and a person decides by names.
func outline(args json.RawMessage) json.RawMessage {
	if len(args) > mostOutline {
		return fmt.Appendf(nil, `"(%d bytes)"`, len(args))
	}
	var b bytes.Buffer
	options := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	from, to := jsontext.NewDecoder(bytes.NewReader(args), options...), jsontext.NewEncoder(&b, options...)
	for {
		t, err := from.ReadToken()
		if err != nil { // the end, since the arguments were read as JSON before
			return bytes.TrimSpace(b.Bytes())
		}
		if t.Kind() == '"' && !isName(from) {
			if text := t.String(); isContents(from.StackPointer(), text) {
				t = jsontext.String(fmt.Sprintf("(%d characters)", utf8.RuneCountInString(text)))
			}
		}
		if err := to.WriteToken(t); err != nil {
			return json.RawMessage("{}")
		}
	}
}

// isName reports whether the string read last is the name of a member.
func isName(d *jsontext.Decoder) bool {
	kind, n := d.StackIndex(d.StackDepth())
	return kind == '{' && n%2 == 1
}

func isContents(at jsontext.Pointer, text string) bool {
	if utf8.RuneCountInString(text) > longestName || strings.ContainsAny(text, "\r\n") {
		return true
	}
	for name := range at.Tokens() {
		if slices.Contains(contents, strings.ToLower(name)) {
			return true
		}
	}
	return false
}
