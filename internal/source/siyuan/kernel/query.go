package kernel

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"collie/internal/tool"
)

// This file runs SQL on the kernel's index, and writes values as SQL.

// SQL runs one reading statement and returns its rows; the list is empty, not nil, if there are none. The statement
// needs an outer LIMIT, or the kernel cuts at 64 rows. Rows may repeat: select distinct, or drop rows with the same
// id. The index is flushed first if this client has written.
func SQL[T any](ctx context.Context, c *Client, statement string) ([]T, error) {
	rows, err := callFor[[]T](ctx, c, "/api/query/sql", readIndexData, map[string]any{"stmt": statement, "mode": "readonly"})
	if isUnknownMode(err) {
		return callFor[[]T](ctx, c, "/api/query/sql", readIndexData, map[string]any{"stmt": statement})
	}
	return rows, err
}

// isUnknownMode reports whether a kernel does not know the mode "readonly". No error that the statement itself can
// cause may match, since without the mode a statement may write.
func isUnknownMode(err error) bool {
	e, ok := errors.AsType[*tool.Error](err)
	return ok && e.Facts["kernelCode"] == -1 && strings.HasSuffix(e.Message, "- unknown [mode]")
}

// Quote returns text as an SQL string.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// QuoteIDs returns ids as an SQL list, without invalid ones.
func QuoteIDs[T ~string](ids []T) string {
	var b strings.Builder
	for _, id := range ids {
		if !ID(id).Valid() {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(Quote(string(id)))
	}
	if b.Len() == 0 {
		return "''"
	}
	return b.String()
}

// Contains returns an SQL condition that an expression contains a text, ignoring case in every script. It uses GLOB:
// LIKE with ESCAPE crashes the kernel's parser, and lower() only knows ASCII.
func Contains(expression, text string) string {
	var b strings.Builder
	b.WriteByte('*')
	for _, c := range text {
		class := string(c)
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			class += string(f)
		}
		if len(class) > utf8.RuneLen(c) || strings.ContainsRune("*?[", c) {
			class = "[" + class + "]"
		}
		b.WriteString(class)
	}
	b.WriteByte('*')
	return expression + " GLOB " + Quote(b.String())
}
