package flashcard

import (
	"context"
	"fmt"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
)

func removeCard() *action.Action {
	return action.New(action.Spec{
		Tool: "flashcard", Name: "remove_card", Purpose: "Make cards plain blocks again; their learning history goes",
		Dangerous: true, Class: action.State,
		Needs:     []action.Need{action.OnBlock(access.Write, "blockIDs")},
		Endpoints: []string{"riff/getRiffDecks", "riff/removeRiffCards", "attr/batchGetBlockAttrs"},
		Aliases:   map[string]string{"blockID": "blockIDs", "id": "blockIDs"},
		Result:    cardResult{},
		Example:   `{"deckID":"20230218211946-2kw8jgx","blockIDs":["20260102030405-abcdefg"]}`,
	}, func(ctx context.Context, r *action.Request, a cardArgs) (any, error) {
		deck, err := a.deck(ctx, r)
		if err != nil {
			return nil, err
		}
		plain, err := mismatched(ctx, r, &a, true)
		if err != nil {
			return nil, err
		}
		if len(plain) > 0 {
			return nil, r.Invalid("blockIDs", fmt.Sprintf("%s is not a card of deck %s; get_cards lists its cards", plain[0], a.Deck))
		}
		if err := r.Kernel.RemoveCards(ctx, a.Deck, a.Blocks); err != nil {
			return nil, err
		}
		if err := verify(ctx, r, &a, false); err != nil {
			return nil, err
		}
		refresh(r)
		return cardResult{true, a.Deck, deck.Name, a.Blocks}, nil
	})
}
