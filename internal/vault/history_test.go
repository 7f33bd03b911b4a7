package vault_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collie/internal/vault"
	"collie/internal/vault/markup"
	"collie/internal/vault/workspace"
)

// TestWhatAChangeReplacesIsKept makes one change of each kind to a document that is older than ten minutes, and looks in the
// history for the state before.
func TestWhatAChangeReplacesIsKept(t *testing.T) {
	t.Parallel()
	const (
		doc  = "20240101000000-olddoc1"
		text = "20240101000000-oldtext"
		head = "20240101000000-oldhead"
		item = "20240101000000-olditem"
	)
	before := "before #tag# ![i](assets/a.png)\n{: id=\"" + text + "\"}\n\n((" + text + " 'a'))\n\n- {: id=\"" + item +
		"\"}one\n\n# H\n{: id=\"" + head + "\"}\n\nunder"
	tests := []struct{ name, endpoint, body string }{
		{"attribute", "/api/attr/setBlockAttrs", `{"id":"` + text + `","attrs":{"memo":"m"}}`},
		{"title as attribute", "/api/attr/setBlockAttrs", `{"id":"` + doc + `","attrs":{"title":"New"}}`},
		{"attributes of many", "/api/attr/batchSetBlockAttrs", `{"blockAttrs":[{"id":"` + text + `","attrs":{"memo":"m"}}]}`},
		{"title", "/api/filetree/renameDocByID", `{"id":"` + doc + `","title":"New"}`},
		{"heading to document", "/api/filetree/heading2Doc", `{"srcHeadingID":"` + head + `","targetNoteBook":"%s","targetPath":"/"}`},
		{"references", "/api/block/transferBlockRef", `{"fromID":"` + text + `","toID":"` + head + `"}`},
		{"replacement", "/api/search/findReplace", `{"k":"before","r":"after","ids":["` + text + `"],"replaceTypes":{"text":true}}`},
		{"replaced title", "/api/search/findReplace", `{"k":"Old","r":"New","ids":["` + doc + `"],"replaceTypes":{"docTitle":true}}`},
		{"tag", "/api/tag/renameTag", `{"oldLabel":"tag","newLabel":"other"}`},
		{"asset", "/api/asset/renameAsset", `{"oldPath":"assets/a.png","newName":"b"}`},
		{"update", "/api/block/updateBlock", `{"id":"` + text + `","dataType":"markdown","data":"after"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := vault.New(filepath.Join(t.TempDir(), "vault.db"), vault.Options{})
			t.Cleanup(func() { _ = v.Close() })
			box := ask(t, v, "/api/notebook/createNotebook", `{"name":"N"}`).Get("data.notebook.id").Str
			made := ask(t, v, "/api/filetree/createDocWithMd",
				fmt.Sprintf(`{"notebook":%q,"path":"/Old","id":%q,"markdown":%q}`, box, doc, before))
			if made.Get("code").Int() != 0 {
				t.Fatal(made.Raw)
			}
			body := strings.Replace(tt.body, "%s", box, 1)
			var want, now string
			look := func(tx *workspace.Tx) (sy string, kept []string) {
				for _, f := range tx.FilesBelow("/history") {
					if !f.Dir {
						kept = append(kept, string(tx.ReadFile(f.Path)))
					}
				}
				return string(markup.SY(tx.Document(doc))), kept
			}
			update(t, v, func(tx *workspace.Tx) {
				tx.WriteFile("/data/assets/a.png", []byte("png"), time.Time{})
				want, _ = look(tx)
			})
			for range 2 { // the second change comes too soon for another copy
				if got := ask(t, v, tt.endpoint, body); got.Get("code").Int() != 0 && now == "" {
					t.Fatal(got.Raw)
				}
				var kept []string
				update(t, v, func(tx *workspace.Tx) { now, kept = look(tx) })
				if now == want || len(kept) != 1 || kept[0] != want {
					t.Errorf("changed to\n%s\nkept are\n%s\nwant one copy of\n%s", now, kept, want)
				}
			}
		})
	}
}

// update changes the workspace of a vault directly, without the API.
func update(t *testing.T, v *vault.Vault, change func(*workspace.Tx)) {
	t.Helper()
	w, err := v.Workspace(t.Context())
	if err == nil {
		err = w.Update(t.Context(), func(tx *workspace.Tx) error { change(tx); return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
}
