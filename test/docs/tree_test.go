package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryFolderIsOnTheMap checks that the tree in docs/architecture.md has all folders of internal/ with Go code, and
// no folder that does not exist. The tree leaves out the folders x/xtest and those below them.
func TestEveryFolderIsOnTheMap(t *testing.T) {
	t.Parallel()
	told := foldersOf(section(t, "## 3. Tree"))
	if len(told) < 100 {
		t.Errorf("only %d folders found on the map", len(told))
	}
	real := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root+"internal"), ".", func(dir string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir() || dir == ".":
			return err
		case d.Name() == "testdata" || d.Name() == path.Base(path.Dir(dir))+"test":
			return fs.SkipDir
		}
		real[dir] = true
		goFiles, err := filepath.Glob(filepath.Join(root, "internal", dir, "*.go"))
		if len(goFiles) > 0 && !told[dir] {
			t.Errorf("docs/architecture.md: its tree lacks internal/%s", dir)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir := range told {
		if parent, name := path.Split(dir); !real[dir] && name != path.Base(parent)+"test" {
			t.Errorf("docs/architecture.md: its tree has internal/%s, which does not exist", dir)
		}
	}
}

// foldersOf returns the folders below internal/ that a tree shows, indented by two spaces a level. Words that end in a
// slash are folders: those at the beginning of a line are folders of its level, the other ones are below the last of
// these.
func foldersOf(tree string) map[string]bool {
	told := map[string]bool{}
	_, tree, _ = strings.Cut(tree, "\ninternal/\n")
	var above []string // by level, the folder that the next lines may be below
	for line := range strings.Lines(tree) {
		words := strings.Fields(line)
		if line[0] != ' ' || len(words) == 0 {
			break
		}
		parent, begins := "", strings.HasSuffix(words[0], "/")
		if begins {
			above = above[:min(len(above), (len(line)-len(strings.TrimLeft(line, " ")))/2-1)]
			parent = path.Join(above...)
			above = append(above, "")
		}
		for _, word := range words {
			name, isFolder := strings.CutSuffix(strings.Trim(word, "(),.;"), "/")
			if begins = begins && isFolder; begins {
				above[len(above)-1] = name
				told[path.Join(parent, name)] = true
			} else if isFolder {
				told[path.Join(path.Join(above...), name)] = true
			}
		}
	}
	return told
}

func TestFoldersOf(t *testing.T) {
	t.Parallel()
	got := foldersOf("```\ncmd/x/ main\ninternal/\n  tool/              words; imports nothing\n    tooltest/        suites\n  a/b/  one (c/ d/), e/ keeps\n" +
		"    f/ g/   two\n                     one folder a tool\ntest/  x/ y\n")
	want := "map[a/b:true a/b/c:true a/b/d:true a/b/e:true a/b/f:true a/b/g:true tool:true tool/tooltest:true]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// TestEveryRecordIsListed checks that docs/adr/README.md lists every decision record of its folder.
func TestEveryRecordIsListed(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile(root + "docs/adr/README.md")
	if err != nil {
		t.Fatal(err)
	}
	records, err := filepath.Glob(root + "docs/adr/0*.md")
	if err != nil || len(records) < 50 {
		t.Fatalf("%d records found: %v", len(records), err)
	}
	for _, file := range records {
		record, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		heading, _, _ := strings.Cut(strings.TrimPrefix(string(record), "# "), "\n")
		number, title, _ := strings.Cut(heading, ". ")
		if line := fmt.Sprintf("- %s. [%s](%s)\n", number, title, filepath.Base(file)); !strings.Contains(string(list), line) {
			t.Errorf("docs/adr/README.md lacks the line %s", line)
		}
	}
}
