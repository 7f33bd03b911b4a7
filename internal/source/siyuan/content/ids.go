package content

import (
	"regexp"

	"collie/internal/source/siyuan/kernel"
)

var (
	listPattern = regexp.MustCompile(`\{:[^{}\n]*\}`)
	listID      = regexp.MustCompile(`(\sid=")([^"]*)(")`)
)

// RenewIDs gives the blocks of a Markdown text new ids, but for those in keep. The kernel keeps
// ids that it finds in a text (README 26), so one that was copied from blocks would make second
// blocks of their ids, and overwriting a document with it would remove both. What exists is not
// asked: an answer would tell of blocks in notebooks that the caller must not know (R-6-2).
func RenewIDs(markdown string, keep map[kernel.ID]bool) string {
	return listPattern.ReplaceAllStringFunc(markdown, func(list string) string { return RenewAttr(listID, list, keep) })
}

// RenewAttr gives new ids to what pattern finds in a text: three groups, the second of which is
// the id.
func RenewAttr(pattern *regexp.Regexp, text string, keep map[kernel.ID]bool) string {
	return pattern.ReplaceAllStringFunc(text, func(attr string) string {
		part := pattern.FindStringSubmatch(attr)
		if keep[kernel.ID(part[2])] {
			return attr
		}
		return part[1] + string(kernel.NewID()) + part[3]
	})
}
