// Package flashcard is the tool for learning by spaced repetition: decks, due cards, ratings, and which blocks are cards. A card
// needs the same level as its block. A card whose block is hidden or gone is left out.
package flashcard

import (
	"context"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// Tool returns the tool.
func Tool() action.Tool {
	return action.Tool{
		Name:    "flashcard",
		About:   "Spaced repetition: list due cards (front, back), rate or skip them, make cards of blocks.",
		Actions: []*action.Action{listCards(), getDecks(), getCards(), reviewCard(), createCard(), removeCard()},
	}
}

// deckArgument says why an action on a deck needs no level: a deck is a list of blocks, and each of them is filtered.
const deckArgument = "cards are shown as far as their blocks may be read"

// builtInName is the kernel's name of the deck for cards that are made in the editor.
const builtInName = "Built-in Deck"

// checkDeck returns a deck. It refuses one that does not exist, because the kernel would accept any id.
func checkDeck(ctx context.Context, r *action.Request, deck kernel.ID) (kernel.Deck, error) {
	if deck == kernel.BuiltInDeck {
		return kernel.Deck{ID: deck, Name: builtInName}, nil
	}
	decks, err := r.Kernel.Decks(ctx)
	if err != nil {
		return kernel.Deck{}, err
	}
	i := slices.IndexFunc(decks, func(d kernel.Deck) bool { return d.ID == deck })
	if i < 0 {
		return kernel.Deck{}, access.NotFound(access.Deck, string(deck))
	}
	return decks[i], nil
}

// recordLeftOut records that n cards were left out because they are hidden. If every notebook may be read, their blocks
// are gone or in a closed notebook, and it records nothing.
func recordLeftOut(ctx context.Context, r *action.Request, n int) error {
	if n == 0 {
		return nil
	}
	restricted, err := r.Levels.Restricted(ctx)
	if restricted {
		r.Filtered(n)
	}
	return err
}
