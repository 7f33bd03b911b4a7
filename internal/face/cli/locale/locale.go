// Package locale translates the output of commands into the language of the terminal. The code contains
// English texts. They are the keys under which a catalog, such as zh.po, has its translations; a text that is
// missing there stays English.
//
// A process has one language, because it has one locale: [Use] sets it before the first command runs. Text
// for programs is not translated: JSON, error types, logs, answers to MCP clients.
package locale

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
)

// current is the catalog of this process; nil means English.
var current atomic.Pointer[Catalog]

// Use sets the language of this process; nil means English.
func Use(c *Catalog) { current.Store(c) }

// OfLocale returns the catalog for a value of LANG such as zh_CN.UTF-8; nil (English) if there is none.
func OfLocale(locale string) *Catalog {
	if strings.HasPrefix(strings.ToLower(locale), "zh") {
		return chinese()
	}
	return nil
}

// English reports whether the language of this process is English.
func English() bool { return current.Load() == nil }

// T translates a text.
func T(english string) string { return current.Load().Get(english) }

// Sprintf is like fmt.Sprintf with a translated format. Errors among args are translated too; see [Sentence].
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

// Fprintf writes what Sprintf returns.
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	return io.WriteString(w, Sprintf(format, args...))
}

// Sentence translates a finished English text, such as the error message of a package that does not
// translate.
func Sentence(english string) string { return current.Load().Sentence(english) }

// Count returns "1 server" or "2 servers". Its key in the catalog is "%d server".
func Count(n int, noun string) string {
	key := "%d " + noun
	if format := T(key); format != key {
		return fmt.Sprintf(format, n)
	}
	if n != 1 {
		key += "s"
	}
	return fmt.Sprintf(key, n)
}
