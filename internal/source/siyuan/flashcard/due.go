package flashcard

import (
	"context"
	"strings"
	"time"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// This file finds the cards that are due in a deck, a notebook or a document.

// scope is where cards are looked for.
type scope struct {
	deck    kernel.ID                                     // the only deck to search; empty for all decks
	builtIn func(context.Context) (kernel.DueList, error) // what is due there of the built-in deck
	within  func(action.Target) bool                      // whether a block is there; nil takes all
}

// scopeOf returns the scope that arguments name.
func scopeOf(ctx context.Context, r *action.Request, a *listArgs) (scope, error) {
	s := scope{builtIn: func(ctx context.Context) (kernel.DueList, error) { return r.Kernel.DueInDeck(ctx, kernel.BuiltInDeck) }}
	notebook := func(id kernel.ID) {
		s.builtIn = func(ctx context.Context) (kernel.DueList, error) { return r.Kernel.DueInNotebook(ctx, id) }
		s.within = func(t action.Target) bool { return t.Notebook == id }
	}
	switch a.Scope {
	case "deck":
		if a.Deck == "" {
			return s, r.Invalid("deckID", "is required with scope deck; get_decks lists them")
		}
		_, err := checkDeck(ctx, r, a.Deck)
		s.deck = a.Deck
		return s, err
	case "notebook":
		if a.Notebook == "" {
			return s, r.Invalid("notebook", "is required with scope notebook")
		}
		notebook(a.Notebook)
	case "tree":
		if a.Root == "" {
			return s, r.Invalid("rootID", "is required with scope tree")
		}
		root := r.Target("rootID")
		if root.Root == root.Notebook { // the notebook's own document, which has no others below its path
			notebook(root.Notebook)
			break
		}
		s.builtIn = func(ctx context.Context) (kernel.DueList, error) { return r.Kernel.DueInTree(ctx, root.Root) }
		s.within = func(t action.Target) bool {
			return t.Root == root.Root || t.Notebook == root.Notebook && strings.HasPrefix(t.Path, strings.TrimSuffix(root.Path, ".sy")+"/")
		}
	}
	return s, nil
}

// listDueCards lists the due cards in the decks of a scope, including cards outside the scope, which the caller filters out.
// The kernel's wide scopes know only the cards of the built-in deck, so the other decks are asked as well.
func listDueCards(ctx context.Context, r *action.Request, s *scope) ([]kernel.DueCard, error) {
	if s.deck != "" {
		return listDueInDeck(ctx, r, s.deck)
	}
	list, err := s.builtIn(ctx)
	if err != nil {
		return nil, err
	}
	out, err := completeDue(ctx, r, kernel.BuiltInDeck, list)
	if err != nil {
		return nil, err
	}
	decks, err := r.Kernel.Decks(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range decks {
		if d.ID == kernel.BuiltInDeck || d.Size == 0 {
			continue
		}
		cards, err := listDueInDeck(ctx, r, d.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, cards...)
	}
	return out, nil
}

func listDueInDeck(ctx context.Context, r *action.Request, deck kernel.ID) ([]kernel.DueCard, error) {
	list, err := r.Kernel.DueInDeck(ctx, deck)
	if err != nil {
		return nil, err
	}
	return completeDue(ctx, r, deck, list)
}

// completeDue returns all due cards of a deck, hidden ones included, which the caller filters out. The kernel's list may hold
// only a random few, so that those of one document may all be missing. The rest is found among all cards of the deck.
func completeDue(ctx context.Context, r *action.Request, deck kernel.ID, list kernel.DueList) ([]kernel.DueCard, error) {
	if len(list.Cards) >= list.Due {
		return list.Cards, nil
	}
	clock, err := r.Kernel.CurrentTime(ctx) // the kernel's clock, which may differ from ours
	if err != nil {
		return nil, err
	}
	now := time.UnixMilli(clock)
	blocks, err := deckBlocks(ctx, r, deck)
	if err != nil {
		return nil, err
	}
	var fresh map[string]string // when a new card comes back, by rating; the same for all new cards
	named := map[kernel.ID]map[string]string{}
	for _, c := range list.Cards {
		named[c.CardID] = c.NextDues
		if c.State == 0 {
			fresh = c.NextDues
		}
	}
	var out []kernel.DueCard
	for _, b := range blocks {
		if b.Box == "" || b.Riff == nil || b.Riff.State != 0 && b.Riff.Due.After(now) {
			continue
		}
		c := kernel.DueCard{
			DeckID: deck, CardID: b.Card, BlockID: b.ID, Lapses: b.Riff.Lapses, Reps: b.Riff.Reps, State: b.Riff.State,
			LastReview: b.Riff.LastReview.UnixMilli(), NextDues: named[b.Card],
		}
		if c.State == 0 {
			c.NextDues = fresh
		}
		out = append(out, c)
	}
	return out, nil
}
