package block

import (
	"context"
	"slices"
	"strings"
	"time"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

const (
	dataMarkdown = "markdown"
	dataDOM      = "dom"
)

// prepare makes data ready to be written: it puts references in Markdown into the kernel's form, removes what the
// levels do not let into a note, and replaces the ids that are not in keep. over is the block whose content is
// replaced, empty for new blocks. prepare returns notes for the caller.
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
	said := slices.DeleteFunc(action.Distinct(warnings), func(w string) bool { return w == "" })
	return strings.Join(said, "; ")
}

// domTime is when a block was changed, in its tag.
var domTime = lazyregexp.New(`(<div\s[^<>]*\supdated=")\d{14}(")`)

// domID is the id of a block in its tag, in every spelling that HTML has.
var domID = lazyregexp.New(`(?i)data-node-id\s*=\s*("[^"]*"|'[^']*'|[^\s"'<>]+)`)

// withNewIDs gives blocks of data whose ids are not in keep new ones, as [content.RenewIDs] does. What looks like such an
// attribute in the text of a DOM is changed too.
// The times of changes in data, which the kernel would keep, are those of now.
func withNewIDs(dataType, data string, keep map[kernel.ID]bool) string {
	if dataType == dataDOM {
		now := time.Now().Format("20060102150405")
		data = domTime.ReplaceAllString(data, "${1}"+now+"${2}")
		return domID.ReplaceAllStringFunc(data, func(attr string) string {
			id := kernel.ID(strings.Trim(domID.FindStringSubmatch(attr)[1], `"'`))
			if !keep[id] {
				id = kernel.NewID()
			}
			return `data-node-id="` + string(id) + `"`
		})
	}
	return content.RenewIDs(content.Undated(data), keep)
}
