package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"collie/internal/tool"
)

// SQL runs one statement that reads, and returns its rows; an empty result is an empty list.
// The statement needs an outer LIMIT, or the kernel cuts at 64 rows. Rows may come
// twice: select distinct, or drop what has the same id. What was written a moment
// ago is there: the index is flushed first if this client has written.
func SQL[T any](ctx context.Context, c *Client, statement string) ([]T, error) {
	if err := c.Flush(ctx); err != nil {
		return nil, err
	}
	var raw json.RawMessage
	err := c.call(ctx, "/api/query/sql", readData, map[string]any{"stmt": statement, "mode": "readonly"}, &raw)
	if unknownMode(err) {
		err = c.call(ctx, "/api/query/sql", readData, map[string]any{"stmt": statement}, &raw)
	}
	if err != nil {
		return nil, err
	}
	var rows []T
	if err := json.Unmarshal(raw, &rows); err != nil {
		return nil, unexpected("/api/query/sql", read, err)
	}
	return rows, nil
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
