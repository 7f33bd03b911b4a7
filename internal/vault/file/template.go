package file

import (
	"html"
	"path"
	"regexp"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/markup"
	"collie/internal/vault/template"
	"collie/internal/vault/workspace"
)

// This file has the endpoints for templates.

const (
	templates   = "/data/templates"
	templateExt = ".md"
)

// searchTemplate lists the templates whose name below data/templates contains a word. "" lists all.
func searchTemplate(tx *workspace.Tx, req api.Request) api.Reply {
	type foundTemplate struct {
		Path         string `json:"path"`
		RelativePath string `json:"relativePath"`
		Content      string `json:"content"`
	}
	word := req.Str("k")
	mark := regexp.MustCompile("(?i)" + regexp.QuoteMeta(word))
	list := []foundTemplate{}
	for _, f := range tx.FilesBelow(templates) {
		if f.Dir || path.Ext(f.Path) != templateExt {
			continue
		}
		rel := strings.TrimPrefix(f.Path, templates+"/")
		name := strings.TrimSuffix(rel, templateExt)
		if strings.Contains(name, "/") {
			name = "/" + name
		}
		if !mark.MatchString(name) {
			continue
		}
		if word != "" {
			name = mark.ReplaceAllString(name, "<mark>$0</mark>")
		}
		list = append(list, foundTemplate{api.Root + f.Path, rel, name})
	}
	return api.OK(map[string]any{"k": word, "templates": list})
}

// templateFile returns the file of a template for a path from the answer of searchTemplate. ok is false if it is not a
// template.
func templateFile(answered string) (p string, ok bool) {
	p, ok = fromAnswer(answered)
	return p, ok && strings.HasPrefix(p, templates+"/") && path.Ext(p) == templateExt && readable(p)
}

// render executes a template for a block and returns the result as DOM.
func render(tx *workspace.Tx, req api.Request) api.Reply {
	id, given := req.ID("id"), req.Str("path")
	if _, ok := fromAnswer(given); !ok {
		return api.Fail(-1, "Path ["+given+"] is not in workspace")
	}
	p, ok := templateFile(given)
	if !ok {
		return api.Fail(-1, "Path ["+given+"] is not a template")
	}
	b := tx.Block(id)
	if b == nil {
		return api.Fail(-1, "tree not found")
	}
	if f := tx.Stat(p); f == nil || f.Dir {
		return api.Fail(-1, "open "+given+": no such file or directory")
	}
	out, err := edit.RenderIn(tx, string(tx.ReadFile(p)), template.Options{
		Left: template.ActionLeft, Right: template.ActionRight,
		Data: map[string]string{"title": b.Doc.Title(), "id": b.ID, "name": b.Attrs["name"], "alias": b.Attrs["alias"]},
	})
	if err != nil {
		return templateFailure(err)
	}
	return api.OK(map[string]any{"path": given, "content": markup.DOMs(tx.Identify(markup.Parse(out)))})
}

// renderSprig executes a text with actions in {{ }}.
func renderSprig(tx *workspace.Tx, req api.Request) api.Reply {
	out, err := edit.RenderIn(tx, req.Str("template"), template.Options{})
	if err != nil {
		return templateFailure(err)
	}
	return api.OK(out)
}

func templateFailure(err error) api.Reply {
	return api.Fail(-1, "Parse template failed: "+html.EscapeString(err.Error()))
}

// fields returns the rows of a result, each by column name.
func fields(result workspace.Result) []map[string]any {
	rows := make([]map[string]any, len(result.Rows))
	for i, values := range result.Rows {
		rows[i] = map[string]any{}
		for c, name := range result.Columns {
			rows[i][name] = values[c]
		}
	}
	return rows
}
