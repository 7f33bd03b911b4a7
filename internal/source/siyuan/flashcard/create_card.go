package flashcard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions of the tool flashcard that add blocks to a deck and remove them.

// decksAttr is the attribute that lists the decks of a block.
const decksAttr = "custom-riff-decks"

type cardArgs struct {
	Deck   kernel.ID   `json:"deckID" about:"deck from get_decks; the built-in one if left out" default:"20230218211946-2kw8jgx"`
	Blocks []kernel.ID `json:"blockIDs" about:"blocks" req:"true" min:"1" max:"100" unique:"true"`
}

type cardResult struct {
	Success bool        `json:"success" about:"true"`
	Deck    kernel.ID   `json:"deckID" about:"the deck"`
	Name    string      `json:"deck" about:"its name"`
	Blocks  []kernel.ID `json:"blockIDs" about:"the blocks"`
}

// createCard returns the action create_card of the tool flashcard.
func createCard() *action.Action {
	return action.New(action.Spec{
		Tool: "flashcard", Name: "create_card", Purpose: "Make cards of blocks",
		Guide: "Good cards: a paragraph with ==marks==, a heading with its section, a list item with its answer below. Not a document.",
		Class: action.Creates, Risk: tool.RiskLow, Effects: tool.EffectWrite,
		Needs:     []action.Need{action.OnBlock(access.Write, "blockIDs")},
		Endpoints: []string{"riff/getRiffDecks", "riff/addRiffCards", "attr/batchGetBlockAttrs"},
		Aliases:   map[string]string{"blockID": "blockIDs", "id": "blockIDs"},
		Result:    cardResult{},
		Example:   `{"deckID":"20230218211946-2kw8jgx","blockIDs":["20260102030405-abcdefg"]}`,
	}, func(ctx context.Context, r *action.Request, a cardArgs) (any, error) {
		for _, t := range r.Targets("blockIDs") {
			if t.ID == t.Root {
				return nil, r.Invalid("blockIDs", fmt.Sprintf("%s is a document; make cards of its blocks: block(action=\"get_children\", id=%q)", t.ID, t.ID))
			}
		}
		deck, err := a.findDeck(ctx, r)
		if err != nil {
			return nil, err
		}
		if _, err := r.Kernel.AddCards(ctx, a.Deck, a.Blocks); err != nil {
			return nil, err
		}
		if err := verifyMembership(ctx, r, &a, true); err != nil {
			return nil, err
		}
		refreshTargets(r)
		return cardResult{true, a.Deck, deck.Name, a.Blocks}, nil
	})
}

// findDeck returns the deck of the arguments. Without one it is the built-in deck, although the kernel
// would use all decks.
func (a *cardArgs) findDeck(ctx context.Context, r *action.Request) (kernel.Deck, error) {
	if a.Deck == "" {
		a.Deck = kernel.BuiltInDeck
	}
	return checkDeck(ctx, r, a.Deck)
}

// verifyMembership reads back whether the blocks belong to the deck, or do not any more.
func verifyMembership(ctx context.Context, r *action.Request, a *cardArgs, want bool) error {
	wrong, err := wrongMembers(ctx, r, a, want)
	if err != nil || len(wrong) == 0 {
		return err
	}
	return &tool.Error{
		Op: "write", Kind: kernel.Mismatch, Subject: string(a.Deck), OutcomeUnknown: true,
		Message: fmt.Sprintf("the kernel accepted the change, and it does not show on %d blocks", len(wrong)),
		Hint:    `flashcard(action="get_cards") shows the deck as it is`, Facts: map[string]any{"blockIDs": wrong},
	}
}

// wrongMembers returns the blocks whose membership of the deck is not what was requested.
func wrongMembers(ctx context.Context, r *action.Request, a *cardArgs, in bool) ([]kernel.ID, error) {
	attrs, err := r.Kernel.BatchAttrs(ctx, a.Blocks)
	var out []kernel.ID
	for _, id := range a.Blocks {
		if slices.Contains(strings.Split(attrs[id][decksAttr], ","), string(a.Deck)) != in {
			out = append(out, id)
		}
	}
	return out, err
}

// refreshTargets makes SiYuan's window show the documents of the blocks again.
func refreshTargets(r *action.Request) {
	for _, t := range r.Targets("blockIDs") {
		r.RefreshDocument(t.Root)
	}
}

// removeCard returns the action remove_card of the tool flashcard.
func removeCard() *action.Action {
	return action.New(action.Spec{
		Tool: "flashcard", Name: "remove_card", Purpose: "Make cards plain blocks again; their learning history goes",
		Dangerous: true, Class: action.State, Risk: tool.RiskHigh, Effects: tool.EffectWrite | tool.EffectDelete,
		Needs:     []action.Need{action.OnBlock(access.Write, "blockIDs")},
		Endpoints: []string{"riff/getRiffDecks", "riff/removeRiffCards", "attr/batchGetBlockAttrs"},
		Aliases:   map[string]string{"blockID": "blockIDs", "id": "blockIDs"},
		Result:    cardResult{},
		Example:   `{"deckID":"20230218211946-2kw8jgx","blockIDs":["20260102030405-abcdefg"]}`,
	}, func(ctx context.Context, r *action.Request, a cardArgs) (any, error) {
		deck, err := a.findDeck(ctx, r)
		if err != nil {
			return nil, err
		}
		plain, err := wrongMembers(ctx, r, &a, true)
		if err != nil {
			return nil, err
		}
		if len(plain) > 0 {
			return nil, r.Invalid("blockIDs", fmt.Sprintf("%s is not a card of deck %s; get_cards lists its cards", plain[0], a.Deck))
		}
		if err := r.Kernel.RemoveCards(ctx, a.Deck, a.Blocks); err != nil {
			return nil, err
		}
		if err := verifyMembership(ctx, r, &a, false); err != nil {
			return nil, err
		}
		refreshTargets(r)
		return cardResult{true, a.Deck, deck.Name, a.Blocks}, nil
	})
}
