package kernel

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"collie/internal/tool"
)

// SQL runs one statement that reads, and returns its rows; an empty result is an empty list.
// The statement needs an outer LIMIT, or the kernel cuts at 64 rows. Rows may come
// twice: select distinct, or drop what has the same id. What was written a moment
// ago is there: the index is flushed first if this client has written.
func SQL[T any](ctx context.Context, c *Client, statement string) ([]T, error) {
	rows, err := ask[[]T](ctx, c, "/api/query/sql", readIndexData, map[string]any{"stmt": statement, "mode": "readonly"})
	if unknownMode(err) {
		return ask[[]T](ctx, c, "/api/query/sql", readIndexData, map[string]any{"stmt": statement})
	}
	return rows, err
}

// unknownMode reports whether a kernel does not know mode "readonly". Nothing that the statement
// itself can cause may look like it: without the mode a statement may write.
func unknownMode(err error) bool {
	e, ok := errors.AsType[*tool.Error](err)
	return ok && e.Facts["kernelCode"] == -1 && strings.HasSuffix(e.Message, "- unknown [mode]")
}

// Quote writes text as an SQL string.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// QuoteIDs writes ids as an SQL list, without those that are not ids.
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

// Contains is an SQL condition that holds where an expression has a text in it, upper and lower
// case being the same in every script. Of the ways to say that, LIKE with ESCAPE ends the parser
// of the kernel, and lower() knows ASCII only.
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
