package file

import (
	"context"

	"collie/internal/puretemplate"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
)

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

func render() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "render", Purpose: "Render a template for a document, or a sprig text",
		Guide: "engine=template takes id and path and gives block DOM; engine=sprig takes template and gives text. " +
			"Anyone may use functions of texts, numbers and dates; others, such as queryBlocks, can read all notes and " +
			"need every notebook to be readable.",
		Class: action.Reads,
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
		dom, err := r.Kernel.RenderTemplate(ctx, r.Target("id").Root, t.Path, a.Preview) // of a block it would have no title
		if err != nil {
			return nil, templateErrors(err)
		}
		// The kernel fills in the anchors of references that the template leaves to it.
		veil, err := content.NewVeil(ctx, r, dom)
		if err != nil {
			return nil, err
		}
		return renderResult{a.Engine, veil.Text(dom), t.Path}, nil
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

// needsRendering needs that what is to be rendered may be: templates can query every notebook.
func needsRendering(ctx context.Context, r *action.Request) ([]action.Target, error) {
	if text := given(r, "template", ""); text != "" {
		return nil, datafile.Rendering(ctx, r, puretemplate.Path, "the template", text)
	}
	path := given(r, "path", "")
	if path == "" || !r.Given("id") || r.Levels.Everywhere(ctx, access.Read) == nil {
		return nil, nil // nothing is rendered without them, or anything may be
	}
	t, err := datafile.FindTemplate(ctx, r, path)
	if err != nil {
		return nil, err
	}
	return nil, datafile.RenderingFile(ctx, r, &t)
}
