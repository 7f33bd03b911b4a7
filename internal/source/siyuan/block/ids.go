package block

import (
	"regexp"

	"collie/internal/source/siyuan/kernel"
)

var (
	ialPattern   = regexp.MustCompile(`\{:[^{}\n]*\}`)
	ialID        = regexp.MustCompile(`(\sid=")([^"]*)(")`)
	domIDPattern = regexp.MustCompile(`(\sdata-node-id=")([^"]*)(")`)
)

// withNewIDs gives blocks of data whose ids are not in keep new ones. The kernel keeps ids that
// it finds in data (README 26), so text that was copied from another block would make a second
// block of its id. What exists is not asked: an answer would tell of blocks in notebooks that
// the caller must not know (R-6-2).
func withNewIDs(dataType, data string, keep map[kernel.ID]bool) string {
	renew := func(pattern *regexp.Regexp) func(string) string {
		return func(text string) string {
			return pattern.ReplaceAllStringFunc(text, func(attr string) string {
				part := pattern.FindStringSubmatch(attr)
				if keep[kernel.ID(part[2])] {
					return attr
				}
				return part[1] + string(kernel.NewID()) + part[3]
			})
		}
	}
	if dataType == dataDOM {
		return renew(domIDPattern)(data)
	}
	return ialPattern.ReplaceAllStringFunc(data, renew(ialID))
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
