// Package styles knows one style, which is none.
package styles

import "github.com/alecthomas/chroma"

// Get returns a style.
func Get(string) *chroma.Style { return &chroma.Style{} }
