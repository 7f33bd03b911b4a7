package analytics

import "encoding/json"

// Redactor takes secrets out of what is kept. It is safe for concurrent use.
type Redactor interface {
	// AppendJSON appends raw, which may not be JSON, as one line of JSON.
	AppendJSON(b, raw []byte) []byte
	// AppendText appends s as a JSON string.
	AppendText(b []byte, s string) []byte
}

const (
	maxText   = 20_000  // UTF-16 units that are kept of a text
	maxSource = 1 << 20 // bytes of a text that is looked at for that
)

// capture puts the texts of a call into e, without secrets, and cut.
func capture(e *Entry, args []byte, response *reading, by Redactor) {
	if len(args) <= maxSource {
		e.RequestText, e.RequestTextTruncated = cut(string(by.AppendJSON(nil, args)))
	} else {
		e.RequestTextTruncated = true
	}
	if response.bytes() > maxSource {
		e.ResponseTextTruncated = true
		return
	}
	var clean string
	if text := response.text(); text != "" && json.Unmarshal(by.AppendText(nil, text), &clean) == nil {
		e.ResponseText, e.ResponseTextTruncated = cut(clean)
	}
}

// cut keeps the first maxText UTF-16 units of s, whole runes only.
func cut(s string) (kept string, truncated bool) {
	if len(s) <= maxText {
		return s, false
	}
	n := 0
	for i, r := range s {
		if n += unitsOf(r); n > maxText {
			return s[:i], true
		}
	}
	return s, false
}
