package sqlguard

import (
	"fmt"

	"zombiezen.com/go/sqlite"

	"collie/internal/lazyregexp"
)

// Refused is the error for a statement that does or reads something that it must not, with what to try instead.
type Refused struct {
	Message, Hint string
	// Scope says that the statement is allowed for a caller that may read every notebook.
	Scope bool
	// Write says that the statement would change a documented table.
	Write bool
}

// Error returns the message.
func (r *Refused) Error() string { return r.Message }

// Error is SQLite's own error about a statement.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

func refuse(message, hint string) *Refused { return &Refused{Message: message, Hint: hint} }

func outOfScope(message, hint string) *Refused {
	return &Refused{Message: message, Hint: hint, Scope: true}
}

// errorFrame matches what the library puts around SQLite's message.
var errorFrame = lazyregexp.New(`^sqlite: (?:prepare(?: "(?s:.*)")?|step): (?:\d+:\d+: )?(?:SQL logic error: )?`)

// plainError returns SQLite's error about a statement as an [Error], without the frame. It returns other errors unchanged.
func plainError(err error) error {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultError, sqlite.ResultAuth, sqlite.ResultTooBig, sqlite.ResultRange, sqlite.ResultMismatch:
		return &Error{Message: errorFrame.ReplaceAllString(err.Error(), "")}
	}
	return err
}

// clip shortens a text for a message.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return fmt.Sprintf("%q…", string(r[:40]))
	}
	return fmt.Sprintf("%q", s)
}
