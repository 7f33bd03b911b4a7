package history

import (
	"html"
	"regexp"
	"strconv"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoints for saved copies of documents.

// pageSize is the number of entries on a page of a list.
const pageSize = 32

// createCopy saves a copy of a block's document.
func createCopy(tx *workspace.Tx, req api.Request) api.Reply {
	b := tx.Block(req.NeedID("id"))
	if b == nil {
		return api.Fail(-1, "tree not found")
	}
	edit.SaveCopy(tx, b.Doc, edit.Updated)
	return api.Done()
}

// searchCopies returns the times of the matching copies, newest first.
func searchCopies(tx *workspace.Tx, req api.Request) api.Reply {
	times, last := []string{}, int64(-1)
	for _, c := range matchingCopies(tx, req) {
		if c.created != last {
			times, last = append(times, strconv.FormatInt(c.created, 10)), c.created
		}
	}
	total := len(times)
	from := pageStart(req, total)
	return api.OK(map[string]any{
		"histories": times[from:min(from+pageSize, total)], "pageCount": pages(total), "totalCount": total,
	})
}

// pageStart returns the index of the first entry of the requested page in a list of n entries.
func pageStart(req api.Request, n int) int {
	return min(min(max(req.OptNum("page", 1), 1)-1, n)*pageSize, n)
}

// pages returns the number of pages for n entries.
func pages(n int) int { return (n + pageSize - 1) / pageSize }

type item struct {
	Title    string `json:"title"`
	Path     string `json:"path"`
	Op       string `json:"op"`
	Notebook string `json:"notebook"`
}

// listCopies lists the matching copies made at one time.
func listCopies(tx *workspace.Tx, req api.Request) api.Reply {
	created := req.NeedText("created")
	list := []item{}
	for _, c := range matchingCopies(tx, req) {
		if strconv.FormatInt(c.created, 10) == created {
			list = append(list, item{titleOf(tx.ReadFile(c.path)), c.path, c.op, c.box})
		}
	}
	return api.OK(map[string]any{"items": list})
}

// copyContent returns a copy as read-only DOM, "" if there is none.
func copyContent(tx *workspace.Tx, req api.Request) api.Reply {
	id, dom := "", ""
	c, data := findCopy(tx, req.NeedText("historyPath"))
	if root, err := markup.ParseSY(data); data != nil && err == nil {
		id, dom = c.doc, readOnlyDOM(root)
		if req.OptFlag("highlight", false) {
			dom = highlight(dom, req.OptStr("k"))
		}
	}
	return api.OK(map[string]any{"content": dom, "id": id, "isLargeDoc": false, "rootID": id})
}

// readOnlyDOM returns the DOM of a saved document, in which nothing can be edited.
func readOnlyDOM(root *tree.Block) string {
	return strings.ReplaceAll(markup.DOMs(root.Children), `contenteditable="true"`, `contenteditable="false"`)
}

// domPiece matches a tag of a DOM, or the text between two tags.
var domPiece = lazyregexp.New(`<[^>]*>|[^<]+`)

// highlight marks each occurrence of text in the visible text of a DOM, ignoring case.
func highlight(dom, text string) string {
	if text == "" {
		return dom
	}
	pattern := regexp.MustCompile(`(?i)` + regexp.QuoteMeta(html.EscapeString(text)))
	return domPiece.ReplaceAllStringFunc(dom, func(piece string) string {
		if piece[0] == '<' {
			return piece
		}
		return pattern.ReplaceAllString(piece, `<span data-type="search-mark">$0</span>`)
	})
}

// rollbackCopy restores a copy into its document. If the document was removed, it is created again in the notebook of
// the request.
func rollbackCopy(tx *workspace.Tx, req api.Request) api.Reply {
	at, box := req.NeedText("historyPath"), req.NeedText("notebook")
	c, data := findCopy(tx, at)
	if data == nil {
		return api.Fail(-1, "history path ["+at+"] not exist")
	}
	return restoreDocument(tx, box, c.inBox, data)
}
