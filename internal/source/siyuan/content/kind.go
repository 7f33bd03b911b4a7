package content

import (
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/kernel"
)

// isNotText reports whether blocks of a type, as getChildBlocks names it, hold more than their Markdown shows. Such
// blocks are never edited or overwritten as text.
func isNotText(blockType string) bool {
	switch blockType {
	case "s", "av", "iframe", "widget", "query_embed", "html", "video", "audio":
		return true
	}
	return false
}

// isContainer reports whether blocks of a type have child blocks that getChildBlocks of the document does not list.
func isContainer(blockType string) bool {
	switch blockType {
	case "l", "i", "b", "s", "callout":
		return true
	}
	return false
}

// ComplexBlock names a block that is not edited as text.
type ComplexBlock struct {
	ID   kernel.ID `json:"id"`
	Type string    `json:"type"`
}

// recommendedActions returns the actions for blocks that the text tools do not change.
func recommendedActions(blocks []ComplexBlock) []string {
	out := []string{`block(action="update")`}
	for _, b := range blocks {
		if b.Type == "av" {
			return append(out, `av(action="render")`, `av(action="set_cells")`)
		}
	}
	return out
}

var (
	databaseID = lazyregexp.New(`data-av-id="(\d{14}-[0-9a-z]{7})"`)
	nestedType = lazyregexp.New(`(?i)^(?:<(iframe|video|audio|div|section|table|details|!--)|(\{\{\{)|(\{\{))`)
)

// firstComplexType returns the type of the first block in a container's kramdown that is not text, "" if all are.
func firstComplexType(kramdown string) string {
	var in fence
	for text := range strings.SplitSeq(kramdown, "\n") {
		if in.isOpen() {
			if in.isClosedBy(text) {
				in = fence{}
			}
			continue
		}
		found := nestedType.FindStringSubmatch(stripContainers(text))
		switch {
		case found == nil:
		case strings.Contains(text, `data-type="NodeAttributeView"`):
			return "av"
		case found[2] != "":
			return "s"
		case found[3] != "":
			return "query_embed"
		case strings.EqualFold(found[1], "iframe"), strings.EqualFold(found[1], "video"), strings.EqualFold(found[1], "audio"):
			return strings.ToLower(found[1])
		default:
			return "html"
		}
		in = fenceOpened(text)
	}
	return ""
}
