package card

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	fsrs "github.com/open-spaced-repetition/go-fsrs/v3"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file stores the cards of a deck.

const (
	// cardKind is the kind of records that are cards. Record.At is the due time in nanoseconds. Cards made by one
	// request are due one nanosecond apart, which keeps their order.
	cardKind = "card"
	// decksAttr is the attribute of a block that lists its decks.
	decksAttr = "custom-riff-decks"
)

// card is the card of a block in one deck, in the form of its record.
type card struct {
	ID    string `json:"-"`
	Deck  string `json:"-"`
	Block string `json:"block"`
	// Placed says whether the block existed when the card was made. If it did and has gone since, the card is not listed
	// until the block returns; its schedule is kept. If it never existed, the card is listed all the same.
	Placed   bool      `json:"placed"`
	Schedule fsrs.Card `json:"schedule"`
}

// blockOfCard is an SQL expression for the block in the record of a card.
const blockOfCard = `json_extract(CAST(record.body AS TEXT), '$.block')`

func readCard(id, deck string, body []byte) card {
	c := card{ID: id, Deck: deck}
	_ = json.Unmarshal(body, &c) // it cannot fail: only put writes bodies
	return c
}

// put stores the record of the card.
func (c *card) put(tx *workspace.Tx) {
	tx.PutRecord(workspace.Record{Kind: cardKind, ID: c.ID, Owner: c.Deck, At: c.Schedule.Due.UnixNano(), Body: api.MustJSON(c)})
}

// findCard returns the card with an id in a deck, or nil.
func findCard(tx *workspace.Tx, deck, id string) *card {
	r := tx.Record(cardKind, id)
	if r == nil || r.Owner != deck {
		return nil
	}
	c := readCard(r.ID, r.Owner, r.Body)
	return &c
}

// add makes a card for each block that has none in the deck yet. As in SiYuan, ids without a block are accepted, and blocks
// are marked with the deck even if it does not exist.
func add(tx *workspace.Tx, deckID string, blocks []string) api.Reply {
	d := useDeck(tx, deckID)
	for _, id := range blocks {
		if b := tx.Block(id); b != nil {
			addDeck(b, deckID)
		}
	}
	if d == nil {
		return api.Done()
	}
	isCard := blocksOf(tx, deckID)
	now := time.Now()
	for i, id := range blocks {
		if isCard[id] {
			continue
		}
		isCard[id] = true
		c := card{ID: tx.NewID(), Deck: deckID, Block: id, Placed: tx.BlockExists(id), Schedule: newSchedule(now.Add(time.Duration(i)))}
		c.put(tx)
	}
	d.markChanged(tx)
	return api.OK(d.shown(tx))
}

// blocksOf returns the ids of the blocks with a card in a deck.
func blocksOf(tx *workspace.Tx, deckID string) map[string]bool {
	isCard := map[string]bool{}
	tx.Rows(func(row workspace.Row) bool {
		isCard[row.Text(0)] = true
		return true
	}, `SELECT `+blockOfCard+` FROM record WHERE kind = ? AND owner = ?`, cardKind, deckID)
	return isCard
}

// remove removes the cards of blocks from a deck, or from all decks if deckID is empty.
func remove(tx *workspace.Tx, deckID string, blocks []string) api.Reply {
	var removed []string
	tx.Rows(func(row workspace.Row) bool {
		removed = append(removed, row.Text(0))
		return true
	}, `SELECT id FROM record WHERE kind = ?1 AND (?2 = '' OR owner = ?2)
		AND `+blockOfCard+` IN (SELECT value FROM json_each(?3))`, cardKind, deckID, string(api.MustJSON(blocks)))
	for _, id := range removed {
		tx.RemoveRecord(cardKind, id)
	}
	for _, id := range blocks {
		if b := tx.Block(id); b != nil {
			removeDeck(b, deckID)
		}
	}
	d := findDeck(tx, deckID)
	if d == nil {
		return api.Done()
	}
	d.markChanged(tx)
	return api.OK(d.shown(tx))
}

// addDeck adds a deck to the attribute of a block.
func addDeck(b *tree.Block, deckID string) {
	if decks := decksOf(b); !slices.Contains(decks, deckID) {
		b.Attrs[decksAttr] = strings.Join(append(decks, deckID), ",")
	}
}

// removeDeck removes a deck from a block's attribute, or all decks if deckID is empty.
func removeDeck(b *tree.Block, deckID string) {
	remaining := slices.DeleteFunc(decksOf(b), func(other string) bool { return deckID == "" || other == deckID })
	if len(remaining) == 0 {
		delete(b.Attrs, decksAttr)
		return
	}
	b.Attrs[decksAttr] = strings.Join(remaining, ",")
}

func decksOf(b *tree.Block) []string {
	return strings.FieldsFunc(b.Attrs[decksAttr], func(c rune) bool { return c == ',' })
}
