package document

import (
	"encoding/json"
	"errors"
	"fmt"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// getNotebookConf answers with the name and the configuration of a notebook.
func getNotebookConf(tx *workspace.Tx, req api.Request) api.Reply {
	id := req.ID("notebook")
	box := tx.Notebook(id)
	if box == nil {
		return api.Fail(-1, fmt.Sprintf("notebook [%s] not found", id))
	}
	return api.OK(map[string]any{"box": id, "conf": box.Conf, "name": box.Conf.Name})
}

// setNotebookConf changes those keys of a notebook's configuration that conf has. Unknown keys are ignored.
func setNotebookConf(tx *workspace.Tx, req api.Request) api.Reply {
	box, changes := anyNotebook(tx, req.ID("notebook")), req.Object("conf")
	conf := box.Conf
	if err := json.Unmarshal([]byte(changes.Raw), &conf); err != nil {
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			return api.Fail(-1, fmt.Sprintf("json: cannot unmarshal %s into Go struct field BoxConf.%s of type %s", wrong.Value, wrong.Field, wrong.Type))
		}
		return api.Fail(-1, err.Error())
	}
	box.Conf = conf
	syncPageTitle(tx, box)
	return api.OK(conf)
}

func setNotebookIcon(tx *workspace.Tx, req api.Request) api.Reply {
	id, icon := req.NeedID("notebook"), req.NeedStr("icon")
	box := anyNotebook(tx, id)
	box.Conf.Icon = icon
	syncPageTitle(tx, box)
	return api.Done()
}

// anyNotebook returns the notebook with an id. If there is none, it creates a closed one without a page, as SiYuan does
// when an icon or configuration is set; it is listed from then on.
func anyNotebook(tx *workspace.Tx, id string) *tree.Notebook {
	box := tx.Notebook(id)
	if box == nil {
		box = &tree.Notebook{ID: id, Conf: tree.NewConf("Untitled")}
		box.Conf.Closed = true
		tx.AddNotebook(box)
	}
	return box
}
