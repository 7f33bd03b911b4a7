package document_test

import (
	"strings"
	"testing"

	"collie/internal/vault/document"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/vaulttest"
	"collie/internal/vault/workspace"
)

type object = map[string]any

// vault is a workspace in a temporary file with the routes of this package.
type vault struct{ *vaulttest.Vault }

func newVault(t testing.TB) *vault { return &vault{vaulttest.New(t, document.Register)} }

// wantRefused sends a request that must fail with a message that contains part.
func (v *vault) wantRefused(path string, body any, part string) {
	v.T.Helper()
	answer := v.Answer(path, body)
	if answer.Get("code").Int() == 0 || !strings.Contains(answer.Get("msg").Str, part) {
		v.T.Errorf("%s %v: %s, want an error with %q", path, body, answer.Raw, part)
	}
}

// createNotebook creates a notebook and returns its id.
func (v *vault) createNotebook(name string) string {
	v.T.Helper()
	return v.Ask("notebook/createNotebook", object{"name": name}).Get("notebook.id").Str
}

// createDocument creates a document at a path of titles and returns its id.
func (v *vault) createDocument(box, path, markdown string) string {
	v.T.Helper()
	return v.Ask("filetree/createDocWithMd", object{"notebook": box, "path": path, "markdown": markdown}).Str
}

// blockWithText returns the id of the first block of a document that has the given text.
func (v *vault) blockWithText(doc, content string) (id string) {
	v.T.Helper()
	v.View(func(tx *workspace.Tx) {
		tx.Document(doc).Root.Walk(func(b *tree.Block) {
			if id == "" && b.Kind != tree.Doc && strings.TrimSpace(markup.Content(b)) == content {
				id = b.ID
			}
		})
	})
	if id == "" {
		v.T.Fatalf("no block of %s says %q", doc, content)
	}
	return id
}

// historyPaths returns the paths of the files in the history, without the folder and time at their start.
func (v *vault) historyPaths() (paths []string) {
	v.T.Helper()
	v.View(func(tx *workspace.Tx) {
		for _, f := range tx.FilesBelow("/history") {
			if !f.Dir {
				paths = append(paths, f.Path[len("/history/2006-01-02-150405-"):])
			}
		}
	})
	return paths
}
