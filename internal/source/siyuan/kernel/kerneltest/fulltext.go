package kerneltest

import (
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"
)

// The methods of the full text search; any other number is the first.
const (
	byKeywords = iota
	bySyntax
	bySQL
	byPattern
)

// typeKinds gives the kinds of blocks by the names a search has for them; those that are not in everyday are only
// searched when asked for.
var typeKinds = map[string]string{
	"document": kindDocument, "heading": kindHeading, "list": kindList, "listItem": kindItem, "codeBlock": kindCode,
	"mathBlock": kindMath, "table": kindTable, "blockquote": kindQuote, "superBlock": kindSuper,
	"paragraph": kindParagraph, "htmlBlock": kindHTML, "embedBlock": kindEmbed, "databaseBlock": kindDatabase,
	"audioBlock": kindAudio, "videoBlock": kindVideo, "iframeBlock": kindIFrame, "widgetBlock": kindWidget,
	"callout": kindCallout,
}

var everyday = []string{kindDocument, kindHeading, kindCode, kindMath, kindTable, kindParagraph, kindHTML}

// fullTextSearchBlock finds blocks. What it cannot make sense of is no error: there are no hits.
func fullTextSearchBlock(k *Kernel, req request) reply {
	query, method := strings.TrimSpace(req.optStr("query")), req.optNum("method", byKeywords)
	k.refresh()
	words := strings.Fields(query)
	hits, mark := k.hits(query, method)
	scope := searchScope{paths: req.optStrs("paths"), kinds: searchedKinds(req)}
	if method != bySQL {
		hits = slices.DeleteFunc(hits, func(b *block) bool { return !scope.has(b) })
		sortHits(hits, req.optNum("orderBy", 0))
	}
	docMode := method == byKeywords && len(words) > 1
	roots := map[string]bool{}
	for _, b := range hits {
		roots[b.doc.id()] = true
	}
	page, size := max(req.optNum("page", 1), 1), req.optNum("pageSize", 32)
	if size < 1 {
		size = 32
	}
	found := []any{}
	shown := hits[min((page-1)*size, len(hits)):min(page*size, len(hits))]
	if req.optNum("groupBy", 0) == 1 {
		found = k.grouped(shown, mark)
	} else {
		for _, b := range shown {
			found = append(found, k.hit(b, mark))
		}
		if docMode {
			for _, b := range documentsOf(shown) {
				found = append(found, k.hit(b, mark))
			}
		}
	}
	if method == bySQL {
		found = k.forged(query, found)
	}
	return ok(map[string]any{
		"blocks": found, "docMode": docMode, "matchedBlockCount": len(hits), "matchedRootCount": len(roots),
		"pageCount": (len(hits) + size - 1) / size,
	})
}

// hits are the blocks of open notebooks that match, and what marks the matches in a text.
func (k *Kernel) hits(query string, method int) (found []*block, mark func(string) string) {
	mark = html.EscapeString
	switch {
	case query == "":
		return nil, mark
	case validID(query):
		if b := k.openBlock(query); b != nil {
			found = append(found, b)
		}
		return found, mark
	case method == bySQL:
		return k.blocksOf(query), mark
	case method == bySyntax:
		positive, _, _ := strings.Cut(query, " NOT ")
		words := slices.DeleteFunc(strings.Fields(positive), func(w string) bool { return w == "AND" || w == "OR" })
		return k.blocksOf("SELECT id FROM blocks_fts WHERE blocks_fts MATCH '" + strings.ReplaceAll(query, "'", "''") + "' LIMIT 100000"),
			marker(words)
	case method == byPattern:
		pattern, err := regexp.Compile(query)
		if err != nil {
			return nil, mark
		}
		return k.matching(pattern.MatchString), func(text string) string {
			return pattern.ReplaceAllStringFunc(html.EscapeString(text), marked)
		}
	}
	words := strings.Fields(strings.ToLower(query))
	all := func(text string) bool {
		text = strings.ToLower(text)
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	}
	return k.matching(all), marker(words)
}

// matching are the blocks whose text, name, alias or memo matches, in the order they were made.
func (k *Kernel) matching(match func(string) bool) []*block {
	var found []*block
	for _, d := range k.sortedDocuments() {
		d.root.walk(func(b *block) {
			if match(contentOf(b)) || match(b.attrs["name"]) || match(b.attrs["alias"]) || match(b.attrs["memo"]) {
				found = append(found, b)
			}
		})
	}
	return found
}

// sortedDocuments are the documents of open notebooks, the oldest first.
func (k *Kernel) sortedDocuments() []*document {
	var list []*document
	for _, d := range k.documents {
		if !d.box.conf.Closed {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b *document) int { return cmp.Compare(a.made, b.made) })
	return list
}

// blocksOf are the blocks whose ids a statement returns.
func (k *Kernel) blocksOf(statement string) []*block {
	rows, err := k.index.query(statement)
	if err != nil {
		return nil
	}
	var found []*block
	for _, row := range rows {
		id, _ := row["id"].(string)
		if b := k.openBlock(id); b != nil {
			found = append(found, b)
		}
	}
	return found
}

// forged gives hits of a statement the columns that it made up: the kernel takes them from the rows.
func (k *Kernel) forged(statement string, found []any) []any {
	rows, err := k.index.query(statement)
	if err != nil || len(rows) != len(found) {
		return found
	}
	for i, row := range rows {
		hit := found[i].(map[string]any)
		for _, column := range []string{"box", "path", "content", "markdown"} {
			if text, isText := row[column].(string); isText {
				hit[column] = text
			}
		}
	}
	return found
}

// searchScope is where a search looks.
type searchScope struct {
	paths []string // a notebook's id, or that and the path of a document
	kinds []string
}

func searchedKinds(req request) []string {
	if !req.Get("types").Exists() {
		return everyday
	}
	var kinds []string
	for name, kind := range typeKinds {
		if req.Get("types." + name).Bool() {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func (s searchScope) has(b *block) bool {
	if !slices.Contains(s.kinds, b.kind) || b.doc.hidden() {
		return false
	}
	if len(s.paths) == 0 {
		return true
	}
	at := b.doc.box.id + b.doc.path()
	return slices.ContainsFunc(s.paths, func(p string) bool {
		return at == p || strings.HasPrefix(at, strings.TrimSuffix(p, ".sy")+"/")
	})
}

// sortHits puts hits in one of the orders: 0 kind, 1 and 2 made, 3 and 4 changed, 5 and 6 text, 7 as they match.
func sortHits(list []*block, order int) {
	orders := map[int]func(a, b *block) int{
		0: func(a, b *block) int {
			return cmp.Or(cmp.Compare(sortOf(a.kind), sortOf(b.kind)), strings.Compare(b.attrs["updated"], a.attrs["updated"]))
		},
		1: func(a, b *block) int { return strings.Compare(created(a), created(b)) },
		2: func(a, b *block) int { return strings.Compare(created(b), created(a)) },
		3: func(a, b *block) int { return strings.Compare(a.attrs["updated"], b.attrs["updated"]) },
		4: func(a, b *block) int { return strings.Compare(b.attrs["updated"], a.attrs["updated"]) },
		5: func(a, b *block) int { return strings.Compare(contentOf(a), contentOf(b)) },
		6: func(a, b *block) int { return strings.Compare(contentOf(b), contentOf(a)) },
	}
	if less := orders[order]; less != nil {
		slices.SortStableFunc(list, less)
	}
}

// hit is a block as a search shows it. A document shows where it lies.
func (k *Kernel) hit(b *block, mark func(string) string) map[string]any {
	found := k.foundBlock(b)
	for _, key := range []string{"content", "name", "alias", "memo", "tag"} {
		found[key] = mark(found[key].(string))
	}
	if b.kind == kindDocument {
		found["hPath"] = b.doc.above()
	}
	return found
}

// above is the path by titles of what a document lies in.
func (d *document) above() string {
	if d.parent == nil {
		return "/"
	}
	return d.parent.hpath()
}

// documentsOf are the documents that blocks lie in, each once.
func documentsOf(list []*block) []*block {
	var roots []*block
	for _, b := range list {
		if !slices.Contains(roots, b.doc.root) {
			roots = append(roots, b.doc.root)
		}
	}
	return roots
}

// grouped shows hits below their documents.
func (k *Kernel) grouped(list []*block, mark func(string) string) []any {
	found := []any{}
	for _, root := range documentsOf(list) {
		entry := k.foundBlock(root)
		var children []any
		for _, b := range list {
			if b.doc.root == root {
				children = append(children, k.hit(b, mark))
			}
		}
		entry["children"] = children
		found = append(found, entry)
	}
	return found
}

// marker escapes a text and marks words in it.
func marker(words []string) func(string) string {
	if len(words) == 0 {
		return html.EscapeString
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = regexp.QuoteMeta(html.EscapeString(w))
	}
	pattern := regexp.MustCompile("(?i)" + strings.Join(quoted, "|"))
	return func(text string) string { return pattern.ReplaceAllStringFunc(html.EscapeString(text), marked) }
}

func marked(text string) string { return "<mark>" + text + "</mark>" }
