package av

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/siyuanapi"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions of the tool av that add and remove rows.

type addRowsArgs struct {
	AVID              kernel.ID   `json:"avID" about:"database id" req:"true"`
	BlockIDs          []kernel.ID `json:"blockIDs" about:"blocks or documents to make rows of" min:"1" unique:"true" list:"yes"`
	PrimaryKeyTexts   []string    `json:"primaryKeyTexts" about:"texts of rows that are bound to no block" min:"1" unique:"true" list:"yes"`
	BlockID           kernel.ID   `json:"blockID" about:"the block whose view is meant"`
	ViewID            kernel.ID   `json:"viewID" about:"another view than the current one"`
	GroupID           kernel.ID   `json:"groupID" about:"group of the view to put them into"`
	PreviousID        kernel.ID   `json:"previousID" about:"rowID to put them after; without it they come first"`
	IgnoreDefaultFill bool        `json:"ignoreDefaultFill" about:"do not fill in what the view's filters want" default:"false"`
}

// addedRow is a row that was created, or that a block already had.
type addedRow struct {
	BlockID        kernel.ID `json:"blockID,omitempty"`
	PrimaryKeyText string    `json:"primaryKeyText,omitempty"`
	RowID          kernel.ID `json:"rowID"`
	Existing       bool      `json:"existing,omitempty" about:"the block was a row already"`
}

type addRowsResult struct {
	Success bool       `json:"success" about:"all of them are there"`
	AVID    kernel.ID  `json:"avID" about:"database id"`
	Rows    []addedRow `json:"rows" about:"blockID or primaryKeyText, and the rowID"`
	Added   int        `json:"added" about:"how many are new"`
}

func addRows(p retryWaits) *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "add_rows", Purpose: "Add rows, bound to blocks or with a text of their own",
		Guide: "A bound row shows its block's text. rows[].rowID is what set_cells takes; it is not the block's id. " +
			"A block that is a row already stays the row it is. Binding writes into the block.",
		Class: action.Creates, Risk: tool.RiskLow, Effects: tool.EffectWrite,
		Needs:     []action.Need{needsDatabase(access.Write, "avID"), action.OnBlock(access.Write, "blockIDs")}, // the kernel records in a block which databases have it
		Endpoints: []string{"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "block/getBlockDOM", "av/getAttributeView", "transactions"},
		Aliases:   map[string]string{"id": "avID"}, Positional: []string{"avID"},
		Result:  addRowsResult{},
		Example: `{"avID":"20240801120000-avmain1","primaryKeyTexts":["first task"]}`,
	}, func(ctx context.Context, r *action.Request, a addRowsArgs) (any, error) {
		if len(a.BlockIDs)+len(a.PrimaryKeyTexts) == 0 {
			return nil, r.Conflicting("give blockIDs, primaryKeyTexts, or both", "blockIDs", "primaryKeyTexts")
		}
		db, err := loadDatabase(ctx, r, a.AVID)
		if err != nil {
			return nil, err
		}
		if err := checkPlacement(ctx, r, db, &a); err != nil {
			return nil, err
		}
		through, err := showingBlock(ctx, r, r.Target("avID"))
		if err != nil {
			return nil, err
		}
		rows, srcs := rowsToAdd(db, &a)
		if len(srcs) > 0 {
			err = transact(ctx, r, through, kernel.Operation{
				"action": "insertAttrViewBlock", "avID": a.AVID, "blockID": through, "viewID": a.ViewID, "groupID": a.GroupID,
				"previousID": a.PreviousID, "ignoreDefaultFill": a.IgnoreDefaultFill, "srcs": srcs,
			})
			if err != nil {
				return nil, err
			}
			r.RefreshDatabase(a.AVID)
		}
		if !p.pollDatabase(ctx, r.Kernel, a.AVID, func(db *kernel.Database) bool { return adoptRowIDs(db, rows) }) {
			return nil, notYetStoredError("add rows to", a.AVID, "the kernel accepted the rows, but not all of them are there",
				fmt.Sprintf(`do not add them again; av(action="get_primary_key_values", avID=%q) shows which are there`, a.AVID),
				map[string]any{"rows": rows})
		}
		return addRowsResult{Success: true, AVID: a.AVID, Rows: rows, Added: len(srcs)}, nil
	})
}

// checkPlacement checks the arguments for the place of new rows, because the kernel does not.
func checkPlacement(ctx context.Context, r *action.Request, db *kernel.Database, a *addRowsArgs) error {
	for i, text := range a.PrimaryKeyTexts {
		if strings.TrimSpace(text) == "" {
			return r.Invalid(fmt.Sprintf("primaryKeyTexts/%d", i), "is empty, a row needs a text")
		}
	}
	for i, id := range a.BlockIDs {
		if id == "" {
			return r.Invalid(fmt.Sprintf("blockIDs/%d", i), "is empty, expected the id of a block or document")
		}
	}
	if a.ViewID != "" && !slices.ContainsFunc(db.Views, func(v kernel.DatabaseView) bool { return v.ID == a.ViewID }) {
		return r.Invalid("viewID", fmt.Sprintf("%q is not a view of this database; render lists the views", a.ViewID))
	}
	if a.GroupID != "" { // the kernel would drop the rows if the group is in a different view
		view := viewWithGroup(db, a.GroupID)
		if view == "" || a.ViewID != "" && a.ViewID != view {
			return r.Invalid("groupID", fmt.Sprintf("%q is not a group of the view; render lists those of a view as table.groups", a.GroupID))
		}
		a.ViewID = view
	}
	if a.PreviousID == "" {
		return nil
	}
	m, err := maskOf(ctx, r, db)
	if err != nil {
		return err
	}
	return checkRow(r, db, m, "previousID", a.PreviousID)
}

// viewWithGroup returns the view that has a group, empty if none has it.
func viewWithGroup(db *kernel.Database, group kernel.ID) kernel.ID {
	for i := range db.Views {
		for _, g := range db.Views[i].Groups {
			if g.ID == group {
				return db.Views[i].ID
			}
		}
	}
	return ""
}

// rowsToAdd returns the rows to add, and the kernel's arguments for those that do not exist yet.
func rowsToAdd(db *kernel.Database, a *addRowsArgs) (rows []addedRow, srcs []map[string]any) {
	for _, id := range a.BlockIDs {
		if at := boundRow(db, id); at != "" {
			rows = append(rows, addedRow{BlockID: id, RowID: at, Existing: true})
			continue
		}
		row := kernel.NewID()
		rows = append(rows, addedRow{BlockID: id, RowID: row})
		srcs = append(srcs, map[string]any{"itemID": row, "id": id, "isDetached": false})
	}
	for _, text := range a.PrimaryKeyTexts {
		row := kernel.NewID()
		rows = append(rows, addedRow{PrimaryKeyText: text, RowID: row})
		srcs = append(srcs, map[string]any{"itemID": row, "id": row, "isDetached": true, "content": text})
	}
	return rows, srcs
}

// boundRow returns the row that is bound to a block, empty if there is none.
func boundRow(db *kernel.Database, block kernel.ID) kernel.ID {
	for _, v := range db.Primary() {
		if block != "" && v.Block != nil && v.Block.ID == block {
			return v.RowID
		}
	}
	return ""
}

// adoptRowIDs reports whether all rows exist, and sets their ids to those that the kernel chose.
func adoptRowIDs(db *kernel.Database, rows []addedRow) bool {
	for i := range rows {
		if rows[i].BlockID != "" {
			at := boundRow(db, rows[i].BlockID)
			if at == "" {
				return false
			}
			rows[i].RowID = at
			continue
		}
		if !slices.ContainsFunc(db.Primary(), func(v kernel.Value) bool { return v.RowID == rows[i].RowID }) {
			return false
		}
	}
	return true
}

type removeRowsArgs struct {
	AVID    kernel.ID   `json:"avID" about:"database id" req:"true"`
	SrcIDs  []kernel.ID `json:"srcIDs" about:"rowIDs to remove" req:"true" min:"1" unique:"true"`
	BlockID kernel.ID   `json:"blockID" about:"a block that shows it"`
}

type removeRowsResult struct {
	Success      bool         `json:"success" about:"none of them is there any more"`
	AVID         kernel.ID    `json:"avID" about:"database id"`
	SrcIDs       []kernel.ID  `json:"srcIDs" about:"the rows that are gone"`
	Removed      int          `json:"removed" about:"how many"`
	Verification verification `json:"verification" about:"how that was found" verbose:"yes"`
}

// verification describes how a write was verified.
type verification struct {
	Status string `json:"status"`
	Method string `json:"method"`
	Cells  int    `json:"cells,omitempty"`
}

// verifiedByReading describes a write that was verified by reading the database, with the number of cells, if any.
func verifiedByReading(cells int) verification {
	return verification{Status: "verified", Method: "av/getAttributeView", Cells: cells}
}

func removeRows(p retryWaits) *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "remove_rows", Purpose: "Remove rows; blocks that they are bound to stay", Dangerous: true,
		Guide: "srcIDs are row ids, as add_rows, render and get_primary_key_values give them, never block ids.",
		Class: action.Manifest, Risk: tool.RiskHigh, Effects: tool.EffectWrite | tool.EffectDelete,
		Needs: []action.Need{
			needsDatabase(access.Write, "avID"), action.On(access.Read, "rows srcIDs", "srcIDs", removedRows),
			action.On(access.Write, "the databases of two-way relations", "", mirroringDatabases),
		},
		Endpoints: []string{"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "block/getBlockDOM", "av/getAttributeView", "transactions"},
		Aliases:   map[string]string{"id": "avID", "rowIDs": "srcIDs"}, Positional: []string{"avID"},
		Result:  removeRowsResult{},
		Example: `{"avID":"20240801120000-avmain1","srcIDs":["20240801130000-detach1"]}`,
		Effect: func(r *action.Request) string {
			rows := "1 row with all its cells"
			if n := len(r.Strings("srcIDs")); n != 1 {
				rows = fmt.Sprintf("%d rows with all their cells", n)
			}
			return "removes " + rows + " from the database; blocks that rows are bound to stay"
		},
	}, func(ctx context.Context, r *action.Request, a removeRowsArgs) (any, error) {
		through, err := showingBlock(ctx, r, r.Target("avID"))
		if err != nil {
			return nil, err
		}
		if err := transact(ctx, r, through, kernel.Operation{"action": "removeAttrViewBlock", "srcIDs": a.SrcIDs, "avID": a.AVID}); err != nil {
			return nil, err
		}
		refreshDatabases(r)
		remaining := a.SrcIDs
		if !p.pollDatabase(ctx, r.Kernel, a.AVID, func(db *kernel.Database) bool {
			remaining = slices.DeleteFunc(slices.Clone(a.SrcIDs), func(id kernel.ID) bool {
				return !slices.ContainsFunc(db.Primary(), func(v kernel.Value) bool { return v.RowID == id })
			})
			return len(remaining) == 0
		}) {
			return nil, notYetStoredError("remove rows of", a.AVID, "the kernel accepted the removal, but not all rows are gone",
				fmt.Sprintf(`av(action="get_primary_key_values", avID=%q) shows which are there`, a.AVID), map[string]any{"srcIDs": remaining})
		}
		return removeRowsResult{Success: true, AVID: a.AVID, SrcIDs: a.SrcIDs, Removed: len(a.SrcIDs), Verification: verifiedByReading(0)}, nil
	})
}

// removedRows returns the rows to remove. It runs before the person is asked, so that the question names the rows.
func removedRows(ctx context.Context, r *action.Request) ([]action.Target, error) {
	ids := gjson.GetBytes(r.Args(), "srcIDs").Array()
	if len(ids) == 0 {
		return nil, r.Invalid("srcIDs", "is empty")
	}
	db, err := loadDatabase(ctx, r, r.Target("avID").ID)
	if err != nil {
		return nil, err
	}
	m, err := maskOf(ctx, r, db)
	if err != nil {
		return nil, err
	}
	var out []action.Target
	for i, given := range ids {
		id := kernel.ID(given.String())
		if err := checkRow(r, db, m, fmt.Sprintf("srcIDs/%d", i), id); err != nil {
			return nil, err
		}
		out = append(out, partTarget(r, "row", id, rowText(db, id)))
	}
	return out, nil
}

// rowText returns the text of a row.
func rowText(db *kernel.Database, row kernel.ID) string {
	for _, v := range db.Primary() {
		if v.RowID == row && v.Block != nil {
			return v.Block.Content
		}
	}
	return ""
}

// Three ids are easily confused: the id of a row, the id of the value in a cell, and the id of the block a row is
// bound to. Only the first names a row. Given one of the others, the kernel reports no error: it does nothing, or
// stores values for a row that does not exist.

// Reasons why an id is not the id of a row.
const (
	rowIDRequired     = "row_id_required"
	rowIDAlias        = "row_id_alias_detected"  // it is another id of one row
	rowIDAliasMany    = "row_id_alias_ambiguous" // it is another id of several rows
	rowIDAmbiguous    = "row_id_ambiguous"       // several rows have it
	rowIDNotCanonical = "row_id_not_canonical"   // it is unknown in this database
)

// maxCandidates bounds the rows that an error names.
const maxCandidates = 20

// checkRow returns nil if id is the id of one visible row. param is the argument that holds the id, for the error
// message.
func checkRow(r *action.Request, db *kernel.Database, m *mask, param string, id kernel.ID) error {
	var rows, alias, all []kernel.ID
	for i := range db.Columns {
		primary := db.Columns[i].Column.Type == siyuanapi.ColumnBlock
		for _, v := range db.Columns[i].Values {
			if v.RowID == "" || !m.isVisibleRow(v.RowID) {
				continue
			}
			if primary {
				all = append(all, v.RowID)
				if v.RowID == id {
					rows = append(rows, v.RowID)
				}
			}
			bound := primary && v.Block != nil && v.Block.ID == id
			if (v.ID == id || bound) && !slices.Contains(alias, v.RowID) {
				alias = append(alias, v.RowID)
			}
		}
	}
	switch {
	case id == "":
		return rowIDError(r, db, param, rowIDRequired, "is required", all)
	case len(rows) == 1:
		return nil
	case len(rows) > 1:
		return rowIDError(r, db, param, rowIDAmbiguous, fmt.Sprintf("%q is the id of several rows", id), nil)
	case len(alias) == 1:
		e := rowIDError(r, db, param, rowIDAlias, fmt.Sprintf("%q is the id of a bound block or of a cell's value, the row is %q", id, alias[0]), alias)
		e.Facts["suggestedRowID"] = alias[0]
		return e
	case len(alias) > 1:
		return rowIDError(r, db, param, rowIDAliasMany, fmt.Sprintf("%q is not a row id, and belongs to several rows", id), alias)
	}
	return rowIDError(r, db, param, rowIDNotCanonical, fmt.Sprintf("%q is not a row of this database", id), all)
}

// rowIDError returns the error for an id that does not name a row, with rows that may be meant.
func rowIDError(r *action.Request, db *kernel.Database, param, reason, message string, candidates []kernel.ID) *tool.Error {
	e := r.Invalid(param, message)
	e.Code = reason
	e.Facts = map[string]any{"reason": reason}
	if len(candidates) > 0 {
		e.Facts["candidateRowIDs"] = candidates[:min(len(candidates), maxCandidates)]
	}
	e.Hint = fmt.Sprintf(`av(action="get_primary_key_values", avID=%q) lists the rows with their ids`, db.ID)
	return e
}
