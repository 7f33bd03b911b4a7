package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"collie/internal/tool"
)

// parseArgs parses the arguments of a call as the model wrote them. They must be an object; an empty text and null count as an empty one. A text
// that is only cut off at its end, or has a comma before a closing bracket, is repaired.
func parseArgs(raw string) (json.RawMessage, error) {
	text := strings.TrimSpace(raw)
	switch {
	case text == "" || text == "null":
		return json.RawMessage(`{}`), nil
	case strings.HasPrefix(text, "{") && json.Valid([]byte(text)):
		return json.RawMessage(text), nil
	}
	if repaired := repairJSON(text); strings.HasPrefix(repaired, "{") && json.Valid([]byte(repaired)) {
		return json.RawMessage(repaired), nil
	}
	return nil, &tool.Error{
		Op: "call", Kind: tool.Invalid, Subject: "arguments", Message: "they are not a JSON object; nothing was called",
		Hint: "call it again with the arguments as one JSON object",
	}
}

// repairJSON closes the strings, arrays and objects that a JSON text leaves open, and removes commas before closing brackets.
func repairJSON(text string) string {
	var out []byte
	var open []byte
	quoted, escaped := false, false
	for i := range len(text) {
		b := text[i]
		switch {
		case escaped:
			escaped = false
		case quoted && b == '\\':
			escaped = true
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{':
			open = append(open, '}')
		case b == '[':
			open = append(open, ']')
		case b == '}' || b == ']':
			out = trimComma(out)
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
		out = append(out, b)
	}
	if quoted {
		out = append(out, '"')
	}
	out = trimComma(out)
	for _, b := range slices.Backward(open) {
		out = append(out, b)
	}
	return string(out)
}

// trimComma removes a comma, and the space after it, from the end of a JSON text.
func trimComma(out []byte) []byte {
	for i, b := range slices.Backward(out) {
		switch b {
		case ' ', '\n', '\r', '\t':
			continue
		case ',':
			return out[:i]
		}
		break
	}
	return out
}
