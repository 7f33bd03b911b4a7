package folder_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault/folder"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
	"collie/test/await"
)

// entry is a file in an archive.
type entry struct {
	name, text string
	mode       fs.FileMode
}

// writeArchive writes a .sy.zip archive and returns its path.
func writeArchive(t testing.TB, list ...entry) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range list {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.mode != 0 {
			h.SetMode(e.mode)
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(e.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "Garden.sy.zip")
	if err := os.WriteFile(at, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

// importArchive imports an archive of SiYuan, and fails the test on an error.
func importArchive(t testing.TB, w *workspace.Workspace, file string, o folder.ImportOptions) folder.Report {
	t.Helper()
	r, err := folder.ImportSiYuan(t.Context(), w, file, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestArchiveComesBack exports a notebook as an archive for SiYuan and imports it into an empty vault.
func TestArchiveComesBack(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"notes": someNotes.write(t), "generated": generateFolder(11, await.Fewer(60)).write(t)} {
		w := newVault(t)
		importFolder(t, w, dir, folder.ImportOptions{Notebook: "Garden"})
		var id string
		for _, d := range documentsByPath(t, w) {
			id = d.Box.ID
		}
		at := filepath.Join(t.TempDir(), "Garden.sy.zip")
		out, err := os.Create(at)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := folder.ExportSiYuan(t.Context(), w, id, out); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		wantStates(t, importArchive(t, w, at, folder.ImportOptions{}), map[string]folder.State{}) // into the vault it is from
		other := newVault(t)
		r := importArchive(t, other, at, folder.ImportOptions{})
		if len(r.Problems) > 0 {
			t.Errorf("%s: %v", name, problemLines(r))
		}
		was, is := documentsByPath(t, w), documentsByPath(t, other)
		for path, d := range was {
			if d.Hidden() {
				continue
			}
			got := is[path]
			if got == nil {
				t.Errorf("%s: %s is missing", name, path)
				continue
			}
			if diff := cmp.Diff(outline(d.Root), outline(got.Root)); diff != "" {
				t.Errorf("%s: %s (-was +is):\n%s", name, path, diff)
			}
		}
		if len(is) != len(was) {
			t.Errorf("%s: %d documents, want %d", name, len(is), len(was))
		}
		count := func(w *workspace.Workspace, table string) (n int64) {
			if err := w.View(t.Context(), func(tx *workspace.Tx) error {
				tx.Rows(func(row workspace.Row) bool { n = row.Int(0); return false }, "SELECT count(*) FROM "+table)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return n
		}
		for _, table := range []string{"refs", "assets", "attributes"} {
			if a, b := count(w, table), count(other, table); a != b {
				t.Errorf("%s: %d rows of %s, were %d", name, b, table, a)
			}
		}
		before := dumpVault(t, other)
		wantStates(t, importArchive(t, other, at, folder.ImportOptions{}), map[string]folder.State{})
		if diff := cmp.Diff(before, dumpVault(t, other)); diff != "" {
			t.Errorf("%s: the second import changed something:\n%s", name, diff)
		}
		wantSound(t, other)
	}
}

const (
	gardenID = "20240101080000-garden1"
	treesID  = "20240101080001-trees01"
	appleID  = "20240101080002-apple01"
	tableID  = "20240101080003-table01"
)

// syDocument returns a document with one paragraph as a .sy file. properties are further members of its properties, in JSON.
func syDocument(id, title, properties, text string) string {
	return fmt.Sprintf(`{"ID":%q,"Spec":"2","Type":"NodeDocument","Properties":{"id":%q,"title":%q,"type":"doc","updated":"20240102080000"%s},`+
		`"Children":[{"ID":"%s-p000001","Type":"NodeParagraph","Properties":{"id":"%s-p000001","updated":"20240102080000"},"Children":[%s]}]}`,
		id, id, title, properties, id[:14], id[:14], text)
}

// gardenArchive returns the files of an archive as a kernel writes it.
func gardenArchive() []entry {
	return []entry{
		{name: "Garden/.siyuan/boxDoc.json", text: `{"spec":1,"boxDocID":"` + gardenID + `"}`},
		{name: "Garden/.siyuan/conf.json", text: `{"name":"Garden","sort":0,"icon":"1f331","closed":true,"sortMode":15,"encrypted":false,"boxCrypt":null}`},
		{name: "Garden/.siyuan/sort.json", text: `{"` + treesID + `":1,"` + appleID + `":1}`},
		{name: "Garden/" + gardenID + ".sy", text: syDocument(gardenID, "Garden", `,"custom-hidden":"true"`, "")},
		{name: "Garden/" + treesID + ".sy", text: syDocument(treesID, "Trees", "", `{"Type":"NodeText","Data":"Tall "},{"Type":"NodeTextMark","TextMarkType":"strong","TextMarkTextContent":"ones"}`)},
		{name: "Garden/" + treesID + "/" + appleID + ".sy", text: syDocument(appleID, "苹果", `,"bookmark":"b","memo":"m","custom-x":"y","custom-avs":"`+tableID+`","custom-riff-decks":"20240101080004-deck001"`,
			`{"Type":"NodeText","Data":"See "},{"Type":"NodeTextMark","TextMarkType":"block-ref","TextMarkBlockRefID":"`+treesID+`","TextMarkBlockRefSubtype":"d","TextMarkTextContent":"Trees"},`+
				`{"Type":"NodeText","Data":" and "},{"Type":"NodeImage","Data":"span","Children":[{"Type":"NodeBang"},{"Type":"NodeOpenBracket"},{"Type":"NodeLinkText","Data":"x"},{"Type":"NodeCloseBracket"},{"Type":"NodeOpenParen"},{"Type":"NodeLinkDest","Data":"assets/leaf-20240101080005-leaf001.png"},{"Type":"NodeCloseParen"}]}`)},
		{name: "Garden/assets/leaf-20240101080005-leaf001.png", text: "PNG"},
		{name: "Garden/storage/av/" + tableID + ".json", text: `{"spec":5,"id":"` + tableID + `","name":"t","keyValues":[],"viewID":"","views":[]}`},
	}
}

func TestArchiveOfSiYuan(t *testing.T) {
	t.Parallel()
	w := newVault(t)
	r := importArchive(t, w, writeArchive(t, gardenArchive()...), folder.ImportOptions{})
	wantProblems(t, r, "card Garden/"+treesID+"/"+appleID+".sy")
	all := documentsByPath(t, w)
	apple := all["Garden/Trees/苹果"]
	if apple == nil || apple.Root.ID != appleID || apple.Box.ID != gardenID || apple.Box.Conf.Icon != "1f331" || apple.Box.Conf.Closed {
		t.Fatalf("%v", all)
	}
	if a := apple.Root.Attrs; a["bookmark"] != "b" || a["memo"] != "m" || a["custom-x"] != "y" || a["custom-avs"] != tableID || a["custom-riff-decks"] != "" || a["updated"] != "20240102080000" {
		t.Errorf("%v", a)
	}
	if text := apple.Root.Children[0].Text; text != "See (("+treesID+" 'Trees')) and ![x](assets/leaf-20240101080005-leaf001.png)" {
		t.Error(text)
	}
	if err := w.View(t.Context(), func(tx *workspace.Tx) error {
		for _, at := range []string{"/data/assets/leaf-20240101080005-leaf001.png", "/data/storage/av/" + tableID + ".json"} {
			if tx.Stat(at) == nil {
				t.Errorf("%s is missing", at)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	wantSound(t, w)
	// A later archive of the notebook at another path: both it and the vault changed a document, and it is not known
	// which is newer.
	editDocument(t, w, "Garden/Trees", func(_ *workspace.Tx, d *tree.Document) { d.Root.Children[0].Text = "mine" })
	later := gardenArchive()
	later[4].text = strings.Replace(later[4].text, "Tall", "Very tall", 1)
	wantStates(t, importArchive(t, w, writeArchive(t, later...), folder.ImportOptions{}), map[string]folder.State{"Garden/" + treesID + ".sy": folder.Conflict})
	// An archive of one document goes to the notebook that the options name.
	other := newVault(t)
	single := []entry{gardenArchive()[4], gardenArchive()[5]}
	importArchive(t, other, writeArchive(t, single...), folder.ImportOptions{Notebook: "Box"})
	if documentsByPath(t, other)["Box/Trees/苹果"] == nil {
		t.Errorf("%v", documentsByPath(t, other))
	}
	wantSound(t, other)
}

// TestArchiveTellsWhatItAlters imports a document with more levels of quotes than the vault can hold.
func TestArchiveTellsWhatItAlters(t *testing.T) {
	t.Parallel()
	const deep = 210
	list := gardenArchive()
	list[4].text = strings.Replace(list[4].text, `"Children":[{"ID"`, `"Children":[`+strings.Repeat(`{"Type":"NodeBlockquote","Children":[`, deep)+
		`{"Type":"NodeParagraph","Children":[{"Type":"NodeText","Data":"below"}]}`+strings.Repeat("]}", deep)+`,{"ID"`, 1)
	w := newVault(t)
	r := importArchive(t, w, writeArchive(t, list...), folder.ImportOptions{})
	told := 0
	for _, p := range r.Problems {
		if p.Code == "changed" && p.Path == "Garden/"+treesID+".sy" {
			told++
		}
	}
	if told != 11 {
		t.Errorf("%d problems, want one for each quote below the 200th: %v", told, problemLines(r))
	}
	if text := markup.Export(documentsByPath(t, w)["Garden/Trees"].Root); !strings.Contains(text, "below") || !strings.Contains(text, "Tall") {
		t.Errorf("%.500s", text)
	}
	wantSound(t, w)
}

func TestHostileArchives(t *testing.T) {
	t.Parallel()
	good := gardenArchive()
	var bombs []entry // none of them large enough alone
	for i := range 3 {
		bombs = append(bombs, entry{name: fmt.Sprintf("Garden/assets/bomb%d", i), text: strings.Repeat("\x00", 30<<20)})
	}
	hostile := map[string][]entry{
		"up":         append(gardenArchive(), entry{name: "Garden/../../evil.sy", text: "x"}),
		"absolute":   append(gardenArchive(), entry{name: "/etc/evil.sy", text: "x"}),
		"backslash":  append(gardenArchive(), entry{name: `Garden\..\evil.sy`, text: "x"}),
		"drive":      append(gardenArchive(), entry{name: "C:/evil.sy", text: "x"}),
		"twice":      append(gardenArchive(), good[4]),
		"link":       append(gardenArchive(), entry{name: "Garden/link", text: "/etc/passwd", mode: fs.ModeSymlink | 0o777}),
		"two tops":   append(gardenArchive(), entry{name: "Other/a.sy", text: "x"}),
		"at the top": append(gardenArchive(), entry{name: "a.sy", text: "x"}),
		"bomb":       append(gardenArchive(), entry{name: "Garden/assets/bomb", text: strings.Repeat("\x00", 70<<20)}),
		"bombs":      append(gardenArchive(), bombs...),
		"nothing":    {{name: "Garden/readme.md", text: "x"}},
		"empty":      {},
	}
	if await.Race { // to write and to read them takes long there
		delete(hostile, "bomb")
		delete(hostile, "bombs")
	}
	for name, list := range hostile {
		w := newVault(t)
		if _, err := folder.ImportSiYuan(t.Context(), w, writeArchive(t, list...), folder.ImportOptions{}); err == nil {
			t.Errorf("%s: it is imported", name)
		}
		if n := len(documentsByPath(t, w)); n != 0 {
			t.Errorf("%s: %d documents", name, n)
		}
	}
	noZip := filepath.Join(t.TempDir(), "a.sy.zip")
	if err := os.WriteFile(noZip, []byte("no zip"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.ImportSiYuan(t.Context(), newVault(t), noZip, folder.ImportOptions{}); err == nil {
		t.Error("a file that is not an archive is imported")
	}
	// A document that cannot be read does not keep the others from being imported.
	for name, text := range map[string]string{
		"no json": "{", "another type": `{"Type":"NodeParagraph"}`, "no id": `{"Type":"NodeDocument","ID":"x"}`, "deep": strings.Repeat(`{"Children":[`, 100_000),
		"nodes": syDocument(treesID, "Trees", "", "{}"+strings.Repeat(",{}", 500_000)),
	} {
		w := newVault(t)
		list := gardenArchive()
		list[4].text = text
		r := importArchive(t, w, writeArchive(t, list...), folder.ImportOptions{})
		wantProblems(t, r, "unreadable Garden/"+treesID+".sy")
		if documentsByPath(t, w)["Garden/Trees"] != nil && name != "deep" {
			t.Logf("%s: %v", name, problemLines(r))
		}
		found := false
		for _, d := range documentsByPath(t, w) {
			found = found || d.Root.ID == appleID
		}
		if !found {
			t.Errorf("%s: the document below is missing", name)
		}
		wantSound(t, w)
	}
}

// TestOddArchives imports archives of a shape that SiYuan does not write: a document below the page of the notebook, a
// document within a document, and control characters in a title. No text may be lost.
func TestOddArchives(t *testing.T) {
	t.Parallel()
	list := append(gardenArchive(),
		entry{name: "Garden/" + gardenID + "/20240101080008-below01.sy", text: syDocument("20240101080008-below01", "Below", "", `{"Type":"NodeText","Data":"kept"}`)},
		entry{name: "Garden/20240101080009-inner01.sy", text: syDocument("20240101080009-inner01", "a/b&", "",
			`{"Type":"NodeText","Data":"first"}`)})
	last := &list[len(list)-1]
	last.text = strings.Replace(last.text, "a/b&", `a/b\u001b[31m\u202e`, 1)
	last.text = strings.Replace(last.text, `"Children":[`, `"Children":[{"ID":"20240101080010-inner02","Type":"NodeDocument","Properties":{"title":"Inner"},"Children":[`+
		`{"ID":"20240101080011-inner03","Type":"NodeParagraph","Children":[{"Type":"NodeText","Data":"inside"}]}]},`, 1)
	w := newVault(t)
	importArchive(t, w, writeArchive(t, list...), folder.ImportOptions{})
	all := documentsByPath(t, w)
	if all["Garden/Below"] == nil || all["Garden/Below"].Root.Children[0].Text != "kept" {
		t.Errorf("what lay below the page of the notebook is lost: %v", all)
	}
	odd := all["Garden/a-b[31m"]
	if odd == nil {
		t.Fatalf("no document with its title made one: %v", all)
	}
	var texts []string
	odd.Root.Walk(func(b *tree.Block) {
		if b != odd.Root && b.Kind == tree.Doc {
			t.Error("a document has a document for a block")
		}
		texts = append(texts, b.Text)
	})
	if text := strings.Join(texts, " "); !strings.Contains(text, "inside") || !strings.Contains(text, "first") {
		t.Errorf("%q", texts)
	}
	wantSound(t, w)
}
