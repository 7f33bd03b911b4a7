package av

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/siyuanapi"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

type addColumnArgs struct {
	AVID          kernel.ID  `json:"avID" about:"database id" req:"true"`
	KeyName       string     `json:"keyName" about:"what it is called" req:"true" min:"1" max:"512"`
	KeyType       string     `json:"keyType" about:"what its cells hold" req:"true" enum:"text,number,date,select,mSelect,url,email,phone,mAsset,template,created,updated,checkbox,relation,rollup,lineNumber"`
	KeyID         kernel.ID  `json:"keyID" about:"its id; made up if not given"`
	KeyIcon       string     `json:"keyIcon" about:"code point in hex, such as 1f600"`
	PreviousKeyID *kernel.ID `json:"previousKeyID" about:"column to put it after, \"\" for none; without it the last"`
	BlockID       kernel.ID  `json:"blockID" about:"a block that shows it"`
}

type addColumnResult struct {
	Success bool      `json:"success" about:"it is there"`
	AVID    kernel.ID `json:"avID" about:"database id"`
	KeyID   kernel.ID `json:"keyID" about:"column id, which set_cells takes"`
	KeyName string    `json:"keyName" about:"what it is called"`
	KeyType string    `json:"keyType" about:"what its cells hold"`
}

func addColumn(p retryWaits) *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "add_column", Purpose: "Add a column",
		Guide:     "What a relation, rollup or template column is to show has to be set up in SiYuan.",
		Class:     action.Creates,
		Needs:     []action.Need{needsDatabase(access.Write, "avID")},
		Endpoints: []string{"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "block/getBlockDOM", "av/getAttributeView", "transactions"},
		Aliases:   map[string]string{"id": "avID", "name": "keyName", "type": "keyType"}, Positional: []string{"avID", "keyName", "keyType"},
		Result:  addColumnResult{},
		Example: `{"avID":"20240801120000-avmain1","keyName":"Price","keyType":"number"}`,
		Adapt:   adaptKeyType,
	}, func(ctx context.Context, r *action.Request, a addColumnArgs) (any, error) {
		if strings.TrimSpace(a.KeyName) == "" {
			return nil, r.Invalid("keyName", "is blank")
		}
		db, err := load(ctx, r, a.AVID)
		if err != nil {
			return nil, err
		}
		id := a.KeyID
		switch {
		case id == "":
			id = kernel.NewID()
		case !id.Valid(): // the kernel takes it, and nothing can be done with the column
			return nil, r.Invalid("keyID", fmt.Sprintf("%q is not an id, expected one like %s", id, kernel.NewID()))
		case db.Column(id) != nil:
			return nil, r.Invalid("keyID", fmt.Sprintf("%q is the id of another column of this database", id))
		}
		previous, err := previousColumn(r, db, a.PreviousKeyID)
		if err != nil {
			return nil, err
		}
		through, err := block(ctx, r, r.Target("avID"))
		if err != nil {
			return nil, err
		}
		err = transact(ctx, r, through, kernel.Operation{
			"action": "addAttrViewCol", "name": a.KeyName, "avID": a.AVID, "type": a.KeyType, "id": id, "data": a.KeyIcon, "previousID": previous,
		})
		if err != nil {
			return nil, err
		}
		r.RefreshDatabase(a.AVID)
		if !p.stored(ctx, r.Kernel, a.AVID, func(db *kernel.Database) bool {
			c := db.Column(id)
			return c != nil && c.Column.Type == a.KeyType
		}) {
			return nil, notYetStored("add column to", a.AVID, "the kernel took the column, and it is not there",
				fmt.Sprintf(`av(action="get_attribute_view_keys", id=%q) shows the columns`, a.AVID), map[string]any{"keyID": id})
		}
		return addColumnResult{Success: true, AVID: a.AVID, KeyID: id, KeyName: a.KeyName, KeyType: a.KeyType}, nil
	})
}

// previousColumn returns the column after which a new one is placed. If the call names none, that is the last one: the
// kernel would put the new column first.
func previousColumn(r *action.Request, db *kernel.Database, given *kernel.ID) (kernel.ID, error) {
	if given != nil {
		if *given != "" && db.Column(*given) == nil {
			return "", r.Invalid("previousKeyID", fmt.Sprintf("%q is not a column of this database", *given))
		}
		return *given, nil
	}
	for i := range db.Views {
		if v := &db.Views[i]; v.ID == db.ViewID && v.Table != nil && len(v.Table.Columns) > 0 {
			return v.Table.Columns[len(v.Table.Columns)-1].ID, nil
		}
	}
	if n := len(db.Columns); n > 0 {
		return db.Columns[n-1].Column.ID, nil
	}
	return "", nil
}

// selections takes the word for several options that set_cells has.
func adaptKeyType(args json.RawMessage) json.RawMessage {
	for _, name := range []string{"keyType", "type"} {
		if gjson.GetBytes(args, name).Str == "multi_select" {
			return action.SetArg(args, name, `"mSelect"`)
		}
	}
	return args
}

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
		Class: action.State,
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
		db, err := load(ctx, r, a.AVID)
		if err != nil {
			return nil, err
		}
		c := db.Column(a.KeyID)
		if c == nil {
			return nil, noColumn(r, a.KeyID)
		}
		through, err := block(ctx, r, r.Target("avID"))
		if err != nil {
			return nil, err
		}
		err = transact(ctx, r, through, kernel.Operation{
			"action": "removeAttrViewCol", "id": a.KeyID, "avID": a.AVID, "removeDest": a.RemoveRelationDest,
		})
		if err != nil {
			return nil, err
		}
		r.RefreshDatabase(a.AVID)
		if a.RemoveRelationDest && c.Column.Relation != nil {
			r.RefreshDatabase(c.Column.Relation.Database)
		}
		if !p.stored(ctx, r.Kernel, a.AVID, func(db *kernel.Database) bool { return db.Column(a.KeyID) == nil }) {
			return nil, notYetStored("remove column of", a.AVID, "the kernel took the removal, and the column is still there",
				fmt.Sprintf(`av(action="get_attribute_view_keys", id=%q) shows the columns`, a.AVID), map[string]any{"keyID": a.KeyID})
		}
		return removeColumnResult{Success: true, AVID: a.AVID, KeyID: a.KeyID, KeyName: c.Column.Name}, nil
	})
}

func noColumn(r *action.Request, id kernel.ID) error {
	return r.Invalid("keyID", fmt.Sprintf("%q is not a column of this database; get_attribute_view_keys lists them", id))
}

// removedColumn returns the column that is to be removed. It is looked at before a person is asked.
func removedColumn(ctx context.Context, r *action.Request) ([]action.Target, error) {
	db, err := load(ctx, r, r.Target("avID").ID)
	if err != nil {
		return nil, err
	}
	id := kernel.ID(r.Text("keyID"))
	c := db.Column(id)
	switch {
	case c == nil:
		return nil, noColumn(r, id)
	case c.Column.Type == siyuanapi.ColumnBlock:
		return nil, r.Invalid("keyID", "is the primary column, which cannot be removed")
	}
	return []action.Target{partTarget(r, "column", id, c.Column.Name)}, nil
}

// relationDest returns the database that loses a column together with the one that is removed.
func relationDest(ctx context.Context, r *action.Request) ([]action.Target, error) {
	if r.Text("removeRelationDest") != "true" {
		return nil, nil
	}
	db, err := load(ctx, r, r.Target("avID").ID)
	if err != nil {
		return nil, err
	}
	c := db.Column(kernel.ID(r.Text("keyID")))
	if c == nil || c.Column.Relation == nil || c.Column.Relation.Database == db.ID {
		return nil, nil
	}
	t, err := owningTarget(ctx, r, c.Column.Relation.Database)
	if tool.KindOf(err) == tool.NotFound { // which would name it
		err = &tool.Error{
			Op: "check", Kind: tool.Denied, Subject: string(c.Column.ID), Message: "the database that this relation is to may not be written",
			Hint: "remove the column without removeRelationDest",
		}
	}
	return []action.Target{t}, err
}
