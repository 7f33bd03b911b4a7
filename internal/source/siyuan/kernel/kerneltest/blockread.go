package kerneltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// blockInfoFamily answers the endpoints below /api/block that read.
func blockInfoFamily(k *Kernel) {
	k.handle("/api/block/getBlockKramdown", getBlockKramdown)
	k.handle("/api/block/getBlockKramdowns", getBlockKramdowns)
	k.handle("/api/block/getBlockDOM", getBlockDOM)
	k.handle("/api/block/getBlockDOMs", getBlockDOMs)
	k.handle("/api/block/getChildBlocks", getChildBlocks)
	k.handle("/api/block/getTailChildBlocks", getTailChildBlocks)
	k.handle("/api/block/getBlockInfo", getBlockInfo)
	k.handle("/api/block/getBlockBreadcrumb", getBlockBreadcrumb)
	k.handle("/api/block/getDocInfo", getDocInfo)
	k.handle("/api/block/getDocsInfo", getDocsInfo)
	k.handle("/api/block/getBlocksWordCount", getBlocksWordCount)
	k.handle("/api/block/getContentWordCount", func(_ *Kernel, req request) reply {
		var c wordCount
		c.add(req.str("content"))
		return ok(map[string]any{"reqId": nil, "stat": c})
	})
	k.handle("/api/block/getTreeStat", getTreeStat)
	k.handle("/api/block/getRecentUpdatedBlocks", getRecentUpdatedBlocks)
	k.handle("/api/block/checkBlockExist", func(k *Kernel, req request) reply {
		return ok(k.openBlock(req.str("id")) != nil)
	})
	k.handle("/api/block/checkBlocksExist", func(k *Kernel, req request) reply {
		found := map[string]bool{}
		for _, id := range req.strs("ids") {
			found[id] = k.openBlock(id) != nil
		}
		return ok(found)
	})
	k.handle("/api/block/getBlockIndex", func(k *Kernel, req request) reply {
		if b := k.openBlock(req.id("id")); b != nil {
			return ok(max(b.index()+1, 0))
		}
		return ok(0)
	})
	k.handle("/api/block/getBlockSiblingID", getBlockSiblingID)
	k.handle("/api/block/getBlockTreeInfos", getBlockTreeInfos)
	k.handle("/api/block/getHeadingChildrenIDs", func(k *Kernel, req request) reply {
		ids := []string{}
		if b := k.openBlock(req.id("id")); b != nil {
			for _, child := range b.section() {
				ids = append(ids, child.id)
			}
		}
		return ok(ids)
	})
	k.handle("/api/block/getRefText", func(k *Kernel, req request) reply {
		if b := k.openBlock(req.id("id")); b != nil {
			return ok(strings.TrimSpace(contentOf(b)))
		}
		return ok("")
	})
	k.handle("/api/block/checkBlockRef", checkBlockRef)
}

func getBlockKramdown(k *Kernel, req request) reply {
	id := req.id("id")
	if mode := req.optStr("mode"); mode != "" && mode != "md" && mode != "textmark" {
		return fail(-1, "Invalid mode")
	}
	text := ""
	if b := k.openBlock(id); b != nil && req.optStr("mode") == "textmark" {
		text = renderer{ials: true, marks: true}.block(b) + "\n"
	} else if b != nil {
		text = kramdownOf(b)
	}
	return ok(map[string]any{"id": id, "kramdown": text})
}

func getBlockKramdowns(k *Kernel, req request) reply {
	found := map[string]string{}
	for _, id := range req.strs("ids") {
		if b := k.openBlock(id); b != nil {
			found[id] = kramdownOf(b)
		}
	}
	return ok(found)
}

func getBlockDOM(k *Kernel, req request) reply {
	id, dom := req.id("id"), ""
	if b := k.openBlock(id); b != nil {
		dom = domOf(b, 1)
	}
	return ok(map[string]any{"dom": dom, "id": id})
}

func getBlockDOMs(k *Kernel, req request) reply {
	found := map[string]string{}
	for _, id := range req.strs("ids") {
		if b := k.openBlock(id); b != nil {
			found[id] = domOf(b, 1)
		}
	}
	return ok(found)
}

// childBlock is a block as getChildBlocks shows it; empty texts are left out.
type childBlock struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	SubType  string `json:"subType,omitempty"`
	Content  string `json:"content,omitempty"`
	Markdown string `json:"markdown,omitempty"`
}

func newChildBlock(b *block) childBlock {
	return childBlock{ID: b.id, Type: b.kind, SubType: b.subtype(), Content: contentOf(b), Markdown: markdownOf(b)}
}

// childrenOf are the blocks getChildBlocks lists: those in a container, those under a heading.
func childrenOf(b *block) []*block {
	if b.kind == kindHeading {
		return b.section()
	}
	return b.children
}

func getChildBlocks(k *Kernel, req request) reply {
	list := []childBlock{}
	if b := k.openBlock(req.id("id")); b != nil {
		for _, child := range childrenOf(b) {
			list = append(list, newChildBlock(child))
		}
	}
	return ok(list)
}

// getTailChildBlocks lists the last n children, the last one first.
func getTailChildBlocks(k *Kernel, req request) reply {
	list := []childBlock{}
	if b := k.openBlock(req.id("id")); b != nil {
		children := slices.Clone(childrenOf(b))
		slices.Reverse(children)
		for _, child := range children[:min(len(children), req.optNum("n", 7))] {
			list = append(list, newChildBlock(child))
		}
	}
	return ok(list)
}

func getBlockInfo(k *Kernel, req request) reply {
	id := req.id("id")
	b := k.openBlock(id)
	if b == nil {
		if k.blocks[id] != nil {
			return fail(-1, "")
		}
		return fail(-1, fmt.Sprintf("Content block with id [%s] not found", id))
	}
	d := b.doc
	return ok(map[string]any{
		"box": d.box.id, "path": d.path(), "rootChildID": d.id(), "rootID": d.id(), "rootIcon": d.root.attrs["icon"],
		"rootTitle": d.title(), "rootTitleEmpty": d.root.attrs["title-empty"] == "true",
	})
}

func getBlockBreadcrumb(k *Kernel, req request) reply {
	list := []any{}
	b := k.openBlock(req.id("id"))
	if b == nil {
		return ok(list)
	}
	crumb := func(b *block) map[string]any {
		name := contentOf(b)
		switch b.kind {
		case kindDocument:
			name = b.doc.box.conf.Name + b.doc.hpath()
		case kindParagraph:
			name = ""
		}
		subtype := b.subtype()
		return map[string]any{"id": b.id, "name": strings.TrimSpace(name), "type": nodeTypes[b.kind], "subType": subtype, "children": nil}
	}
	for up := b; up != nil; up = up.above() {
		list = append([]any{crumb(up)}, list...)
	}
	return ok(list)
}

func (k *Kernel) docInfo(b *block, counted bool) map[string]any {
	d := b.doc
	refIDs := []string{}
	if counted {
		ids := map[string]bool{}
		d.root.walk(func(c *block) { ids[c.id] = true })
		for _, r := range k.referrers(ids) {
			refIDs = append(refIDs, r.id)
		}
		slices.Sort(refIDs)
	}
	return map[string]any{
		"id": b.id, "rootID": d.id(), "name": d.title(), "refCount": len(refIDs),
		"subFileCount": len(k.children(d.box, parentOf(d))), "refIDs": refIDs, "ial": maps.Clone(d.root.attrs),
		"icon": d.root.attrs["icon"], "attrViews": nil,
	}
}

// parentOf is what the children of d name as their parent: nil for the page of a notebook.
func parentOf(d *document) *document {
	if d.hidden() {
		return nil
	}
	return d
}

func getDocInfo(k *Kernel, req request) reply {
	id := req.id("id")
	b := k.openBlock(id)
	if b == nil {
		return fail(-1, fmt.Sprintf("Content block with id [%s] not found", id))
	}
	return ok(k.docInfo(b, true))
}

func getDocsInfo(k *Kernel, req request) reply {
	ids, counted := req.strs("ids"), req.flag("refCount")
	req.flag("av")
	list := []any{}
	for _, id := range ids {
		b := k.openBlock(id)
		if b == nil {
			return fail(-1, fmt.Sprintf("Content block with id [[%s]] not found", strings.Join(ids, " ")))
		}
		list = append(list, k.docInfo(b, counted))
	}
	return ok(list)
}

func idOf(b *block) string {
	if b == nil {
		return ""
	}
	return b.id
}

func typeOf(b *block) string {
	if b == nil {
		return ""
	}
	return nodeTypes[b.kind]
}

func getBlockSiblingID(k *Kernel, req request) reply {
	b := k.openBlock(req.id("id"))
	if b == nil {
		return ok(map[string]any{"next": "", "parent": "", "previous": ""})
	}
	return ok(map[string]any{"next": idOf(b.sibling(1)), "parent": idOf(b.parent), "previous": idOf(b.sibling(-1))})
}

func getBlockTreeInfos(k *Kernel, req request) reply {
	found := map[string]any{}
	for _, id := range req.strs("ids") {
		b := k.openBlock(id)
		if b == nil {
			continue
		}
		previous, next := b.sibling(-1), b.sibling(1)
		found[id] = map[string]any{
			"id": id, "type": typeOf(b), "parentID": idOf(b.parent), "parentType": typeOf(b.parent), "previousID": idOf(previous),
			"previousType": typeOf(previous), "nextID": idOf(next), "nextType": typeOf(next),
		}
	}
	return ok(found)
}

// checkBlockRef tells whether one of the blocks, or a block below it, is referred to.
func checkBlockRef(k *Kernel, req request) reply {
	ids := map[string]bool{}
	for _, id := range req.strs("ids") {
		if b := k.openBlock(id); b != nil {
			b.walk(func(c *block) { ids[c.id] = true })
		}
	}
	return ok(len(k.referrers(ids)) > 0)
}

func runeCount(text string) int { return utf8.RuneCountInString(text) }
