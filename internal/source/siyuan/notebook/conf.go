package notebook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"collie/internal/puretemplate"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions notebook.get_conf and notebook.set_conf.

type getConfArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
}

// getConfResult describes the kernel's answer.
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

// getConf returns the action get_conf of the tool notebook.
func getConf() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "get_conf", Purpose: "Read the settings of a notebook",
		Guide: "Among them where daily notes and new documents are put.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
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
		return withoutSecrets(r, raw, "conf."), nil
	})
}

type setConfArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	Conf     settings  `json:"conf" about:"what to change; the rest stays" req:"true" list:"json"`
}

// settings are the settings of a notebook that may be changed.
type settings struct {
	Name                  *string `json:"name,omitempty" about:"its name"`
	Closed                *bool   `json:"closed,omitempty" about:"as set_open_state"`
	RefCreateSavePath     *string `json:"refCreateSavePath,omitempty" about:"where documents made from a reference go"`
	DocCreateSavePath     *string `json:"docCreateSavePath,omitempty" about:"where new documents go"`
	CreateDocNameTemplate *string `json:"createDocNameTemplate,omitempty" about:"name of new documents (some versions)"`
	DailyNoteSavePath     *string `json:"dailyNoteSavePath,omitempty" about:"where daily notes go, a template"`
	DailyNoteTemplatePath *string `json:"dailyNoteTemplatePath,omitempty" about:"template of daily notes"`
}

// setConfResult describes the settings that the kernel answers.
type setConfResult struct {
	Name                  string `json:"name" about:"name of the notebook"`
	Closed                bool   `json:"closed" about:"whether it is closed"`
	Indexing              bool   `json:"indexing" about:"as of set_open_state"`
	DailyNoteSavePath     string `json:"dailyNoteSavePath" about:"where daily notes go"`
	DailyNoteTemplatePath string `json:"dailyNoteTemplatePath" about:"template of daily notes"`
	DocCreateSavePath     string `json:"docCreateSavePath" about:"where new documents go"`
	RefCreateSavePath     string `json:"refCreateSavePath" about:"where documents made from a reference go"`
	Sort                  int    `json:"sort" about:"its place in the list" verbose:"yes"`
	SortMode              int    `json:"sortMode" about:"order of its documents" verbose:"yes"`
	Icon                  string `json:"icon" about:"its icon" verbose:"yes"`
}

// setConf returns the action set_conf of the tool notebook.
func setConf() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "set_conf", Purpose: "Change settings of a notebook",
		Guide: "Only the settings that are given change. One that this version of SiYuan lacks is refused. Paths may have " +
			"actions in {{ }} with functions of texts, numbers and dates; others, such as queryBlocks, can read all notes and need every " +
			"notebook to be readable. dailyNoteTemplatePath is a template below data/templates, by the same rule.",
		Class: action.State, Risk: tool.RiskMedium, Effects: tool.EffectWrite,
		Needs: []action.Need{
			action.OnNotebook(access.Write, "notebook"),
			action.On(access.Read, "every notebook, where a path or template does more than texts, numbers and dates", "conf", needsRendering),
		},
		Endpoints: []string{"search/searchTemplate", "file/readDir", "file/getFile", "notebook/getNotebookConf", "notebook/setNotebookConf", "notebook/openNotebook", "notebook/closeNotebook", "notebook/lsNotebooks", "sqlite/flushTransaction", "system/bootProgress", "filetree/listDocsByPath", "block/getBlockTreeInfos"},
		Result:    setConfResult{},
		Example:   `{"notebook":"20240101120000-abcdefg","conf":{"dailyNoteSavePath":"/journal/{{now | date \"2006-01-02\"}}"}}`,
	}, func(ctx context.Context, r *action.Request, a setConfArgs) (any, error) {
		open := a.Conf.Closed
		a.Conf.Closed = nil // the endpoint would store it without opening or closing the notebook
		changes, err := a.Conf.changes(r)
		if err != nil {
			return nil, err
		}
		if len(changes) == 0 && open == nil {
			return nil, r.Invalid("conf", "has no setting to change")
		}
		conf, err := applySettings(ctx, r, a.Notebook, changes)
		if err != nil {
			return nil, err
		}
		if open != nil && gjson.GetBytes(conf, "closed").Bool() != *open {
			indexing, err := setOpen(ctx, r, a.Notebook, !*open)
			if err != nil {
				return nil, err
			}
			if indexing {
				if conf, err = sjson.SetBytes(conf, "indexing", true); err != nil {
					return nil, err
				}
			}
			if conf, err = sjson.SetBytes(conf, "closed", *open); err != nil {
				return nil, err
			}
		}
		r.RefreshTree()
		return withoutSecrets(r, conf, ""), nil
	})
}

// changes returns the settings that were given, by name.
func (s *settings) changes(r *action.Request) (map[string]any, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, err
	}
	if s.Name != nil {
		title, err := name(r, "conf/name", *s.Name)
		if err != nil {
			return nil, err
		}
		out["name"] = strings.ReplaceAll(title, "/", "") // as renameNotebook does
	}
	return out, nil
}

// applySettings writes settings and returns all of them. It first checks that the kernel knows each of
// them, because the kernel silently drops unknown ones.
func applySettings(ctx context.Context, r *action.Request, id kernel.ID, changes map[string]any) (json.RawMessage, error) {
	raw, err := r.Kernel.NotebookConf(ctx, id)
	if err != nil {
		return nil, err
	}
	conf := gjson.GetBytes(raw, "conf")
	if len(changes) == 0 {
		return json.RawMessage(conf.Raw), nil
	}
	var names []string
	for setting := range changes {
		if names = append(names, setting); !conf.Get(setting).Exists() {
			return nil, &tool.Error{
				Op: "write notebook", Kind: kernel.NotInKernel, Subject: string(id),
				Message: fmt.Sprintf("notebooks of this kernel have no setting %q; nothing was changed", setting),
				Hint:    `notebook(action="get_conf") shows the settings there are`,
			}
		}
	}
	got, err := r.Kernel.SetNotebookConf(ctx, id, changes)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, setting := range names {
		// The kernel may normalize a value. If the value did not change at all, it was not written.
		if now := gjson.GetBytes(got, setting).String(); now != changes[setting] && now == conf.Get(setting).String() {
			return nil, mismatchError(id, fmt.Sprintf("setting %q is still %q after the write, not %q", setting, now, changes[setting]))
		}
	}
	return got, nil
}

// needsRendering requires the permission to have the kernel render the given settings. The kernel renders them
// whenever somebody makes a document, and that person may not know of the change.
func needsRendering(ctx context.Context, r *action.Request) ([]action.Target, error) {
	conf := gjson.GetBytes(r.Args(), "conf")
	for _, setting := range datafile.Rendered {
		if err := datafile.CheckRendering(ctx, r, puretemplate.Path, setting, conf.Get(setting).String()); err != nil {
			return nil, err
		}
	}
	return nil, datafile.DailyTemplate(ctx, r, conf.Get("dailyNoteTemplatePath").String())
}
