package folder_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	vaultedit "collie/internal/vault/edit"
	"collie/internal/vault/folder"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
	"collie/test/await"
)

// Flags of TestSyncRandomEdits. The script .ci/long runs it with -edits 2000 -files 10000. With -from it begins with a copy of
// a real folder, such as a public vault of Obsidian.
var (
	editsFlag = flag.Int("edits", await.Fewer(60), "edits of TestSyncRandomEdits on both sides")
	filesFlag = flag.Int("files", 40, "files that TestSyncRandomEdits begins with")
	fromFlag  = flag.String("from", "", "a folder that TestSyncRandomEdits begins with a copy of, instead of generated files")
	seedFlag  = flag.Uint64("seed", 0, "seed of TestSyncRandomEdits; 0 is a new one")
)

// randomSync is a folder and a notebook that random edits change, with a record of what both sides must hold. Texts are made of words
// that occur only once, so that a lost or doubled text is noticed.
type randomSync struct {
	t         *testing.T
	r         *rand.Rand
	w         *workspace.Workspace
	file      string // of the vault
	dir       string
	n         int               // number of the last word or name
	words     map[string]bool   // words that have to be on both sides
	forgotten map[string]bool   // words that were removed on purpose
	kept      map[string]bool   // words that were kept twice, in a copy
	moved     map[string]string // where a file lay before this round, by the path that it has now
	told      []string          // what was done, for messages of failures
}

// newWord makes a word that occurs nowhere else.
func (b *randomSync) newWord() string {
	b.n++
	return fmt.Sprintf("word%dx", b.n)
}

// logStep notes what was done, for the message of a failure.
func (b *randomSync) logStep(format string, args ...any) {
	b.told = append(b.told, fmt.Sprintf(format, args...))
}

// newName makes a name that occurs nowhere else.
func (b *randomSync) newName() string {
	b.n++
	return fmt.Sprintf("name%d", b.n)
}

// newParagraph returns a Markdown block with a new word in it.
func (b *randomSync) newParagraph() string {
	w := b.newWord()
	b.words[w] = true
	shapes := []string{
		"%s in a paragraph with *marks* and `code`.", "## Heading %s", "* item %s\n* other\n   * inner", "1) one %s\n2) two", "> quote %s\n> more",
		"```go\nfunc %s() {}\n\n\nx\n```", "| a | %s |\n|--|:-:|\n| 1 | 2 |", "- [ ] task %s\n- [x] done", "中文 %s，带 #标签/子 的一段。", "a  %s   b\nwrapped line",
		"Setext %s\n---", "text %s ^anchor" + w, "$$\n%s\n$$", "> [!note] Title\n> %s", "![](../%s.png) missing", "<div>\n%s\n</div>", "***\n\n%s", "<!-- %s -->",
		"%s [ref][r]\n\n[r]: https://example.com",
	}
	return fmt.Sprintf(shapes[b.r.IntN(len(shapes))], w)
}

// newLinks returns a paragraph with links to a page.
func (b *randomSync) newLinks(to string) string {
	w := b.newWord()
	b.words[w] = true
	return w + " [[" + to + "]] and [[" + to + "|" + w + "]]"
}

var syncNames = []string{"Alpha", "beta", "Beta 2", "数据 笔记", "é" + "clair", "e\u0301tude", "CON", "a.b", "very " + strings.Repeat("long ", 20), "x#y", "100%", "q (1)"}

// newText returns the text of a new file. Some of its paragraphs link to one of pages.
func (b *randomSync) newText(pages []string) string {
	var parts []string
	if b.r.IntN(3) == 0 {
		parts = append(parts, "---\ntags: [one,   two]\nkey: 'some value'  # why\n---")
	}
	for range 1 + b.r.IntN(6) {
		if len(pages) > 0 && b.r.IntN(5) == 0 {
			parts = append(parts, b.newLinks(strings.TrimSuffix(path.Base(pages[b.r.IntN(len(pages))]), ".md")))
			continue
		}
		parts = append(parts, b.newParagraph())
	}
	if b.r.IntN(4) == 0 {
		parts = append(parts, fmt.Sprintf("![[picture %d.png]]", b.r.IntN(5)))
	}
	text := strings.Join(parts, "\n\n")
	switch b.r.IntN(4) {
	case 0:
		text += "\n"
	case 1:
		text += "\n\n\n"
	case 2:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// pages returns the Markdown files of the folder.
func (b *randomSync) pages() (list []string) {
	_ = filepath.WalkDir(b.dir, func(at string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(b.dir, at); err == nil && !d.IsDir() && strings.HasSuffix(at, ".md") {
			list = append(list, filepath.ToSlash(rel))
		}
		return nil
	})
	return list
}

// filePath returns the absolute path of a file of the folder.
func (b *randomSync) filePath(name string) string {
	return filepath.Join(b.dir, filepath.FromSlash(name))
}

// write writes a file in place. Now and then its time is one of the past or the future, as after a change of the clock.
func (b *randomSync) write(name, text string) {
	b.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(b.filePath(name)), 0o700), os.WriteFile(b.filePath(name), []byte(text), 0o600)); err != nil {
		b.t.Fatal(err)
	}
	if b.r.IntN(3) == 0 { // the clock goes back, stands still, or is ahead
		then := time.Date(2001+98*b.r.IntN(2), 1, 1, 0, 0, 0, 0, time.UTC)
		_ = os.Chtimes(b.filePath(name), then, then)
	}
}

// save writes a file as editors do: in place, or as a new file that replaces it.
func (b *randomSync) save(name, text string) {
	b.t.Helper()
	if b.r.IntN(2) == 0 {
		b.write(name, text)
		return
	}
	temp := path.Join(path.Dir(name), "."+path.Base(name)+".swp")
	b.write(temp, text)
	if err := os.Rename(b.filePath(temp), b.filePath(name)); err != nil {
		b.t.Fatal(err)
	}
}

// wordsOf returns the words in a text that newWord made.
func wordsOf(text string) (list []string) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z') }) {
		if at := strings.Index(part, "word"); at >= 0 && strings.HasSuffix(part, "x") {
			list = append(list, part[at:])
		}
	}
	return list
}

// forgetWords marks the words of a text as removed on purpose.
func (b *randomSync) forgetWords(text string) {
	for _, w := range wordsOf(text) {
		delete(b.words, w)
		b.forgotten[w] = true
	}
}

// rememberWords marks the words of a text as present again.
func (b *randomSync) rememberWords(text string) {
	for _, w := range wordsOf(text) {
		b.words[w] = true
	}
}

// editFolder does one random edit in the folder, to a file that touched does not have.
func (b *randomSync) editFolder(touched map[string]bool) {
	pages := b.pages()
	free := slices.DeleteFunc(slices.Clone(pages), func(at string) bool { return touched[at] })
	const kinds, newFile = 14, 8 // the kinds of edits that the switch below tells apart; a new file is its default, and needs no free file
	kind := b.r.IntN(kinds)
	if len(free) == 0 {
		kind = newFile
	}
	pick := func() string { return free[b.r.IntN(len(free))] }
	switch kind {
	case 0, 1, 2, 3: // a paragraph more
		at := pick()
		touched[at] = true
		text := b.read(at)
		b.save(at, text+"\n\n"+b.newParagraph()+"\n")
		b.logStep("append to %s", at)
	case 4, 5: // another paragraph in place of one
		at := pick()
		touched[at] = true
		parts := strings.Split(b.read(at), "\n\n")
		i := b.r.IntN(len(parts))
		if strings.HasPrefix(parts[i], "---") {
			return
		}
		b.forgetWords(parts[i])
		parts[i] = b.newParagraph()
		text := strings.Join(parts, "\n\n")
		b.rememberWords(text)
		b.save(at, text)
		b.logStep("replace in %s", at)
	case 6: // renamed
		at := pick()
		to := path.Join(path.Dir(at), "renamed "+b.newName()+".md")
		if b.r.IntN(3) == 0 {
			to = path.Join(path.Dir(at), strings.ToUpper(path.Base(strings.TrimSuffix(at, ".md")))+".md") // the same name in another case
		}
		if _, err := os.Lstat(b.filePath(to)); err == nil {
			return
		}
		touched[at], touched[to], b.moved[to] = true, true, at
		if err := os.Rename(b.filePath(at), b.filePath(to)); err != nil {
			b.t.Fatal(err)
		}
		b.logStep("rename %s to %s", at, to)
	case 7: // removed
		at := pick()
		touched[at] = true
		b.forgetWords(b.read(at))
		if err := os.Remove(b.filePath(at)); err != nil {
			b.t.Fatal(err)
		}
		b.logStep("remove %s", at)
	case 10: // moved into another folder
		at := pick()
		to := path.Join(fmt.Sprintf("d%d", b.r.IntN(9)), path.Base(at))
		if _, err := os.Lstat(b.filePath(to)); err == nil {
			return
		}
		touched[at], touched[to], b.moved[to] = true, true, at
		if err := errors.Join(os.MkdirAll(filepath.Dir(b.filePath(to)), 0o700), os.Rename(b.filePath(at), b.filePath(to))); err != nil {
			b.t.Fatal(err)
		}
		b.logStep("move %s to %s", at, to)
	case 11: // two take each other's names
		one, other := pick(), pick()
		if one == other {
			return
		}
		touched[one], touched[other], b.moved[one], b.moved[other] = true, true, other, one
		temp := filepath.Join(b.dir, ".swapped")
		if err := errors.Join(os.Rename(b.filePath(one), temp), os.Rename(b.filePath(other), b.filePath(one)), os.Rename(temp, b.filePath(other))); err != nil {
			b.t.Fatal(err)
		}
		b.logStep("swap %s and %s", one, other)
	case 12: // as many bytes as before, and the same time
		at := pick()
		text := b.read(at)
		old := wordsOf(text)
		w := b.newWord()
		if len(old) == 0 || len(old[0]) != len(w) || strings.Count(text, old[0]) > 1 {
			return
		}
		touched[at] = true
		info, err := os.Stat(b.filePath(at))
		if err != nil {
			b.t.Fatal(err)
		}
		b.forgetWords(old[0])
		b.words[w] = true
		err = os.WriteFile(b.filePath(at), []byte(strings.Replace(text, old[0], w, 1)), 0o600)
		if err = errors.Join(err, os.Chtimes(b.filePath(at), info.ModTime(), info.ModTime())); err != nil {
			b.t.Fatal(err)
		}
		b.logStep("as long and as old: %s", at)
	case 13: // an attachment
		name := fmt.Sprintf("img/picture %d.png", b.r.IntN(5))
		touched[name] = true
		b.write(name, "PNG "+b.newName())
		b.logStep("attachment %s", name)
	default:
		name := syncNames[b.r.IntN(len(syncNames))]
		if b.r.IntN(2) == 0 {
			name += " " + b.newName()
		}
		if b.r.IntN(2) == 0 {
			name = "sub" + fmt.Sprint(b.r.IntN(3)) + "/" + name
		}
		if _, err := os.Lstat(b.filePath(name + ".md")); err == nil {
			return
		}
		touched[name+".md"] = true
		b.write(name+".md", b.newText(pages))
		b.logStep("new file %s", name)
	}
}

// read returns the text of a file of the folder.
func (b *randomSync) read(at string) string {
	data, err := os.ReadFile(b.filePath(at))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

// editNotebook does one random edit in the notebook, to a document that touched does not have.
func (b *randomSync) editNotebook(touched map[string]bool) {
	err := b.w.Update(b.t.Context(), func(tx *workspace.Tx) error {
		var box *tree.Notebook
		for _, n := range tx.Notebooks() {
			if n.Conf.Name == "notes" {
				box = n
			}
		}
		if box == nil {
			return nil
		}
		docs := slices.DeleteFunc(tx.Documents(box), func(d *tree.Document) bool { return d.Hidden() || touched[d.ID()] })
		if len(docs) == 0 {
			return nil
		}
		d := tx.Document(docs[b.r.IntN(len(docs))].ID())
		touched[d.ID()] = true
		switch b.r.IntN(9) {
		case 0, 1, 2: // a paragraph more
			text := b.newParagraph()
			blocks := markup.Parse(text)
			if n := len(d.Root.Children); n > 0 && blocks[0].Kind == tree.List && d.Root.Children[n-1].Kind == tree.List {
				b.forgetWords(text)
				return nil // Markdown joins both lists, so that the sync writes the first one again, in other lines
			}
			vaultedit.Put(tx, d.Root, len(d.Root.Children), tx.Identify(blocks))
			b.logStep("append to document %s", d.HPath())
		case 3, 4: // another paragraph in place of a block
			i := b.r.IntN(len(d.Root.Children))
			old := d.Root.Children[i]
			if len(wordsOf(markup.Markdown(old))) == 0 {
				return nil // judgeSync recognises intended removals by their words
			}
			b.forgetWords(markup.Markdown(old))
			vaultedit.Put(tx, d.Root, i, tx.Identify(markup.Parse(b.newParagraph())))
			vaultedit.Detach(tx, old)
			b.rememberWords(markup.Export(d.Root))
			b.logStep("replace in document %s", d.HPath())
		case 5: // another title
			d.Root.Attrs["title"] = syncNames[b.r.IntN(len(syncNames))] + " / " + b.newName()
			b.logStep("title of %s", d.HPath())
		case 6: // moved below another document, or to the top where there is none
			var parent *tree.Document
			for _, p := range tx.Documents(box) {
				if !p.Hidden() && p != d && !p.Inside(d) && p.Depth() < 4 && !touched[p.ID()] {
					parent = p
				}
			}
			if len(tx.Below(d)) > 1 {
				return nil
			}
			tx.MoveDocument(d, box, parent)
			b.logStep("move %s", d.HPath())
		case 7: // removed
			if len(tx.Below(d)) > 1 {
				return nil
			}
			b.forgetWords(markup.Export(d.Root))
			vaultedit.Remove(tx, d)
			b.logStep("remove document %s", d.HPath())
		default: // a new document that refers to another one
			target := docs[b.r.IntN(len(docs))]
			w := b.newWord()
			b.words[w] = true
			nd := tx.AddDocument(box, d, syncNames[b.r.IntN(len(syncNames))]+" "+b.newName(), "",
				tx.Identify(markup.Parse(w+" (("+target.ID()+" '"+target.Title()+"'))\n\n"+b.newParagraph()+"\n\n#tag#")))
			touched[nd.ID()] = true
			b.logStep("new document %s", nd.HPath())
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// wordsInNotebook returns the words that the documents of the notebook hold.
func (b *randomSync) wordsInNotebook() map[string]bool {
	found := map[string]bool{}
	err := b.w.View(b.t.Context(), func(tx *workspace.Tx) error {
		for _, box := range tx.Notebooks() {
			for _, d := range tx.Documents(box) {
				for _, w := range wordsOf(markup.Kramdown(tx.Peek(d.ID()))) {
					found[w] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

// editBoth changes a file and its document, which were equal after the last sync.
func (b *randomSync) editBoth(files, docs map[string]bool) {
	var row workspace.Imported
	err := b.w.Update(b.t.Context(), func(tx *workspace.Tx) error {
		var rows []workspace.Imported
		for _, o := range tx.Origins() {
			rows = append(rows, tx.Imported(o.N)...)
		}
		rows = slices.DeleteFunc(rows, func(row workspace.Imported) bool {
			_, err := os.Lstat(b.filePath(row.Path))
			return row.Kind != "page" || strings.HasSuffix(row.Path, "/") || err != nil || files[row.Path] || docs[row.Target] || tx.Document(row.Target) == nil
		})
		if len(rows) == 0 {
			return nil
		}
		row = rows[b.r.IntN(len(rows))]
		d := tx.Document(row.Target)
		vaultedit.Put(tx, d.Root, len(d.Root.Children), tx.Identify(markup.Parse(b.newParagraph())))
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if row.Path == "" {
		return
	}
	files[row.Path], docs[row.Target] = true, true
	b.save(row.Path, b.read(row.Path)+"\n\n"+b.newParagraph()+"\n")
	b.logStep("both sides of %s", row.Path)
}

// TestSyncRandomEdits edits a folder and its notebook at random and ends some syncs in the middle. Nothing may get lost, nothing
// may change that nobody changed, and the third sync after the edits must be idle.
func TestSyncRandomEdits(t *testing.T) {
	t.Parallel()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d", seed)
	b := newBench(t, seed)
	all := folder.SyncOptions{AllowDeletions: 1000}
	first := b.readStates()
	begin := time.Now()
	syncFolder(t, b.w, b.dir, all)
	whole := time.Since(begin)
	if diff := differences(first, b.readStates()); len(diff) > 0 {
		t.Fatalf("the first sync changes files:\n%s", strings.Join(diff, "\n"))
	}
	t.Logf("%d files; the first sync took %v", len(first), whole)
	b.wantIdle(all)
	killed, conflicts := 0, 0
	for done := 0; done < *editsFlag; {
		files, docs := map[string]bool{}, map[string]bool{}
		b.moved = map[string]string{}
		for range 1 + b.r.IntN(max(8, *editsFlag/16)) {
			switch b.r.IntN(12) {
			case 0:
				b.editBoth(files, docs)
				done++
			case 1, 2, 3, 4, 5, 6:
				b.editFolder(files)
			default:
				b.editNotebook(docs)
			}
			done++
		}
		before := b.readStates()
		touched := b.filesOf(docs)
		both, changedFiles := 0, maps.Clone(touched)
		for at := range touched {
			if files[at] {
				both++
			}
		}
		for to, from := range b.moved {
			if touched[from] {
				changedFiles[to] = true
			}
		}
		switch b.r.IntN(4) {
		case 0:
			b.syncAndCancel(all)
		case 1:
			killed += b.killDuringSync(time.Duration(b.r.Float64() * float64(whole)))
		}
		dry := all
		dry.DryRun = true
		planned, real := pagesKeptTwice(syncFolder(t, b.w, b.dir, dry)), pagesKeptTwice(syncFolder(t, b.w, b.dir, all))
		if !slices.Equal(planned, real) {
			t.Errorf("a dry run said that %q are kept twice, and %q were\n%s", planned, real, b.lastSteps())
		}
		b.logStep("synced")
		conflicts += b.judgeSync(before, changedFiles, both)
		b.wantIdle(all)
		b.checkWords()
	}
	t.Logf("%d syncs were killed, %d files were changed on both sides", killed, conflicts)
}

// pagesKeptTwice returns the pages that a sync kept twice.
func pagesKeptTwice(r folder.SyncReport) (paths []string) {
	for _, f := range r.States {
		if f.State == folder.BothKept && strings.HasSuffix(f.Path, ".md") {
			paths = append(paths, f.Path)
		}
	}
	slices.Sort(paths)
	return paths
}

// newBench returns the folder that a test begins with, and an empty vault.
func newBench(t *testing.T, seed uint64) *randomSync {
	t.Helper()
	dir := t.TempDir()
	b := &randomSync{
		t: t, r: rand.New(rand.NewPCG(seed, 1)), file: filepath.Join(dir, "vault.db"), dir: filepath.Join(dir, "notes"),
		words: map[string]bool{}, forgotten: map[string]bool{}, moved: map[string]string{}, kept: map[string]bool{},
	}
	var err error
	if b.w, err = workspace.Open(t.Context(), b.file, workspace.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.w.Close() })
	if *fromFlag != "" {
		if err := os.CopyFS(b.dir, os.DirFS(*fromFlag)); err != nil {
			t.Fatal(err)
		}
		return b
	}
	b.write("Start.md", "start\n")
	for i := range *filesFlag {
		name := fmt.Sprintf("d%d/Page %d", i%7, i)
		b.write(name+".md", b.newText(b.randomPages(i)))
	}
	for i := range 5 {
		b.write(fmt.Sprintf("img/picture %d.png", i), "PNG")
	}
	return b
}

// syncAndCancel begins a sync and cancels its context when it reports progress.
func (b *randomSync) syncAndCancel(o folder.SyncOptions) {
	ctx, cancel := context.WithCancel(b.t.Context())
	defer cancel()
	after := b.r.IntN(6)
	o.Progress = func(int, int, string) {
		if after--; after < 0 {
			cancel()
		}
	}
	if _, err := folder.Sync(ctx, b.w, b.dir, o); err != nil && ctx.Err() == nil {
		b.t.Fatal(err)
	}
	b.logStep("stopped")
}

// wantIdle syncs twice. The second of these, which is the third since the edits, must find nothing to do and write nothing
// on either side.
func (b *randomSync) wantIdle(o folder.SyncOptions) {
	b.t.Helper()
	syncFolder(b.t, b.w, b.dir, o)
	before, files := dumpVault(b.t, b.w), b.readStates()
	r := syncFolder(b.t, b.w, b.dir, o)
	if !r.Idle {
		b.t.Fatalf("the third sync is not idle: %v\n%s", changedStates(r.Report), b.lastSteps())
	}
	if diff := differences(files, b.readStates()); len(diff) > 0 {
		b.t.Fatalf("the third sync changes files:\n%s\n%s", strings.Join(diff, "\n"), b.lastSteps())
	}
	if diff := cmp.Diff(before, dumpVault(b.t, b.w)); diff != "" {
		b.t.Fatalf("the third sync changes notes:\n%s\n%s", diff, b.lastSteps())
	}
}

// lastSteps returns what was done last, a line each.
func (b *randomSync) lastSteps() string { return strings.Join(b.told[max(0, len(b.told)-120):], "\n") }

// filesOf returns the paths of the files of documents after the last sync.
func (b *randomSync) filesOf(docs map[string]bool) map[string]bool {
	found := map[string]bool{}
	err := b.w.View(b.t.Context(), func(tx *workspace.Tx) error {
		for _, o := range tx.Origins() {
			for _, row := range tx.Imported(o.N) {
				if docs[row.Target] {
					found[row.Path] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

// randomPages returns the paths of up to three of the first n pages.
func (b *randomSync) randomPages(n int) (list []string) {
	for range min(n, 3) {
		i := b.r.IntN(n)
		list = append(list, fmt.Sprintf("d%d/Page %d.md", i%7, i))
	}
	return list
}
