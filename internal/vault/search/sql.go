package search

import (
	"errors"
	"math"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// defaultLimit is the value of conf.search.limit: the number of rows that a statement without a LIMIT can return.
const defaultLimit = 64

// flushTransaction does nothing, since SQL sees every write at once.
func flushTransaction(*workspace.Tx, api.Request) api.Reply { return api.Done() }

// querySQL runs one statement; of several only the first. As in SiYuan, a write has no effect and is answered as if it had
// succeeded, except in mode readonly, where it fails.
func querySQL(tx *workspace.Tx, req api.Request) api.Reply {
	text := req.NeedText("stmt")
	mode := req.OptStr("mode")
	switch mode {
	case "", "readonly", "multiple":
	default:
		return api.Fail(-1, "unknown [mode]")
	}
	statements := workspace.Statements(text)
	switch {
	case len(statements) == 0:
		return api.Done()
	case mode != "multiple" && len(statements) > 1:
		return api.Fail(-1, "SQL statement is not single")
	case mode == "readonly" && !workspace.ReadOnly(statements[0]):
		return api.Fail(-1, "SQL statement is not a read-only query")
	}
	result, err := tx.Select(statements[0], defaultLimit)
	var refused *workspace.Refused
	switch {
	case errors.As(err, &refused) && refused.Write:
		return api.Done()
	case err != nil:
		return api.Fail(1, strings.ToValidUTF8(err.Error(), "\ufffd"))
	}
	return api.OK(rowObjects(result))
}

// rowObjects returns rows as JSON objects. Blobs are in base64; numbers that JSON does not have are null.
func rowObjects(result workspace.Result) []map[string]any {
	list := make([]map[string]any, len(result.Rows))
	for i, row := range result.Rows {
		list[i] = make(map[string]any, len(row))
		for column, v := range row {
			if f, isFloat := v.(float64); isFloat && (math.IsInf(f, 0) || math.IsNaN(f)) {
				v = nil
			}
			list[i][result.Columns[column]] = v
		}
	}
	return list
}
