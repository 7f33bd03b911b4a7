package flashcard

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action flashcard.review_card, which rates a card.

type reviewArgs struct {
	Deck   kernel.ID `json:"deckID" about:"deck" req:"true"`
	Card   kernel.ID `json:"cardID" about:"card" req:"true"`
	Rating int       `json:"rating" about:"1 again, 2 hard, 3 good, 4 easy" min:"1" max:"4"`
	Skip   bool      `json:"skip" about:"leave it out of this round instead"`
}

type reviewCardResult struct {
	Success bool      `json:"success" about:"true"`
	Deck    kernel.ID `json:"deckID" about:"its deck"`
	Card    kernel.ID `json:"cardID" about:"the card"`
	Rating  int       `json:"rating,omitempty" about:"as given"`
	Skipped bool      `json:"skipped,omitempty" about:"whether it was skipped"`
}

// reviewCard returns the action review_card of the tool flashcard.
func reviewCard() *action.Action {
	return action.New(action.Spec{
		Tool: "flashcard", Name: "review_card", Purpose: "Rate a card, or skip it",
		Guide: "Rate what the person answered, never for them. Give rating or skip. A skipped card stays due: give it to " +
			"list_cards in reviewedCards.",
		Common: true, Class: action.State, Risk: tool.RiskLow, Effects: tool.EffectWrite,
		Needs: []action.Need{action.On(access.Read, "the block of cardID", "cardID", func(ctx context.Context, r *action.Request) ([]action.Target, error) {
			return cardTarget(ctx, r)
		})},
		Adapt:     ratingInWords,
		Endpoints: []string{"riff/getRiffDueCards", "riff/getRiffCards", "riff/reviewRiffCard", "riff/skipReviewRiffCard", "block/getBlockInfo"},
		Result:    reviewCardResult{},
		Example:   `{"deckID":"20230218211946-2kw8jgx","cardID":"20260102030405-abcdefg","rating":3}`,
	}, func(ctx context.Context, r *action.Request, a reviewArgs) (any, error) {
		if a.Skip == (a.Rating != 0) {
			return nil, r.Conflicting("give rating (1 to 4) or skip:true, one of them", "rating", "skip")
		}
		if a.Rating < 0 || a.Rating > 4 { // the kernel would forget the history of the card
			return nil, r.Invalid("rating", "must be 1 (again), 2 (hard), 3 (good) or 4 (easy)")
		}
		var err error
		if a.Skip {
			err = r.Kernel.SkipCard(ctx, a.Deck, a.Card)
		} else {
			err = r.Kernel.ReviewCard(ctx, a.Deck, a.Card, a.Rating)
		}
		return reviewCardResult{true, a.Deck, a.Card, a.Rating, a.Skip}, err
	})
}

// ratingInWords takes the words for ratings, and "skip" in the place of one.
func ratingInWords(args json.RawMessage) json.RawMessage {
	rating := gjson.GetBytes(args, "rating")
	if rating.Type != gjson.String {
		return args
	}
	rest := action.DropArgs(slices.Clone(args), "rating")
	switch word := strings.ToLower(strings.TrimSpace(rating.Str)); word {
	case "again", "hard", "good", "easy":
		return action.SetArg(rest, "rating", strconv.Itoa(1+slices.Index([]string{"again", "hard", "good", "easy"}, word)))
	case "skip":
		return action.SetArg(rest, "skip", "true")
	}
	return args
}

// cardTarget finds the block of a card: among what is due, else in its whole deck. The kernel
// would accept any id.
func cardTarget(ctx context.Context, r *action.Request) ([]action.Target, error) {
	deck, card := kernel.ID(r.Text("deckID")), kernel.ID(r.Text("cardID"))
	missing := access.NotFound(access.Card, string(card))
	if !card.Valid() || !deck.Valid() {
		return nil, missing
	}
	due, err := r.Kernel.DueInDeck(ctx, deck)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(due.Cards, func(c kernel.DueCard) bool { return c.CardID == card }); i >= 0 {
		return blockTarget(ctx, r, due.Cards[i].BlockID, missing)
	}
	blocks, err := deckBlocks(ctx, r, deck)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(blocks, func(b kernel.CardBlock) bool { return b.Card == card }); i >= 0 {
		return blockTarget(ctx, r, blocks[i].ID, missing)
	}
	return nil, missing
}

// blockTarget returns the place of a card's block, called by the name of the card.
func blockTarget(ctx context.Context, r *action.Request, id kernel.ID, missing error) ([]action.Target, error) {
	found, err := r.Places(ctx, []kernel.ID{id})
	if err != nil {
		return nil, err
	}
	t, ok := found[id]
	if !ok {
		return nil, missing
	}
	t.What, t.Subject = access.Card, r.Text("cardID")
	return []action.Target{t}, nil
}
