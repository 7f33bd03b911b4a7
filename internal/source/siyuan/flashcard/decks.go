package flashcard

import (
	"context"
	"slices"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

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

func getDecks() *action.Action {
	return action.New(action.Spec{
		Tool: "flashcard", Name: "get_decks", Purpose: "List the decks",
		Guide: "The size of a deck is told only where every notebook may be read.",
		Class: action.Reads, Unguarded: "decks are names; their sizes are hidden where a notebook is",
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
			builtIn, err := builtIn(ctx, r, restricted)
			if err != nil {
				return nil, err
			}
			decks = append([]kernel.Deck{builtIn}, decks...)
		}
		out := getDecksResult{}
		for _, d := range decks {
			shown := listedDeck{d.ID, d.Name, nil, d.Created, d.Updated}
			if !restricted {
				shown.Size = &d.Size
			} else {
				shown.Updated = "" // it tells of changes to what is hidden
			}
			out.Decks = append(out.Decks, shown)
		}
		return out, nil
	})
}

// builtIn is the built-in deck, which the kernel lists nowhere; its size is that of its list.
func builtIn(ctx context.Context, r *action.Request, restricted bool) (kernel.Deck, error) {
	d := kernel.Deck{ID: kernel.BuiltInDeck, Name: builtInName}
	if restricted {
		return d, nil
	}
	cards, err := r.Kernel.Cards(ctx, d.ID, 1, 1)
	d.Size = cards.Total
	return d, err
}
