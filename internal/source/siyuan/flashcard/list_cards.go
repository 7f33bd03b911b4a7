package flashcard

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type seenCard struct {
	Card kernel.ID `json:"cardID" about:"card" req:"true"`
}

type listArgs struct {
	Scope    string     `json:"scope" about:"where" req:"true" enum:"all,deck,notebook,tree"`
	Filter   string     `json:"filter" about:"which" enum:"due,new,old" default:"due"`
	Deck     kernel.ID  `json:"deckID" about:"for scope deck"`
	Notebook kernel.ID  `json:"notebook" about:"for scope notebook"`
	Root     kernel.ID  `json:"rootID" about:"document, for scope tree"`
	Seen     []seenCard `json:"reviewedCards" about:"cards of this session"`
}

type dueCard struct {
	kernel.DueCard
	HPath string `json:"hPath,omitempty"`
	sides
}

type dueList struct {
	Scope      string    `json:"scope"`
	Filter     string    `json:"filter"`
	Cards      []dueCard `json:"cards"`
	Showing    int       `json:"showing"`
	Total      int       `json:"total"`
	Truncated  bool      `json:"truncated"`
	Unreviewed int       `json:"unreviewedCount"`
	New        int       `json:"unreviewedNewCardCount"`
	Old        int       `json:"unreviewedOldCardCount"`
}

// mostCards are shown with their content at once; the rest comes as these are rated.
const mostCards = 20

func listCards() *action.Action {
	return action.New(action.Spec{
		Tool: "flashcard", Name: "list_cards", Purpose: "List cards that are due, with front and back",
		Guide:  "Ask the front, wait for an answer, then show the back and rate with review_card. Pass reviewedCards to go on.",
		Common: true, Class: action.Reads,
		Needs: []action.Need{action.OnNotebook(access.Read, "notebook"), action.OnDocument(access.Read, "rootID")},
		Endpoints: []string{
			"riff/getRiffDueCards", "riff/getNotebookRiffDueCards", "riff/getTreeRiffDueCards", "riff/getRiffDecks", "query/sql",
			"block/getChildBlocks", "sqlite/flushTransaction", "block/getBlockInfo",
		},
		Returns: []action.Field{
			{Name: "scope", About: "where"}, {Name: "filter", About: "which"}, {Name: "cards", About: "at most 20 of them"},
			{Name: "cards[].cardID", About: "for review_card"}, {Name: "cards[].deckID", About: "its deck"},
			{Name: "cards[].blockID", About: "its block"}, {Name: "cards[].front", About: "what is asked"},
			{Name: "cards[].back", About: "the answer"}, {Name: "cards[].review", About: "kind, prompt, referenceAnswer, gradable"},
			{Name: "cards[].nextDues", About: "when it comes back, by rating", Verbose: true},
			{Name: "cards[].lastReview", About: "milliseconds", Verbose: true},
			{Name: "showing", About: "cards listed"}, {Name: "total", About: "cards that match"}, {Name: "truncated", About: "whether there are more"},
			{Name: "unreviewedCount", About: "due"}, {Name: "unreviewedNewCardCount", About: "of those, new"},
			{Name: "unreviewedOldCardCount", About: "of those, seen before"},
		},
		Example: `{"scope":"all"}`,
	}, listDue)
}

func listDue(ctx context.Context, r *action.Request, a listArgs) (any, error) {
	seen := make([]kernel.ID, len(a.Seen))
	for i, s := range a.Seen {
		seen[i] = s.Card
	}
	due, err := dueIn(ctx, r, &a, seen)
	if err != nil {
		return nil, err
	}
	blocks := make([]kernel.ID, len(due.Cards))
	for i, c := range due.Cards {
		blocks[i] = c.BlockID
	}
	places, err := readable(ctx, r, blocks)
	if err != nil {
		return nil, err
	}
	out := dueList{Scope: a.Scope, Filter: a.Filter, Cards: []dueCard{}}
	var matching []kernel.DueCard
	for _, c := range due.Cards {
		if _, ok := places[c.BlockID]; !ok {
			r.Filtered(1)
			continue
		}
		isNew := c.State == 0
		if out.Unreviewed++; isNew {
			out.New++
		} else {
			out.Old++
		}
		if a.Filter == "due" || a.Filter == "new" == isNew {
			matching = append(matching, c)
		}
	}
	out.Total = len(matching)
	out.Truncated = out.Total > mostCards
	matching = matching[:min(len(matching), mostCards)]
	ids := make([]kernel.ID, len(matching))
	for i, c := range matching {
		ids[i] = c.BlockID
	}
	texts, err := sidesOf(ctx, r, ids)
	if err != nil {
		return nil, err
	}
	for _, c := range matching {
		out.Cards = append(out.Cards, dueCard{c, places[c.BlockID].HPath, texts[c.BlockID]})
	}
	out.Showing = len(out.Cards)
	return out, nil
}

// dueIn asks for what is due in a scope.
func dueIn(ctx context.Context, r *action.Request, a *listArgs, seen []kernel.ID) (kernel.DueCards, error) {
	switch a.Scope {
	case "deck":
		if a.Deck == "" {
			return kernel.DueCards{}, r.Invalid("deckID", "is required with scope deck; get_decks lists them")
		}
		if _, err := checkDeck(ctx, r, a.Deck); err != nil {
			return kernel.DueCards{}, err
		}
		return r.Kernel.DueInDeck(ctx, a.Deck, seen)
	case "notebook":
		if a.Notebook == "" {
			return kernel.DueCards{}, r.Invalid("notebook", "is required with scope notebook")
		}
		return r.Kernel.DueInNotebook(ctx, a.Notebook, seen)
	case "tree":
		if a.Root == "" {
			return kernel.DueCards{}, r.Invalid("rootID", "is required with scope tree")
		}
		return r.Kernel.DueInTree(ctx, r.Target("rootID").Root, seen)
	}
	return r.Kernel.DueInDeck(ctx, "", seen)
}
