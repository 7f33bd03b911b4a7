package flashcard

import (
	"context"
	"strings"
	"time"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

type getArgs struct {
	Deck kernel.ID `json:"deckID" about:"deck; empty is all" req:"true"`
	Page int       `json:"page" about:"from 1" default:"1" min:"1"`
	Size int       `json:"pageSize" about:"cards a page" default:"32" min:"1" max:"512"`
}

type deckCard struct {
	Card    kernel.ID `json:"cardID" about:"the card"`
	Block   kernel.ID `json:"blockID" about:"its block"`
	HPath   string    `json:"hPath"`
	Content string    `json:"content" about:"text of the block"`
	State   int       `json:"state" about:"0 new, 1 learning, 2 review, 3 relearning"`
	Reps    int       `json:"reps" about:"reviews" verbose:"yes"`
	Lapses  int       `json:"lapses" about:"times forgotten" verbose:"yes"`
	Due     time.Time `json:"due,omitzero" about:"when it is due"`
}

func getCards() *action.Action {
	return action.New(action.Spec{
		Tool: "flashcard", Name: "get_cards", Purpose: "List the cards of a deck, due or not",
		Class: action.Reads, Unguarded: deckArgument,
		Endpoints: []string{"riff/getRiffDecks", "riff/getRiffCards", "sqlite/flushTransaction", "query/sql"},
		Result:    deckPage{},
		Example:   `{"deckID":"20230218211946-2kw8jgx"}`,
	}, func(ctx context.Context, r *action.Request, a getArgs) (any, error) {
		if a.Deck != "" {
			if _, err := checkDeck(ctx, r, a.Deck); err != nil {
				return nil, err
			}
		}
		cards, err := cardsOf(ctx, r, a.Deck)
		if err != nil {
			return nil, err
		}
		return deckPage{a.Deck, action.Paged(cards, a.Page, a.Size)}, nil
	})
}

type deckPage struct {
	Deck kernel.ID `json:"deckID" about:"the deck"`
	action.Page[deckCard]
}

// cardsOf are the cards of a deck that may be read. All are read before any is shown: the
// kernel's own pages and totals count those that may not be read and those without a block.
func cardsOf(ctx context.Context, r *action.Request, deck kernel.ID) ([]deckCard, error) {
	blocks, err := deckBlocks(ctx, r, deck)
	if err != nil {
		return nil, err
	}
	if err := content.UnboundTexts(ctx, r, blocks, func(b *kernel.CardBlock) (string, *string, *string) {
		return b.Type, &b.Content, &b.Markdown
	}); err != nil {
		return nil, err
	}
	out := []deckCard{}
	for _, b := range blocks {
		if !r.Readable(b.Box) { // also where the block is gone or not indexed yet: it has no notebook
			continue
		}
		c := deckCard{Card: b.Card, Block: b.ID, HPath: b.HPath, Content: strings.TrimSpace(b.Content)}
		if b.Riff != nil {
			c.State, c.Reps, c.Lapses, c.Due = b.Riff.State, b.Riff.Reps, b.Riff.Lapses, b.Riff.Due
		}
		out = append(out, c)
	}
	return out, leftOut(ctx, r, len(blocks)-len(out))
}

// deckBlocks are the blocks of all cards of a deck, of all decks where it is empty. They are asked for at once, since
// their order may change between two pages.
func deckBlocks(ctx context.Context, r *action.Request, deck kernel.ID) ([]kernel.CardBlock, error) {
	const each = 1 << 16
	var all []kernel.CardBlock
	for page := 1; ; page++ {
		got, err := r.Kernel.Cards(ctx, deck, page, each)
		if err != nil {
			return nil, err
		}
		all = append(all, got.Blocks...)
		if page >= got.PageCount {
			return all, nil
		}
	}
}
