package flashcard

import (
	"context"
	"slices"
	"strings"

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
	blocks := make([]kernel.ID, len(due))
	for i, c := range due {
		blocks[i] = c.BlockID
	}
	places, err := readable(ctx, r, blocks)
	if err != nil {
		return nil, err
	}
	out := dueList{Scope: a.Scope, Filter: a.Filter, Cards: []dueCard{}}
	var matching []kernel.DueCard
	for _, c := range due {
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

// dueIn asks for what is due in a scope. The kernel's wide scopes know the cards of the built-in
// deck only, so the other decks are asked as well.
func dueIn(ctx context.Context, r *action.Request, a *listArgs, seen []kernel.ID) ([]kernel.DueCard, error) {
	var cards []kernel.DueCard
	var err error
	var within func(action.Target) bool // nil is everywhere
	switch a.Scope {
	case "deck":
		if a.Deck == "" {
			return nil, r.Invalid("deckID", "is required with scope deck; get_decks lists them")
		}
		if _, err := checkDeck(ctx, r, a.Deck); err != nil {
			return nil, err
		}
		return r.Kernel.DueInDeck(ctx, a.Deck, seen)
	case "notebook":
		if a.Notebook == "" {
			return nil, r.Invalid("notebook", "is required with scope notebook")
		}
		cards, err = r.Kernel.DueInNotebook(ctx, a.Notebook, seen)
		within = func(t action.Target) bool { return t.Notebook == a.Notebook }
	case "tree":
		if a.Root == "" {
			return nil, r.Invalid("rootID", "is required with scope tree")
		}
		root := r.Target("rootID")
		cards, err = r.Kernel.DueInTree(ctx, root.Root, seen)
		within = func(t action.Target) bool {
			return t.Root == root.Root || t.Notebook == root.Notebook && strings.HasPrefix(t.Path, strings.TrimSuffix(root.Path, ".sy")+"/")
		}
	default:
		cards, err = r.Kernel.DueInDeck(ctx, kernel.BuiltInDeck, seen)
	}
	if err != nil {
		return nil, err
	}
	others, err := dueElsewhere(ctx, r, seen, within)
	return append(cards, others...), err
}

// dueElsewhere is what is due in all decks but the built-in one, of blocks that are within a
// scope; nil takes all.
func dueElsewhere(ctx context.Context, r *action.Request, seen []kernel.ID, within func(action.Target) bool) ([]kernel.DueCard, error) {
	decks, err := r.Kernel.Decks(ctx)
	if err != nil {
		return nil, err
	}
	var out []kernel.DueCard
	for _, d := range decks {
		if d.ID == kernel.BuiltInDeck || d.Size == 0 {
			continue
		}
		cards, err := r.Kernel.DueInDeck(ctx, d.ID, seen)
		if err != nil {
			return nil, err
		}
		out = append(out, cards...)
	}
	if within == nil || len(out) == 0 {
		return out, nil
	}
	blocks := make([]kernel.ID, len(out))
	for i, c := range out {
		blocks[i] = c.BlockID
	}
	places, err := r.Places(ctx, blocks)
	return slices.DeleteFunc(out, func(c kernel.DueCard) bool {
		t, ok := places[c.BlockID]
		return !ok || !within(t)
	}), err
}
