package block

import (
	"regexp"

	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

var domIDPattern = regexp.MustCompile(`(\sdata-node-id=")([^"]*)(")`)

// withNewIDs gives blocks of data whose ids are not in keep new ones, as [content.RenewIDs] does.
func withNewIDs(dataType, data string, keep map[kernel.ID]bool) string {
	if dataType == dataDOM {
		return content.RenewAttr(domIDPattern, data, keep)
	}
	return content.RenewIDs(data, keep)
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
