package search

import (
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// maxReferences bounds the number of blocks that are offered.
const maxReferences = 2000

// searchRefBlock finds blocks to refer to, except the referring block and its document. If a key is missing, only reqId
// is answered, since the kernel has begun its answer by then.
func searchRefBlock(tx *workspace.Tx, req api.Request) api.Reply {
	for _, key := range []string{"id", "rootID", "k", "beforeLen"} {
		if !req.Get(key).Exists() {
			return api.OK(map[string]any{"reqId": nil})
		}
	}
	query := req.Str("k")
	blocks := []*api.FoundBlock{}
	isTitle := query == ""
	if query != "" {
		src, mark := sourceOf(tx, query, methodKeyword)
		hits := find(tx, src, newScope(tx, defaultKinds, nil), orderKind, maxReferences)
		for _, b := range page(tx, hits.first) {
			if b.ID == req.Str("id") || b.ID == req.Str("rootID") { // a block does not refer to itself
				continue
			}
			h := markHit(b, mark)
			h.RefText = b.Content
			isTitle = isTitle || isDocument(b) && b.Content == query
			if box := tx.Notebook(b.Box); box != nil {
				h.HPath = box.Conf.Name + h.HPath
			}
			blocks = append(blocks, h)
		}
	}
	return api.OK(map[string]any{"blocks": blocks, "k": query, "newDoc": !isTitle, "reqId": req.Get("reqId").Value()})
}

// listInvalidBlockRefs finds the blocks with references to missing blocks. Their Markdown is returned without the
// missing ids.
func listInvalidBlockRefs(tx *workspace.Tx, req api.Request) api.Reply {
	type missingRef struct{ markdown, content string }
	var list []hit
	refs := map[int64][]missingRef{}
	documents := map[int64]bool{}
	tx.Rows(func(row workspace.Row) bool {
		h := hit{n: row.Int(0), doc: row.Int(1)}
		if refs[h.n] == nil {
			list = append(list, h)
		}
		refs[h.n] = append(refs[h.n], missingRef{row.Text(2), row.Text(3)})
		documents[h.doc] = true
		return true
	}, `SELECT node.n, node.doc, ref.markdown, ref.content
		FROM ref JOIN node ON node.n = ref.node JOIN document ON document.n = node.doc JOIN notebook ON notebook.id = document.box
		WHERE notebook.closed = 0 AND ref.def <> '' AND NOT EXISTS (SELECT 1 FROM node AS def WHERE def.id = ref.def)
		ORDER BY node.doc, node.n`)
	p := pagingOf(req)
	answer := foundPage{Matched: len(list), Roots: len(documents), Pages: p.count(len(list))}
	list = pageItems(p, list)
	answer.Blocks = page(tx, list)
	for i, b := range answer.Blocks {
		for _, m := range refs[list[i].n] {
			if m.markdown != "" {
				b.Markdown = strings.ReplaceAll(b.Markdown, m.markdown, "(( '"+m.content+"'))")
			}
		}
	}
	return api.OK(struct {
		Blocks  []*api.FoundBlock `json:"blocks"`
		Matched int               `json:"matchedBlockCount"`
		Roots   int               `json:"matchedRootCount"`
		Pages   int               `json:"pageCount"`
	}{answer.Blocks, answer.Matched, answer.Roots, answer.Pages})
}
