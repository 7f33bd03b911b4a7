package document

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
)

type createDailyNoteArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	App      string    `json:"app" about:"id of the SiYuan window that asks"`
}

type createDailyNoteResult struct {
	Success bool `json:"success" about:"true"`
	place
	IconHint string `json:"iconHint" about:"how to give it an icon" verbose:"yes"`
}

func createDailyNote() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "create_daily_note", Purpose: "Create today's daily note, or find it",
		Guide:      `Where it goes, notebook(action="get_conf") says: dailyNoteSavePath.`,
		Class:      action.Creates,
		Needs:      []action.Need{inOpen(access.Write, "notebook"), datafile.DailyNote("notebook")},
		Endpoints:  []string{"notebook/getNotebookConf", "search/searchTemplate", "file/readDir", "file/getFile", "filetree/createDailyNote", "filetree/getHPathByID", "block/getBlockInfo"},
		Positional: []string{"notebook"},
		Result:     createDailyNoteResult{},
		Example:    `{"notebook":"20240101120000-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a createDailyNoteArgs) (any, error) {
		id, err := r.Kernel.DailyNote(ctx, a.Notebook, a.App)
		if err != nil {
			return nil, err
		}
		to := destination{notebook: a.Notebook}
		at, err := to.settle(ctx, r, id)
		if err != nil {
			return nil, err
		}
		r.RefreshDocument(id)
		r.RefreshTree()
		return createDailyNoteResult{true, at, iconHint}, nil
	})
}
