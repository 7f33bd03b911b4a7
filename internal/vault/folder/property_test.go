package folder_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"collie/internal/vault/folder"
	"collie/internal/vault/workspace"
)

// TestSmallFoldersComeBack imports folders of random files and exports them, then imports and exports the result. Both exports
// must be equal.
func TestSmallFoldersComeBack(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	n := 0
	open := func(rt *rapid.T) *workspace.Workspace {
		n++
		w, err := workspace.Open(t.Context(), filepath.Join(base, fmt.Sprint(n, ".db")), workspace.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		rt.Cleanup(func() { _ = w.Close() })
		return w
	}
	piece := rapid.SampledFrom([]string{
		"a", "b ", "中", "[[", "]]", "![[", "|", "#", "# ", "\n", "\n\n", "> ", "- ", "1. ", "- [ ] ", "```", "$$", "$", "`", "^x", " ^id\n", "((", "))",
		"{:", "}", "{: custom-a=\"b\"}", "{: id=\"20240102030405-abcdefg\"}", "[x](", "b.md", ")", "![i](p.png)", "%%", "==", "**", "---", "\n---\n",
		"title: x", ": ", "&a", "*a", "\t", "    ", "<div>", "</div>", "<!--", "-->", "| a | b |\n|---|---|\n| c | d |", "> [!note] t\n> x", "{{{row\n", "}}}", "\\",
		"[1]: u", "assets/p.png", "(../assets/q.png)", "\r", "key:: v", "TODO ", "{{embed [[b]]}}", "&amp;", "\u200b", "‸", "\ufeff",
	})
	text := rapid.Custom(func(t *rapid.T) string {
		all := ""
		for _, p := range rapid.SliceOfN(piece, 0, 25).Draw(t, "pieces") {
			all += p
		}
		return all
	})
	name := rapid.SampledFrom([]string{"a", "b", "B", "d/a", "d/b", "d", "中/文", "d/d", "x y", "journals/2024_01_31", "pages/p"})
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		for at, text := range rapid.MapOfN(name, text, 1, 5).Draw(rt, "files") {
			file := filepath.Join(dir, filepath.FromSlash(at)+".md")
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				rt.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				rt.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "p.png"), []byte("PNG"), 0o600); err != nil {
			rt.Fatal(err)
		}
		first, second := open(rt), open(rt)
		if _, err := folder.Import(t.Context(), first, dir, folder.ImportOptions{}); err != nil {
			rt.Fatal(err)
		}
		out, back := dir+"-out", dir+"-back"
		r, err := folder.Export(t.Context(), first, out, folder.ExportOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		if _, err := folder.Import(t.Context(), second, out, folder.ImportOptions{}); err != nil {
			rt.Fatal(err)
		}
		if _, err := folder.Export(t.Context(), second, back, folder.ExportOptions{}); err != nil {
			rt.Fatal(err)
		}
		for _, p := range r.Problems {
			if p.Code == "markdown" {
				rt.Logf("not exact: %v", p)
				return // the report says that the export is not exact
			}
		}
		compareGenerated(rt, readFiles(t, out), readFiles(t, back))
	})
}

// compareGenerated fails the check unless two folders have the same files.
func compareGenerated(rt *rapid.T, want, got files) {
	for at := range want {
		if want[at] != got[at] {
			rt.Errorf("%s is\n%q\nwant\n%q", at, got[at], want[at])
		}
	}
	if len(want) != len(got) {
		rt.Errorf("%d files, want %d", len(got), len(want))
	}
}
