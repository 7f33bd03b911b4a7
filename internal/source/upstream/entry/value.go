package entry

import (
	"log/slog"
	"strconv"
)

const mask = "***"

// Value is text after expansion, which may be secret. It prints, logs and encodes as its author
// wrote it, placeholders and all, or as "***" where that is secret too; only
// [Value.Reveal] tells it. Values can be compared.
type Value struct {
	text  string
	shown string
}

// newValue makes a Value that shows itself as shown.
func newValue(text, shown string) Value { return Value{text, shown} }

// hidden makes a Value that shows itself as "***".
func hidden(text string) Value { return Value{text, mask} }

// Reveal returns the text itself, for the one place that uses it.
func (v Value) Reveal() string { return v.text }

// IsZero reports whether there is no text.
func (v Value) IsZero() bool { return v.text == "" }

// String is what people may see.
func (v Value) String() string { return v.shown }

// GoString keeps %#v from telling the text.
func (v Value) GoString() string { return "entry.Value(" + strconv.Quote(v.shown) + ")" }

// LogValue is what logs may see.
func (v Value) LogValue() slog.Value { return slog.StringValue(v.shown) }

// MarshalText is what JSON may see.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.shown), nil }

// Reveal returns the true texts of values.
func Reveal(values []Value) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.Reveal()
	}
	return out
}
