package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tailscale/hujson"
)

// Plain turns a text with comments and trailing commas into standard JSON; order and names stay. Nesting
// deeper than depth is an error. A text of white space alone is an empty object. text is not changed.
func Plain(text []byte, depth int) (json.RawMessage, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return json.RawMessage("{}"), nil
	}
	if tooDeep(text, depth) >= 0 { // checked first, since the parser recurses
		return nil, fmt.Errorf("the file is nested deeper than %d levels", depth)
	}
	// The parser requires a line break after a line comment at the very end, and changes its input.
	v, err := hujson.Parse(append(bytes.Clone(text), '\n'))
	if err != nil {
		return nil, fmt.Errorf("the file is not JSON: %w", err)
	}
	v.Standardize()
	raw := bytes.TrimSpace(v.Pack())
	if !json.Valid(raw) {
		return nil, errors.New("the file is not JSON")
	}
	return raw, nil
}
