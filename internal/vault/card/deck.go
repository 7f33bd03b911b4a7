package card

import (
	"encoding/json"
	"time"

	"collie/internal/siyuanapi"
	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// deckKind is the kind of records that are decks; Record.At is their creation time.
const deckKind = "deck"

// deck is a deck in the form of its record. Names need not be unique, and may be empty.
type deck struct {
	ID      string    `json:"-"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

func readDeck(r *workspace.Record) deck {
	d := deck{ID: r.ID}
	_ = json.Unmarshal(r.Body, &d) // only put writes it
	return d
}

// findDeck returns the deck with an id, or nil.
func findDeck(tx *workspace.Tx, id string) *deck {
	r := tx.Record(deckKind, id)
	if r == nil {
		return nil
	}
	d := readDeck(r)
	return &d
}

// useDeck is like findDeck, but creates the built-in deck when it is first used.
func useDeck(tx *workspace.Tx, id string) *deck {
	if d := findDeck(tx, id); d != nil || id != siyuanapi.BuiltInDeck {
		return d
	}
	return makeDeck(tx, siyuanapi.BuiltInDeck, "Built-in Deck")
}

// makeDeck stores a new deck and returns it.
func makeDeck(tx *workspace.Tx, id, name string) *deck {
	now := time.Now()
	d := &deck{ID: id, Name: name, Created: now, Updated: now}
	d.put(tx)
	return d
}

// put stores the record of the deck.
func (d *deck) put(tx *workspace.Tx) {
	tx.PutRecord(workspace.Record{Kind: deckKind, ID: d.ID, At: d.Created.UnixNano(), Body: api.MustJSON(d)})
}

// markChanged sets when the deck last changed.
func (d *deck) markChanged(tx *workspace.Tx) {
	d.Updated = time.Now()
	d.put(tx)
}

// shownDeck is a deck in an answer. Its size includes cards whose block is gone.
type shownDeck struct {
	Created string `json:"created"`
	ID      string `json:"id"`
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	Updated string `json:"updated"`
}

func (d *deck) shown(tx *workspace.Tx) shownDeck {
	s := shownDeck{Created: d.Created.Format(time.DateTime), ID: d.ID, Name: d.Name, Updated: d.Updated.Format(time.DateTime)}
	tx.Rows(func(row workspace.Row) bool {
		s.Size = row.Int(0)
		return false
	}, `SELECT count(*) FROM record WHERE kind = ? AND owner = ?`, cardKind, d.ID)
	return s
}

func listDecks(tx *workspace.Tx, _ api.Request) api.Reply {
	decks := []shownDeck{}
	for _, r := range tx.Records(deckKind, "") {
		if r.ID != siyuanapi.BuiltInDeck {
			d := readDeck(&r)
			decks = append(decks, d.shown(tx))
		}
	}
	return api.OK(decks)
}

func createDeck(tx *workspace.Tx, req api.Request) api.Reply {
	return api.OK(makeDeck(tx, tx.NewID(), req.Str("name")).shown(tx))
}
