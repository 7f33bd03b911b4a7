package block

import (
	"context"
	"fmt"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action block.add_to_daily_note, which writes into the daily note of a notebook.

type dailyArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	DataType string    `json:"dataType" about:"form of data" enum:"markdown,dom" req:"true"`
	Data     string    `json:"data" about:"content; may be several blocks" req:"true"`
	Position string    `json:"position" about:"append adds at the end, prepend at the beginning" enum:"append,prepend" req:"true"`
}

type dailyResult struct {
	Success      bool                 `json:"success" about:"true"`
	Notebook     kernel.ID            `json:"notebook" about:"as given"`
	DocumentID   kernel.ID            `json:"documentId,omitempty" about:"the note of today"`
	ID           kernel.ID            `json:"id" about:"the first new block"`
	Created      []kernel.ID          `json:"createdBlockIDs" about:"all new blocks, in order"`
	DataType     string               `json:"dataType" about:"as given" verbose:"yes"`
	Position     string               `json:"position" about:"as given" verbose:"yes"`
	Transactions []kernel.Transaction `json:"transactions" about:"the kernel's answer" verbose:"yes"`
	Warning      string               `json:"warning,omitempty" about:"references that could not be resolved, and the like"`
}

// addToDailyNote returns the action add_to_daily_note of the tool block.
func addToDailyNote() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "add_to_daily_note",
		Purpose: "Add content to a notebook's note of today, which is made if needed",
		Class:   action.Creates, Risk: tool.RiskLow, Effects: tool.EffectWrite, AddsBlocks: true,
		Needs:     []action.Need{action.OnNotebook(access.Write, "notebook"), datafile.DailyNote("notebook")},
		Endpoints: []string{"notebook/getNotebookConf", "search/searchTemplate", "file/readDir", "file/getFile", "block/appendDailyNoteBlock", "block/prependDailyNoteBlock", "block/insertBlock", "block/getBlockTreeInfos", "block/getChildBlocks", "block/getBlockKramdowns"},
		Result:    dailyResult{},
		Example:   `{"notebook":"20260102030405-abcdefg","dataType":"markdown","data":"- a log entry","position":"append"}`,
	}, runDaily)
}

func runDaily(ctx context.Context, r *action.Request, a dailyArgs) (any, error) {
	if err := refuseClosed(ctx, r, a.Notebook); err != nil {
		return nil, err
	}
	data, warnings, err := prepareContent(ctx, r, a.DataType, a.Data, "", nil)
	if err != nil {
		return nil, err
	}
	done, err := r.Kernel.AddToDailyNote(ctx, a.Notebook, data.DataType, data.Data, a.Position == "append")
	if err != nil {
		return nil, err
	}
	ids, err := completeInsertions(ctx, r, done)
	if err != nil {
		return nil, err
	}
	out := dailyResult{
		Success: true, Notebook: a.Notebook, DataType: a.DataType, Position: a.Position, Transactions: done,
		Warning: joinWarnings(warnings),
	}
	for _, list := range ids {
		out.Created = append(out.Created, list...)
	}
	out.ID = out.Created[0]
	if ops := done[0].DoOperations; len(ops) > 0 && ops[0].ParentID != "" {
		out.DocumentID = ops[0].ParentID
		r.RefreshDocument(out.DocumentID)
	}
	r.RefreshTree()
	return out, nil
}

// refuseClosed refuses a closed notebook. The kernel's own error would claim that it does not exist.
func refuseClosed(ctx context.Context, r *action.Request, id kernel.ID) error {
	all, err := r.Levels.All(ctx)
	if err != nil {
		return err
	}
	if n := kernel.FindNotebook(all, id); n == nil || !n.Closed && !n.Locked() {
		return nil
	}
	return &tool.Error{
		Op: "call", Kind: kernel.API, Code: kernel.CodeNotebookClosed, Subject: name + ".add_to_daily_note",
		Message: fmt.Sprintf("notebook %s is closed", id),
		Hint:    fmt.Sprintf(`notebook(action="set_open_state", notebook="%s", opened=true) opens it`, id),
	}
}
