package document

import (
	"fmt"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// docNode is a document in the answer of listDocTree, with those below it.
type docNode struct {
	ID       string     `json:"id"`
	Children []*docNode `json:"children,omitempty"`
}

// listDocTree returns everything below one document. The top of a notebook is refused, as in SiYuan.
func listDocTree(tx *workspace.Tx, req api.Request) api.Reply {
	box, path := req.Str("notebook"), req.Str("path")
	if strings.Contains(path, "..") {
		return api.Fail(-1, "path must not contain '..'")
	}
	if clean := strings.Trim(path, "/"); clean == "" || clean == "." {
		return api.Fail(-1, "path escapes notebook directory")
	}
	top, found := documentRow(tx, box, strings.TrimSuffix(path, ".sy")+".sy")
	if !found {
		return api.Fail(-1, fmt.Sprintf("open %s/data/%s%s: no such file or directory", api.Root, box, path))
	}
	return api.OK(map[string]any{"tree": docNodes(tx, box, top)})
}

// documentRow returns the number (document.n) of the document at a path in an open notebook.
func documentRow(tx *workspace.Tx, box, path string) (n int64, found bool) {
	tx.Rows(func(row workspace.Row) bool {
		n, found = row.Int(0), true
		return false
	}, `SELECT document.n FROM document JOIN notebook ON notebook.id = document.box
		WHERE document.id = ? AND document.box = ? AND document.path = ? AND notebook.closed = 0`, idOf(path), box, path)
	return n, found
}

// idOf returns the id of the document at a path.
func idOf(path string) string {
	return strings.TrimSuffix(path[strings.LastIndex(path, "/")+1:], ".sy")
}

// docNodes returns the documents below the one with number top, in manual order.
func docNodes(tx *workspace.Tx, box string, top int64) []*docNode {
	root := &docNode{Children: []*docNode{}}
	nodes := map[int64]*docNode{top: root}
	type edge struct {
		n, parent int64
		id        string
	}
	var edges []edge
	tx.Rows(func(row workspace.Row) bool {
		if e := (edge{row.Int(0), row.Int(1), row.Text(2)}); tree.ValidID(e.id) {
			edges = append(edges, e)
			nodes[e.n] = &docNode{ID: e.id}
		}
		return true
	}, `WITH RECURSIVE below(n, parent, id, sort) AS (
			SELECT n, parent, id, sort FROM document WHERE box = ?1 AND parent = ?2
			UNION ALL
			SELECT document.n, document.parent, document.id, document.sort
			FROM below CROSS JOIN document ON document.box = ?1 AND document.parent = below.n
		)
		SELECT n, parent, id FROM below ORDER BY sort, substr(id, 1, 14) DESC, n`, box, top)
	for _, e := range edges {
		if parent := nodes[e.parent]; parent != nil {
			parent.Children = append(parent.Children, nodes[e.n])
		}
	}
	return root.Children
}
