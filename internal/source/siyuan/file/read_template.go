package file

import (
	"context"
	"fmt"
	"unicode/utf8"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/tool"
)

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

func readTemplate() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "read_template", Purpose: "Read the source of a template",
		Guide:      "Actions in it are written .action{…}; render shows what becomes of them.",
		Class:      action.Reads,
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
			return nil, &tool.Error{Op: "read template", Kind: tool.API, Subject: a.Path, Message: "it is not text"}
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
