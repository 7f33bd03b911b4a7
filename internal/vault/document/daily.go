package document

import (
	"path"
	"strings"
	"time"

	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/template"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// createDailyNote answers with the id of today's note of a notebook, which it creates if need be.
func createDailyNote(tx *workspace.Tx, req api.Request) api.Reply {
	d, refused := dailyNote(tx, req.Str("notebook"))
	if d == nil {
		return refused
	}
	return api.OK(map[string]any{"id": d.ID()})
}

// addToDailyNote inserts blocks at the start or end of today's note.
func addToDailyNote(tx *workspace.Tx, req api.Request, last bool) api.Reply {
	notebook, data, dataType := req.Str("notebook"), req.Str("data"), req.Str("dataType")
	d, refused := dailyNote(tx, notebook)
	if d == nil {
		return api.Fail(-1, "create daily note failed: "+refused.Msg)
	}
	tx.Load(d)
	return api.Transacted(edit.Place(tx, dataType, data, d.Root, last))
}

// dailyNote returns today's note of a notebook, which it creates if need be. If it cannot, it returns nil and the
// reply. The note gets the attribute custom-dailynote-<yyyyMMdd>.
func dailyNote(tx *workspace.Tx, notebook string) (*tree.Document, api.Reply) {
	box := tx.OpenNotebook(notebook)
	switch {
	case box == nil:
		return nil, api.Fail(1, "notebook not found")
	case box.Conf.DailyNoteSavePath == "":
		return nil, api.Fail(-1, "Please specify the daily note save path in the Notebook Settings")
	}
	now := time.Now()
	hpath, err := edit.RenderIn(tx, box.Conf.DailyNoteSavePath, template.Options{})
	if err != nil {
		return nil, api.Fail(-1, "Parse template failed: "+err.Error())
	}
	hpath = "/" + strings.Trim(hpath, "/")
	d := (*tree.Document)(nil)
	if existing := tx.DocumentsByHPath(notebook, hpath); len(existing) > 0 && !existing[0].Hidden() {
		d = existing[0]
	} else {
		body, err := dailyBody(tx, box, hpath)
		if err != nil {
			return nil, api.Fail(-1, "Parse template failed: "+err.Error())
		}
		if d = create(tx, box, hpath, body, ""); d == nil {
			return nil, api.Fail(-1, treeTooDeep)
		}
	}
	day := now.Format("20060102")
	d.Root.Attrs["custom-dailynote-"+day] = day
	return d, api.Done()
}

// dailyBody returns the Markdown for a new daily note from the notebook's template, "" if it has none.
func dailyBody(tx *workspace.Tx, box *tree.Notebook, hpath string) (string, error) {
	if box.Conf.DailyNoteTemplatePath == "" {
		return "", nil
	}
	text := tx.ReadFile("/data/templates" + path.Clean("/"+box.Conf.DailyNoteTemplatePath))
	return edit.RenderIn(tx, string(text), template.Options{
		Left: template.ActionLeft, Right: template.ActionRight, Data: map[string]string{"title": path.Base(hpath)},
	})
}
