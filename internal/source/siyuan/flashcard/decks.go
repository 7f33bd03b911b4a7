package flashcard

import (
	"context"
	"slices"
	"strings"
	"time"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions of the tool flashcard that list decks and their cards.

type getDecksResult struct {
	Decks []listedDeck `json:"decks" about:"all decks, the built-in one first"`
}

// listedDeck is a deck as it is shown.
type listedDeck struct {
	ID      kernel.ID `json:"id" about:"deckID"`
	Name    string    `json:"name" about:"its name"`
	Size    *int      `json:"size,omitempty" about:"cards; left out where some may not be read"`
	Created string    `json:"created,omitempty" about:"local time" verbose:"yes"`
	Updated string    `json:"updated,omitempty" about:"local time" verbose:"yes"`
}

// getDecks returns the action get_decks of the tool flashcard.
func getDecks() *action.Action {
	return action.New(action.Spec{
		Tool: "flashcard", Name: "get_decks", Purpose: "List the decks",
		Guide: "The size of a deck is told only where every notebook may be read.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead, Unguarded: "decks are names; their sizes are hidden where a notebook is",
		Endpoints: []string{"riff/getRiffDecks", "riff/getRiffCards", "notebook/lsNotebooks", "sqlite/flushTransaction"},
		Result:    getDecksResult{},
		Example:   `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		decks, err := r.Kernel.Decks(ctx)
		if err != nil {
			return nil, err
		}
		restricted, err := r.Levels.Restricted(ctx)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(decks, func(d kernel.Deck) bool { return d.ID == kernel.BuiltInDeck }) {
			builtIn, err := builtInDeck(ctx, r, restricted)
			if err != nil {
				return nil, err
			}
			decks = append([]kernel.Deck{builtIn}, decks...)
		}
		out := getDecksResult{}
		for _, d := range decks {
			listed := listedDeck{d.ID, d.Name, nil, d.Created, d.Updated}
			if !restricted {
				listed.Size = &d.Size
			} else {
				listed.Updated = "" // it would reveal changes to hidden notes
			}
			out.Decks = append(out.Decks, listed)
		}
		return out, nil
	})
}

// builtInDeck returns the built-in deck, which the kernel lists nowhere. Its size is the number of its cards, 0 if restricted.
func builtInDeck(ctx context.Context, r *action.Request, restricted bool) (kernel.Deck, error) {
	d := kernel.Deck{ID: kernel.BuiltInDeck, Name: builtInName}
	if restricted {
		return d, nil
	}
	cards, err := r.Kernel.Cards(ctx, d.ID, 1, 1)
	d.Size = cards.Total
	return d, err
}

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

// getCards returns the action get_cards of the tool flashcard.
func getCards() *action.Action {
	return action.New(action.Spec{
		Tool: "flashcard", Name: "get_cards", Purpose: "List the cards of a deck, due or not",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead, Unguarded: deckArgument,
		Endpoints: []string{"riff/getRiffDecks", "riff/getRiffCards", "sqlite/flushTransaction", "query/sql"},
		Result:    deckPage{},
		Example:   `{"deckID":"20230218211946-2kw8jgx"}`,
	}, func(ctx context.Context, r *action.Request, a getArgs) (any, error) {
		if a.Deck != "" {
			if _, err := checkDeck(ctx, r, a.Deck); err != nil {
				return nil, err
			}
		}
		cards, err := readableCards(ctx, r, a.Deck)
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

// readableCards returns the cards of a deck that may be read. It reads all cards before it cuts pages: the kernel's own
// pages and totals also count hidden cards and those without a block.
func readableCards(ctx context.Context, r *action.Request, deck kernel.ID) ([]deckCard, error) {
	blocks, err := deckBlocks(ctx, r, deck)
	if err != nil {
		return nil, err
	}
	if err := content.RedactTexts(ctx, r, blocks, func(b *kernel.CardBlock) (string, *string, *string) {
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
	return out, recordLeftOut(ctx, r, len(blocks)-len(out))
}

// deckBlocks returns the blocks of all cards of a deck, or of all decks if deck is empty. It asks for very large pages, so
// that one request usually suffices, since the order may change between two pages.
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
