package search

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/sqlguard"
	"collie/internal/tool"
)

// rowsOf are the rows of a statement that the guard wrote, if they are all of them: a kernel that cannot carry it out
// answers code 0 as well.
func rowsOf(ctx context.Context, r *action.Request, param, sent string) ([]json.RawMessage, error) {
	rows, err := kernel.SQL[json.RawMessage](ctx, r.Kernel, sent)
	if e, ok := errors.AsType[*tool.Error](err); ok {
		switch {
		case e.Code == kernel.CodeReadOnly: // it refuses every statement
			return nil, err
		case e.Code == kernel.CodeNoEffect:
			return nil, stopped(r, param, "has a function that failed on some row")
		case e.Kind == tool.NotInKernel: // an answer without a body
			return nil, stopped(r, param, "has a value, such as infinity, that no JSON can hold")
		case e.Facts["kernelCode"] != nil:
			_, why, _ := strings.Cut(e.Message, " - ")
			out := r.Invalid(param, "is refused by the kernel: "+why)
			out.Hint = "say it in another way; functions of mathematics, for one, are not in every kernel"
			return nil, out
		}
	}
	if err != nil {
		return nil, err
	}
	for i := range rows {
		n := gjson.GetBytes(rows[i], sqlguard.Count)
		if n.Type == gjson.Number && n.Int() == 0 && len(rows) == 1 {
			return []json.RawMessage{}, nil
		}
		if n.Int() != int64(len(rows)) {
			return nil, stopped(r, param, "was not carried out to its end")
		}
		if rows[i], err = sjson.DeleteBytes(rows[i], sqlguard.Count); err != nil {
			return nil, stopped(r, param, "answers rows that cannot be read")
		}
	}
	return rows, nil
}

// stopped is the error for a statement that the kernel could not carry out.
func stopped(r *action.Request, param, why string) error {
	out := r.Invalid(param, why)
	out.Hint = "json_extract wants JSON (CASE WHEN json_valid(x) THEN … END), REGEXP a pattern of RE2, and sum() of integers may overflow " +
		"(total() does not); leave out one part after the other to find which it is"
	return out
}

// idsOf are the ids in rows, each once.
func idsOf(rows []json.RawMessage) []kernel.ID {
	var ids []kernel.ID
	seen := map[kernel.ID]bool{}
	for _, row := range rows {
		if id := kernel.ID(gjson.GetBytes(row, "id").Str); id.Valid() && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return slices.Clip(ids)
}
