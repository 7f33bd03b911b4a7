package av

import (
	"context"
	"fmt"
	"strings"

	"collie/internal/siyuanapi"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action av.set_cells, which writes cells of a database.

type setCellsArgs struct {
	AVID    kernel.ID `json:"avID" about:"database id" req:"true"`
	Cells   []input   `json:"cells" about:"the cells to write" min:"1" unique:"rowID,columnID"`
	BlockID kernel.ID `json:"blockID" about:"a block that shows it"`
	input
}

type setCellsResult struct {
	Success      bool         `json:"success" about:"all of them have that value now"`
	AVID         kernel.ID    `json:"avID" about:"database id"`
	RowID        kernel.ID    `json:"rowID,omitempty" about:"of the one cell"`
	ColumnID     kernel.ID    `json:"columnID,omitempty" about:"of the one cell"`
	Updated      int          `json:"updated" about:"how many"`
	Verification verification `json:"verification" about:"how that was found" verbose:"yes"`
}

func setCells(p retryWaits) *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "set_cells", Purpose: "Write cells of a database",
		Guide: "One cell stands beside avID, several in cells. valueType must be that of the column; its value stands in: text, " +
			"number (numberFormat), date (endDate, includeTime), checkbox: checked, select: option, multi_select: options, " +
			"relation: relationBlockIDs, url, email, phone, mAsset: assets; or in value. clear=true empties the cell. " +
			"The primary column takes a text where the row is bound to no block; else edit the block.",
		Class: action.Manifest, Risk: tool.RiskLow, Effects: tool.EffectWrite,
		Inverse:   restoreCells,
		Needs:     []action.Need{needsDatabase(access.Write, "avID")},
		Endpoints: []string{"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "block/getBlockDOM", "av/getAttributeView", "transactions"},
		Aliases:   map[string]string{"id": "avID", "items": "cells", "keyID": "columnID"}, Positional: []string{"avID"},
		Result:  setCellsResult{},
		Example: `{"avID":"20240801120000-avmain1","rowID":"20240801130000-detach1","columnID":"20240801120001-keytext","valueType":"text","text":"done"}`,
	}, func(ctx context.Context, r *action.Request, a setCellsArgs) (any, error) {
		cells, err := cellInputs(r, &a)
		if err != nil {
			return nil, err
		}
		db, err := loadDatabase(ctx, r, a.AVID)
		if err != nil {
			return nil, err
		}
		writes, err := planWrites(ctx, r, db, cells)
		if err != nil {
			return nil, err
		}
		through, err := showingBlock(ctx, r, r.Target("avID"))
		if err != nil {
			return nil, err
		}
		var ops []kernel.Operation
		for _, w := range writes {
			id := kernel.NewID()
			if v := db.Value(w.row, w.column); v != nil {
				id = v.ID
			}
			ops = append(ops, kernel.Operation{
				"action": "updateAttrViewCell", "id": id, "avID": a.AVID, "keyID": w.column, "rowID": w.row, "data": w.data,
			})
		}
		if err := transact(ctx, r, through, ops...); err != nil {
			return nil, err
		}
		r.RefreshDatabase(a.AVID)
		var wrong []map[string]any
		if !p.pollDatabase(ctx, r.Kernel, a.AVID, func(db *kernel.Database) bool {
			wrong = differingCells(db, writes)
			return len(wrong) == 0
		}) {
			return nil, notYetStoredError("write cells of", a.AVID, "the kernel accepted the cells, but not all of them have their new value",
				fmt.Sprintf(`av(action="render", id=%q) shows what they have`, a.AVID), map[string]any{"cells": wrong})
		}
		out := setCellsResult{Success: true, AVID: a.AVID, Updated: len(writes), Verification: verifiedByReading(len(writes))}
		if len(a.Cells) == 0 {
			out.RowID, out.ColumnID = a.RowID, a.ColumnID
		}
		return out, nil
	})
}

// memberPath returns the path of a cell's member in the arguments.
type memberPath func(member string) string

// cellInputs returns the cells to write: those in the list, or the single cell given beside avID.
func cellInputs(r *action.Request, a *setCellsArgs) ([]input, error) {
	single := a.RowID != "" || a.ColumnID != "" || a.ValueType != "" || len(a.givenMembers()) > 0
	switch {
	case single && r.Given("cells"):
		return nil, r.Conflicting("give one cell beside avID, or several in cells, not both", "cells", "rowID")
	case single:
		return checkInputs(r, []input{a.input}, func(int) memberPath { return func(member string) string { return member } })
	case len(a.Cells) == 0:
		return nil, r.Conflicting("give one cell beside avID, or several in cells", "cells")
	}
	return checkInputs(r, a.Cells, func(i int) memberPath {
		return func(member string) string { return fmt.Sprintf("cells/%d/%s", i, member) }
	})
}

// checkInputs checks the cells by themselves, and brings each into the form in which its value stands in the member for its type.
func checkInputs(r *action.Request, cells []input, where func(i int) memberPath) ([]input, error) {
	for i := range cells {
		place := where(i)
		if cells[i].ColumnID == "" {
			return nil, r.Invalid(place("columnID"), "is required")
		}
		if cells[i].ValueType == "" {
			return nil, r.Invalid(place("valueType"), "is required")
		}
		if member, wrong := cells[i].normalize(r.Action); wrong != "" {
			return nil, r.Invalid(place(member), wrong)
		}
	}
	return cells, nil
}

// planWrites checks cells against the database, since the kernel would store anything, and returns the writes to send.
func planWrites(ctx context.Context, r *action.Request, db *kernel.Database, cells []input) ([]write, error) {
	m, err := maskOf(ctx, r, db)
	if err != nil {
		return nil, err
	}
	place := func(i int, member string) string {
		if !r.Given("cells") {
			return member
		}
		return fmt.Sprintf("cells/%d/%s", i, member)
	}
	var out []write
	for i := range cells {
		in := &cells[i]
		if err := checkRow(r, db, m, place(i, "rowID"), in.RowID); err != nil {
			return nil, err
		}
		c := db.Column(in.ColumnID)
		if c == nil {
			return nil, r.Invalid(place(i, "columnID"), fmt.Sprintf("%q is not a column of this database; get_attribute_view_keys lists them", in.ColumnID))
		}
		if member, wrong := checkColumn(in, db, &c.Column); wrong != "" {
			return nil, r.Invalid(place(i, member), wrong)
		}
		if in.ValueType == "relation" {
			if err := checkRelated(ctx, r, m, db, &c.Column, in, func(n int) string {
				return fmt.Sprintf("%s/%d", place(i, "relationBlockIDs"), n)
			}); err != nil {
				return nil, err
			}
		}
		if in.ValueType == "mAsset" {
			if err := admitAssets(ctx, r, in, db.Value(in.RowID, in.ColumnID)); err != nil {
				return nil, err
			}
		}
		out = append(out, writeOf(in, &c.Column))
	}
	return out, nil
}

// admitAssets refuses assets that are new in a cell and that a note may not link to.
func admitAssets(ctx context.Context, r *action.Request, in *input, now *kernel.Value) error {
	var values, before []string
	for _, a := range in.Assets {
		values = append(values, a.Content)
	}
	if now != nil {
		for _, a := range now.Assets {
			before = append(before, a.Content)
		}
	}
	return content.AdmitAssets(ctx, r, values, before...)
}

// checkColumn returns why an input does not fit a column, and which member is at fault.
func checkColumn(in *input, db *kernel.Database, c *kernel.Column) (member, wrong string) {
	if c.Type == siyuanapi.ColumnBlock {
		return checkPrimaryColumn(in, db, c)
	}
	if typeNamed(in.ValueType).column == c.Type {
		return "", ""
	}
	for _, t := range valueTypes {
		if t.column == c.Type {
			return "valueType", fmt.Sprintf("is %s, and column %q takes %s", in.ValueType, c.Name, t.name)
		}
	}
	return "valueType", fmt.Sprintf("cannot be written: the cells of column %q are computed (%s)", c.Name, c.Type)
}

// checkPrimaryColumn returns why an input cannot be written to the primary column. A row that is bound to a block shows
// the block's text there, which cannot be changed here.
func checkPrimaryColumn(in *input, db *kernel.Database, c *kernel.Column) (member, wrong string) {
	v := db.Value(in.RowID, c.ID)
	switch {
	case v != nil && v.Block != nil && v.Block.ID != "":
		return "columnID", fmt.Sprintf(`is that of the primary column, which shows the text of the block that the row is bound to; block(action="update", id=%q) writes that`, v.Block.ID)
	case in.ValueType != "text":
		return "valueType", fmt.Sprintf("is %s, and column %q takes text", in.ValueType, c.Name)
	case in.Text == nil || *in.Text == "":
		return "text", "is empty, a row needs a text"
	}
	return "", ""
}

// checkRelated checks the rows that a relation should point to. For a two-way relation, it needs write access to the
// other database, which also changes.
func checkRelated(ctx context.Context, r *action.Request, m *mask, db *kernel.Database, c *kernel.Column, in *input, place func(int) string) error {
	if c.Relation == nil || c.Relation.Database == "" {
		return r.Invalid(strings.TrimSuffix(place(0), "/0"), fmt.Sprintf("has nothing to point to: column %q is related to no database yet", c.Name))
	}
	related, level := c.Relation.Database, access.Read
	if c.Relation.TwoWay {
		level = access.Write
	}
	mask := m
	if related != db.ID {
		at, err := r.Database(ctx, related)
		switch {
		case tool.KindOf(err) == tool.NotFound, err == nil && r.Levels.Of(at.Notebook) < level:
			return relationDeniedError(c, level, "leave this cell out; collie siyuan permission list shows the levels")
		case err != nil:
			return err
		}
		if db, err = loadDatabase(ctx, r, related); err != nil {
			return err
		}
		if mask, err = maskOf(ctx, r, db); err != nil {
			return err
		}
	}
	for n, id := range in.RelationBlockIDs {
		if err := checkRow(r, db, mask, place(n), id); err != nil {
			return err
		}
	}
	return nil
}

// differingCells returns the cells whose stored value differs from the written one.
func differingCells(db *kernel.Database, writes []write) []map[string]any {
	var out []map[string]any
	for _, w := range writes {
		v := db.Value(w.row, w.column)
		if v == nil {
			v = &kernel.Value{} // an empty cell may have no value
		}
		if !w.matches(v) {
			out = append(out, map[string]any{"rowID": w.row, "columnID": w.column})
		}
	}
	return out
}
