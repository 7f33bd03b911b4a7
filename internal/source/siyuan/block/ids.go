package block

import (
	"regexp"
	"time"

	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// domTime is when a block was changed, in its tag.
var domTime = regexp.MustCompile(`(<div\s[^<>]*\supdated=")\d{14}(")`)

var domIDPattern = regexp.MustCompile(`(\sdata-node-id=")([^"]*)(")`)

// withNewIDs gives blocks of data whose ids are not in keep new ones, as [content.RenewIDs] does.
// The times of changes in data, which the kernel would keep, are those of now.
func withNewIDs(dataType, data string, keep map[kernel.ID]bool) string {
	if dataType == dataDOM {
		now := time.Now().Format("20060102150405")
		data = domTime.ReplaceAllString(data, "${1}"+now+"${2}")
		return content.RenewAttr(domIDPattern, data, keep)
	}
	return content.RenewIDs(content.Undated(data), keep)
}

// domIDs are the ids of all blocks in a DOM.
func domIDs(blocks []kernel.DOMBlock) map[kernel.ID]bool {
	out := map[kernel.ID]bool{}
	var walk func([]kernel.DOMBlock)
	walk = func(list []kernel.DOMBlock) {
		for _, b := range list {
			out[b.ID] = true
			walk(b.Blocks)
		}
	}
	walk(blocks)
	return out
}
