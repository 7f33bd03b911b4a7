package av

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

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

// added is a row that was made, or that a block had already.
type added struct {
	BlockID        kernel.ID `json:"blockID,omitempty"`
	PrimaryKeyText string    `json:"primaryKeyText,omitempty"`
	RowID          kernel.ID `json:"rowID"`
	Existing       bool      `json:"existing,omitempty" about:"the block was a row already"`
}

type addRowsResult struct {
	Success bool      `json:"success" about:"all of them are there"`
	AVID    kernel.ID `json:"avID" about:"database id"`
	Rows    []added   `json:"rows" about:"blockID or primaryKeyText, and the rowID"`
	Added   int       `json:"added" about:"how many are new"`
}

func addRows(p patience) *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "add_rows", Purpose: "Add rows, bound to blocks or with a text of their own",
		Guide: "A bound row shows its block's text. rows[].rowID is what set_cells takes; it is not the block's id. " +
			"A block that is a row already stays the row it is. Binding writes into the block.",
		Class:     action.Creates,
		Needs:     []action.Need{on(access.Write, "avID"), action.OnBlock(access.Write, "blockIDs")}, // the kernel notes in a block which databases show it
		Endpoints: []string{"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "block/getBlockDOM", "av/getAttributeView", "transactions"},
		Aliases:   map[string]string{"id": "avID"}, Positional: []string{"avID"},
		Result:  addRowsResult{},
		Example: `{"avID":"20240801120000-avmain1","primaryKeyTexts":["first task"]}`,
	}, func(ctx context.Context, r *action.Request, a addRowsArgs) (any, error) {
		if len(a.BlockIDs)+len(a.PrimaryKeyTexts) == 0 {
			return nil, r.Conflicting("give blockIDs, primaryKeyTexts, or both", "blockIDs", "primaryKeyTexts")
		}
		db, err := load(ctx, r, a.AVID)
		if err != nil {
			return nil, err
		}
		if err := placing(ctx, r, db, &a); err != nil {
			return nil, err
		}
		through, err := block(ctx, r, r.Target("avID"))
		if err != nil {
			return nil, err
		}
		rows, srcs := sources(db, &a)
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
		if !p.stored(ctx, r.Kernel, a.AVID, func(db *kernel.Database) bool { return arrived(db, rows) }) {
			return nil, pending("add rows to", a.AVID, "the kernel took the rows, and not all of them are there",
				fmt.Sprintf(`do not add them again; av(action="get_primary_key_values", avID=%q) shows which are there`, a.AVID),
				map[string]any{"rows": rows})
		}
		return addRowsResult{Success: true, AVID: a.AVID, Rows: rows, Added: len(srcs)}, nil
	})
}

// placing checks what says where the rows go: the kernel takes anything.
func placing(ctx context.Context, r *action.Request, db *kernel.Database, a *addRowsArgs) error {
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
	if a.GroupID != "" { // a kernel that is told another view drops the rows
		view := grouped(db, a.GroupID)
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

// grouped is the view that has a group, empty if none has it.
func grouped(db *kernel.Database, group kernel.ID) kernel.ID {
	for i := range db.Views {
		for _, g := range db.Views[i].Groups {
			if g.ID == group {
				return db.Views[i].ID
			}
		}
	}
	return ""
}

// sources are the rows to be, and what the kernel has to be given to make those that are new.
func sources(db *kernel.Database, a *addRowsArgs) (rows []added, srcs []map[string]any) {
	for _, id := range a.BlockIDs {
		if at := boundRow(db, id); at != "" {
			rows = append(rows, added{BlockID: id, RowID: at, Existing: true})
			continue
		}
		row := kernel.NewID()
		rows = append(rows, added{BlockID: id, RowID: row})
		srcs = append(srcs, map[string]any{"itemID": row, "id": id, "isDetached": false})
	}
	for _, text := range a.PrimaryKeyTexts {
		row := kernel.NewID()
		rows = append(rows, added{PrimaryKeyText: text, RowID: row})
		srcs = append(srcs, map[string]any{"itemID": row, "id": row, "isDetached": true, "content": text})
	}
	return rows, srcs
}

// boundRow is the row that is bound to a block, empty if there is none.
func boundRow(db *kernel.Database, block kernel.ID) kernel.ID {
	for _, v := range db.Primary() {
		if block != "" && v.Block != nil && v.Block.ID == block {
			return v.RowID
		}
	}
	return ""
}

// arrived reports whether all rows are there, and puts their ids right where the kernel chose
// others.
func arrived(db *kernel.Database, rows []added) bool {
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
