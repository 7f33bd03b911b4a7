package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/sqlguard"
	"collie/internal/tool"
)

// This file has the action search.query_sql, which runs an SQL query on the notes.

type querySQLArgs struct {
	Stmt    string `json:"stmt" about:"one SELECT of SQLite" req:"true" min:"1" max:"32768"`
	MaxRows int    `json:"maxRows" about:"most rows that are returned" default:"200" min:"1" max:"1000"`
}

type rowsResult struct {
	Data      []json.RawMessage `json:"data" about:"rows, each an object of its columns"`
	Total     *int              `json:"total,omitempty" about:"how many rows, where all are shown"` // unknown if rows were left out
	Showing   int               `json:"showing" about:"how many are shown"`
	Truncated bool              `json:"truncated" about:"whether there are more than maxRows"`
	Hint      string            `json:"hint,omitempty" about:"what to do about it"`
}

// querySQL returns the action query_sql of the tool search.
func querySQL() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "query_sql", Purpose: "Query the index of notes with a SELECT", Common: true, Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Guide: "Tables: blocks (id, parent_id, root_id, box, path, hpath, name, alias, memo, tag, content, markdown, type, subtype, ial, created, " +
			"updated, …), attributes, refs, spans, assets, file_annotation_refs, blocks_fts, stat. box is the notebook, root_id the document; type is " +
			"d h p l i t c m b s html av …; times are yyyyMMddHHmmss. Texts stand in single quotes. The index may hold a row twice: SELECT DISTINCT. " +
			"No recursion, no functions that make large values, two whole tables at most against each other. If a notebook may not be read, " +
			"its rows do not exist: name tables without main., and use LIKE instead of MATCH and no rowid.",
		Unguarded:  "the statement sees only the rows of notebooks that may be read",
		Endpoints:  []string{"query/sql", "sqlite/flushTransaction", "notebook/lsNotebooks"},
		Aliases:    map[string]string{"sql": "stmt"},
		Positional: []string{"stmt"},
		Adapt:      adaptArgs(map[string]string{"sql": "stmt"}, nil),
		Result:     rowsResult{},
		Example:    `{"stmt":"SELECT DISTINCT id, hpath, content FROM blocks WHERE type='d' ORDER BY updated DESC","maxRows":20}`,
	}, func(ctx context.Context, r *action.Request, a querySQLArgs) (any, error) {
		statement, err := sqlguard.Parse(a.Stmt)
		if err != nil {
			return nil, sqlError(r, "stmt", err)
		}
		sent, err := narrowStatement(ctx, r, "stmt", statement, a.MaxRows+1)
		if err != nil {
			return nil, err
		}
		rows, err := runStatement(ctx, r, "stmt", sent)
		if err != nil {
			return nil, err
		}
		out := rowsResult{Data: rows, Showing: len(rows)}
		if len(rows) > a.MaxRows {
			out.Data, out.Showing, out.Truncated = rows[:a.MaxRows], a.MaxRows, true
			out.Hint = fmt.Sprintf("there are more than %d rows: add conditions, count them, or raise maxRows up to 1000", a.MaxRows)
		} else {
			out.Total = &out.Showing
			if hasDuplicates(rows) {
				out.Hint = "some rows are the same: the index may hold them twice, SELECT DISTINCT drops them"
			}
		}
		return out, nil
	})
}

// narrowStatement returns the statement to send. If some notebook may not be read, it is restricted to the others.
func narrowStatement(ctx context.Context, r *action.Request, param string, statement *sqlguard.Statement, rows int) (string, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil {
		return "", err
	}
	if !restricted {
		return statement.Limited(rows), nil
	}
	visible, err := r.Levels.Visible(ctx)
	if err != nil {
		return "", err
	}
	var boxes []string
	for _, n := range visible {
		boxes = append(boxes, string(n.ID))
	}
	sent, err := statement.Scoped(boxes, rows)
	if err != nil {
		return "", sqlError(r, param, err)
	}
	return sent, nil
}

// sqlError returns the error for a statement that the guard refuses.
func sqlError(r *action.Request, param string, err error) error {
	refused, ok := errors.AsType[*sqlguard.Refused](err)
	switch {
	case !ok:
		return &tool.Error{Op: "check SQL", Kind: tool.Internal, Subject: name, Err: err}
	case refused.Scope:
		return &tool.Error{Op: "check SQL", Kind: tool.Denied, Message: refused.Message, Hint: refused.Hint}
	}
	out := r.Invalid(param, "is refused: "+refused.Message)
	if refused.Hint != "" {
		out.Hint = refused.Hint
	}
	return out
}

// hasDuplicates reports whether two rows of blocks are the same.
func hasDuplicates(rows []json.RawMessage) bool {
	seen := make(map[string]bool, len(rows))
	for _, row := range rows {
		if seen[string(row)] && gjson.GetBytes(row, "id").Exists() {
			return true
		}
		seen[string(row)] = true
	}
	return false
}

// runStatement runs a statement that the guard has rewritten and returns its rows. It fails if rows are missing: a
// kernel that cannot run a statement also answers code 0.
func runStatement(ctx context.Context, r *action.Request, param, sent string) ([]json.RawMessage, error) {
	rows, err := kernel.SQL[json.RawMessage](ctx, r.Kernel, sent)
	if e, ok := errors.AsType[*tool.Error](err); ok {
		switch {
		case e.Code == kernel.CodeReadOnly: // a read-only kernel refuses all statements
			return nil, err
		case e.Code == kernel.CodeNoEffect:
			return nil, statementError(r, param, "has a function that failed on some row")
		case e.Kind == kernel.NotInKernel: // an answer without a body
			return nil, statementError(r, param, "has a value, such as infinity, that no JSON can hold")
		case e.Facts["kernelCode"] != nil:
			_, why, _ := strings.Cut(e.Message, " - ")
			out := r.Invalid(param, "is refused by the kernel: "+why)
			out.Hint = "write it differently; some kernels lack mathematical functions, for example"
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
			return nil, statementError(r, param, "was not carried out to its end")
		}
		if rows[i], err = sjson.DeleteBytes(rows[i], sqlguard.Count); err != nil {
			return nil, statementError(r, param, "answers rows that cannot be read")
		}
	}
	return rows, nil
}

// statementError returns the error for a statement that the kernel could not execute.
func statementError(r *action.Request, param, why string) error {
	out := r.Invalid(param, why)
	out.Hint = "json_extract wants JSON (CASE WHEN json_valid(x) THEN … END), REGEXP a pattern of RE2, and sum() of integers may overflow " +
		"(total() does not); leave out one part after the other to find which it is"
	return out
}

// distinctIDs returns the distinct ids in rows.
func distinctIDs(rows []json.RawMessage) []kernel.ID {
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
