// Package locale says what commands tell people in the language of their terminal. Code is written in English: the
// English text is the key under which the catalog of another language, such as zh.po, has its translation, and what
// a catalog lacks is said in English.
//
// A process has one language, as it has one locale: [Use] sets it before the first command runs. What programs read
// does not pass through here: JSON, the types of errors, logs, answers to MCP clients.
package locale

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
)

// current is the language of this process; nil is English.
var current atomic.Pointer[Catalog]

// Use makes c the language of this process, nil English.
func Use(c *Catalog) { current.Store(c) }

// OfLocale is the catalog for a locale as LANG has it, such as zh_CN.UTF-8; nil, which is English, for one that has no
// catalog.
func OfLocale(locale string) *Catalog {
	if strings.HasPrefix(strings.ToLower(locale), "zh") {
		return chinese()
	}
	return nil
}

// English reports whether the language of this process is English.
func English() bool { return current.Load() == nil }

// T is a text in the language of this process.
func T(english string) string { return current.Load().Get(english) }

// Sprintf is fmt.Sprintf with a format that is translated. Errors among args are translated too, as [Sentence] does it.
func Sprintf(format string, args ...any) string {
	c := current.Load()
	if c == nil {
		return fmt.Sprintf(format, args...)
	}
	for i, a := range args {
		if err, ok := a.(error); ok {
			args[i] = c.Sentence(err.Error())
		}
	}
	return fmt.Sprintf(c.Get(format), args...)
}

// Fprintf writes what Sprintf makes of a format.
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	return io.WriteString(w, Sprintf(format, args...))
}

// Sentence translates a finished English text, such as the message of an error that a package made which knows
// nothing of languages.
func Sentence(english string) string { return current.Load().Sentence(english) }

// Count reads "1 server" or "2 servers". The catalog has it under "%d server".
func Count(n int, what string) string {
	key := "%d " + what
	if format := T(key); format != key {
		return fmt.Sprintf(format, n)
	}
	if n != 1 {
		key += "s"
	}
	return fmt.Sprintf(key, n)
}
