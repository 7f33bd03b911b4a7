package flashcard

import (
	"cmp"
	"context"
	"slices"

	"collie/internal/sorting"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action flashcard.list_cards, which shows due cards in the order of a session.

type seenCard struct {
	Card kernel.ID `json:"cardID" about:"card" req:"true"`
}

type listArgs struct {
	Scope    string     `json:"scope" about:"where" req:"true" enum:"all,deck,notebook,tree"`
	Filter   string     `json:"filter" about:"which" enum:"due,new,old" default:"due"`
	Deck     kernel.ID  `json:"deckID" about:"for scope deck"`
	Notebook kernel.ID  `json:"notebook" about:"for scope notebook"`
	Root     kernel.ID  `json:"rootID" about:"document, for scope tree"`
	Seen     []seenCard `json:"reviewedCards" about:"cards to leave out" list:"no"`
}

type dueCard struct {
	kernel.DueCard
	cardSides
}

type dueList struct {
	Scope      string    `json:"scope" about:"where"`
	Filter     string    `json:"filter" about:"which"`
	Cards      []dueCard `json:"cards" about:"at most 20 of them"`
	Showing    int       `json:"showing" about:"cards listed"`
	Total      int       `json:"total" about:"cards that match"`
	Truncated  bool      `json:"truncated" about:"whether there are more"`
	Unreviewed int       `json:"unreviewedCount" about:"due"`
	New        int       `json:"unreviewedNewCardCount" about:"of those, new"`
	Old        int       `json:"unreviewedOldCardCount" about:"of those, seen before"`
}

// maxCards is how many cards one call shows. The next ones follow once these are rated.
const maxCards = 20

// listCards returns the action list_cards of the tool flashcard.
func listCards() *action.Action {
	return action.New(action.Spec{
		Tool: "flashcard", Name: "list_cards", Purpose: "List cards that are due, with front and back",
		Guide:  "Ask the front, wait for an answer, then show the back and rate with review_card. Rated cards are not listed again before they are due; pass those that were skipped as reviewedCards.",
		Common: true, Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs: []action.Need{action.OnNotebook(access.Read, "notebook"), action.OnDocument(access.Read, "rootID")},
		Endpoints: []string{
			"riff/getRiffDueCards", "riff/getNotebookRiffDueCards", "riff/getTreeRiffDueCards", "riff/getRiffDecks", "riff/getRiffCards",
			"system/currentTime", "query/sql", "block/getChildBlocks", "sqlite/flushTransaction", "block/getBlockInfo",
		},
		Result:  dueList{},
		Example: `{"scope":"all"}`,
	}, listDue)
}

func listDue(ctx context.Context, r *action.Request, a listArgs) (any, error) {
	s, err := scopeOf(ctx, r, &a)
	if err != nil {
		return nil, err
	}
	due, err := listDueCards(ctx, r, &s)
	if err != nil {
		return nil, err
	}
	due = slices.DeleteFunc(due, func(c kernel.DueCard) bool { return slices.Contains(a.Seen, seenCard{c.CardID}) })
	if due, err = visibleCards(ctx, r, due, s.within); err != nil {
		return nil, err
	}
	sorting.By(due, compareTurns)
	out := dueList{Scope: a.Scope, Filter: a.Filter, Cards: []dueCard{}, Unreviewed: len(due)}
	var matching []kernel.DueCard
	for _, c := range due {
		isNew := c.State == 0
		if isNew {
			out.New++
		} else {
			out.Old++
		}
		if a.Filter == "due" || a.Filter == "new" == isNew {
			matching = append(matching, c)
		}
	}
	out.Total = len(matching)
	out.Truncated = out.Total > maxCards
	matching = matching[:min(len(matching), maxCards)]
	texts, err := readSides(ctx, r, blocksOf(matching))
	if err != nil {
		return nil, err
	}
	for _, c := range matching {
		out.Cards = append(out.Cards, dueCard{c, texts[c.BlockID]})
	}
	out.Showing = len(out.Cards)
	return out, nil
}

// compareTurns compares cards for the order of a session: first those that were learned before, the longest ago first, then the
// new ones in the order of their creation. Unlike the kernel's order, it is the same from call to call.
func compareTurns(a, b kernel.DueCard) int {
	switch {
	case a.State == 0 && b.State != 0:
		return 1
	case a.State != 0 && b.State == 0:
		return -1
	}
	return cmp.Or(cmp.Compare(a.LastReview, b.LastReview), cmp.Compare(a.CardID, b.CardID))
}

// visibleCards returns the cards whose blocks are within a scope and may be read.
func visibleCards(ctx context.Context, r *action.Request, due []kernel.DueCard, within func(action.Target) bool) ([]kernel.DueCard, error) {
	places, err := r.Places(ctx, blocksOf(due))
	if err != nil {
		return nil, err
	}
	hidden := 0
	due = slices.DeleteFunc(due, func(c kernel.DueCard) bool {
		t, ok := places[c.BlockID]
		if within != nil && (!ok || !within(t)) {
			return true
		}
		if ok && r.Readable(t.Notebook) {
			return false
		}
		hidden++
		return true
	})
	return due, recordLeftOut(ctx, r, hidden)
}

func blocksOf(cards []kernel.DueCard) []kernel.ID {
	ids := make([]kernel.ID, len(cards))
	for i, c := range cards {
		ids[i] = c.BlockID
	}
	return ids
}
