package kerneltest

import (
	"html"
	"slices"
	"strings"
)

// refFamily answers who refers to a block, and who mentions a document by its name.
func refFamily(k *Kernel) {
	k.handle("/api/ref/getBacklink2", getBacklink2)
	k.handle("/api/ref/getBacklinkDoc", getBacklinkDoc)
	k.handle("/api/ref/getBackmentionDoc", getBackmentionDoc)
	k.handle("/api/ref/refreshBacklink", func(_ *Kernel, req request) reply {
		req.str("id")
		return done()
	})
}

// getBacklink2 lists the documents that refer to a block, or to anything in a document, and those that mention it.
func getBacklink2(k *Kernel, req request) reply {
	b := k.openBlock(req.str("id"))
	if b == nil {
		return ok(map[string]any{"backlinks": []any{}, "backmentions": []any{}, "box": "", "k": "", "linkRefsCount": 0, "mentionsCount": 0, "mk": ""})
	}
	links, mentions := []any{}, []any{}
	count := 0
	for _, d := range k.sortedDocuments() {
		if n := len(k.linksIn(d, b)); n > 0 {
			links = append(links, backlinkEntry(d, n))
			count += n
		}
		if n := len(k.mentionsIn(d, b)); n > 0 {
			mentions = append(mentions, backlinkEntry(d, n))
		}
	}
	return ok(map[string]any{
		"backlinks": links, "backmentions": mentions, "box": b.doc.box.id, "k": req.optStr("k"), "mk": req.optStr("mk"),
		"linkRefsCount": count, "mentionsCount": len(mentions),
	})
}

func backlinkEntry(d *document, count int) map[string]any {
	return map[string]any{
		"id": d.id(), "box": d.box.id, "name": d.title(), "hPath": d.box.conf.Name + d.hpath(), "type": "backlink",
		"nodeType": nodeTypes[kindDocument], "subType": "", "depth": 0, "count": count, "folded": false,
		"updated": d.root.attrs["updated"], "created": created(d.root),
	}
}

// linksIn are the leaves of d that refer to def, or to anything in it if it is a document.
func (k *Kernel) linksIn(d *document, def *block) []*block {
	targets := map[string]bool{def.id: true}
	if def.kind == kindDocument {
		def.walk(func(b *block) { targets[b.id] = true })
	}
	var found []*block
	d.root.walk(func(b *block) {
		if len(b.children) == 0 && slices.ContainsFunc(refersTo(b), func(s span) bool { return targets[s.target] }) {
			found = append(found, b)
		}
	})
	return found
}

// mentionsIn are the leaves of another document that have the title of def in plain text.
func (k *Kernel) mentionsIn(d *document, def *block) []*block {
	title := def.attrs["title"]
	if def.kind != kindDocument || title == "" || d.root == def || d.hidden() {
		return nil
	}
	var found []*block
	d.root.walk(func(b *block) {
		if b.kind == kindParagraph && slices.ContainsFunc(spansOf(b.text), func(s span) bool { return s.kind == "" && strings.Contains(s.content, title) }) {
			found = append(found, b)
		}
	})
	return found
}

func getBacklinkDoc(k *Kernel, req request) reply {
	def, d := k.openBlock(req.str("defID")), k.openDocument(req.str("refTreeID"))
	keyword := req.str("keyword")
	found := []any{}
	if def != nil && d != nil {
		for _, b := range k.linksIn(d, def) {
			found = append(found, backlinkBlock(b, keyword, "")...)
		}
	}
	return ok(map[string]any{"backlinks": found, "keywords": []string{}})
}

func getBackmentionDoc(k *Kernel, req request) reply {
	def, d := k.openBlock(req.str("defID")), k.openDocument(req.str("refTreeID"))
	keyword := req.str("keyword")
	if def == nil || d == nil {
		return ok(map[string]any{"backmentions": []any{}, "keywords": nil})
	}
	found := []any{}
	for _, b := range k.mentionsIn(d, def) {
		found = append(found, backlinkBlock(b, keyword, def.attrs["title"])...)
	}
	return ok(map[string]any{"backmentions": found, "keywords": []string{def.attrs["title"]}})
}

// backlinkBlock shows a leaf, or the list item it stands in, unless it lacks the keyword.
func backlinkBlock(b *block, keyword, mention string) []any {
	if !strings.Contains(strings.ToLower(contentOf(b)), strings.ToLower(keyword)) {
		return nil
	}
	if b.parent != nil && b.parent.kind == kindItem {
		b = b.parent
	}
	dom := domOf(b, 1)
	if mention != "" {
		shown := html.EscapeString(mention)
		dom = strings.Replace(dom, shown, `<span data-type="search-mark">`+shown+`</span>`, 1)
	}
	return []any{map[string]any{"dom": dom, "blockPaths": []any{}, "expand": true}}
}
