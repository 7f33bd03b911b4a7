package av

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action av.add_column, which adds a column to a database.

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
		Guide: "What a relation, rollup or template column is to show has to be set up in SiYuan.",
		Class: action.Creates, Risk: tool.RiskLow, Effects: tool.EffectWrite,
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
		db, err := loadDatabase(ctx, r, a.AVID)
		if err != nil {
			return nil, err
		}
		id := a.KeyID
		switch {
		case id == "":
			id = kernel.NewID()
		case !id.Valid(): // the kernel would accept it, but such a column would be unusable
			return nil, r.Invalid("keyID", fmt.Sprintf("%q is not an id, expected one like %s", id, kernel.NewID()))
		case db.Column(id) != nil:
			return nil, r.Invalid("keyID", fmt.Sprintf("%q is the id of another column of this database", id))
		}
		previous, err := previousColumn(r, db, a.PreviousKeyID)
		if err != nil {
			return nil, err
		}
		shownIn, err := showingBlock(ctx, r, r.Target("avID"))
		if err != nil {
			return nil, err
		}
		err = transact(ctx, r, shownIn, kernel.Operation{
			"action": "addAttrViewCol", "name": a.KeyName, "avID": a.AVID, "type": a.KeyType, "id": id, "data": a.KeyIcon, "previousID": previous,
		})
		if err != nil {
			return nil, err
		}
		r.RefreshDatabase(a.AVID)
		if !p.pollDatabase(ctx, r.Kernel, a.AVID, func(db *kernel.Database) bool {
			c := db.Column(id)
			return c != nil && c.Column.Type == a.KeyType
		}) {
			return nil, notYetStoredError("add column to", a.AVID, "the kernel accepted the column, but it is not there",
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

// adaptKeyType accepts "multi_select", the name that set_cells has for the type mSelect.
func adaptKeyType(args json.RawMessage) json.RawMessage {
	for _, name := range []string{"keyType", "type"} {
		if gjson.GetBytes(args, name).Str == "multi_select" {
			return action.SetArg(args, name, `"mSelect"`)
		}
	}
	return args
}
