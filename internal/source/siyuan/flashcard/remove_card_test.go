package flashcard_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestRemoveCard(t *testing.T) {
	w := newWorkspace(t)
	w.addCards(w.deck, w.cloze)
	remove := findAction(t, "remove_card")
	got := w.Must(t, remove, args("deckID", kernel.BuiltInDeck, "blockIDs", []any{w.cloze}))
	if !got.Get("success").Bool() || got.Get("deck").Str != "Built-in Deck" {
		t.Errorf("%s", got.Raw)
	}
	if got := w.decksOf(w.cloze); got != string(w.deck) {
		t.Errorf("decks left: %q, want the other one only", got)
	}
	// No deck means the built-in deck. For the kernel it would mean all decks.
	w.addCards(kernel.BuiltInDeck, w.heading)
	w.Must(t, remove, args("deckID", "", "blockIDs", w.heading))
	if got := w.decksOf(w.heading); got != string(w.deck) {
		t.Errorf("decks left: %q", got)
	}
}

func TestRemoveCardBadInput(t *testing.T) {
	w := newWorkspace(t)
	remove := findAction(t, "remove_card")
	w.Refused(w.t, remove, `{}`, tool.Invalid)
	w.Refused(w.t, remove, args("blockIDs", actiontest.Nowhere), tool.NotFound)
	w.Refused(w.t, remove, args("deckID", actiontest.Nowhere, "blockIDs", w.cloze), tool.NotFound)
	e := w.Refused(w.t, remove, args("blockIDs", []any{w.cloze, w.text}), tool.Invalid)
	if !strings.Contains(e.Error(), string(w.text)) {
		t.Errorf("%v does not name the block that is not a card", e)
	}
	if w.decksOf(w.cloze) == "" {
		t.Error("a refused call removed a card")
	}
}

// TestRemoveCardNeedsWrite: a card is an attribute of its block.
func TestRemoveCardNeedsWrite(t *testing.T) {
	w := newWorkspace(t)
	remove := findAction(t, "remove_card")
	_, block, _ := w.makeHiddenCard(kernel.BuiltInDeck)
	hidden := w.Refused(w.t, remove, args("blockIDs", []any{w.cloze, block}), tool.NotFound)
	actiontest.SameRefusal(w.t, hidden, w.Refused(w.t, remove, args("blockIDs", []any{w.cloze, actiontest.Nowhere}), tool.NotFound), string(block), actiontest.Nowhere)
	w.Levels[w.notebook] = access.Read
	w.Refused(w.t, remove, args("blockIDs", w.cloze), tool.Denied)
	w.Levels[w.notebook] = access.Write
	w.Must(t, remove, args("blockIDs", w.cloze))
}
