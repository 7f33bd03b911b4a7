package kerneltest

import (
	"fmt"
	"html"
	"path"
	"slices"
	"strings"
	"text/template"
	"time"
)

// templateFamily answers what is done with templates. The language of templates is that of text/template with a few of
// the functions the kernel has; the others are "not defined", as misspelt ones are.
func templateFamily(k *Kernel) {
	k.handle("/api/search/searchTemplate", searchTemplate)
	k.handle("/api/search/removeTemplate", func(k *Kernel, req request) reply {
		delete(k.files, strings.TrimPrefix(req.str("path"), machineRoot)) // not confined
		return done()
	})
	k.handle("/api/template/render", renderTemplate)
	k.handle("/api/template/renderSprig", func(k *Kernel, req request) reply {
		out, err := k.execute(req.str("template"), "{{", "}}", nil)
		if err != nil {
			return fail(-1, "Parse template failed: "+html.EscapeString(err.Error()))
		}
		return ok(out)
	})
}

func searchTemplate(k *Kernel, req request) reply {
	words := req.str("k")
	found := []map[string]any{}
	for p, f := range k.files {
		rel := strings.TrimPrefix(p, "/data/templates/")
		if rel == p || f.dir || path.Ext(p) != ".md" {
			continue
		}
		name := strings.TrimSuffix(rel, ".md")
		if strings.Contains(name, "/") {
			name = "/" + name
		}
		if !strings.Contains(strings.ToLower(name), strings.ToLower(words)) {
			continue
		}
		if words != "" {
			name = strings.ReplaceAll(name, words, "<mark>"+words+"</mark>")
		}
		found = append(found, map[string]any{"path": machineRoot + p, "relativePath": rel, "content": name})
	}
	slices.SortFunc(found, func(a, b map[string]any) int { return strings.Compare(a["path"].(string), b["path"].(string)) })
	return ok(map[string]any{"k": words, "templates": found})
}

func renderTemplate(k *Kernel, req request) reply {
	id, p := req.id("id"), req.str("path")
	inside := strings.TrimPrefix(path.Clean(p), machineRoot)
	if !strings.HasPrefix(path.Clean(p), machineRoot+"/") {
		return fail(-1, "Path ["+p+"] is not in workspace")
	}
	b := k.openBlock(id)
	if b == nil {
		return fail(-1, "tree not found")
	}
	f := k.files[inside]
	if f == nil {
		return fail(-1, "open "+p+": no such file or directory")
	}
	out, err := k.execute(string(f.data), ".action{", "}", map[string]any{
		"title": b.doc.title(), "id": b.id, "name": b.attrs["name"], "alias": b.attrs["alias"],
	})
	if err != nil {
		return fail(-1, "Parse template failed: "+html.EscapeString(err.Error()))
	}
	return ok(map[string]any{"path": p, "content": domsOf(k.identify(parseMarkdown(out)))})
}

// execute runs a template.
func (k *Kernel) execute(text, left, right string, data map[string]any) (string, error) {
	parsed, err := template.New("").Delims(left, right).Funcs(template.FuncMap{
		"now": time.Now, "upper": strings.ToUpper, "lower": strings.ToLower,
		"date": func(layout string, t time.Time) string { return t.Format(layout) },
		"list": func(items ...any) []any { return items },
		"add":  func(a, b int) int { return a + b },
		"until": func(n int) []int {
			return slices.Collect(func(yield func(int) bool) {
				for i := range n {
					if !yield(i) {
						return
					}
				}
			})
		},
		"join": func(by string, items []any) string {
			texts := make([]string, len(items))
			for i, item := range items {
				texts[i] = fmt.Sprint(item)
			}
			return strings.Join(texts, by)
		},
		"queryBlocks": func(statement string, args ...string) ([]map[string]any, error) {
			for _, a := range args {
				statement = strings.Replace(statement, "?", a, 1)
			}
			k.refresh()
			rows, err := k.index.query(statement)
			for _, row := range rows {
				row["ID"], row["Content"] = row["id"], row["content"]
			}
			return rows, err
		},
	}).Parse(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	if err := parsed.Execute(&out, data); err != nil {
		return "", err
	}
	return out.String(), nil
}
