package kernel

import (
	"context"
	"time"

	"collie/internal/siyuanapi"
)

// This file has the endpoints for flashcards.

// BuiltInDeck is the deck of cards made in the editor.
const BuiltInDeck ID = siyuanapi.BuiltInDeck

// Deck is a deck of cards.
type Deck struct {
	ID      ID     `json:"id"`
	Name    string `json:"name"`
	Size    int    `json:"size"`
	Created string `json:"created"`
	Updated string `json:"updated"`
}

// DueCard is a card that is due for review.
type DueCard struct {
	DeckID     ID                `json:"deckID" about:"its deck"`
	CardID     ID                `json:"cardID" about:"for review_card"`
	BlockID    ID                `json:"blockID" about:"its block"`
	Lapses     int               `json:"lapses"`
	Reps       int               `json:"reps"`
	State      int               `json:"state"`                                                        // 0 new, 1 learning, 2 review, 3 relearning
	LastReview int64             `json:"lastReview" about:"milliseconds" verbose:"yes"`                // before 1970: never
	NextDues   map[string]string `json:"nextDues" about:"when it comes back, by rating" verbose:"yes"` // in words
}

// CardBlock is a block that is a card, in lists of a deck. Box is empty if the block is not found.
type CardBlock struct {
	ID       ID     `json:"id"`
	Box      ID     `json:"box"`
	Path     string `json:"path"`
	HPath    string `json:"hPath"`
	Root     ID     `json:"rootID"`
	Content  string `json:"content"`
	Markdown string `json:"markdown"`
	Type     string `json:"type"`
	Card     ID     `json:"riffCardID"`
	Riff     *struct {
		Due        time.Time `json:"due"` // of a new card: the time of the answer
		Reps       int       `json:"reps"`
		Lapses     int       `json:"lapses"`
		State      int       `json:"state"`
		LastReview time.Time `json:"lastReview"` // of a new card: the year 1
	} `json:"riffCard"`
}

// Decks lists the decks except the built-in one, which the kernel never lists.
func (c *Client) Decks(ctx context.Context) ([]Deck, error) {
	return callFor[[]Deck](ctx, c, "/api/riff/getRiffDecks", read, nil)
}

// DueList is what is due. The kernel names only as many cards as the user's settings allow in one round, by default
// 20 new ones, chosen at random, and 200 others.
type DueList struct {
	Cards []DueCard `json:"cards"`
	Due   int       `json:"unreviewedCount"` // including those that are not named
}

func (c *Client) dueCards(ctx context.Context, endpoint string, body map[string]any) (DueList, error) {
	return callFor[DueList](ctx, c, endpoint, readIndexData, body)
}

// DueInDeck lists what is due in a deck; an empty id means the built-in deck, not all decks.
func (c *Client) DueInDeck(ctx context.Context, deck ID) (DueList, error) {
	return c.dueCards(ctx, "/api/riff/getRiffDueCards", map[string]any{"deckID": deck})
}

// DueInNotebook lists what is due of the built-in deck in a notebook. For a closed notebook the kernel lists what is
// due anywhere.
func (c *Client) DueInNotebook(ctx context.Context, notebook ID) (DueList, error) {
	return c.dueCards(ctx, "/api/riff/getNotebookRiffDueCards", map[string]any{"notebook": notebook})
}

// DueInTree lists what is due of the built-in deck in a document and those below it. For an unknown root the kernel
// lists the cards of all documents, so check that it exists.
func (c *Client) DueInTree(ctx context.Context, root ID) (DueList, error) {
	return c.dueCards(ctx, "/api/riff/getTreeRiffDueCards", map[string]any{"rootID": root})
}

// CardPage is a page of the cards of a deck.
type CardPage struct {
	Blocks    []CardBlock `json:"blocks"`
	Total     int         `json:"total"`
	PageCount int         `json:"pageCount"`
}

// Cards returns a page of the cards of a deck; an empty id means all decks.
func (c *Client) Cards(ctx context.Context, deck ID, page, size int) (CardPage, error) {
	return callFor[CardPage](ctx, c, "/api/riff/getRiffCards", readIndexData, map[string]any{"id": deck, "page": page, "pageSize": size})
}

// ReviewCard rates a card from 1 to 4. The kernel does not check the rating: any other makes it forget the card's
// whole history.
func (c *Client) ReviewCard(ctx context.Context, deck, card ID, rating int) error {
	return c.call(ctx, "/api/riff/reviewRiffCard", write, map[string]any{"deckID": deck, "cardID": card, "rating": rating}, nil)
}

// SkipCard leaves a card out of this round.
func (c *Client) SkipCard(ctx context.Context, deck, card ID) error {
	return c.call(ctx, "/api/riff/skipReviewRiffCard", write, map[string]any{"deckID": deck, "cardID": card}, nil)
}

// AddCards turns blocks into cards.
func (c *Client) AddCards(ctx context.Context, deck ID, blocks []ID) (Deck, error) {
	return callFor[Deck](ctx, c, "/api/riff/addRiffCards", writeData, map[string]any{"deckID": deck, "blockIDs": blocks})
}

// RemoveCards turns cards into plain blocks again, in every deck if deck is empty.
func (c *Client) RemoveCards(ctx context.Context, deck ID, blocks []ID) error {
	return c.call(ctx, "/api/riff/removeRiffCards", write, map[string]any{"deckID": deck, "blockIDs": blocks}, nil)
}
