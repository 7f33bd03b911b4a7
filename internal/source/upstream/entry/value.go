package entry

import (
	"log/slog"
	"strconv"
)

const mask = "***"

// Value is expanded text that may be secret. When printed, logged or encoded it shows its placeholders as written, or
// "***" if the written form is secret too; only [Value.Reveal] returns the text. Values can be compared.
type Value struct {
	text  string
	shown string
}

// newValue returns a Value that prints as shown.
func newValue(text, shown string) Value { return Value{text, shown} }

// maskedValue returns a Value that prints as "***".
func maskedValue(text string) Value { return Value{text, mask} }

// Reveal returns the text itself. Call it only where the text is used.
func (v Value) Reveal() string { return v.text }

// IsZero reports whether there is no text.
func (v Value) IsZero() bool { return v.text == "" }

// String returns the form that people may see.
func (v Value) String() string { return v.shown }

// GoString keeps %#v from printing the text.
func (v Value) GoString() string { return "entry.Value(" + strconv.Quote(v.shown) + ")" }

// LogValue returns the form that logs may show.
func (v Value) LogValue() slog.Value { return slog.StringValue(v.shown) }

// MarshalText encodes the form that may be shown.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.shown), nil }

// Reveal returns the texts of values.
func Reveal(values []Value) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.Reveal()
	}
	return out
}
