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

// This file prepares content before it is written.

// The values of the argument dataType.
const (
	dataMarkdown = "markdown"
	dataDOM      = "dom"
)

// prepareContent prepares data for writing. It converts references in Markdown to the kernel's form, removes content that the
// levels do not allow in a note, and replaces ids that are not in keep. replaced is the block whose content is replaced,
// empty for new blocks. The warnings are for the caller.
func prepareContent(
	ctx context.Context, r *action.Request, dataType, data string, replaced kernel.ID, keep map[kernel.ID]bool,
) (out kernel.BlockContent, warnings []string, err error) {
	if dataType == dataMarkdown {
		data, warnings, err = content.Normalize(ctx, r, data, replaced)
	} else {
		data, warnings, err = content.Admit(ctx, r, content.Written{Data: data, DOM: true, Over: replaced})
	}
	if err != nil {
		return kernel.BlockContent{}, nil, err
	}
	return kernel.BlockContent{DataType: dataType, Data: withNewIDs(dataType, data, keep)}, warnings, nil
}

// joinWarnings joins warnings, without duplicates.
func joinWarnings(warnings []string) string {
	distinct := slices.DeleteFunc(action.Distinct(warnings), func(w string) bool { return w == "" })
	return strings.Join(distinct, "; ")
}

// domTime matches the time of the last change in a block's HTML tag.
var domTime = lazyregexp.New(`(<div\s[^<>]*\supdated=")\d{14}(")`)

// domID matches the id in a block's HTML tag, in every notation that HTML allows.
var domID = lazyregexp.New(`(?i)data-node-id\s*=\s*("[^"]*"|'[^']*'|[^\s"'<>]+)`)

// withNewIDs replaces the ids in data that are not in keep, like [content.RenewIDs]. In a DOM it also changes text
// that looks like such an attribute. It renews the times of changes in a DOM and removes those in Markdown, because
// the kernel would keep the old ones.
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
	return content.RenewIDs(content.RemoveTimes(data), keep)
}
