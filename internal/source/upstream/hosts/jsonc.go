package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tailscale/hujson"
)

// maxDepth is how deep a host's file may be nested.
const maxDepth = 256

// fromJSONC makes standard JSON of JSON with comments and trailing commas. A text of white space
// alone is an empty object.
func fromJSONC(text []byte) (json.RawMessage, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return json.RawMessage("{}"), nil
	}
	if tooDeep(text) { // the parser recurses
		return nil, fmt.Errorf("the file is nested deeper than %d levels", maxDepth)
	}
	// The parser wants a line break after a line comment at the very end, and changes its input.
	v, err := hujson.Parse(append(bytes.Clone(text), '\n'))
	if err != nil {
		return nil, fmt.Errorf("the file is no JSON: %w", err)
	}
	v.Standardize()
	raw := bytes.TrimSpace(v.Pack())
	if !json.Valid(raw) {
		return nil, errors.New("the file is no JSON")
	}
	return raw, nil
}

// tooDeep counts brackets outside strings and comments. About a text that is no JSON it need not
// be right, as long as it never counts less than a parser would recurse.
func tooDeep(b []byte) bool {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '/':
			i += comment(b[i:])
		}
	}
	return false
}

// comment is how many bytes to skip so that the last one of a comment comes next.
func comment(b []byte) int {
	end := "\n"
	switch {
	case bytes.HasPrefix(b, []byte("/*")):
		end = "*/"
	case !bytes.HasPrefix(b, []byte("//")):
		return 0
	}
	n := bytes.Index(b[2:], []byte(end))
	if n < 0 {
		return len(b) - 1
	}
	return 2 + n + len(end) - 1
}
