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

// hit is a document, or the top of a notebook, in the answer of searchDocs.
type hit struct {
	Box     string `json:"box"`
	BoxIcon string `json:"boxIcon"`
	HPath   string `json:"hPath"` // the notebook's name first
	Path    string `json:"path"`
}

// maxHits is the limit for the hits in all notebooks together. In SiYuan it is a setting.
const maxHits = 64

// searchDocs finds documents whose title contains k, ignoring case. If k is empty, it returns the notebooks.
func searchDocs(tx *workspace.Tx, req api.Request) api.Reply {
	query, exclude := strings.ToLower(req.Str("k")), req.OptStrs("excludeIDs")
	hits := []hit{}
	if req.OptFlag("flashcard", false) {
		return api.OK(hits) // the kernel's answer for flashcards was not recorded
	}
	var hitsByBox map[string][]hit
	if query != "" {
		hitsByBox = searchTitles(tx, query, exclude)
	}
	for _, box := range tx.Notebooks() {
		switch {
		case box.Conf.Closed:
		case query == "":
			hits = append(hits, newHit(box, "/", "/"))
		default:
			for _, h := range hitsByBox[box.ID] {
				hits = append(hits, newHit(box, h.HPath, h.Path))
			}
		}
	}
	return api.OK(hits[:min(len(hits), maxHits)])
}

func newHit(box *tree.Notebook, hpath, path string) hit {
	return hit{Box: box.ID, BoxIcon: box.Conf.Icon, HPath: box.Conf.Name + hpath, Path: path}
}

// searchTitles finds documents by title. It returns them by notebook, sorted by their paths of titles.
func searchTitles(tx *workspace.Tx, query string, exclude []string) map[string][]hit {
	hitsByBox := map[string][]hit{}
	tx.Rows(func(row workspace.Row) bool {
		id, box := row.Text(0), row.Text(1)
		if strings.Contains(strings.ToLower(row.Text(2)), query) && !slices.Contains(exclude, id) {
			hitsByBox[box] = append(hitsByBox[box], hit{HPath: row.Text(3), Path: row.Text(4)})
		}
		return true
	}, `SELECT document.id, document.box, node.content, document.hpath, document.path
		FROM node JOIN document ON document.n = node.doc
		WHERE node.type = 'd' AND document.id <> document.box`)
	for _, hits := range hitsByBox {
		sorting.By(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.HPath, b.HPath), cmp.Compare(a.Path, b.Path)) })
	}
	return hitsByBox
}
