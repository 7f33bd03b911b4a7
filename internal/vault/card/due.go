package card

import (
	"cmp"
	"time"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// scope says which blocks are meant: those of a notebook, and in it those of a document and what lies below it. The
// zero value means all blocks of open notebooks.
type scope struct {
	box string
	dir string // of the document, without a trailing slash
}

// dueInDeck answers what is due in a deck. An empty id means the built-in deck, not all of them.
func dueInDeck(tx *workspace.Tx, req api.Request) api.Reply {
	id := cmp.Or(req.Str("deckID"), builtIn)
	checkReviewed(req)
	if id != builtIn && findDeck(tx, id) == nil {
		return api.OK(dueList{})
	}
	return api.OK(due(tx, id, scope{}, time.Now()))
}

// dueInNotebook answers what is due of the built-in deck in a notebook.
func dueInNotebook(tx *workspace.Tx, req api.Request) api.Reply {
	id := req.Str("notebook")
	checkReviewed(req)
	if tx.Notebook(id) == nil {
		return api.Fail(-1, "open "+api.Root+"/data/"+id+": no such file or directory")
	}
	return api.OK(due(tx, builtIn, scope{box: id}, time.Now()))
}

// dueInTree answers what is due of the built-in deck in a document and those below it. All trees are meant by one that
// does not exist, as recorded.
func dueInTree(tx *workspace.Tx, req api.Request) api.Reply {
	var s scope
	if root := tx.Document(req.Str("rootID")); root != nil {
		s.box = root.Box.ID
		if !root.Hidden() {
			s.dir = root.Dir()
		}
	}
	checkReviewed(req)
	return api.OK(due(tx, builtIn, s, time.Now()))
}

// checkReviewed reads the cards the session has seen, as far as the kernel checks them. What is due does not depend on
// them: a card that was rated is due later.
func checkReviewed(req api.Request) {
	if !req.Get("reviewedCards").Exists() {
		return
	}
	for _, c := range req.List("reviewedCards") {
		c.Str("cardID")
	}
}

// dueList is what is due. Cards is null for a deck that does not exist.
type dueList struct {
	Cards []dueCard `json:"cards"`
	All   int       `json:"unreviewedCount"`
	New   int       `json:"unreviewedNewCardCount"`
	Old   int       `json:"unreviewedOldCardCount"`
}

type dueCard struct {
	Deck       string            `json:"deckID"`
	ID         string            `json:"cardID"`
	Block      string            `json:"blockID"`
	Lapses     uint64            `json:"lapses"`
	Reps       uint64            `json:"reps"`
	State      int               `json:"state"`      // 0 new, 1 learning, 2 review, 3 relearning
	LastReview int64             `json:"lastReview"` // milliseconds; that of year 1 for a new card
	NextDues   map[string]string `json:"nextDues"`   // by rating
}

// due lists the cards of a deck whose time has come and whose block is in an open notebook, the longest due first.
func due(tx *workspace.Tx, deckID string, s scope, now time.Time) dueList {
	list := dueList{Cards: []dueCard{}}
	fresh := nextDues(newSchedule(now), now)
	tx.Rows(func(row workspace.Row) bool {
		body, _ := row.Value(1).([]byte)
		c := readCard(row.Text(0), deckID, body)
		if now.Before(c.Skipped) {
			return true
		}
		shown := c.due()
		if list.All++; shown.State == 0 {
			list.New++
			shown.NextDues = fresh // FSRS tells new cards from each other by nothing
		} else {
			list.Old++
			shown.NextDues = nextDues(c.Schedule, now)
		}
		list.Cards = append(list.Cards, shown)
		return true
	}, `SELECT record.id, record.body FROM record
		CROSS JOIN node ON node.id = `+blockOfCard+`
		CROSS JOIN document ON document.n = node.doc
		CROSS JOIN notebook ON notebook.id = document.box AND notebook.closed = 0
		WHERE record.kind = ?1 AND record.owner = ?2 AND record.at <= ?3 AND (?4 = '' OR document.box = ?4)
			AND (?5 = '' OR document.path = ?5 || '.sy' OR document.path GLOB ?5 || '/*')
		ORDER BY record.at, record.id`, cardKind, deckID, now.UnixNano(), s.box, s.dir)
	return list
}

func (c *card) due() dueCard {
	return dueCard{
		Deck: c.Deck, ID: c.ID, Block: c.Block, Lapses: c.Schedule.Lapses, Reps: c.Schedule.Reps,
		State: int(c.Schedule.State), LastReview: c.Schedule.LastReview.UnixMilli(),
	}
}
