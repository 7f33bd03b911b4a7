package card

import (
	"cmp"
	"time"

	"collie/internal/siyuanapi"
	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// This file has the endpoints that list the cards which are due.

// scope selects blocks: those of a notebook, or those of a document and the documents below it. The zero value selects
// all blocks of open notebooks.
type scope struct {
	box string
	dir string // of the document, without a trailing slash
}

// dueInDeck returns the due cards of a deck. An empty id means the built-in deck, not all decks.
func dueInDeck(tx *workspace.Tx, req api.Request) api.Reply {
	id := cmp.Or(req.Str("deckID"), siyuanapi.BuiltInDeck)
	checkReviewed(req)
	if id != siyuanapi.BuiltInDeck && findDeck(tx, id) == nil {
		return api.OK(dueList{})
	}
	return api.OK(listDue(tx, id, scope{}, time.Now()))
}

// dueInNotebook returns the due cards of the built-in deck in a notebook. A closed notebook means all notebooks, as
// in SiYuan.
func dueInNotebook(tx *workspace.Tx, req api.Request) api.Reply {
	id := req.Str("notebook")
	checkReviewed(req)
	n := tx.Notebook(id)
	if n == nil {
		return api.Fail(-1, "open "+api.Root+"/data/"+id+": no such file or directory")
	}
	var s scope
	if !n.Conf.Closed {
		s.box = id
	}
	return api.OK(listDue(tx, siyuanapi.BuiltInDeck, s, time.Now()))
}

// dueInTree returns the due cards of the built-in deck in a document and the documents below it. An unknown document
// means all documents, as in SiYuan.
func dueInTree(tx *workspace.Tx, req api.Request) api.Reply {
	var s scope
	if root := tx.Document(req.Str("rootID")); root != nil {
		s.box = root.Box.ID
		if !root.Hidden() {
			s.dir = root.Dir()
		}
	}
	checkReviewed(req)
	return api.OK(listDue(tx, siyuanapi.BuiltInDeck, s, time.Now()))
}

// checkReviewed checks the parameter reviewedCards as the kernel does: the cards that were seen in this session. The
// kernel subtracts them from a count that no tool uses, so they have no effect here.
func checkReviewed(req api.Request) {
	if !req.Get("reviewedCards").Exists() {
		return
	}
	for _, c := range req.List("reviewedCards") {
		c.Str("cardID")
	}
}

// The limits for the cards in an answer, by kind: SiYuan's defaults for one round.
const (
	maxNew = 20
	maxOld = 200
)

// dueList is the answer with due cards. Cards is null for a deck that does not exist.
type dueList struct {
	Cards []dueCard `json:"cards"`
	All   int       `json:"unreviewedCount"` // also those not listed; the other counts are of listed ones
	New   int       `json:"unreviewedNewCardCount"`
	Old   int       `json:"unreviewedOldCardCount"`
}

// add counts a card, and lists it unless the limit for its kind is reached.
func (l *dueList) add(c dueCard) {
	l.All++
	counted, limit := &l.Old, maxOld
	if c.State == 0 {
		counted, limit = &l.New, maxNew
	}
	if *counted < limit {
		*counted++
		l.Cards = append(l.Cards, c)
	}
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

// listDue lists the due cards of a deck whose block is in an open notebook, the longest overdue first, up to the
// limits.
func listDue(tx *workspace.Tx, deckID string, s scope, now time.Time) dueList {
	list := dueList{Cards: []dueCard{}}
	newCardDues := nextDues(newSchedule(now), now)
	tx.Rows(func(row workspace.Row) bool {
		body, _ := row.Value(1).([]byte)
		c := readCard(row.Text(0), deckID, body)
		entry := c.due()
		entry.NextDues = newCardDues // FSRS treats all new cards alike
		if entry.State != 0 {
			entry.NextDues = nextDues(c.Schedule, now)
		}
		list.add(entry)
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

// due returns the card as the answer shows it.
func (c *card) due() dueCard {
	return dueCard{
		Deck: c.Deck, ID: c.ID, Block: c.Block, Lapses: c.Schedule.Lapses, Reps: c.Schedule.Reps,
		State: int(c.Schedule.State), LastReview: c.Schedule.LastReview.UnixMilli(),
	}
}
