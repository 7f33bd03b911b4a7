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

// getConfResult describes what the kernel answers.
type getConfResult struct {
	Box  kernel.ID    `json:"box" about:"notebook id"`
	Name string       `json:"name" about:"its name"`
	Conf notebookConf `json:"conf" about:"its settings as SiYuan has them"`
}

type notebookConf struct {
	Closed                bool   `json:"closed" about:"whether it is closed"`
	DailyNoteSavePath     string `json:"dailyNoteSavePath" about:"where daily notes go, a template"`
	DailyNoteTemplatePath string `json:"dailyNoteTemplatePath" about:"template of daily notes"`
	DocCreateSavePath     string `json:"docCreateSavePath" about:"where new documents go"`
	RefCreateSavePath     string `json:"refCreateSavePath" about:"where documents made from a reference go"`
	SortMode              int    `json:"sortMode" about:"order of its documents, 15 is that of the workspace"`
}

func getConf() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "get_conf", Purpose: "Read the settings of a notebook",
		Guide:      "Among them where daily notes and new documents are put.",
		Class:      action.Reads,
		Needs:      []action.Need{action.OnNotebook(access.Read, "notebook")},
		Endpoints:  []string{"notebook/getNotebookConf"},
		Positional: []string{"notebook"},
		Result:     getConfResult{},
		Example:    `{"notebook":"20240101120000-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a getConfArgs) (any, error) {
		raw, err := r.Kernel.NotebookConf(ctx, a.Notebook)
		if err != nil {
			return nil, err
		}
		return shown(r, raw, "conf."), nil
	})
}
