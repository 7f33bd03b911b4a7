package folder_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault/folder"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// newVault opens an empty vault.
func newVault(t testing.TB) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "vault.db"), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// files are the files of a folder by path.
type files map[string]string

// write makes a folder of files.
func (f files) write(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "notes")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range f {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// readFiles returns the files of a folder.
func readFiles(t testing.TB, dir string) files {
	t.Helper()
	found := files{}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(at)
		rel, _ := filepath.Rel(dir, at)
		found[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// importFolder imports a folder, and fails the test on an error.
func importFolder(t testing.TB, w *workspace.Workspace, dir string, o folder.ImportOptions) folder.Report {
	t.Helper()
	r, err := folder.Import(t.Context(), w, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// exportNew exports notebooks into a new folder (all of them, unless o selects some) and returns its path.
func exportNew(t testing.TB, w *workspace.Workspace, o folder.ExportOptions) (string, folder.Report) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "export")
	r, err := folder.Export(t.Context(), w, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return dir, r
}

// documentsByPath returns the documents of a vault by the name of the notebook and their path by titles, such as "Box/Page/Child".
func documentsByPath(t testing.TB, w *workspace.Workspace) map[string]*tree.Document {
	t.Helper()
	found := map[string]*tree.Document{}
	err := w.View(t.Context(), func(tx *workspace.Tx) error {
		for _, box := range tx.Notebooks() {
			for _, d := range tx.Documents(box) {
				root := tx.Peek(d.ID())
				found[box.Conf.Name+d.HPath()] = &tree.Document{Root: root, Box: box, Sort: d.Sort, Loaded: true}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// markdownByPath returns the documents of a vault as Markdown, by the same paths as documentsByPath. Pages of notebooks are left out.
func markdownByPath(t testing.TB, w *workspace.Workspace) map[string]string {
	t.Helper()
	found := map[string]string{}
	for name, d := range documentsByPath(t, w) {
		if !d.Hidden() {
			found[name] = markup.Export(d.Root)
		}
	}
	return found
}

// problemLines returns the problems of a report as "code path what".
func problemLines(r folder.Report) []string {
	found := []string{}
	for _, p := range r.Problems {
		found = append(found, p.Code+" "+p.Path+" "+p.What)
	}
	return found
}

// openAllAndCheck opens all notebooks and fails the test if the vault is not sound.
func openAllAndCheck(t testing.TB, w *workspace.Workspace) {
	t.Helper()
	err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		for _, box := range tx.Notebooks() { // the full text index holds open notebooks only
			box.Conf.Closed = false
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	problems, err := w.Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("the vault is not sound: %v", p)
	}
}

// compareFiles fails the test unless two folders have the same files.
func compareFiles(t testing.TB, got, want files) {
	t.Helper()
	for name := range want {
		if _, found := got[name]; !found {
			t.Errorf("%s is missing", name)
		} else if got[name] != want[name] {
			t.Errorf("%s differs:\n%s", name, cmp.Diff(want[name], got[name]))
		}
	}
	for name := range got {
		if _, known := want[name]; !known {
			t.Errorf("%s is there and should not be", name)
		}
	}
}

// TestHeadingsAreNoChange checks that the ids that headings get on import are not reported as changes of the page.
func TestHeadingsAreNoChange(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"one": "# Plan\n", "several": "text\n\n## Plan\n\ntext\n\n# 计划\n", "quoted": "> ## Plan\n", "two of a name": "# A\n\n# A\n",
	} {
		w := newVault(t)
		r := importFolder(t, w, files{"Plan.md": text}.write(t), folder.ImportOptions{})
		if len(r.Changes) > 0 || len(r.Problems) > 0 {
			t.Errorf("%s: %+v, %+v", name, r.Changes, r.Problems)
		}
	}
}
