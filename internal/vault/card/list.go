package card

import (
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// listCardsSQL selects the ids of the cards in deck ?2, or in all decks if it is empty. They are sorted by deck and due
// time; cards whose block is in a closed notebook or never existed come last in their deck. Cards whose block is gone are
// left out.
const listCardsSQL = `SELECT record.id FROM record
	CROSS JOIN record AS deck ON deck.kind = 'deck' AND deck.id = record.owner
	LEFT JOIN node ON node.id = ` + blockOfCard + `
	LEFT JOIN document ON document.n = node.doc
	LEFT JOIN notebook ON notebook.id = document.box
	WHERE record.kind = ?1 AND (?2 = '' OR record.owner = ?2)
		AND (node.n IS NOT NULL OR NOT json_extract(CAST(record.body AS TEXT), '$.placed'))
	ORDER BY deck.at, deck.id, notebook.closed IS NOT 0, record.at, record.id`

// list returns a page of the cards in a deck, or in all decks if the id is empty, in the order of listCardsSQL.
func list(tx *workspace.Tx, req api.Request) api.Reply {
	id, page, size := req.Str("id"), number(req, "page"), req.OptNum("pageSize", 20)
	var ids []string
	tx.Rows(func(row workspace.Row) bool {
		ids = append(ids, row.Text(0))
		return true
	}, listCardsSQL, cardKind, id)
	total := len(ids)
	size = min(max(size, 1), max(total, 1))
	from := min(min(max(page, 1)-1, total)*size, total)
	ids = ids[from:min(from+size, total)]
	blocks := make([]api.FoundBlock, 0, len(ids))
	for _, id := range ids {
		if r := tx.Record(cardKind, id); r != nil {
			c := readCard(r.ID, r.Owner, r.Body)
			blocks = append(blocks, c.foundBlock(tx))
		}
	}
	return api.OK(map[string]any{"blocks": blocks, "total": total, "pageCount": (total + size - 1) / size})
}

// number returns the number at key. If it is missing or not a number, the call ends with an empty success, as in SiYuan.
func number(req api.Request, key string) int {
	if req.Get(key).Type != gjson.Number {
		req.End(api.Done())
		return 0
	}
	return req.OptNum(key, 0)
}

// shownSchedule is the schedule of a card in a list.
type shownSchedule struct {
	Due        time.Time `json:"due"`
	Reps       uint64    `json:"reps"`
	Lapses     uint64    `json:"lapses"`
	State      int       `json:"state"`
	LastReview time.Time `json:"lastReview"`
}

// foundBlock returns the block of a card for a list. A block in a closed notebook, or one that never existed, has only its
// id and a text that says so.
func (c *card) foundBlock(tx *workspace.Tx) api.FoundBlock {
	b := api.FoundBlock{ID: c.Block, Content: "Search content block does not exist"} // SiYuan's text
	tx.Rows(func(row workspace.Row) bool {
		b = foundRow(row)
		b.RiffCardID = c.ID
		b.RiffCard = shownSchedule{
			Due: c.Schedule.Due.UTC(), Reps: c.Schedule.Reps, Lapses: c.Schedule.Lapses, State: int(c.Schedule.State),
			LastReview: c.Schedule.LastReview.UTC(),
		}
		return false
	}, `SELECT id, box, path, hpath, root_id, parent_id, name, alias, memo, tag, content, fcontent, markdown, type, subtype,
		ial, sort FROM blocks WHERE id = ?`, c.Block)
	return b
}

// foundRow returns a block from a row of the table blocks, so that lists of cards need not load documents. The
// attribute with the decks is left out, as in SiYuan.
func foundRow(row workspace.Row) api.FoundBlock {
	attrs := tree.ParseIAL(row.Text(15))
	delete(attrs, decksAttr)
	return api.FoundBlock{
		ID: row.Text(0), Box: row.Text(1), Path: row.Text(2), HPath: row.Text(3), RootID: row.Text(4), ParentID: row.Text(5),
		Name: row.Text(6), Alias: row.Text(7), Memo: row.Text(8), Tag: row.Text(9), Content: row.Text(10),
		FContent: row.Text(11), Markdown: row.Text(12), Folded: attrs["fold"] == "1", Type: tree.NodeType(row.Text(13)),
		SubType: row.Text(14), IAL: attrs, Sort: int(row.Int(16)),
	}
}
