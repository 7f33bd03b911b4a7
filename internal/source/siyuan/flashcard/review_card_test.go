package flashcard_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestReviewCard(t *testing.T) {
	w := newWorkspace(t)
	review := findAction(t, "review_card")
	card := w.cardID(w.deck, w.heading)
	got := w.Must(t, review, args("deckID", w.deck, "cardID", card, "rating", 3))
	if !got.Get("success").Bool() || got.Get("rating").Int() != 3 || got.Get("cardID").Str != string(card) {
		t.Errorf("%s", got.Raw)
	}
	if due := w.Must(t, findAction(t, "list_cards"), args("scope", "deck", "deckID", w.deck)); due.Get("total").Int() != 0 {
		t.Errorf("the card is still due: %s", due.Raw)
	}
	// A card that is not due may be rated too: it is found in its deck.
	w.Must(t, review, args("deckID", w.deck, "cardID", card, "rating", 4))
	if c := w.Must(t, findAction(t, "get_cards"), args("deckID", w.deck)).Get("data.0"); c.Get("reps").Int() != 2 {
		t.Errorf("%s", c.Raw)
	}
	for word, rating := range map[string]int64{"again": 1, "Easy": 4} {
		if got := w.Must(t, review, args("deckID", w.deck, "cardID", card, "rating", word)); got.Get("rating").Int() != rating {
			t.Errorf("%s: %s", word, got.Raw)
		}
	}
	if got := w.Must(t, review, args("deckID", w.deck, "cardID", card, "rating", "skip")); !got.Get("skipped").Bool() {
		t.Errorf("skip: %s", got.Raw)
	}
	w.Refused(w.t, review, args("deckID", w.deck, "cardID", card, "rating", "so so"), tool.Invalid)
	skipped := w.cardID(kernel.BuiltInDeck, w.cloze)
	if got := w.Must(t, review, args("deckID", kernel.BuiltInDeck, "cardID", skipped, "skip", true)); !got.Get("skipped").Bool() || got.Get("rating").Exists() {
		t.Errorf("%s", got.Raw)
	}
	if c := w.cardID(kernel.BuiltInDeck, w.cloze); c != skipped {
		t.Errorf("the card changed")
	}
	// SiYuan does not keep that a card was skipped, so the session has to.
	left := args("scope", "deck", "deckID", kernel.BuiltInDeck, "reviewedCards", []any{map[string]any{"cardID": skipped}})
	if n := len(w.Must(t, findAction(t, "list_cards"), left).Get("cards").Array()); n != 1 {
		t.Errorf("%d cards are due after one was skipped, want 1", n)
	}
}

func TestReviewCardBadInput(t *testing.T) {
	w := newWorkspace(t)
	review := findAction(t, "review_card")
	card := w.cardID(w.deck, w.heading)
	w.Refused(w.t, review, args("deckID", w.deck, "cardID", card), tool.Conflicting)
	w.Refused(w.t, review, args("deckID", w.deck, "cardID", card, "rating", 3, "skip", true), tool.Conflicting)
	// The kernel takes any number, and forgets the history of a card for one it does not know.
	for _, rating := range []int{-1, 5, 9} {
		w.Refused(w.t, review, args("deckID", w.deck, "cardID", card, "rating", rating), tool.Invalid)
	}
	w.Refused(w.t, review, args("deckID", w.deck, "rating", 3), tool.Invalid)
	// The kernel reports success for all of these.
	w.Refused(w.t, review, args("deckID", w.deck, "cardID", actiontest.Nowhere, "rating", 3), tool.NotFound)
	w.Refused(w.t, review, args("deckID", actiontest.Nowhere, "cardID", card, "rating", 3), tool.NotFound)
	w.Refused(w.t, review, args("deckID", kernel.BuiltInDeck, "cardID", card, "rating", 3), tool.NotFound) // in another deck
	w.Refused(w.t, review, args("deckID", w.deck, "cardID", "1' OR '1'='1", "rating", 3), tool.NotFound)
}

// TestReviewCardNeedsRead: a caller who may not read a block may not review its card.
func TestReviewCardNeedsRead(t *testing.T) {
	w := newWorkspace(t)
	review := findAction(t, "review_card")
	_, _, card := w.makeHiddenCard(w.deck)
	hidden := w.Refused(w.t, review, args("deckID", w.deck, "cardID", card, "rating", 3), tool.NotFound)
	actiontest.SameRefusal(w.t, hidden, w.Refused(w.t, review, args("deckID", w.deck, "cardID", actiontest.Nowhere, "rating", 3), tool.NotFound), string(card), actiontest.Nowhere)
	w.Levels[w.notebook] = access.Read
	w.Must(t, review, args("deckID", w.deck, "cardID", w.cardID(w.deck, w.heading), "rating", 1))
}
