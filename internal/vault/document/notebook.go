package document

import (
	"strings"
	"unicode/utf8"

	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoints for notebooks.

// registerNotebooks adds the endpoints below /api/notebook.
func registerNotebooks(mux *api.Mux) {
	mux.Read("/api/notebook/lsNotebooks", lsNotebooks)
	mux.Read("/api/notebook/getNotebookConf", getNotebookConf)
	mux.Write("/api/notebook/createNotebook", createNotebook)
	mux.Write("/api/notebook/renameNotebook", renameNotebook)
	mux.Write("/api/notebook/setNotebookIcon", setNotebookIcon)
	mux.Write("/api/notebook/setNotebookConf", setNotebookConf)
	mux.Write("/api/notebook/openNotebook", openNotebook)
	mux.Write("/api/notebook/closeNotebook", closeNotebook)
	mux.Write("/api/notebook/removeNotebook", removeNotebook)
}

// listedNotebook is a notebook in a list.
type listedNotebook struct {
	ID                string `json:"id"`
	Name              string `json:"name"`
	Icon              string `json:"icon"`
	Sort              int    `json:"sort"`
	SortMode          int    `json:"sortMode"`
	Closed            bool   `json:"closed"`
	SubFileCount      int    `json:"subFileCount"` // documents at its top; 0 if it is closed
	NewFlashcardCount int    `json:"newFlashcardCount"`
	DueFlashcardCount int    `json:"dueFlashcardCount"`
	FlashcardCount    int    `json:"flashcardCount"`
	Encrypted         bool   `json:"encrypted"`
	Unlocked          bool   `json:"unlocked"`
}

func newListed(box *tree.Notebook, documents int) listedNotebook {
	return listedNotebook{
		ID: box.ID, Name: box.Conf.Name, Icon: box.Conf.Icon, Sort: box.Conf.Sort, SortMode: box.Conf.SortMode,
		Closed: box.Conf.Closed, SubFileCount: documents,
	}
}

// lsNotebooks lists the notebooks. The list of those with flashcards is null, as in SiYuan.
func lsNotebooks(tx *workspace.Tx, req api.Request) api.Reply {
	if req.OptFlag("flashcard", false) {
		return api.OK(map[string]any{"boxDocEnabled": true, "notebooks": nil})
	}
	boxes := tx.Notebooks()
	var open []string
	for _, box := range boxes {
		if !box.Conf.Closed {
			open = append(open, box.ID)
		}
	}
	counts := tx.CountChildren(open)
	list := make([]listedNotebook, len(boxes))
	for i, box := range boxes {
		list[i] = newListed(box, counts[box.ID])
	}
	return api.OK(map[string]any{"boxDocEnabled": true, "notebooks": list})
}

func createNotebook(tx *workspace.Tx, req api.Request) api.Reply {
	name := cleanName(req.NeedStr("name"))
	if utf8.RuneCountInString(name) > edit.MaxTitle {
		return api.Fail(-1, titleTooLong)
	}
	return api.OK(map[string]any{"notebook": newListed(tx.CreateNotebook(name), 0)})
}

// cleanName returns the name of a notebook in the form in which it is stored.
func cleanName(name string) string {
	return edit.CleanTitle(strings.TrimSpace(strings.ReplaceAll(name, "/", "")))
}

func renameNotebook(tx *workspace.Tx, req api.Request) api.Reply {
	id, name := req.NeedID("notebook"), cleanName(req.NeedStr("name"))
	box := tx.OpenNotebook(id)
	switch {
	case box == nil:
		return api.Notice(notebookFailed, shortError)
	case utf8.RuneCountInString(name) > edit.MaxTitle:
		return api.Fail(-1, titleTooLong)
	}
	box.Conf.Name = name
	syncPageTitle(tx, box)
	return api.Done()
}

// syncPageTitle copies the name and icon of a notebook to its page.
func syncPageTitle(tx *workspace.Tx, box *tree.Notebook) {
	page := tx.Page(box)
	if page == nil {
		return
	}
	page.Root.Attrs["title"] = box.Conf.Name
	if box.Conf.Icon == "" {
		delete(page.Root.Attrs, "icon")
	} else {
		page.Root.Attrs["icon"] = box.Conf.Icon
	}
}

func openNotebook(tx *workspace.Tx, req api.Request) api.Reply {
	box := tx.Notebook(req.NeedID("notebook"))
	if box == nil {
		return api.Fail(-1, "can not open file, just support open folder only")
	}
	box.Conf.Closed = false
	return api.Done()
}

func closeNotebook(tx *workspace.Tx, req api.Request) api.Reply {
	if box := tx.Notebook(req.ID("notebook")); box != nil {
		box.Conf.Closed = true
	}
	return api.Done()
}

func removeNotebook(tx *workspace.Tx, req api.Request) api.Reply {
	if box := tx.Notebook(req.NeedID("notebook")); box != nil {
		edit.RemoveNotebook(tx, box)
	}
	return api.Done()
}
