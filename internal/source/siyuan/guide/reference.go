package guide

import (
	"fmt"
	"strings"

	"collie/internal/source/siyuan/action"
)

// Reference is the reference of all tools: one page of Markdown a tool, by file name, and an
// index.
func Reference(tools []action.Tool) map[string]string {
	out := map[string]string{}
	var index strings.Builder
	index.WriteString("# SiYuan tools\n\nMade from the actions themselves; `go generate ./...` writes it.\n\n| tool | actions | |\n|---|---:|---|\n")
	for _, t := range tools {
		fmt.Fprintf(&index, "| [%s](%s.md) | %d | %s |\n", t.Name, t.Name, len(t.Actions), escape(t.About))
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n\n%s\n\n", t.Name, t.About)
		if t.Off {
			fmt.Fprintf(&b, "Off by default: `collie siyuan config set %s on` switches it on.\n\n", t.Name)
		}
		for _, a := range t.Actions {
			fmt.Fprintf(&b, "- [%s](#%s): %s\n", a.Name, anchor(a), a.Purpose)
		}
		for _, a := range t.Actions {
			page := strings.ReplaceAll(Page(a), "\n## ", "\n### ")
			fmt.Fprintf(&b, "\n#%s", page)
		}
		out[t.Name+".md"] = b.String()
	}
	out["README.md"] = index.String()
	return out
}

// anchor is what a heading of a page is reached by.
func anchor(a *action.Action) string { return a.Tool + "action" + a.Name }
