package kerneltest

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// searchFamily answers what is found across the workspace, and the replacement in blocks.
func searchFamily(k *Kernel) {
	k.handle("/api/search/fullTextSearchBlock", fullTextSearchBlock)
	k.handle("/api/search/searchRefBlock", searchRefBlock)
	k.handle("/api/search/listInvalidBlockRefs", listInvalidBlockRefs)
	k.handle("/api/search/findReplace", findReplace)
	k.handle("/api/search/searchAsset", searchAsset)
	contents := &assetContents{ids: map[string]string{}}
	k.handle("/api/search/fullTextSearchAssetContent", contents.search)
	k.handle("/api/search/getAssetContent", contents.get)
}

// searchRefBlock finds blocks to refer to. A missing key is answered by the late half of the handler.
func searchRefBlock(k *Kernel, req request) reply {
	for _, key := range []string{"id", "rootID", "k", "beforeLen"} {
		if !req.Get(key).Exists() {
			return ok(map[string]any{"reqId": nil})
		}
	}
	query := req.str("k")
	found := []any{}
	exact := query == ""
	if query != "" {
		k.refresh()
		hits, mark := k.hits(query, byKeywords)
		scope := searchScope{kinds: everyday}
		hits = slices.DeleteFunc(hits, func(b *block) bool { return !scope.has(b) })
		sortHits(hits, 0)
		for _, b := range hits {
			entry := k.hit(b, mark)
			text := contentOf(b)
			entry["refText"] = text
			at := b.doc.hpath()
			if b.kind == kindDocument {
				exact = exact || text == query
				at = strings.TrimSuffix(b.doc.above(), "/") + "/"
			}
			entry["hPath"] = b.doc.box.conf.Name + at
			found = append(found, entry)
		}
	}
	return ok(map[string]any{"blocks": found, "k": query, "newDoc": !exact, "reqId": req.Get("reqId").Value()})
}

// listInvalidBlockRefs finds the blocks that refer to what does not exist.
func listInvalidBlockRefs(k *Kernel, req request) reply {
	var hits []*block
	roots := map[string]bool{}
	for _, d := range k.sortedDocuments() {
		d.root.walk(func(b *block) {
			if len(b.children) == 0 && slices.ContainsFunc(refersTo(b), func(s span) bool { return s.target != "" && k.blocks[s.target] == nil }) {
				hits = append(hits, b)
				roots[d.id()] = true
			}
		})
	}
	page, size := max(req.optNum("page", 1), 1), req.optNum("pageSize", 32)
	found := []any{}
	for _, b := range hits[min((page-1)*size, len(hits)):min(page*size, len(hits))] {
		entry := k.foundBlock(b)
		for _, s := range refersTo(b) {
			if k.blocks[s.target] == nil { // the id is left out
				entry["markdown"] = strings.ReplaceAll(entry["markdown"].(string), s.markdown, "(( '"+s.content+"'))")
			}
		}
		found = append(found, entry)
	}
	return ok(map[string]any{
		"blocks": found, "matchedBlockCount": len(hits), "matchedRootCount": len(roots), "pageCount": (len(hits) + size - 1) / size,
	})
}

// findReplace replaces in the blocks it is given, in the kinds of text it is given; without those it does nothing.
func findReplace(k *Kernel, req request) reply {
	find, with := req.str("k"), req.str("r")
	if find == "" || find == with {
		return done()
	}
	replace := func(text string) string { return strings.ReplaceAll(text, find, with) }
	if req.optNum("method", byKeywords) == byPattern {
		pattern, err := regexp.Compile(find)
		if err != nil {
			return done()
		}
		replace = func(text string) string { return pattern.ReplaceAllString(text, with) }
	}
	types := req.Get("replaceTypes")
	for _, id := range req.optStrs("ids") {
		b := k.openBlock(id)
		switch {
		case b == nil:
		case b.kind == kindDocument:
			if types.Get("docTitle").Bool() {
				b.attrs["title"] = replace(b.attrs["title"])
			}
		case len(b.children) == 0:
			b.text = replaceIn(b, replace, func(kind string) bool { return types.Get(kind).Bool() })
			k.redefined(b)
		}
	}
	return done()
}

// replaceIn is the text of a leaf with the stretches of some kinds replaced.
func replaceIn(b *block, replace func(string) string, on func(kind string) bool) string {
	if name := map[string]string{kindCode: "codeBlock", kindMath: "mathBlock", kindHTML: "htmlBlock"}[b.kind]; name != "" {
		if on(name) {
			return replace(b.text)
		}
		return b.text
	}
	var out strings.Builder
	for _, s := range spansOf(b.text) {
		switch kind := s.kind; {
		case kind == "" && on("text"):
			out.WriteString(replace(s.markdown))
		case kind == "a" && on("aText"), kind == "img" && on("imgText"), kind != "" && kind != "a" && kind != "img" && on(kind):
			out.WriteString(strings.Replace(s.markdown, s.content, replace(s.content), 1))
		default:
			out.WriteString(s.markdown)
		}
	}
	return out.String()
}

// searchAsset finds assets by their names.
func searchAsset(k *Kernel, req request) reply {
	query := strings.ToLower(req.str("k"))
	exts := req.optStrs("exts")
	found := []any{}
	for _, p := range k.assetFiles() {
		name := shownName(p)
		if !strings.Contains(strings.ToLower(name), query) || len(exts) > 0 && !slices.Contains(exts, path.Ext(p)) {
			continue
		}
		if query != "" {
			name = marker([]string{query})(name)
		}
		found = append(found, map[string]any{"hName": name, "path": strings.TrimPrefix(p, "/data/"), "updated": k.files[p].changed.Unix()})
	}
	return ok(found)
}

// assetFiles are the files below data/assets, the newest first.
func (k *Kernel) assetFiles() []string {
	var list []string
	for p, f := range k.files {
		if strings.HasPrefix(p, "/data/assets/") && !f.dir {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		if byTime := k.files[b].changed.Compare(k.files[a].changed); byTime != 0 {
			return byTime
		}
		return strings.Compare(a, b)
	})
	return list
}

// shownName is the name of an asset without its id.
func shownName(p string) string {
	return nameID.ReplaceAllString(strings.TrimSuffix(path.Base(p), path.Ext(p)), "") + path.Ext(p)
}

// assetContents is the index of the texts of assets.
type assetContents struct{ ids map[string]string } // by path

func (a *assetContents) entry(k *Kernel, p string, mark func(string) string) map[string]any {
	if a.ids[p] == "" {
		a.ids[p] = k.newID()
	}
	f := k.files[p]
	return map[string]any{
		"id": a.ids[p], "name": shownName(p), "ext": path.Ext(p), "path": strings.TrimPrefix(p, "/data/"), "size": len(f.data),
		"hSize": fmt.Sprintf("%d B", len(f.data)), "updated": f.changed.Unix(), "content": mark(string(f.data)),
	}
}

func (a *assetContents) search(k *Kernel, req request) reply {
	words := strings.Fields(strings.ToLower(req.optStr("query")))
	found := []any{}
	for _, p := range k.assetFiles() {
		text := strings.ToLower(string(k.files[p].data))
		if path.Ext(p) != ".txt" && path.Ext(p) != ".md" || len(words) == 0 ||
			slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) ||
			req.Get("types").Exists() && !req.Get("types."+escapeKey(path.Ext(p))).Bool() {
			continue
		}
		found = append(found, a.entry(k, p, marker(words)))
	}
	const size = 32
	page := max(req.optNum("page", 1), 1)
	return ok(map[string]any{
		"assetContents":     found[min((page-1)*size, len(found)):min(page*size, len(found))],
		"matchedAssetCount": len(found), "pageCount": (len(found) + size - 1) / size,
	})
}

func (a *assetContents) get(k *Kernel, req request) reply {
	id, words := req.str("id"), strings.Fields(req.str("query"))
	for p, known := range a.ids {
		if known == id && k.files[p] != nil {
			return ok(map[string]any{"assetContent": a.entry(k, p, marker(words))})
		}
	}
	return ok(map[string]any{"assetContent": nil})
}
