package card

import (
	"cmp"
	"time"

	"collie/internal/siyuanapi"
	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// scope selects blocks: those of a notebook, or those of a document in it with all documents below. The zero value
// selects all blocks of open notebooks.
type scope struct {
	box string
	dir string // of the document, without a trailing slash
}

// dueInDeck answers what is due in a deck. An empty id means the built-in deck, not all of them.
func dueInDeck(tx *workspace.Tx, req api.Request) api.Reply {
	id := cmp.Or(req.Str("deckID"), siyuanapi.BuiltInDeck)
	checkReviewed(req)
	if id != siyuanapi.BuiltInDeck && findDeck(tx, id) == nil {
		return api.OK(dueList{})
	}
	return api.OK(listDue(tx, id, scope{}, time.Now()))
}

// dueInNotebook answers what is due of the built-in deck in a notebook. All notebooks are meant by a closed one, as
// observed.
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

// dueInTree answers with the due cards of the built-in deck in a document and in those below it. An unknown document
// means all documents, as recorded.
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

// checkReviewed reads the cards the session has seen, as far as the kernel checks them. What is listed does not depend
// on them; the kernel takes them off its count, which no tool asks it for.
func checkReviewed(req api.Request) {
	if !req.Get("reviewedCards").Exists() {
		return
	}
	for _, c := range req.List("reviewedCards") {
		c.Str("cardID")
	}
}

// How many cards an answer has at most, by kind: what SiYuan's settings have for one round if nobody changed them.
const (
	maxNew = 20
	maxOld = 200
)

// dueList is what is due. Cards is null for a deck that does not exist.
type dueList struct {
	Cards []dueCard `json:"cards"`
	All   int       `json:"unreviewedCount"` // listed or not; the others count what is listed
	New   int       `json:"unreviewedNewCardCount"`
	Old   int       `json:"unreviewedOldCardCount"`
}

// add counts a card, and lists it if there is room.
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

// listDue lists the due cards of a deck whose block is in an open notebook, the longest overdue first, up to the daily
// limits.
func listDue(tx *workspace.Tx, deckID string, s scope, now time.Time) dueList {
	list := dueList{Cards: []dueCard{}}
	fresh := nextDues(newSchedule(now), now)
	tx.Rows(func(row workspace.Row) bool {
		body, _ := row.Value(1).([]byte)
		c := readCard(row.Text(0), deckID, body)
		shown := c.due()
		shown.NextDues = fresh // FSRS tells new cards from each other by nothing
		if shown.State != 0 {
			shown.NextDues = nextDues(c.Schedule, now)
		}
		list.add(shown)
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
