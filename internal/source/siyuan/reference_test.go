package siyuan_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/guide"
)

//go:generate go test . -run ^TestReference$ -update

var update = flag.Bool("update", false, "write the reference")

const reference = "../../../docs/reference/siyuan"

// TestReference: docs/reference is up to date with the actions.
func TestReference(t *testing.T) {
	t.Parallel()
	pages := toolPages(siyuan.Tools())
	for name, want := range pages {
		file := filepath.Join(reference, name)
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v; go generate ./internal/source/siyuan writes it", err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is old, go generate ./internal/source/siyuan writes it (-want +got):\n%s", name, diff)
		}
	}
	files, err := filepath.Glob(filepath.Join(reference, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, ok := pages[filepath.Base(f)]; !ok {
			t.Errorf("%s is of no tool", f)
		}
	}
}

// TestReferenceIsComplete: a page shows all of each action: endpoints, arguments, returned fields, and an example for
// MCP and for a terminal.
func TestReferenceIsComplete(t *testing.T) {
	t.Parallel()
	for _, tl := range siyuan.Tools() {
		for _, a := range tl.Actions {
			page := guide.Page(a)
			want := []string{fmt.Sprintf(`"action":%q`, a.Name), "collie " + tl.Name + " " + strings.ReplaceAll(a.Name, "_", "-")}
			want = append(want, a.Endpoints...)
			for _, p := range a.Params() {
				want = append(want, "| "+p.Name+" |")
			}
			for _, f := range a.Returned() {
				want = append(want, "- `"+f.Name+"`: "+f.About)
			}
			for _, w := range want {
				if !strings.Contains(page, w) {
					t.Errorf("page of %s.%s does not show %q", tl.Name, a.Name, w)
				}
			}
		}
	}
}

// toolPages returns the reference: a page of Markdown for each tool by file name, and an index.
func toolPages(tools []action.Tool) map[string]string {
	out := map[string]string{}
	var index strings.Builder
	index.WriteString("# SiYuan tools\n\nMade from the actions themselves; `go generate ./...` writes it.\n\n| tool | actions | |\n|---|---:|---|\n")
	for _, t := range tools {
		fmt.Fprintf(&index, "| [%s](%s.md) | %d | %s |\n", t.Name, t.Name, len(t.Actions), strings.ReplaceAll(t.About, "|", `\|`))
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n\n%s\n\n", t.Name, t.About)
		if t.Off {
			fmt.Fprintf(&b, "Off by default: `collie siyuan config set %s on` switches it on.\n\n", t.Name)
		}
		for _, a := range t.Actions {
			fmt.Fprintf(&b, "- [%s](#%s): %s\n", a.Name, anchor(a), a.Purpose)
		}
		for _, a := range t.Actions {
			page := strings.ReplaceAll(guide.Page(a), "\n## ", "\n### ")
			fmt.Fprintf(&b, "\n#%s", escapeAngles(page))
		}
		out[t.Name+".md"] = b.String()
	}
	out["README.md"] = index.String()
	return out
}

// escapeAngles keeps words in angle brackets, which Markdown takes for HTML, as the text that they are on a help page.
func escapeAngles(page string) string {
	parts := strings.Split(page, "`")
	for i := 0; i < len(parts); i += 2 { // the odd parts are code
		parts[i] = regexp.MustCompile(`<[a-z/]`).ReplaceAllString(parts[i], `\$0`)
	}
	return strings.Join(parts, "`")
}

// anchor returns the anchor of an action's heading.
func anchor(a *action.Action) string { return a.Tool + "action" + a.Name }
