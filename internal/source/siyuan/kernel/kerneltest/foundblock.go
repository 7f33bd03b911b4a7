package kerneltest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// foundBlock is a block as searches, bookmarks, the outline and the recent list show it.
func (k *Kernel) foundBlock(b *block) map[string]any {
	d := b.doc
	parentID := ""
	if b.parent != nil {
		parentID = b.above().id
	}
	return map[string]any{
		"box": d.box.id, "path": d.path(), "hPath": d.hpath(), "id": b.id, "rootID": d.id(), "parentID": parentID,
		"name": b.attrs["name"], "alias": b.attrs["alias"], "memo": b.attrs["memo"], "tag": strings.Join(tagsOf(b.text), " "),
		"content": contentOf(b), "fcontent": firstContent(b), "markdown": markdownOf(b), "folded": b.attrs["fold"] == "1",
		"type": nodeTypes[b.kind], "subType": b.subtype(), "refText": "", "refs": nil, "defID": "", "defPath": "",
		"ial": maps.Clone(b.attrs), "children": nil, "depth": 0, "count": 0, "refCount": 0, "sort": sortOf(b.kind),
		"created": "", "updated": "", "riffCardID": "", "riffCard": nil,
	}
}

func sortOf(kind string) int {
	if n, known := indexSort[kind]; known {
		return n
	}
	return 100
}

// firstContent is the text of a container's first leaf, and the title of a document.
func firstContent(b *block) string {
	switch {
	case b.kind == kindDocument:
		return contentOf(b)
	case !b.container():
		return ""
	}
	for first := b; ; first = first.children[0] {
		if len(first.children) == 0 {
			return contentOf(first)
		}
	}
}

// recentLimit is how many blocks the recent list holds.
const recentLimit = 16

func getRecentUpdatedBlocks(k *Kernel, _ request) reply {
	var list []*block
	for _, b := range k.blocks {
		if k.openBlock(b.id) != nil && b.kind == kindParagraph && b.text != "" {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b *block) int {
		return cmp.Or(strings.Compare(b.attrs["updated"], a.attrs["updated"]), strings.Compare(a.id, b.id))
	})
	found := []any{}
	for _, b := range list[:min(len(list), recentLimit)] {
		found = append(found, k.foundBlock(b))
	}
	return ok(found)
}
