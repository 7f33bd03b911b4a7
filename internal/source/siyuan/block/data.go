package block

import (
	"context"
	"strings"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

const (
	dataMarkdown = "markdown"
	dataDOM      = "dom"
)

// prepare makes data ready to be written: references in Markdown in the form the kernel wants,
// without what the levels do not let into a note, ids that are not in keep new. over is the
// block whose content it takes the place of, empty for new ones. It returns what the caller should
// know.
func prepare(
	ctx context.Context, r *action.Request, dataType, data string, over kernel.ID, keep map[kernel.ID]bool,
) (out kernel.BlockContent, warnings []string, err error) {
	if dataType == dataMarkdown {
		data, warnings, err = content.Normalize(ctx, r, data, over)
	} else {
		data, warnings, err = content.Admit(ctx, r, content.Written{Data: data, DOM: true, Over: over})
	}
	if err != nil {
		return kernel.BlockContent{}, nil, err
	}
	return kernel.BlockContent{DataType: dataType, Data: withNewIDs(dataType, data, keep)}, warnings, nil
}

// joinWarnings makes one text of warnings, each once.
func joinWarnings(warnings []string) string {
	var out []string
	seen := map[string]bool{}
	for _, w := range warnings {
		if w != "" && !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return strings.Join(out, "; ")
}
