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

// prepare makes data ready to be written: references in Markdown in the form the kernel wants
// (0.7), ids that are not in keep new. It returns what the caller should know.
func prepare(
	ctx context.Context, r *action.Request, dataType, data string, keep map[kernel.ID]bool,
) (kernel.BlockContent, []string, error) {
	var warnings []string
	if dataType == dataMarkdown {
		normal, notes, err := content.Normalize(ctx, r, data)
		if err != nil {
			return kernel.BlockContent{}, nil, err
		}
		data, warnings = normal, notes
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
