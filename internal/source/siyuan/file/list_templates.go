package file

import (
	"context"
	"path"
	"strings"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
)

type listTemplatesArgs struct {
	Query string `json:"query" about:"part of the path"`
	Page  int    `json:"page" about:"page, from 1" default:"1" min:"1"`
	Size  int    `json:"pageSize" about:"templates a page" default:"20" min:"1" max:"128"`
}

// listedTemplate is a template and how to go on with it.
type listedTemplate struct {
	Path     string         `json:"path" about:"path on the kernel's machine" verbose:"yes"`
	Relative string         `json:"relativePath" about:"path for read_template and render"`
	Name     string         `json:"name" about:"file name without ending"`
	Content  string         `json:"content" about:"path as SiYuan shows it, hits marked" verbose:"yes"`
	Read     map[string]any `json:"readArgs" about:"arguments to read it" verbose:"yes"`
	Render   map[string]any `json:"renderArgsTemplate" about:"arguments to render it, without the id" verbose:"yes"`
}

func listTemplates() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "list_templates", Purpose: "List templates, or those whose path contains a text",
		Class:      action.Reads,
		Unguarded:  "templates belong to the workspace, not to a notebook",
		Endpoints:  []string{"search/searchTemplate"},
		Aliases:    map[string]string{"k": "query", "keyword": "query"},
		Positional: []string{"query"},
		Result:     action.Page[listedTemplate]{},
		Example:    `{"query":"meeting"}`,
	}, func(ctx context.Context, r *action.Request, a listTemplatesArgs) (any, error) {
		found, err := r.Kernel.Templates(ctx, strings.TrimSpace(a.Query))
		if err != nil {
			return nil, err
		}
		list := make([]listedTemplate, 0, len(found))
		for _, t := range found {
			rel := datafile.Relative(&t)
			list = append(list, listedTemplate{
				Path: t.Path, Relative: rel, Name: strings.TrimSuffix(path.Base(rel), path.Ext(rel)), Content: t.Content,
				Read:   map[string]any{"path": rel},
				Render: map[string]any{"engine": "template", "path": rel, "id": "BLOCK_ID"},
			})
		}
		return action.Paged(list, a.Page, a.Size), nil
	})
}
