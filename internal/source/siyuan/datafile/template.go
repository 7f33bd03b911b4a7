package datafile

import (
	"context"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// templateHint is the hint for a template that does not exist: where to look for templates.
const templateHint = `file(action="list_templates") shows the paths of templates`

// Relative returns a template's path below data/templates with slashes.
func Relative(t *kernel.Template) string { return strings.ReplaceAll(t.Relative, `\`, "/") }

// FindTemplate finds a template by its path below data/templates, or by the whole path as the
// kernel lists it. Only what the kernel lists is a template, so no other path ever reaches it.
func FindTemplate(ctx context.Context, r *action.Request, path string) (kernel.Template, error) {
	_, wrong := Check(path)
	absolute := strings.HasPrefix(path, "/") || len(path) > 2 && path[1] == ':'
	if wrong == "" && HasEncodedChar(path) {
		wrong = "has an encoded character"
	}
	if wrong != "" && !absolute {
		return kernel.Template{}, BadPathError(path, wrong, templateHint)
	}
	list, err := r.Kernel.Templates(ctx, "")
	if err != nil {
		return kernel.Template{}, err
	}
	for _, t := range list {
		rel := Relative(&t)
		if rel != path && t.Path != path {
			continue
		}
		if _, wrong := Check(rel); wrong != "" {
			return kernel.Template{}, BadPathError(path, wrong, templateHint)
		}
		if !strings.HasSuffix(strings.ReplaceAll(t.Path, `\`, "/"), "/data/templates/"+rel) {
			return kernel.Template{}, BadPathError(path, "is outside of data/templates", templateHint)
		}
		e, err := Locate(ctx, r.Kernel, "templates/"+rel)
		if err != nil {
			return kernel.Template{}, err
		}
		if e != nil && !e.Folder {
			return t, nil
		}
	}
	if absolute {
		e := BadPathError(path, "is not a template of this workspace", templateHint)
		e.Facts = map[string]any{"reason": "path_not_in_workspace"}
		return kernel.Template{}, e
	}
	missing := access.NotFound(access.Template, path)
	missing.Hint = templateHint
	return kernel.Template{}, missing
}
