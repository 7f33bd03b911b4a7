package block

import (
	"encoding/json"
	"slices"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoints that list what refers to a block.

// backlinkDoc is a document with blocks that refer to something or mention it.
type backlinkDoc struct {
	ID       string `json:"id"`
	Box      string `json:"box"`
	Name     string `json:"name"`
	HPath    string `json:"hPath"` // with the name of its notebook
	Type     string `json:"type"`  // always backlink
	NodeType string `json:"nodeType"`
	SubType  string `json:"subType"`
	Depth    int    `json:"depth"`
	Count    int    `json:"count"` // of these blocks
	Folded   bool   `json:"folded"`
	Updated  string `json:"updated"`
	Created  string `json:"created"`
}

// documentColumns are the columns that each query for backlinks begins with. Its own columns follow from ownColumn on.
const (
	documentColumns = "document.id, document.box, json_extract(notebook.conf, '$.name'), document.hpath, root.content, root.updated"
	ownColumn       = 6
)

// backlinks are documents in the order of their rows. Each counts its rows.
type backlinks []*backlinkDoc

// add counts a row. The rows of a document must come one after the other.
func (l *backlinks) add(row workspace.Row) {
	if n := len(*l); n > 0 && (*l)[n-1].ID == row.Text(0) {
		(*l)[n-1].Count++
		return
	}
	id := row.Text(0)
	*l = append(*l, &backlinkDoc{
		ID: id, Box: row.Text(1), Name: row.Text(4), HPath: row.Text(2) + row.Text(3), Type: "backlink",
		NodeType: tree.NodeType(tree.Doc), Count: 1, Updated: row.Text(5), Created: id[:min(14, len(id))],
	})
}

// getBacklink2 lists the documents that refer to a block, or to any block in a document, and the documents that mention
// the title of a document. With containChildren, references to blocks below the block count as well. Only blocks whose
// text contains k count as references, and only those that contain mk as mentions.
func getBacklink2(tx *workspace.Tx, req api.Request) api.Reply {
	def := tx.Block(req.Str("id"))
	k, mk := req.OptStr("k"), req.OptStr("mk")
	links, mentions, box, refs := backlinks{}, backlinks{}, "", 0
	if def != nil {
		box = def.Doc.Box.ID
		links, refs = linkingDocs(tx, targetsOf(def, req.OptFlag("containChildren", false)), k)
		mentions = mentioningDocs(tx, def, mk)
	}
	return api.OK(map[string]any{
		"backlinks": links, "backmentions": mentions, "box": box, "k": k, "mk": mk,
		"linkRefsCount": refs, "mentionsCount": len(mentions),
	})
}

// targetsOf returns the ids to which references count: that of def, and with deep or for a document those of the blocks
// below it.
func targetsOf(def *tree.Block, deep bool) []string {
	ids := []string{def.ID}
	add := func(b *tree.Block) { ids = append(ids, b.ID) }
	if def.Kind == tree.Doc || deep {
		for _, b := range def.Children {
			b.Walk(add)
		}
		for _, b := range def.Section() {
			b.Walk(add)
		}
	}
	return ids
}

// linkingDocs lists the documents with blocks that refer to one of targets and contain the keyword. refs is the number
// of these blocks except those in list items: SiYuan does not count them.
func linkingDocs(tx *workspace.Tx, targets []string, keyword string) (list backlinks, refs int) {
	list = backlinks{}
	tx.Rows(func(row workspace.Row) bool {
		if !contains(row.Text(ownColumn+1), keyword) {
			return true
		}
		list.add(row)
		if row.Text(ownColumn+2) != tree.Item {
			refs++
		}
		return true
	}, `SELECT DISTINCT `+documentColumns+`, node.n, node.content, coalesce(up.type, '')
		FROM json_each(?) AS target CROSS JOIN ref ON ref.def = target.value
		CROSS JOIN node ON node.n = ref.node CROSS JOIN document ON document.n = node.doc
		JOIN node AS root ON root.id = document.id JOIN notebook ON notebook.id = document.box
		LEFT JOIN node AS up ON up.n = node.parent
		WHERE notebook.closed = 0 ORDER BY document.n, node.n`, jsonOf(targets))
	return list, refs
}

func jsonOf(texts []string) string {
	data, _ := json.Marshal(texts) // texts always encode
	return string(data)
}

// getBacklinkDoc returns the blocks of one document that refer to a block, or to any block in a document.
func getBacklinkDoc(tx *workspace.Tx, req api.Request) api.Reply {
	def, d := tx.Block(req.Str("defID")), tx.Document(req.Str("refTreeID"))
	keyword, deep := req.Str("keyword"), req.OptFlag("containChildren", false)
	list := []shownBlock{}
	if def != nil && d != nil {
		for _, b := range linksIn(d, targetsOf(def, deep)) {
			list = appendShown(list, b, keyword, "")
		}
	}
	return api.OK(map[string]any{"backlinks": list, "keywords": []string{}})
}

// linksIn returns the blocks of a document that refer to one of targets.
func linksIn(d *tree.Document, targets []string) []*tree.Block {
	isTarget := make(map[string]bool, len(targets))
	for _, id := range targets {
		isTarget[id] = true
	}
	var links []*tree.Block
	d.Root.Walk(func(b *tree.Block) {
		if slices.ContainsFunc(markup.References(b), func(s markup.Span) bool { return isTarget[s.Target] }) {
			links = append(links, b)
		}
	})
	return links
}

// contains reports whether text contains the keyword, ignoring case.
func contains(text, keyword string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(keyword))
}
