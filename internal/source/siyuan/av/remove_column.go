package av

import (
	"context"
	"fmt"

	"collie/internal/siyuanapi"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action av.remove_column, which removes a column of a database.

type removeColumnArgs struct {
	AVID               kernel.ID `json:"avID" about:"database id" req:"true"`
	KeyID              kernel.ID `json:"keyID" about:"column to remove" req:"true"`
	RemoveRelationDest bool      `json:"removeRelationDest" about:"of a two-way relation: remove its other end as well" default:"false"`
	BlockID            kernel.ID `json:"blockID" about:"a block that shows it"`
}

type removeColumnResult struct {
	Success bool      `json:"success" about:"it is gone"`
	AVID    kernel.ID `json:"avID" about:"database id"`
	KeyID   kernel.ID `json:"keyID" about:"the column"`
	KeyName string    `json:"keyName" about:"what it was called"`
}

func removeColumn(p retryWaits) *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "remove_column", Purpose: "Remove a column with all its cells", Dangerous: true,
		Class: action.State, Risk: tool.RiskHigh, Effects: tool.EffectWrite | tool.EffectDelete,
		Needs: []action.Need{
			needsDatabase(access.Write, "avID"), action.On(access.Read, "column keyID", "keyID", removedColumn),
			action.On(access.Write, "the related database", "removeRelationDest", relationDest),
		},
		Endpoints: []string{
			"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "block/getBlockDOM", "av/getAttributeView", "transactions",
		},
		Aliases: map[string]string{"id": "avID", "columnID": "keyID"}, Positional: []string{"avID", "keyID"},
		Result:  removeColumnResult{},
		Example: `{"avID":"20240801120000-avmain1","keyID":"20240801120008-keytel1"}`,
		Effect: func(r *action.Request) string {
			return "removes the column " + r.Target("keyID").Subject + " with all its cells from the database"
		},
	}, func(ctx context.Context, r *action.Request, a removeColumnArgs) (any, error) {
		db, err := loadDatabase(ctx, r, a.AVID)
		if err != nil {
			return nil, err
		}
		c := db.Column(a.KeyID)
		if c == nil {
			return nil, noColumnError(r, a.KeyID)
		}
		shownIn, err := showingBlock(ctx, r, r.Target("avID"))
		if err != nil {
			return nil, err
		}
		err = transact(ctx, r, shownIn, kernel.Operation{
			"action": "removeAttrViewCol", "id": a.KeyID, "avID": a.AVID, "removeDest": a.RemoveRelationDest,
		})
		if err != nil {
			return nil, err
		}
		refreshDatabases(r)
		if !p.pollDatabase(ctx, r.Kernel, a.AVID, func(db *kernel.Database) bool { return db.Column(a.KeyID) == nil }) {
			return nil, notYetStoredError("remove column of", a.AVID, "the kernel accepted the removal, but the column is still there",
				fmt.Sprintf(`av(action="get_attribute_view_keys", id=%q) shows the columns`, a.AVID), map[string]any{"keyID": a.KeyID})
		}
		return removeColumnResult{Success: true, AVID: a.AVID, KeyID: a.KeyID, KeyName: c.Column.Name}, nil
	})
}

// noColumnError returns the error for an id that is not the id of a column.
func noColumnError(r *action.Request, id kernel.ID) error {
	return r.Invalid("keyID", fmt.Sprintf("%q is not a column of this database; get_attribute_view_keys lists them", id))
}

// removedColumn returns the column to remove. It runs before the person is asked, so that the question names the
// column.
func removedColumn(ctx context.Context, r *action.Request) ([]action.Target, error) {
	db, err := loadDatabase(ctx, r, r.Target("avID").ID)
	if err != nil {
		return nil, err
	}
	id := kernel.ID(r.Text("keyID"))
	c := db.Column(id)
	switch {
	case c == nil:
		return nil, noColumnError(r, id)
	case c.Column.Type == siyuanapi.ColumnBlock:
		return nil, r.Invalid("keyID", "is the primary column, which cannot be removed")
	}
	return []action.Target{partTarget(r, "column", id, c.Column.Name)}, nil
}

// relationDest returns the related database if it changes too: the other end of a two-way relation is removed along
// with the column, or becomes an ordinary relation.
func relationDest(ctx context.Context, r *action.Request) ([]action.Target, error) {
	db, err := loadDatabase(ctx, r, r.Target("avID").ID)
	if err != nil {
		return nil, err
	}
	c := db.Column(kernel.ID(r.Text("keyID")))
	if c == nil || !isRelatedElsewhere(db, &c.Column) || !c.Column.Relation.TwoWay && r.Text("removeRelationDest") != "true" {
		return nil, nil
	}
	hint := "remove the column without removeRelationDest"
	if c.Column.Relation.TwoWay {
		hint = levelsHint
	}
	return relatedDatabase(ctx, r, &c.Column, &tool.Error{
		Op: "check", Kind: tool.Denied, Subject: string(c.Column.ID),
		Message: "the database that this relation is to may not be written", Hint: hint,
	})
}
