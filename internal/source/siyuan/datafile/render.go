package datafile

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/puretemplate"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file decides whether the kernel may render a template, which could read every notebook.

// Rendered are the settings of a notebook that the kernel renders: when somebody makes a daily note, a document, or one
// from a reference.
var Rendered = []string{"dailyNoteSavePath", "docCreateSavePath", "refCreateSavePath", "createDocNameTemplate"}

// CheckRendering returns nil if the kernel may render a text: if the text is pure, as package puretemplate defines it, or
// if every notebook may be read, since the kernel's templates can read them all. Otherwise it returns an error of
// kind Denied that says what the text contains. subject is the name of the text for people.
func CheckRendering(ctx context.Context, r *action.Request, kind puretemplate.Kind, subject, text string) error {
	if found := puretemplate.Judge(kind, text); found != nil {
		return needsEveryNotebook(ctx, r, subject, found)
	}
	return nil
}

// CheckRenderingFile is like [CheckRendering], for a template file. It reads the file only if some notebook may not be
// read.
func CheckRenderingFile(ctx context.Context, r *action.Request, t *kernel.Template) error {
	if r.Levels.Everywhere(ctx, access.Read) == nil {
		return nil
	}
	raw, err := r.Kernel.ReadFile(ctx, "/data/templates/"+Relative(t))
	if err != nil {
		return err
	}
	return CheckRendering(ctx, r, puretemplate.File, "the template "+Relative(t), string(raw))
}

// DailyTemplate returns nil if path may be the dailyNoteTemplatePath of a notebook: if it stays below data/templates,
// since the kernel opens whatever it leads to, and the file may be rendered ([CheckRenderingFile]).
func DailyTemplate(ctx context.Context, r *action.Request, path string) error {
	if path == "" {
		return nil
	}
	rel := strings.TrimPrefix(path, "/")
	_, wrong := Check(rel)
	if wrong == "" && HasEncodedChar(path) {
		wrong = "has an encoded character"
	}
	if wrong != "" {
		return BadPathError(path, "dailyNoteTemplatePath "+wrong, "expected a template below data/templates, such as /journal/daily.md; "+templateHint)
	}
	if r.Levels.Everywhere(ctx, access.Read) == nil {
		return nil
	}
	if !strings.HasSuffix(rel, ".md") {
		rel += ".md" // as the kernel does
	}
	t, err := FindTemplate(ctx, r, rel)
	if tool.KindOf(err) == tool.NotFound {
		// Not in the list, but a file system may find it by another name.
		return needsEveryNotebook(ctx, r, "dailyNoteTemplatePath",
			[]puretemplate.Finding{{Name: path, Why: "is not a template that SiYuan lists, so nobody can tell what it does"}})
	}
	if err != nil {
		return err
	}
	return CheckRenderingFile(ctx, r, &t)
}

// DailyNote requires that the kernel may render what it renders to find or make today's note of a notebook: the path
// and the template in the notebook's settings. They may be a person's own, or older than a level.
func DailyNote(param string) action.Need {
	return action.On(access.Read, "every notebook, where the path or template of daily notes does more than texts, numbers and dates", "",
		func(ctx context.Context, r *action.Request) ([]action.Target, error) {
			for _, notebook := range r.Strings(param) {
				if err := checkDailyNote(ctx, r, kernel.ID(notebook)); err != nil {
					return nil, err
				}
			}
			return nil, nil
		})
}

func checkDailyNote(ctx context.Context, r *action.Request, notebook kernel.ID) error {
	raw, err := r.Kernel.NotebookConf(ctx, notebook)
	if err != nil {
		return err
	}
	conf := gjson.GetBytes(raw, "conf")
	if err := CheckRendering(ctx, r, puretemplate.Path, "dailyNoteSavePath of this notebook", conf.Get("dailyNoteSavePath").String()); err != nil {
		return err
	}
	return DailyTemplate(ctx, r, conf.Get("dailyNoteTemplatePath").String())
}

// needsEveryNotebook returns nil if every notebook is readable, else an error that says why that is required.
func needsEveryNotebook(ctx context.Context, r *action.Request, subject string, found []puretemplate.Finding) error {
	err := r.Levels.Everywhere(ctx, access.Read)
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != tool.Denied {
		return err
	}
	why := make([]string, len(found))
	for i, f := range found {
		why[i] = f.String()
	}
	e.Message = fmt.Sprintf("%s could read every notebook: %s; so every notebook must allow to read", subject, strings.Join(why, ", "))
	e.Hint = `use plain text and functions of texts, numbers and dates, such as {{now | date "2006-01-02"}}; ` + e.Hint
	return e
}
