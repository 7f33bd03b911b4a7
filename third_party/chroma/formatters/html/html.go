// Package html writes no HTML.
package html

import (
	"io"

	"github.com/alecthomas/chroma"
)

type (
	// Option would change a Formatter.
	Option func(*Formatter)
	// Formatter would write tokens.
	Formatter struct{}
)

// New returns a formatter.
func New(...Option) *Formatter { return &Formatter{} }

// Format answers that there are no colours.
func (*Formatter) Format(io.Writer, *chroma.Style, chroma.Iterator) error {
	return chroma.ErrNoColours
}

func nothing(*Formatter) {}

// PreventSurroundingPre does nothing.
func PreventSurroundingPre(bool) Option { return nothing }

// ClassPrefix does nothing.
func ClassPrefix(string) Option { return nothing }

// WithClasses does nothing.
func WithClasses(bool) Option { return nothing }

// WithLineNumbers does nothing.
func WithLineNumbers(bool) Option { return nothing }

// StyleEntryToCSS returns no CSS.
func StyleEntryToCSS(chroma.StyleEntry) string { return "" }
