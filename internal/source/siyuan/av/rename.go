package av

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions av.rename and av.duplicate.

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

func rename(p retryWaits) *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "rename", Purpose: "Give a database another name",
		Class: action.State, Risk: tool.RiskMedium, Effects: tool.EffectWrite,
		Needs:     []action.Need{needsDatabase(access.Write, "avID")},
		Endpoints: []string{"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "block/getBlockDOM", "transactions", "av/getAttributeView"},
		Aliases:   map[string]string{"id": "avID"}, Positional: []string{"avID", "name"},
		Result:  renameResult{},
		Example: `{"avID":"20240801120000-avmain1","name":"Projects"}`,
	}, func(ctx context.Context, r *action.Request, a renameArgs) (any, error) {
		if strings.TrimSpace(a.Name) == "" {
			return nil, r.Invalid("name", "is blank")
		}
		through, err := showingBlock(ctx, r, r.Target("avID"))
		if err != nil {
			return nil, err
		}
		err = transact(ctx, r, through, kernel.Operation{"action": "setAttrViewName", "id": a.AVID, "data": a.Name})
		if err != nil {
			return nil, err
		}
		r.RefreshDatabase(a.AVID)
		if !p.pollDatabase(ctx, r.Kernel, a.AVID, func(db *kernel.Database) bool { return sameText(db.Name, a.Name) }) {
			return nil, notYetStoredError("rename", a.AVID, "the kernel accepted the new name, but the database does not have it",
				fmt.Sprintf(`av(action="get_attribute_view_keys", id=%q) shows whether it is still there`, a.AVID), nil)
		}
		return renameResult{Success: true, AVID: a.AVID, BlockID: through, Name: a.Name}, nil
	})
}

type duplicateArgs struct {
	AVID       kernel.ID `json:"avID" about:"database to copy" req:"true"`
	BlockID    kernel.ID `json:"blockID" about:"the block of it to put the copy after"`
	PreviousID kernel.ID `json:"previousID" about:"another block to put the copy after"`
}

type duplicateResult struct {
	Success       bool      `json:"success" about:"the copy is there"`
	AVID          kernel.ID `json:"avID" about:"id of the copy"`
	BlockID       kernel.ID `json:"blockID" about:"the block that shows it"`
	SourceAVID    kernel.ID `json:"sourceAvID" about:"what was copied" verbose:"yes"`
	InsertedAfter kernel.ID `json:"insertedAfter" about:"the block above" verbose:"yes"`
	Materialized  bool      `json:"materialized" about:"the copy can be read" verbose:"yes"`
}

func duplicate(p retryWaits) *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "duplicate", Purpose: "Copy a database and show the copy in a block of its own",
		Guide: "The copy has the same rows: those that are bound to blocks are bound to the same ones.",
		Class: action.Creates, Risk: tool.RiskLow, Effects: tool.EffectWrite,
		Needs: []action.Need{needsDatabase(access.Write, "avID"), action.OnBlock(access.Write, "previousID")},
		Endpoints: []string{
			"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "block/getBlockDOM", "av/duplicateAttributeViewBlock",
			"lute/spinBlockDOM", "transactions", "block/appendBlock", "block/getBlockInfo", "av/getAttributeView",
		},
		Aliases: map[string]string{"id": "avID"}, Positional: []string{"avID"},
		Result:  duplicateResult{},
		Example: `{"avID":"20240801120000-avmain1"}`,
	}, func(ctx context.Context, r *action.Request, a duplicateArgs) (any, error) {
		after, err := copyPlace(ctx, r)
		if err != nil {
			return nil, err
		}
		id, through, err := r.Kernel.DuplicateDatabase(ctx, a.AVID)
		if err != nil {
			return nil, err
		}
		if err := insertDatabaseBlock(ctx, r, id, through, after); err != nil {
			return nil, notShown(err, id)
		}
		r.RefreshDocument(after.Root)
		if !p.pollDatabase(ctx, r.Kernel, id, func(*kernel.Database) bool { return true }) {
			return nil, notYetStoredError("copy database", a.AVID, "the kernel made a copy, and it cannot be read",
				fmt.Sprintf(`av(action="render", id=%q) shows it once it exists`, id), map[string]any{"copyAvID": id, "blockID": through})
		}
		return duplicateResult{Success: true, AVID: id, BlockID: through, SourceAVID: a.AVID, InsertedAfter: after.ID, Materialized: true}, nil
	})
}

// copyPlace returns the block to put the copy after: the given one, otherwise the block that shows the source.
func copyPlace(ctx context.Context, r *action.Request) (action.Target, error) {
	if targets := r.Targets("previousID"); len(targets) > 0 {
		return targets[0], nil
	}
	through, err := showingBlock(ctx, r, r.Target("avID"))
	if err != nil {
		return action.Target{}, err
	}
	return r.Place(ctx, access.Block, string(through))
}

// notShown adds to an error that the copy exists but no block shows it.
func notShown(err error, id kernel.ID) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		return err
	}
	out := *e
	out.Message = fmt.Sprintf("database %s was made, but the block to show it was not: %s", id, e.Message)
	out.Facts = map[string]any{"copyAvID": id}
	maps.Copy(out.Facts, e.Facts)
	return &out
}
