package folder_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"collie/internal/vault/folder"
	"collie/internal/vault/markup"
)

// wantProblems fails the test unless the report has each of the problems, given as "code path".
func wantProblems(t *testing.T, r folder.Report, problems ...string) {
	t.Helper()
	found := strings.Join(problemLines(r), "\n") + "\n"
	for _, p := range problems {
		if !strings.Contains(found, p+" ") {
			t.Errorf("no problem %q in\n%s", p, found)
		}
	}
}

func TestSymlinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a right")
	}
	dir := files{"a.md": "a ![x](out.png) ![y](in.png)", "real.png": "PNG"}.write(t)
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"loop": ".", "self.md": "self.md", "out.md": outside, "out.png": outside, "up": "../..", "in.png": "real.png", "in.md": "a.md", "gone.md": "nothing",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	w := newVault(t)
	r := importFolder(t, w, dir, folder.ImportOptions{Notebook: "N"})
	wantProblems(t, r, "symlink loop", "symlink self.md", "symlink out.md", "symlink out.png", "symlink up", "symlink gone.md", "file-missing a.md")
	for name, text := range markdownByPath(t, w) {
		if strings.Contains(text, "secret") {
			t.Errorf("%s: the link was followed: %s", name, text)
		}
	}
	if r.Documents != 2 || r.Files != 1 { // a.md, also by its link in.md, and real.png
		t.Errorf("%d documents and %d files, want 2 and 1", r.Documents, r.Files)
	}
}

func TestHostileFiles(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for i := 'b'; i < 'k'; i++ {
		bomb += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	long := strings.Repeat("n", 10_000)
	dir := files{
		"binary.md": "PNG\x00\x01\x02", "odd.md": "\xff\xfa\x80\x81\xfe\xff\xf0\x80 \x80\x80",
		"gb.md": "\xd6\xd0\xce\xc4 [[\xb1\xca\xbc\xc7]]", "\u7b14\u8bb0.md": "x", "utf16.md": "\xff\xfe-\x4e\x87\x65",
		"bom.md": "\ufeff---\r\ntitle: T\r\n---\r\ntext\r\n", "huge.md": "---\nx: " + strings.Repeat("y", 300<<10) + "\n---\nbody",
		"bomb.md": "---\n" + bomb + "---\nbody", "nested.md": "---\nx: " + strings.Repeat("[", 5000) + "\n---\nbody",
		"bad.md": "---\na: b: c\n\t- x\n---\nbody", "open.md": "---\ntitle: never closed\n\nbody", "self.md": "---\na: &a [*a]\n---\nbody",
		"links.md": "[a](../../../etc/passwd) ![b](/../../etc/passwd) [c](" + long + ".md) [[" + long + "]] ![[../../x.png]] [d](%00.md) [e](\\\\..\\\\x.md)",
		"title.md": "---\ntitle: \"a/b\\nc " + strings.Repeat("字", 600) + "\"\n---\n", "empty.md": "", "fences.md": "````\n[[x]]\n```",
		"deep.md": strings.Repeat("> ", 5000) + "x", "brackets.md": strings.Repeat("[", 20000) + strings.Repeat("![[", 5000) + strings.Repeat("](", 5000),
		"percent.md": strings.Repeat("%%", 9999) + "\n" + strings.Repeat("$", 9999) + strings.Repeat("`", 999) + "{{" + strings.Repeat("((", 999),
	}.write(t)
	w := newVault(t)
	r := importFolder(t, w, dir, folder.ImportOptions{Notebook: "N"})
	wantProblems(t, r, "binary binary.md", "encoding odd.md", "encoding-guessed gb.md", "encoding-guessed utf16.md", "front-matter huge.md",
		"front-matter nested.md", "front-matter bad.md", "link-missing links.md", "file-missing links.md", "title-changed title.md")
	got := shownDocuments(t, w)
	for name, want := range map[string]string{
		"N/gb": "中文 ((<笔记> '笔记'))", "N/utf16": "中文", "N/T": "text", "N/empty": "", "N/open": "---\n\ntitle: never closed\n\nbody",
		"N/bad": "```yaml\na: b: c\n\t- x\n```\n\nbody",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if _, there := got["N/binary"]; there {
		t.Error("a binary file became a document")
	}
	openAllAndCheck(t, w)
}

// A page and the folder with its children may be written in different case. The page keeps its ids, at the first import and at
// later ones.
func TestIDsBesideAFolderInAnotherCase(t *testing.T) {
	t.Parallel()
	const id, blockID = "20240102030405-aaaaaaa", "20240102030405-bbbbbbb"
	dir := files{
		"page.md":       "---\nid: " + id + "\n---\ntext\n{: id=\"" + blockID + "\"}\n",
		"Page/child.md": "to ((" + id + " 'page'))\n",
	}.write(t)
	w := newVault(t)
	for range 2 {
		if r := importFolder(t, w, dir, folder.ImportOptions{}); len(r.Problems) > 0 {
			t.Error(problemLines(r))
		}
		docs := documentsByPath(t, w)
		pg := docs["notes/page"]
		if got := slices.Sorted(maps.Keys(docs)); !slices.Equal(got, []string{"notes/", "notes/page", "notes/page/child"}) {
			t.Fatalf("the vault has %q", got)
		}
		if got := pg.Root.Children[0].ID; pg.Root.ID != id || got != blockID {
			t.Errorf("the page is %s, its block %s", pg.Root.ID, got)
		}
		putFile(t, dir, "page.md", "---\nid: "+id+"\n---\nchanged\n{: id=\""+blockID+"\"}\n")
	}
	openAllAndCheck(t, w)
}

// TestIDsTaken imports a folder twice: references in the second copy must lead to documents of that copy.
func TestIDsTaken(t *testing.T) {
	t.Parallel()
	dir := files{
		"a.md": "---\nid: 20240102030405-aaaaaaa\n---\nto ((20240102030405-bbbbbbb 'b'))\n\nx\n{: id=\"20240102030405-ccccccc\"}",
		"b.md": "---\nid: 20240102030405-bbbbbbb\n---\nto ((20240102030405-ccccccc 'x'))",
		"c.md": "copy\n{: id=\"20240102030405-ccccccc\"}",
	}.write(t)
	w := newVault(t)
	first := importFolder(t, w, dir, folder.ImportOptions{Notebook: "One"})
	wantProblems(t, first, "id-taken c.md")
	second := importFolder(t, w, dir, folder.ImportOptions{Notebook: "Two", Copy: true})
	wantProblems(t, second, "id-taken a.md", "id-taken b.md", "id-taken c.md")
	docs := documentsByPath(t, w)
	for _, box := range []string{"One", "Two"} {
		a, b := docs[box+"/a"], docs[box+"/b"]
		if got := markup.References(a.Root.Children[0])[0].Target; got != b.Root.ID {
			t.Errorf("%s/a refers to %s, want %s", box, got, b.Root.ID)
		}
		if got := markup.References(b.Root.Children[0])[0].Target; got != a.Root.Children[1].ID {
			t.Errorf("%s/b refers to %s, want %s", box, got, a.Root.Children[1].ID)
		}
	}
	openAllAndCheck(t, w)
}
