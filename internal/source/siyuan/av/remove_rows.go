package av

import (
	"context"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

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

// verification says how a write was found to be there.
type verification struct {
	Status string `json:"status"`
	Method string `json:"method"`
	Cells  int    `json:"cells,omitempty"`
}

func readBack(cells int) verification {
	return verification{Status: "verified", Method: "av/getAttributeView", Cells: cells}
}

func removeRows(p patience) *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "remove_rows", Purpose: "Remove rows; blocks that they are bound to stay", Dangerous: true,
		Guide:     "srcIDs are row ids, as add_rows, render and get_primary_key_values give them, never block ids.",
		Class:     action.Manifest,
		Needs:     []action.Need{on(access.Write, "avID"), action.On(access.Read, "rows srcIDs", "srcIDs", removedRows)},
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
		through, err := block(ctx, r, r.Target("avID"))
		if err != nil {
			return nil, err
		}
		if err := transact(ctx, r, through, kernel.Operation{"action": "removeAttrViewBlock", "srcIDs": a.SrcIDs, "avID": a.AVID}); err != nil {
			return nil, err
		}
		r.RefreshDatabase(a.AVID)
		left := a.SrcIDs
		if !p.stored(ctx, r.Kernel, a.AVID, func(db *kernel.Database) bool {
			left = slices.DeleteFunc(slices.Clone(a.SrcIDs), func(id kernel.ID) bool {
				return !slices.ContainsFunc(db.Primary(), func(v kernel.Value) bool { return v.RowID == id })
			})
			return len(left) == 0
		}) {
			return nil, pending("remove rows of", a.AVID, "the kernel took the removal, and not all rows are gone",
				fmt.Sprintf(`av(action="get_primary_key_values", avID=%q) shows which are there`, a.AVID), map[string]any{"srcIDs": left})
		}
		return removeRowsResult{Success: true, AVID: a.AVID, SrcIDs: a.SrcIDs, Removed: len(a.SrcIDs), Verification: readBack(0)}, nil
	})
}

// removedRows are the rows that are to be removed. They are looked at before a person is asked.
func removedRows(ctx context.Context, r *action.Request) ([]action.Target, error) {
	ids := gjson.GetBytes(r.Args(), "srcIDs").Array()
	if len(ids) == 0 {
		return nil, r.Invalid("srcIDs", "is empty")
	}
	db, err := load(ctx, r, r.Target("avID").ID)
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
		out = append(out, part(r, "row", id, called(db, id)))
	}
	return out, nil
}

// called is the text of a row.
func called(db *kernel.Database, row kernel.ID) string {
	for _, v := range db.Primary() {
		if v.RowID == row && v.Block != nil {
			return v.Block.Content
		}
	}
	return ""
}
