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
)

// Flags of TestSyncRandomEdits. The script .ci/long runs it with -edits 2000 -files 10000. With -from it begins with a copy of
// a real folder, such as a public vault of Obsidian.
var (
	editsFlag = flag.Int("edits", 60, "edits of TestSyncRandomEdits on both sides")
	filesFlag = flag.Int("files", 40, "files that TestSyncRandomEdits begins with")
	fromFlag  = flag.String("from", "", "a folder that TestSyncRandomEdits begins with a copy of, instead of generated files")
	seedFlag  = flag.Uint64("seed", 0, "seed of TestSyncRandomEdits; 0 is a new one")
)

// bench is a folder and a notebook that random edits change, with a record of what both sides must hold. Texts are made of words
// that occur only once, so that a lost or doubled text is noticed.
type bench struct {
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

// word makes a word that occurs nowhere else.
func (b *bench) word() string {
	b.n++
	return fmt.Sprintf("word%dx", b.n)
}

func (b *bench) say(format string, args ...any) {
	b.told = append(b.told, fmt.Sprintf(format, args...))
}

// name makes a name that occurs nowhere else.
func (b *bench) name() string {
	b.n++
	return fmt.Sprintf("name%d", b.n)
}

// paragraph returns a Markdown block with a new word in it.
func (b *bench) paragraph() string {
	w := b.word()
	b.words[w] = true
	shapes := []string{
		"%s in a paragraph with *marks* and `code`.", "## Heading %s", "* item %s\n* other\n   * inner", "1) one %s\n2) two", "> quote %s\n> more",
		"```go\nfunc %s() {}\n\n\nx\n```", "| a | %s |\n|--|:-:|\n| 1 | 2 |", "- [ ] task %s\n- [x] done", "中文 %s，带 #标签/子 的一段。", "a  %s   b\nwrapped line",
		"Setext %s\n---", "text %s ^anchor" + w, "$$\n%s\n$$", "> [!note] Title\n> %s", "![](../%s.png) missing", "<div>\n%s\n</div>", "***\n\n%s", "<!-- %s -->",
	}
	return fmt.Sprintf(shapes[b.r.IntN(len(shapes))], w)
}

// link returns a paragraph with links to a page.
func (b *bench) link(to string) string {
	w := b.word()
	b.words[w] = true
	return w + " [[" + to + "]] and [[" + to + "|" + w + "]]"
}

var benchNames = []string{"Alpha", "beta", "Beta 2", "数据 笔记", "é" + "clair", "e\u0301tude", "CON", "a.b", "very " + strings.Repeat("long ", 20), "x#y", "100%", "q (1)"}

// text returns the text of a new file. Some of its paragraphs link to one of pages.
func (b *bench) text(pages []string) string {
	var parts []string
	if b.r.IntN(3) == 0 {
		parts = append(parts, "---\ntags: [one,   two]\nkey: 'some value'  # why\n---")
	}
	for range 1 + b.r.IntN(6) {
		if len(pages) > 0 && b.r.IntN(5) == 0 {
			parts = append(parts, b.link(strings.TrimSuffix(path.Base(pages[b.r.IntN(len(pages))]), ".md")))
			continue
		}
		parts = append(parts, b.paragraph())
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
func (b *bench) pages() (list []string) {
	_ = filepath.WalkDir(b.dir, func(at string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(b.dir, at); err == nil && !d.IsDir() && strings.HasSuffix(at, ".md") {
			list = append(list, filepath.ToSlash(rel))
		}
		return nil
	})
	return list
}

func (b *bench) at(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *bench) write(name, text string) {
	b.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(b.at(name)), 0o700), os.WriteFile(b.at(name), []byte(text), 0o600)); err != nil {
		b.t.Fatal(err)
	}
	if b.r.IntN(3) == 0 { // the clock goes back, stands still, or is ahead
		then := time.Date(2001+98*b.r.IntN(2), 1, 1, 0, 0, 0, 0, time.UTC)
		_ = os.Chtimes(b.at(name), then, then)
	}
}

// save writes a file as editors do: in place, or as a new file that replaces it.
func (b *bench) save(name, text string) {
	b.t.Helper()
	if b.r.IntN(2) == 0 {
		b.write(name, text)
		return
	}
	temp := path.Join(path.Dir(name), "."+path.Base(name)+".swp")
	b.write(temp, text)
	if err := os.Rename(b.at(temp), b.at(name)); err != nil {
		b.t.Fatal(err)
	}
}

// wordsOf returns the words in a text that word made.
func wordsOf(text string) (list []string) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z') }) {
		if at := strings.Index(part, "word"); at >= 0 && strings.HasSuffix(part, "x") {
			list = append(list, part[at:])
		}
	}
	return list
}

// forget marks the words of a text as removed on purpose.
func (b *bench) forget(text string) {
	for _, w := range wordsOf(text) {
		delete(b.words, w)
		b.forgotten[w] = true
	}
}

// remember marks the words of a text as present again.
func (b *bench) remember(text string) {
	for _, w := range wordsOf(text) {
		b.words[w] = true
	}
}

// editFolder does one random edit in the folder, to a file that touched does not have.
func (b *bench) editFolder(touched map[string]bool) {
	pages := b.pages()
	free := slices.DeleteFunc(slices.Clone(pages), func(at string) bool { return touched[at] })
	kind := b.r.IntN(14)
	if len(free) == 0 {
		kind = 8
	}
	pick := func() string { return free[b.r.IntN(len(free))] }
	switch kind {
	case 0, 1, 2, 3: // a paragraph more
		at := pick()
		touched[at] = true
		text := b.read(at)
		b.save(at, text+"\n\n"+b.paragraph()+"\n")
		b.say("append to %s", at)
	case 4, 5: // another paragraph in place of one
		at := pick()
		touched[at] = true
		parts := strings.Split(b.read(at), "\n\n")
		i := b.r.IntN(len(parts))
		if strings.HasPrefix(parts[i], "---") {
			return
		}
		b.forget(parts[i])
		parts[i] = b.paragraph()
		text := strings.Join(parts, "\n\n")
		b.remember(text)
		b.save(at, text)
		b.say("replace in %s", at)
	case 6: // renamed
		at := pick()
		to := path.Join(path.Dir(at), "renamed "+b.name()+".md")
		if b.r.IntN(3) == 0 {
			to = path.Join(path.Dir(at), strings.ToUpper(path.Base(strings.TrimSuffix(at, ".md")))+".md") // the same name in another case
		}
		if _, err := os.Lstat(b.at(to)); err == nil {
			return
		}
		touched[at], touched[to], b.moved[to] = true, true, at
		if err := os.Rename(b.at(at), b.at(to)); err != nil {
			b.t.Fatal(err)
		}
		b.say("rename %s to %s", at, to)
	case 7: // removed
		at := pick()
		touched[at] = true
		b.forget(b.read(at))
		if err := os.Remove(b.at(at)); err != nil {
			b.t.Fatal(err)
		}
		b.say("remove %s", at)
	case 10: // moved into another folder
		at := pick()
		to := path.Join(fmt.Sprintf("d%d", b.r.IntN(9)), path.Base(at))
		if _, err := os.Lstat(b.at(to)); err == nil {
			return
		}
		touched[at], touched[to], b.moved[to] = true, true, at
		if err := errors.Join(os.MkdirAll(filepath.Dir(b.at(to)), 0o700), os.Rename(b.at(at), b.at(to))); err != nil {
			b.t.Fatal(err)
		}
		b.say("move %s to %s", at, to)
	case 11: // two take each other's names
		one, other := pick(), pick()
		if one == other {
			return
		}
		touched[one], touched[other], b.moved[one], b.moved[other] = true, true, other, one
		temp := filepath.Join(b.dir, ".swapped")
		if err := errors.Join(os.Rename(b.at(one), temp), os.Rename(b.at(other), b.at(one)), os.Rename(temp, b.at(other))); err != nil {
			b.t.Fatal(err)
		}
		b.say("swap %s and %s", one, other)
	case 12: // as many bytes as before, and the same time
		at := pick()
		text := b.read(at)
		old := wordsOf(text)
		w := b.word()
		if len(old) == 0 || len(old[0]) != len(w) || strings.Count(text, old[0]) > 1 {
			return
		}
		touched[at] = true
		info, err := os.Stat(b.at(at))
		if err == nil {
			b.forget(old[0])
			b.words[w] = true
			err = os.WriteFile(b.at(at), []byte(strings.Replace(text, old[0], w, 1)), 0o600)
		}
		if err = errors.Join(err, os.Chtimes(b.at(at), info.ModTime(), info.ModTime())); err != nil {
			b.t.Fatal(err)
		}
		b.say("as long and as old: %s", at)
	case 13: // an attachment
		name := fmt.Sprintf("img/picture %d.png", b.r.IntN(5))
		touched[name] = true
		b.write(name, "PNG "+b.name())
		b.say("attachment %s", name)
	default:
		name := benchNames[b.r.IntN(len(benchNames))]
		if b.r.IntN(2) == 0 {
			name += " " + b.name()
		}
		if b.r.IntN(2) == 0 {
			name = "sub" + fmt.Sprint(b.r.IntN(3)) + "/" + name
		}
		if _, err := os.Lstat(b.at(name + ".md")); err == nil {
			return
		}
		touched[name+".md"] = true
		b.write(name+".md", b.text(pages))
		b.say("new file %s", name)
	}
}

func (b *bench) read(at string) string {
	data, err := os.ReadFile(b.at(at))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

// editNotebook does one random edit in the notebook, to a document that touched does not have.
func (b *bench) editNotebook(touched map[string]bool) {
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
		case 0, 1, 2:
			text := b.paragraph()
			blocks := markup.Parse(text)
			if n := len(d.Root.Children); n > 0 && blocks[0].Kind == tree.List && d.Root.Children[n-1].Kind == tree.List {
				b.forget(text)
				return nil // Markdown joins both lists, so that the sync writes the first one again, in other lines
			}
			vaultedit.Put(tx, d.Root, len(d.Root.Children), tx.Identify(blocks))
			b.say("append to document %s", d.HPath())
		case 3, 4:
			i := b.r.IntN(len(d.Root.Children))
			old := d.Root.Children[i]
			if len(wordsOf(markup.Markdown(old))) == 0 {
				return nil // judge recognises intended removals by their words
			}
			b.forget(markup.Markdown(old))
			vaultedit.Put(tx, d.Root, i, tx.Identify(markup.Parse(b.paragraph())))
			vaultedit.Detach(tx, old)
			b.remember(markup.Export(d.Root))
			b.say("replace in document %s", d.HPath())
		case 5:
			d.Root.Attrs["title"] = benchNames[b.r.IntN(len(benchNames))] + " / " + b.name()
			b.say("title of %s", d.HPath())
		case 6:
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
			b.say("move %s", d.HPath())
		case 7:
			if len(tx.Below(d)) > 1 {
				return nil
			}
			b.forget(markup.Export(d.Root))
			vaultedit.Remove(tx, d)
			b.say("remove document %s", d.HPath())
		default:
			target := docs[b.r.IntN(len(docs))]
			w := b.word()
			b.words[w] = true
			nd := tx.AddDocument(box, d, benchNames[b.r.IntN(len(benchNames))]+" "+b.name(), "",
				tx.Identify(markup.Parse(w+" (("+target.ID()+" '"+target.Title()+"'))\n\n"+b.paragraph()+"\n\n#tag#")))
			touched[nd.ID()] = true
			b.say("new document %s", nd.HPath())
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// have returns the words that the documents of the notebook hold.
func (b *bench) have() map[string]bool {
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
func (b *bench) editBoth(files, docs map[string]bool) {
	var row workspace.Imported
	err := b.w.Update(b.t.Context(), func(tx *workspace.Tx) error {
		var rows []workspace.Imported
		for _, o := range tx.Origins() {
			rows = append(rows, tx.Imported(o.N)...)
		}
		rows = slices.DeleteFunc(rows, func(row workspace.Imported) bool {
			_, err := os.Lstat(b.at(row.Path))
			return row.Kind != "page" || strings.HasSuffix(row.Path, "/") || err != nil || files[row.Path] || docs[row.Target] || tx.Document(row.Target) == nil
		})
		if len(rows) == 0 {
			return nil
		}
		row = rows[b.r.IntN(len(rows))]
		d := tx.Document(row.Target)
		vaultedit.Put(tx, d.Root, len(d.Root.Children), tx.Identify(markup.Parse(b.paragraph())))
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if row.Path == "" {
		return
	}
	files[row.Path], docs[row.Target] = true, true
	b.save(row.Path, b.read(row.Path)+"\n\n"+b.paragraph()+"\n")
	b.say("both sides of %s", row.Path)
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
	first := b.look()
	begin := time.Now()
	synced(t, b.w, b.dir, all)
	whole := time.Since(begin)
	if diff := differences(first, b.look()); len(diff) > 0 {
		t.Fatalf("the first sync changes files:\n%s", strings.Join(diff, "\n"))
	}
	t.Logf("%d files; the first sync took %v", len(first), whole)
	b.becomesIdle(all)
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
		before := b.look()
		touched := b.filesOf(docs)
		both, fileOf := 0, maps.Clone(touched)
		for at := range touched {
			if files[at] {
				both++
			}
		}
		for to, from := range b.moved {
			if touched[from] {
				fileOf[to] = true
			}
		}
		switch b.r.IntN(4) {
		case 0:
			b.stop(all)
		case 1:
			killed += b.kill(time.Duration(b.r.Float64() * float64(whole)))
		}
		dry := all
		dry.DryRun = true
		planned, real := kept(synced(t, b.w, b.dir, dry)), kept(synced(t, b.w, b.dir, all))
		if !slices.Equal(planned, real) {
			t.Errorf("a dry run said that %q are kept twice, and %q were\n%s", planned, real, b.last())
		}
		b.say("synced")
		conflicts += b.judge(before, fileOf, both)
		b.becomesIdle(all)
		b.checkWords()
	}
	t.Logf("%d syncs were killed, %d files were changed on both sides", killed, conflicts)
}

// kept returns the pages that a sync kept twice.
func kept(r folder.SyncReport) (paths []string) {
	for _, f := range r.States {
		if f.State == folder.BothKept && strings.HasSuffix(f.Path, ".md") {
			paths = append(paths, f.Path)
		}
	}
	slices.Sort(paths)
	return paths
}

// newBench returns the folder that a test begins with, and an empty vault.
func newBench(t *testing.T, seed uint64) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{
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
		b.write(name+".md", b.text(b.someOf(i)))
	}
	for i := range 5 {
		b.write(fmt.Sprintf("img/picture %d.png", i), "PNG")
	}
	return b
}

// stop begins a sync and cancels its context when it reports progress.
func (b *bench) stop(o folder.SyncOptions) {
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
	b.say("stopped")
}

// becomesIdle syncs twice. The second of these, which is the third since the edits, must find nothing to do and write nothing
// on either side.
func (b *bench) becomesIdle(o folder.SyncOptions) {
	b.t.Helper()
	synced(b.t, b.w, b.dir, o)
	before, files := whole(b.t, b.w), b.look()
	r := synced(b.t, b.w, b.dir, o)
	if !r.Idle {
		b.t.Fatalf("the third sync is not idle: %v\n%s", states(r.Report), b.last())
	}
	if diff := differences(files, b.look()); len(diff) > 0 {
		b.t.Fatalf("the third sync changes files:\n%s\n%s", strings.Join(diff, "\n"), b.last())
	}
	if diff := cmp.Diff(before, whole(b.t, b.w)); diff != "" {
		b.t.Fatalf("the third sync changes notes:\n%s\n%s", diff, b.last())
	}
}

func (b *bench) last() string { return strings.Join(b.told[max(0, len(b.told)-120):], "\n") }

// filesOf returns the paths of the files of documents after the last sync.
func (b *bench) filesOf(docs map[string]bool) map[string]bool {
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

// someOf returns the paths of up to three of the first n pages.
func (b *bench) someOf(n int) (list []string) {
	for range min(n, 3) {
		i := b.r.IntN(n)
		list = append(list, fmt.Sprintf("d%d/Page %d.md", i%7, i))
	}
	return list
}
