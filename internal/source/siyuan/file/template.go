package file

import (
	"context"
	"errors"
	"fmt"
	"html"
	"path"
	"strings"
	"unicode/utf8"

	"collie/internal/puretemplate"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions file.list_templates, file.read_template and file.render.

// templateErrors makes errors of templates readable, which the kernel escapes for HTML. If the kernel did not answer, it
// says that an endless template may be the reason.
func templateErrors(err error) error {
	e, ok := errors.AsType[*tool.Error](err)
	switch {
	case !ok:
	case e.Kind == kernel.API:
		e.Message = html.UnescapeString(e.Message)
	case e.Code == kernel.CodeUnreachable:
		e.Hint = "if SiYuan is running, the template takes too long: make its loops and queries smaller"
	}
	return err
}

type listTemplatesArgs struct {
	Query string `json:"query" about:"part of the path"`
	Page  int    `json:"page" about:"page, from 1" default:"1" min:"1"`
	Size  int    `json:"pageSize" about:"templates a page" default:"20" min:"1" max:"128"`
}

// listedTemplate is a template in a list.
type listedTemplate struct {
	Path     string         `json:"path" about:"path on the kernel's machine" verbose:"yes"`
	Relative string         `json:"relativePath" about:"path for read_template and render"`
	Name     string         `json:"name" about:"file name without ending"`
	Content  string         `json:"content" about:"path as SiYuan shows it, hits marked" verbose:"yes"`
	Read     map[string]any `json:"readArgs" about:"arguments to read it" verbose:"yes"`
	Render   map[string]any `json:"renderArgsTemplate" about:"arguments to render it, without the id" verbose:"yes"`
}

// listTemplates returns the action list_templates of the tool file.
func listTemplates() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "list_templates", Purpose: "List templates, or those whose path contains a text",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
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

type readTemplateArgs struct {
	Path   string `json:"path" about:"path as list_templates gives it" req:"true" min:"1"`
	Offset int    `json:"offset" about:"character to begin with" default:"0" min:"0"`
	Limit  int    `json:"limit" about:"characters to return" default:"8000" min:"1" max:"20000"`
}

type readTemplateResult struct {
	Path      string `json:"path" about:"path on the kernel's machine" verbose:"yes"`
	Relative  string `json:"relativePath" about:"path below data/templates"`
	Markdown  string `json:"markdown" about:"the source, or the part asked for"`
	Total     int    `json:"totalChars" about:"characters in all"`
	Offset    int    `json:"offset" about:"where the part begins"`
	Limit     int    `json:"limit" about:"the most that was asked for" verbose:"yes"`
	Truncated bool   `json:"truncated" about:"whether there is more"`
	Next      *int   `json:"nextOffset,omitempty" about:"where to go on"`
}

// readTemplate returns the action read_template of the tool file.
func readTemplate() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "read_template", Purpose: "Read the source of a template",
		Guide: "Actions in it are written .action{…}; render shows what becomes of them.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Unguarded:  "templates belong to the workspace, not to a notebook",
		Endpoints:  []string{"search/searchTemplate", "file/readDir", "file/getFile"},
		Positional: []string{"path"},
		Result:     readTemplateResult{},
		Example:    `{"path":"work/meeting.md"}`,
	}, func(ctx context.Context, r *action.Request, a readTemplateArgs) (any, error) {
		t, err := datafile.FindTemplate(ctx, r, a.Path)
		if err != nil {
			return nil, err
		}
		raw, err := r.Kernel.ReadFile(ctx, "/data/templates/"+datafile.Relative(&t))
		if err != nil {
			return nil, err
		}
		if !utf8.Valid(raw) {
			return nil, &tool.Error{Op: "read template", Kind: kernel.API, Subject: a.Path, Message: "it is not text"}
		}
		text := []rune(string(raw))
		if a.Offset > len(text) {
			return nil, r.Invalid("offset", fmt.Sprintf("is beyond the end: the template has %d characters", len(text)))
		}
		out := readTemplateResult{Path: t.Path, Relative: datafile.Relative(&t), Total: len(text), Offset: a.Offset, Limit: a.Limit}
		end := min(a.Offset+a.Limit, len(text))
		out.Markdown = string(text[a.Offset:end])
		if end < len(text) {
			out.Truncated, out.Next = true, &end
		}
		return out, nil
	})
}

type renderArgs struct {
	Engine   string    `json:"engine" about:"template: a file for a document; sprig: a text" req:"true" enum:"template,sprig"`
	ID       kernel.ID `json:"id" about:"document the template is for"`
	Path     string    `json:"path" about:"template, as list_templates gives it"`
	Template string    `json:"template" about:"text with {{ }} for sprig" list:"yes"`
	Preview  bool      `json:"preview" about:"as a preview, not for insertion" default:"false"`
}

type renderResult struct {
	Engine  string `json:"engine" about:"the engine"`
	Content string `json:"content" about:"what was rendered"`
	Path    string `json:"path,omitempty" about:"the template" verbose:"yes"`
}

// render returns the action render of the tool file.
func render() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "render", Purpose: "Render a template for a document, or a sprig text",
		Guide: "engine=template takes id and path and gives block DOM; engine=sprig takes template and gives text. " +
			"Anyone may use functions of texts, numbers and dates; others, such as queryBlocks, can read all notes and " +
			"need every notebook to be readable.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs: []action.Need{
			action.OnBlock(access.Read, "id"),
			action.On(access.Read, "every notebook, where the template does more than texts, numbers and dates", "template", needsRendering),
		},
		Endpoints: []string{"search/searchTemplate", "file/readDir", "file/getFile", "template/render", "template/renderSprig", "query/sql"},
		Result:    renderResult{},
		Example:   `{"engine":"sprig","template":"{{now | date \"2006-01-02\"}}"}`,
	}, func(ctx context.Context, r *action.Request, a renderArgs) (any, error) {
		if a.Engine == "sprig" {
			return renderSprig(ctx, r, a)
		}
		switch {
		case a.ID == "":
			return nil, r.Invalid("id", "is required for engine=template")
		case a.Path == "":
			return nil, r.Invalid("path", "is required for engine=template")
		case a.Template != "":
			return nil, r.Conflicting("template is for engine=sprig; engine=template takes path", "template")
		}
		t, err := datafile.FindTemplate(ctx, r, a.Path)
		if err != nil {
			return nil, err
		}
		dom, err := r.Kernel.RenderTemplate(ctx, r.Target("id").Root, t.Path, a.Preview) // for a block, the template would have no title
		if err != nil {
			return nil, templateErrors(err)
		}
		// The kernel fills in anchor texts of references if the template leaves them out.
		redactor, err := content.NewRedactor(ctx, r, dom)
		if err != nil {
			return nil, err
		}
		return renderResult{a.Engine, redactor.Text(dom), t.Path}, nil
	})
}

func renderSprig(ctx context.Context, r *action.Request, a renderArgs) (any, error) {
	switch {
	case a.Template == "":
		return nil, r.Invalid("template", "is required for engine=sprig")
	case a.ID != "" || a.Path != "":
		return nil, r.Conflicting("id and path are for engine=template; engine=sprig takes template", "id", "path")
	}
	content, err := r.Kernel.RenderSprig(ctx, a.Template)
	if err != nil {
		return nil, templateErrors(err)
	}
	return renderResult{Engine: a.Engine, Content: content}, nil
}

// needsRendering needs the level for what is rendered. A template may query every notebook.
func needsRendering(ctx context.Context, r *action.Request) ([]action.Target, error) {
	if text := r.Text("template"); text != "" {
		return nil, datafile.CheckRendering(ctx, r, puretemplate.Path, "the template", text)
	}
	path := r.Text("path")
	if path == "" || !r.Given("id") || r.Levels.Everywhere(ctx, access.Read) == nil {
		return nil, nil // nothing to render, or everything is allowed
	}
	t, err := datafile.FindTemplate(ctx, r, path)
	if err != nil {
		return nil, err
	}
	return nil, datafile.CheckRenderingFile(ctx, r, &t)
}
