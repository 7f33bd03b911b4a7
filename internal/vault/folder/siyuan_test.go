package folder_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault/folder"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
	"collie/test/await"
)

// unzip returns the files of an archive by name.
func unzip(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]byte{}
	for _, f := range r.File {
		if !fs.ValidPath(f.Name) || strings.ContainsAny(f.Name, `\:`) {
			t.Errorf("the archive holds %q, which leads elsewhere", f.Name)
		}
		if found[f.Name] != nil {
			t.Errorf("the archive holds %q twice", f.Name)
		}
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if found[f.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
		_ = in.Close()
	}
	return found
}

// outline returns a line for each block of a tree, with its depth, kind, attributes and text. Trees that differ only in how their
// text is written have equal outlines.
func outline(b *tree.Block) (list []string) {
	b.Walk(func(b *tree.Block) {
		depth := 0
		for up := b.Parent; up != nil; up = up.Parent {
			depth++
		}
		list = append(list, fmt.Sprintf("%d %s %q %q %s %q", depth, b.Kind, b.Marker, b.Task, tree.IAL(b.Attrs), markup.Content(b)))
	})
	return list
}

// compareArchive exports a notebook as an archive for SiYuan and compares it with the vault.
func compareArchive(t *testing.T, w *workspace.Workspace, box *tree.Notebook) {
	t.Helper()
	var out bytes.Buffer
	r, err := folder.ExportSiYuan(t.Context(), w, box.ID, &out)
	if err != nil {
		t.Fatal(err)
	}
	got := unzip(t, out.Bytes())
	tops := map[string]bool{}
	for name := range got {
		top, _, _ := strings.Cut(name, "/")
		tops[top] = true
	}
	if len(tops) != 1 {
		t.Fatalf("the archive has the tops %v, want one folder", tops)
	}
	top := ""
	for top = range tops {
	}
	var conf tree.Conf
	if err := json.Unmarshal(got[top+"/.siyuan/conf.json"], &conf); err != nil || conf.Name != box.Conf.Name {
		t.Errorf("conf.json: %v, %+v", err, conf)
	}
	var order map[string]int
	if err := json.Unmarshal(got[top+"/.siyuan/sort.json"], &order); err != nil {
		t.Errorf("sort.json: %v", err)
	}
	documents := 0
	for hpath, d := range documentsByPath(t, w) {
		if d.Box.ID != box.ID || d.Root.ID == box.ID && got[top+"/"+box.ID+".sy"] == nil {
			continue
		}
		documents++
		var data []byte
		for name := range got {
			if path.Base(name) == d.Root.ID+".sy" {
				data = got[name]
			}
		}
		root, err := markup.ParseSY(data)
		if err != nil {
			t.Errorf("%s: %v", hpath, err)
			continue
		}
		if diff := cmp.Diff(outline(d.Root), outline(root)); diff != "" {
			t.Errorf("%s is another tree in the archive:\n%s", hpath, diff)
		}
		if order[d.Root.ID] != d.Sort && d.Root.ID != box.ID {
			t.Errorf("%s has the place %d, want %d", hpath, order[d.Root.ID], d.Sort)
		}
		root.Walk(func(b *tree.Block) {
			for _, s := range markup.Spans(b.Text) {
				if address, _, _ := strings.Cut(s.Target, "?"); !b.Container() && strings.HasPrefix(address, "assets/") && got[top+"/"+address] == nil {
					t.Errorf("%s names %s, which is not in the archive", hpath, address)
				}
			}
		})
	}
	if documents != r.Documents {
		t.Errorf("the report counts %d documents, want %d", r.Documents, documents)
	}
}

func TestArchive(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*workspace.Workspace{"filled": newFilledVault(t), "generated": func() *workspace.Workspace {
		w := newVault(t)
		importFolder(t, w, generateFolder(4, await.Fewer(120)).write(t), folder.ImportOptions{Notebook: "../N: 一"})
		return w
	}()} {
		t.Run(name, func(t *testing.T) {
			seen := map[string]bool{}
			for _, d := range documentsByPath(t, w) {
				if !seen[d.Box.ID] {
					seen[d.Box.ID] = true
					compareArchive(t, w, d.Box)
				}
			}
		})
	}
	if _, err := folder.ExportSiYuan(t.Context(), newVault(t), "../x", io.Discard); err == nil {
		t.Error("a notebook that is not there was packed")
	}
}

// TestArchivePlaces checks the paths of documents, assets and databases in an archive.
func TestArchivePlaces(t *testing.T) {
	t.Parallel()
	w := newFilledVault(t)
	var out bytes.Buffer
	var id string
	for _, d := range documentsByPath(t, w) {
		if !d.Box.Conf.Closed {
			id = d.Box.ID
		}
	}
	if _, err := folder.ExportSiYuan(t.Context(), w, id, &out); err != nil {
		t.Fatal(err)
	}
	got := unzip(t, out.Bytes())
	for _, want := range []string{
		"/.siyuan/conf.json", "/.siyuan/sort.json", "/20240102030405-topdoc1.sy", "/20240102030405-topdoc1/20240102030405-child01.sy",
		"/assets/pic-20240102030405-aaaaaaa.png", "/assets/sub dir/doc-20240102030405-aaaaaab.pdf.sya", "/storage/av/20240102030405-avavavb.json",
	} {
		if got["Work _ 工作"+want] == nil {
			t.Errorf("there is no %s in the archive", want)
		}
	}
	if got["Work _ 工作/"+id+".sy"] != nil {
		t.Error("the empty text of the notebook is a document")
	}
}
