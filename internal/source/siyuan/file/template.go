package file

import (
	"context"
	"errors"
	"html"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

const templateHint = `file(action="list_templates") shows the paths of templates`

// relative is a template's path below data/templates with slashes.
func relative(t *kernel.Template) string { return strings.ReplaceAll(t.Relative, `\`, "/") }

// findTemplate finds a template by its path below data/templates, or by the whole path as the
// kernel lists it. Only what the kernel lists is a template, so no other path ever reaches it.
func findTemplate(ctx context.Context, r *action.Request, path string) (kernel.Template, error) {
	_, wrong := checkPath(path)
	absolute := strings.HasPrefix(path, "/") || len(path) > 2 && path[1] == ':'
	if wrong == "" && encoded.MatchString(path) {
		wrong = "has an encoded character"
	}
	if wrong != "" && !absolute {
		return kernel.Template{}, badPath(path, wrong, templateHint)
	}
	list, err := r.Kernel.Templates(ctx, "")
	if err != nil {
		return kernel.Template{}, err
	}
	for _, t := range list {
		rel := relative(&t)
		if rel != path && t.Path != path {
			continue
		}
		if _, wrong := checkPath(rel); wrong != "" {
			return kernel.Template{}, badPath(path, wrong, templateHint)
		}
		if !strings.HasSuffix(strings.ReplaceAll(t.Path, `\`, "/"), "/data/templates/"+rel) {
			return kernel.Template{}, badPath(path, "is outside of data/templates", templateHint)
		}
		e, err := locate(ctx, r.Kernel, "templates/"+rel)
		if err != nil {
			return kernel.Template{}, err
		}
		if e != nil && !e.folder {
			return t, nil
		}
	}
	if absolute {
		e := badPath(path, "is no template of this workspace", templateHint)
		e.Facts = map[string]any{"reason": "path_not_in_workspace"}
		return kernel.Template{}, e
	}
	missing := access.NotFound(access.Template, path)
	missing.Hint = templateHint
	return kernel.Template{}, missing
}

// templateErrors makes an error of a template readable: the kernel escapes it for HTML. A template that the kernel does
// not come to an end with may be the reason for its silence.
func templateErrors(err error) error {
	e, ok := errors.AsType[*tool.Error](err)
	switch {
	case !ok:
	case e.Kind == tool.API:
		e.Message = html.UnescapeString(e.Message)
	case e.Code == kernel.CodeUnreachable:
		e.Hint = "if SiYuan is there, the template is more work than it can do in time: make its loops and queries smaller"
	}
	return err
}
