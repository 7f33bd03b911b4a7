package notebook

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type getConfArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
}

func getConf() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "get_conf", Purpose: "Read the settings of a notebook",
		Guide:      "Among them where daily notes and new documents are put.",
		Class:      action.Reads,
		Needs:      []action.Need{action.OnNotebook(access.Read, "notebook")},
		Endpoints:  []string{"notebook/getNotebookConf"},
		Positional: []string{"notebook"},
		Returns: []action.Field{
			{Name: "box", About: "notebook id"},
			{Name: "name", About: "its name"},
			{Name: "conf", About: "its settings as SiYuan has them"},
			{Name: "conf.closed", About: "whether it is closed"},
			{Name: "conf.dailyNoteSavePath", About: "where daily notes go, a template"},
			{Name: "conf.dailyNoteTemplatePath", About: "template of daily notes"},
			{Name: "conf.docCreateSavePath", About: "where new documents go"},
			{Name: "conf.refCreateSavePath", About: "where documents made from a reference go"},
			{Name: "conf.sortMode", About: "order of its documents, 15 is that of the workspace"},
		},
		Example: `{"notebook":"20240101120000-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a getConfArgs) (any, error) {
		raw, err := r.Kernel.NotebookConf(ctx, a.Notebook)
		if err != nil {
			return nil, err
		}
		return shown(r, raw, "conf."), nil
	})
}
