package wire

import (
	"encoding/json"
	"slices"
	"strings"
)

// repairArgs returns arguments as JSON if that takes no guessing: no text at all is an empty object, superfluous commas
// are removed and open brackets closed. Other text is returned as it is.
func repairArgs(args string) string {
	trimmed := strings.TrimSpace(args)
	switch {
	case trimmed == "" || trimmed == "null":
		return "{}"
	case json.Valid([]byte(trimmed)):
		return trimmed
	}
	if fixed := closeBrackets(trimmed); json.Valid([]byte(fixed)) {
		return fixed
	}
	return args
}

// ArgsObject returns arguments as a JSON object, for APIs that accept nothing else. Text that is not an object becomes
// a field of one.
func ArgsObject(args string) json.RawMessage {
	args = repairArgs(args)
	if strings.HasPrefix(args, "{") && json.Valid([]byte(args)) {
		return json.RawMessage(args)
	}
	raw, _ := json.Marshal(map[string]string{"unreadable_arguments": args})
	return raw
}

// closeBrackets returns text without commas before closing brackets, and with the missing closing brackets added.
func closeBrackets(text string) string {
	var out, open []byte
	quoted := false
	trimCommas := func() {
		for len(out) > 0 && strings.IndexByte(" \t\r\n,", out[len(out)-1]) >= 0 {
			out = out[:len(out)-1]
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '\\' && i+1 < len(text):
			out = append(out, c)
			i++
			c = text[i]
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			open = append(open, '}')
		case c == '[':
			open = append(open, ']')
		case c == '}' || c == ']':
			trimCommas()
			if len(open) == 0 || open[len(open)-1] != c {
				return text
			}
			open = open[:len(open)-1]
		}
		out = append(out, c)
	}
	if quoted {
		return text // a string that was cut off cannot be completed
	}
	trimCommas()
	for _, c := range slices.Backward(open) {
		out = append(out, c)
	}
	return string(out)
}
