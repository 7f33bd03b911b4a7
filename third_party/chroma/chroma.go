// Package chroma stands in for the highlighter of code that lute can colour HTML with. Notes are never shown as HTML
// here, and the real one makes every start of the program 3 ms and the binary six megabytes larger. It has the names
// that lute uses and colours nothing; see docs/adr/0017-the-vault.md.
package chroma

import "errors"

// ErrNoColours is what Tokenise answers; lute then writes the code as it is.
var ErrNoColours = errors.New("no highlighter is linked in")

type (
	// Iterator would return tokens.
	Iterator func() struct{}
	// TokeniseOptions would say how to make them.
	TokeniseOptions struct{}
	// TokenType is the kind of a token.
	TokenType int
	// StyleEntry is how a kind of token looks.
	StyleEntry struct{}
	// Style is how code looks.
	Style struct{}
	// Config describes a Lexer.
	Config struct{ Aliases []string }
	// Lexer would split code into tokens.
	Lexer interface {
		Config() *Config
		Tokenise(options *TokeniseOptions, text string) (Iterator, error)
	}
)

// Background is the kind of what is behind all tokens.
const Background TokenType = -1

// Get returns how a kind of token looks.
func (*Style) Get(TokenType) StyleEntry { return StyleEntry{} }

// Coalesce returns the lexer it is given.
func Coalesce(l Lexer) Lexer { return l }
