package av

import (
	"context"
	"fmt"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type renameArgs struct {
	AVID    kernel.ID `json:"avID" about:"database id" req:"true"`
	Name    string    `json:"name" about:"new name" req:"true" min:"1" max:"512"`
	BlockID kernel.ID `json:"blockID" about:"a block that shows it"`
}

type renameResult struct {
	Success bool      `json:"success" about:"it has that name now"`
	AVID    kernel.ID `json:"avID" about:"database id"`
	BlockID kernel.ID `json:"blockID" about:"the block through which it was renamed"`
	Name    string    `json:"name" about:"its name"`
}

func rename(p patience) *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "rename", Purpose: "Give a database another name",
		Class:     action.State,
		Needs:     []action.Need{on(access.Write, "avID")},
		Endpoints: []string{"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "block/getBlockDOM", "transactions", "av/getAttributeView"},
		Aliases:   map[string]string{"id": "avID"}, Positional: []string{"avID", "name"},
		Result:  renameResult{},
		Example: `{"avID":"20240801120000-avmain1","name":"Projects"}`,
	}, func(ctx context.Context, r *action.Request, a renameArgs) (any, error) {
		if strings.TrimSpace(a.Name) == "" {
			return nil, r.Invalid("name", "is blank")
		}
		through, err := block(ctx, r, r.Target("avID"))
		if err != nil {
			return nil, err
		}
		err = transact(ctx, r, through, kernel.Operation{"action": "setAttrViewName", "id": a.AVID, "data": a.Name})
		if err != nil {
			return nil, err
		}
		r.RefreshDatabase(a.AVID)
		if !p.stored(ctx, r.Kernel, a.AVID, func(db *kernel.Database) bool { return sameText(db.Name, a.Name) }) {
			return nil, pending("rename", a.AVID, "the kernel took the new name, and the database does not have it",
				fmt.Sprintf(`av(action="get_attribute_view_keys", id=%q) shows whether it is still there`, a.AVID), nil)
		}
		return renameResult{Success: true, AVID: a.AVID, BlockID: through, Name: a.Name}, nil
	})
}
