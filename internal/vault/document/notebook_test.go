package document_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault/workspace"
)

// TestNotebookAndItsPageShareNameAndIcon renames a notebook, its page and its configuration: name and icon stay the same in all.
func TestNotebookAndItsPageShareNameAndIcon(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	box := v.createNotebook("Notes 笔记")
	title := func() (title, icon string) {
		v.View(func(tx *workspace.Tx) {
			attrs := tx.Document(box).Root.Attrs
			title, icon = attrs["title"], attrs["icon"]
		})
		return title, icon
	}
	v.Ask("notebook/renameNotebook", object{"notebook": box, "name": "A/B"})
	v.Ask("notebook/setNotebookIcon", object{"notebook": box, "icon": "1f4d4"})
	if title, icon := title(); title != "AB" || icon != "1f4d4" {
		t.Errorf("the page has title %q and icon %q", title, icon)
	}
	v.Ask("filetree/renameDocByID", object{"id": box, "title": "From the page"})
	if name := v.Ask("notebook/getNotebookConf", object{"notebook": box}).Get("name").Str; name != "From the page" {
		t.Errorf("the notebook is called %q", name)
	}
	v.Ask("notebook/setNotebookConf", object{"notebook": box, "conf": object{"name": "By conf", "icon": ""}})
	if title, icon := title(); title != "By conf" || icon != "" {
		t.Errorf("the page has title %q and icon %q", title, icon)
	}
}

// TestRemovedNotebookIsKept checks that the history holds the documents and files of a removed notebook.
func TestRemovedNotebookIsKept(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	box := v.createNotebook("Gone")
	id := v.createDocument(box, "/a/b", "text")
	other := v.createDocument(v.createNotebook("Stays"), "/c", "other")
	v.Update(func(tx *workspace.Tx) {
		tx.WriteFile("/data/"+box+"/assets/x.png", []byte("png"), tx.Document(id).Changed)
	})
	above := v.Ask("filetree/getIDsByHPath", object{"notebook": box, "path": "/a"}).Get("0").Str

	v.Ask("notebook/closeNotebook", object{"notebook": box})
	v.Ask("notebook/removeNotebook", object{"notebook": box})
	kept := v.historyPaths()
	want := []string{
		"delete/" + box + "/" + above + ".sy", "delete/" + box + "/" + above + "/" + id + ".sy",
		"delete/" + box + "/" + box + ".sy", "delete/" + box + "/assets/x.png",
	}
	slices.Sort(kept)
	slices.Sort(want)
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Error(diff)
	}
	v.View(func(tx *workspace.Tx) {
		if tx.Notebook(box) != nil || tx.DocumentExists(id) || tx.Stat("/data/"+box) != nil {
			t.Error("something of the notebook is left")
		}
	})
	if v.Text(other) != "other" {
		t.Error("another notebook was touched")
	}
}

func TestRefusedConfigurationChangesNothing(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	box := v.createNotebook("N")
	v.wantRefused("notebook/setNotebookConf", object{"notebook": box, "conf": object{"name": "x", "sort": "abc"}}, "BoxConf.sort of type int")
	if name := v.Ask("notebook/getNotebookConf", object{"notebook": box}).Get("conf.name").Str; name != "N" {
		t.Errorf("the name is %q", name)
	}
	const ghost = "20980101000000-ghost01"
	v.wantRefused("notebook/setNotebookConf", object{"notebook": ghost, "conf": object{"sort": "abc"}}, "BoxConf.sort")
	if n := len(v.Ask("notebook/lsNotebooks", object{}).Get("notebooks").Array()); n != 1 {
		t.Errorf("%d notebooks: a refused call made one", n)
	}
}
