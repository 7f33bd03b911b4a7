package salvage_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collie/internal/vault/markup"
	"collie/internal/vault/salvage"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
	"collie/test/await"
)

// pageSize is the size of a page of a vault's SQLite file, in bytes.
const pageSize = 4096

// openWorkspace opens a vault, and closes it when the test ends.
func openWorkspace(t testing.TB, path string) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(t.Context(), path, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// wordOf returns the word that only paragraph i of document doc contains.
func wordOf(doc, i int) string { return fmt.Sprintf("w%dx%dy", doc, i) }

const documents, paragraphs = 30, 40

// sampleVault returns the file of a vault with a tree of documents and a file.
func sampleVault(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vault.db")
	w := openWorkspace(t, path)
	for doc := range documents {
		if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
			if doc == 0 {
				tx.CreateNotebook("笔记")
				tx.WriteFile("/data/assets/a.png", bytes.Repeat([]byte("PNG!"), 5000), time.Time{})
			}
			var text strings.Builder
			for i := range paragraphs {
				fmt.Fprintf(&text, "- %s 文字 and more words\n\n", wordOf(doc, i))
			}
			fmt.Fprintf(&text, "# Heading %d\n\n%s\n", doc, strings.Repeat("long ", 3000))
			var parent *tree.Document
			box := tx.Notebooks()[0]
			if doc%3 != 0 {
				parent = tx.DocumentsByHPath(box.ID, fmt.Sprintf("/page %d", doc-doc%3))[0]
			}
			tx.AddDocument(box, parent, fmt.Sprintf("page %d", doc), "", tx.Identify(markup.Parse(text.String())))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// countSalvaged returns how many of the words of sampleVault are recovered from a file, and what is reported as missing.
func countSalvaged(t testing.TB, data []byte) (words int, lost []salvage.Lost) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "damaged.db")
	if err := os.WriteFile(path, data, 0o400); err != nil {
		t.Fatal(err)
	}
	found, err := salvage.Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	w := openWorkspace(t, filepath.Join(t.TempDir(), "new.db"))
	defer w.Close()
	if lost, err = found.Fill(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	if err := w.View(t.Context(), func(tx *workspace.Tx) error {
		for _, d := range tx.Documents(nil) {
			all.WriteString(markup.Export(tx.Peek(d.ID())))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for doc := range documents {
		for i := range paragraphs {
			if strings.Contains(all.String(), wordOf(doc, i)+" ") {
				words++
			}
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, data) {
		t.Errorf("the file was changed: %v", err)
	}
	if problems, err := w.Check(context.WithoutCancel(t.Context()), nil); err != nil || len(problems) > 0 {
		t.Errorf("the vault made of it: %v, %v", problems, err)
	}
	return words, lost
}

func TestSoundFile(t *testing.T) {
	t.Parallel()
	if words, lost := countSalvaged(t, sampleVault(t)); words != documents*paragraphs || len(lost) > 0 {
		t.Errorf("%d words of %d; %v", words, documents*paragraphs, lost)
	}
}

func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	sound := sampleVault(t)
	all := documents * paragraphs
	pages := len(sound) / pageSize
	random := rand.New(rand.NewPCG(1, 2))
	page := func(data []byte, n int) []byte { return data[n*pageSize : (n+1)*pageSize] }
	for name, tt := range map[string]struct {
		damage func(data []byte) []byte
		most   float64 // the share of the words that may be missing
	}{
		"a byte": {func(d []byte) []byte { d[random.IntN(len(d))] ^= 0xff; return d }, 0.1},
		"bytes": {func(d []byte) []byte {
			for range 50 {
				d[random.IntN(len(d))] ^= 1 << random.IntN(8)
			}
			return d
		}, 0.4},
		"a page": {func(d []byte) []byte { clear(page(d, 1+random.IntN(pages-1))); return d }, 0.1},
		"many pages": {func(d []byte) []byte {
			for range pages / 20 {
				clear(page(d, random.IntN(pages)))
			}
			return d
		}, 0.3},
		"noise": {func(d []byte) []byte {
			for range pages / 20 {
				for i := range page(d, random.IntN(pages)) {
					_ = i
				}
				at := page(d, random.IntN(pages))
				for i := range at {
					at[i] = byte(random.Uint32())
				}
			}
			return d
		}, 0.3},
		"swapped": {func(d []byte) []byte {
			for range 10 {
				a, b := page(d, random.IntN(pages)), page(d, random.IntN(pages))
				c := bytes.Clone(a)
				copy(a, b)
				copy(b, c)
			}
			return d
		}, 0.3},
		"no first page":  {func(d []byte) []byte { clear(page(d, 0)); return d }, 0.01},
		"no header":      {func(d []byte) []byte { copy(d, bytes.Repeat([]byte{0xff}, 100)); return d }, 0.01},
		"cut":            {func(d []byte) []byte { return d[:len(d)*3/4] }, 0.6},
		"cut in a page":  {func(d []byte) []byte { return d[:len(d)-pageSize-1000] }, 0.1},
		"first half off": {func(d []byte) []byte { clear(d[:len(d)/4]); return d }, 0.6},
		"nothing":        {func([]byte) []byte { return nil }, 1},
		"only noise": {func(d []byte) []byte {
			for i := range d {
				d[i] = byte(random.Uint32())
			}
			return d
		}, 1},
		"every page inner": {func(d []byte) []byte { // pages that lead to themselves
			for n := 1; n < pages; n += 7 {
				at := page(d, n)
				at[0] = 5
				at[8], at[9], at[10], at[11] = 0, 0, byte((n+1)>>8), byte(n+1)
			}
			return d
		}, 0.4},
	} {
		for range await.Fewer(3) {
			words, lost := countSalvaged(t, tt.damage(bytes.Clone(sound)))
			t.Logf("%s: %d words of %d, %d things missing", name, words, all, len(lost))
			if words < int(float64(all)*(1-tt.most)) {
				t.Errorf("%s: %d words of %d; %.3v", name, words, all, lost)
			}
			// Changed bits within a word only make another word, which nothing can detect.
			if words < all && words > 0 && len(lost) == 0 && !strings.Contains(name, "byte") {
				t.Errorf("%s: %d words of %d are there, and nothing is said to be missing", name, words, all)
			}
		}
	}
}

// TestPagesThatLeadToThemselves reads a page whose cells all lead to itself, as damage may make it. Each page is read once.
func TestPagesThatLeadToThemselves(t *testing.T) {
	t.Parallel()
	const header, cell, cells = 100, 3000, 1000
	page := make([]byte, pageSize)
	page[header] = 5 // leads to other pages of a table
	binary.BigEndian.PutUint16(page[header+3:], cells)
	binary.BigEndian.PutUint32(page[header+8:], 1)
	for i := range cells {
		binary.BigEndian.PutUint16(page[header+12+2*i:], cell)
	}
	binary.BigEndian.PutUint32(page[cell:], 1)
	path := filepath.Join(t.TempDir(), "circle.db")
	if err := os.WriteFile(path, page, 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := salvage.Read(t.Context(), path); err != nil || !found.Empty() {
		t.Errorf("found %+v, %v in a file without rows", found, err)
	}
}

// TestLog checks that text is found that is only in the write-ahead log so far, not in the file.
func TestLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vault.db")
	w := openWorkspace(t, path)
	defer w.Close()
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		tx.AddDocument(tx.CreateNotebook("N"), nil, "page", "", tx.Identify(markup.Parse("in the log")))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	found, err := salvage.Read(t.Context(), path)
	if err != nil || found.Empty() {
		t.Errorf("nothing is found: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	small := sampleVault(f)[:40*pageSize]
	f.Add(small, uint32(5000), byte(13))
	f.Fuzz(func(t *testing.T, data []byte, at uint32, b byte) {
		if len(data) > 0 {
			data = bytes.Clone(data)
			data[int(at)%len(data)] = b
		}
		path := filepath.Join(t.TempDir(), "damaged.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := salvage.Read(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		w := openWorkspace(t, filepath.Join(t.TempDir(), "new.db"))
		defer w.Close()
		if _, err := found.Fill(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	})
}
