package document

import (
	"cmp"
	"slices"
	"strings"

	"collie/internal/sorting"
	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// hit is a document, or the top of a notebook, as searchDocs shows it.
type hit struct {
	Box     string `json:"box"`
	BoxIcon string `json:"boxIcon"`
	HPath   string `json:"hPath"` // the notebook's name first
	Path    string `json:"path"`
}

// maxHits is how many documents a search finds at most, in all notebooks together. SiYuan has it in its settings.
const maxHits = 64

// searchDocs finds documents whose title contains k, ignoring case. Without k it answers the notebooks.
func searchDocs(tx *workspace.Tx, req api.Request) api.Reply {
	query, exclude := strings.ToLower(req.Str("k")), req.OptStrs("excludeIDs")
	found := []hit{}
	if req.OptFlag("flashcard", false) {
		return api.OK(found) // of documents with flashcards none was recorded
	}
	var titled map[string][]hit
	if query != "" {
		titled = searchTitles(tx, query, exclude)
	}
	for _, box := range tx.Notebooks() {
		switch {
		case box.Conf.Closed:
		case query == "":
			found = append(found, newHit(box, "/", "/"))
		default:
			for _, h := range titled[box.ID] {
				found = append(found, newHit(box, h.HPath, h.Path))
			}
		}
	}
	return api.OK(found[:min(len(found), maxHits)])
}

func newHit(box *tree.Notebook, hpath, path string) hit {
	return hit{Box: box.ID, BoxIcon: box.Conf.Icon, HPath: box.Conf.Name + hpath, Path: path}
}

// searchTitles finds documents by title: by notebook, in the order of their paths by titles.
func searchTitles(tx *workspace.Tx, query string, exclude []string) map[string][]hit {
	found := map[string][]hit{}
	tx.Rows(func(row workspace.Row) bool {
		id, box := row.Text(0), row.Text(1)
		if strings.Contains(strings.ToLower(row.Text(2)), query) && !slices.Contains(exclude, id) {
			found[box] = append(found[box], hit{HPath: row.Text(3), Path: row.Text(4)})
		}
		return true
	}, `SELECT document.id, document.box, node.content, document.hpath, document.path
		FROM node JOIN document ON document.n = node.doc
		WHERE node.type = 'd' AND document.id <> document.box`)
	for _, hits := range found {
		sorting.By(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.HPath, b.HPath), cmp.Compare(a.Path, b.Path)) })
	}
	return found
}
