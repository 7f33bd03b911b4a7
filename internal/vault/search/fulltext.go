package search

import (
	"html"
	"regexp"
	"slices"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoint of the full text search.

const (
	defaultPageSize = 32
	maxPageSize     = 4096
	maxPage         = 1 << 20
)

// foundPage is one page of search results, with the counts of all pages.
type foundPage struct {
	Blocks  []*api.FoundBlock `json:"blocks"`
	DocMode bool              `json:"docMode"` // the documents of the blocks follow them, uncounted
	Matched int               `json:"matchedBlockCount"`
	Roots   int               `json:"matchedRootCount"`
	Pages   int               `json:"pageCount"`
}

// paging is the requested page of a list. Pages count from 1.
type paging struct{ number, size int }

func pagingOf(req api.Request) paging {
	p := paging{min(max(req.OptNum("page", 1), 1), maxPage), min(req.OptNum("pageSize", defaultPageSize), maxPageSize)}
	if p.size < 1 {
		p.size = defaultPageSize
	}
	return p
}

// count returns the number of pages for n entries.
func (p paging) count(n int) int { return (n + p.size - 1) / p.size }

// end returns the number of entries up to the end of the page.
func (p paging) end() int { return p.number * p.size }

// pageItems returns the part of list on the page.
func pageItems[T any](p paging, list []T) []T {
	return list[min(p.end()-p.size, len(list)):min(p.end(), len(list))]
}

// fullTextSearchBlock finds blocks. A query that cannot be parsed has no hits; that is not an error.
func fullTextSearchBlock(tx *workspace.Tx, req api.Request) api.Reply {
	query, method := strings.TrimSpace(req.OptStr("query")), req.OptNum("method", methodKeyword)
	if query != "" && method == methodSQL && !tree.ValidID(query) {
		return api.OK(foundByStatement(tx, query, pagingOf(req), req.OptNum("groupBy", 0) == 1))
	}
	src, mark := sourceOf(tx, query, method)
	p := pagingOf(req)
	hits := find(tx, src, newScope(tx, searchedKinds(req), req.OptStrs("paths")), req.OptNum("orderBy", orderKind), p.end())
	answer := foundPage{
		DocMode: isKeyword(method) && len(strings.Fields(query)) > 1,
		Matched: hits.blocks, Roots: hits.documents, Pages: p.count(hits.blocks),
	}
	blocks := page(tx, pageItems(p, hits.first))
	switch {
	case req.OptNum("groupBy", 0) == 1:
		answer.Blocks = groupByDocument(tx, blocks, mark)
	case answer.DocMode:
		answer.Blocks = markAll(append(blocks, documentsOf(tx, blocks)...), mark)
	default:
		answer.Blocks = markAll(blocks, mark)
	}
	return api.OK(answer)
}

func isKeyword(method int) bool {
	return method != methodSyntax && method != methodSQL && method != methodRegexp
}

// sourceOf returns the source of a query's hits, and the marker for matches in texts.
func sourceOf(tx *workspace.Tx, query string, method int) (source, marker) {
	switch {
	case query == "":
		return source{}, html.EscapeString
	case tree.ValidID(query):
		return source{statement: "SELECT n FROM node WHERE id = ?", args: []any{query}}, html.EscapeString
	case method == methodSyntax:
		return byExpression(tx, query)
	case method == methodRegexp:
		pattern, err := regexp.Compile(query)
		if err != nil {
			return source{}, html.EscapeString
		}
		return matchRegexp(tx, pattern), markingPattern(pattern)
	}
	words := strings.Fields(query)
	return source{words: words}, wordMarker(words)
}

// markAll returns copies of blocks as hits, see [markHit].
func markAll(list []*api.FoundBlock, mark marker) []*api.FoundBlock {
	hits := make([]*api.FoundBlock, len(list))
	for i, b := range list {
		hits[i] = markHit(b, mark)
	}
	return hits
}

// groupByDocument returns the documents of hits, with the hits as children.
func groupByDocument(tx *workspace.Tx, list []*api.FoundBlock, mark marker) []*api.FoundBlock {
	roots := documentsOf(tx, list)
	if roots == nil {
		return []*api.FoundBlock{}
	}
	for _, root := range roots {
		for _, b := range list {
			if b.RootID == root.ID {
				child := markHit(b, mark)
				child.HPath = html.EscapeString(b.HPath)
				root.Children = append(root.Children, child)
			}
		}
		root.Content, root.HPath = html.EscapeString(root.Content), html.EscapeString(root.HPath)
	}
	return roots
}

// foundByStatement runs a statement and returns the blocks whose ids are in its column id, in the order of the rows.
// Other columns are ignored.
func foundByStatement(tx *workspace.Tx, statement string, p paging, group bool) foundPage {
	answer := foundPage{Blocks: []*api.FoundBlock{}}
	result, err := tx.Select(statement, defaultLimit)
	column := slices.Index(result.Columns, "id")
	if err != nil || column < 0 {
		return answer
	}
	var ids []string
	for _, row := range result.Rows {
		if id, isText := row[column].(string); isText {
			ids = append(ids, id)
		}
	}
	blockByID := foundByID(tx, ids)
	ids = slices.DeleteFunc(ids, func(id string) bool { return blockByID[id] == nil })
	roots := map[string]bool{}
	for _, id := range ids {
		roots[blockByID[id].RootID] = true
	}
	blocks := make([]*api.FoundBlock, 0, p.size)
	for _, id := range pageItems(p, ids) {
		blocks = append(blocks, blockByID[id])
	}
	if answer.Blocks = markAll(blocks, html.EscapeString); group {
		answer.Blocks = groupByDocument(tx, blocks, html.EscapeString)
	}
	answer.Matched, answer.Roots, answer.Pages = len(ids), len(roots), p.count(len(ids))
	return answer
}
