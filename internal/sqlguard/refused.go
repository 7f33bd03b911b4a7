package sqlguard

import (
	"fmt"

	"zombiezen.com/go/sqlite"

	"collie/internal/lazyregexp"
)

// Refused is the error for a statement that does or sees more than it may, with what to try instead.
type Refused struct {
	Message, Hint string
	// Scope says that the statement would be allowed if every notebook could be read.
	Scope bool
	// Write says that the statement would have changed a documented table.
	Write bool
}

// Error returns the message.
func (r *Refused) Error() string { return r.Message }

// Error is SQLite's error about a statement, in SQLite's words.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

func refuse(message, hint string) *Refused { return &Refused{Message: message, Hint: hint} }

func outOfScope(message, hint string) *Refused {
	return &Refused{Message: message, Hint: hint, Scope: true}
}

// errorFrame matches what the library adds around SQLite's words.
var errorFrame = lazyregexp.New(`^sqlite: (?:prepare(?: "(?s:.*)")?|step): (?:\d+:\d+: )?(?:SQL logic error: )?`)

// plain returns SQLite's error about a statement without the frame. Other errors are returned unchanged.
func plain(err error) error {
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
