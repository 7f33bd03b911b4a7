package flashcard_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// decksAttr is the attribute of a block that lists its decks.
const decksAttr = "custom-riff-decks"

// decksOf returns the decks of a block, joined with commas, as its attribute has them.
func (w *workspace) decksOf(id kernel.ID) string {
	w.t.Helper()
	attrs, err := w.Client.Attrs(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return attrs[decksAttr]
}

func TestCreateCard(t *testing.T) {
	w := newWorkspace(t)
	create := findAction(t, "create_card")
	got := w.Must(t, create, args("deckID", w.deck, "blockIDs", []any{w.text, w.cloze}))
	if !got.Get("success").Bool() || got.Get("deck").Str != "Geo 地理" || got.Get("blockIDs.#").Int() != 2 {
		t.Errorf("%s", got.Raw)
	}
	if got := w.decksOf(w.cloze); got != string(kernel.BuiltInDeck)+","+string(w.deck) {
		t.Errorf("decks of a block that is a card of two: %q", got)
	}
	for _, empty := range []string{args("blockIDs", w.answer), args("deckID", "", "blockIDs", w.answer)} {
		w.ResetCalls()
		if got := w.Must(t, create, empty); got.Get("deckID").Str != string(kernel.BuiltInDeck) {
			t.Errorf("without a deck: %s", got.Raw)
		}
	}
	reloads := 0
	for _, c := range w.Calls() {
		if c.Path == "/api/ui/reloadProtyle" && c.Get("id").Str == string(w.doc) {
			reloads++
		}
	}
	if reloads != 1 {
		t.Errorf("the document was shown again %d times, want once", reloads)
	}
}

func TestCreateCardBadInput(t *testing.T) {
	w := newWorkspace(t)
	create := findAction(t, "create_card")
	w.Refused(w.t, create, `{}`, tool.Invalid)
	e := w.Refused(w.t, create, args("blockIDs", []any{w.text, w.doc}), tool.Invalid)
	if !strings.Contains(e.Error(), "is a document") || !strings.Contains(e.Error(), "get_children") {
		t.Errorf("%v", e)
	}
	w.Refused(w.t, create, args("blockIDs", []any{w.text, actiontest.Nowhere}), tool.NotFound)
	// The kernel answers code 0 and writes the id of the deck into the block.
	w.Refused(w.t, create, args("deckID", actiontest.Nowhere, "blockIDs", w.text), tool.NotFound)
	if got := w.decksOf(w.text); got != "" {
		t.Errorf("the block belongs to %q", got)
	}
}

// TestCreateCardVerifies: an answer of code 0 is not proof.
func TestCreateCardVerifies(t *testing.T) {
	w := newWorkspace(t)
	w.Fail("/api/riff/addRiffCards", 1, kerneltest.FailMessage("disk full"))
	w.Failed(t, findAction(t, "create_card"), args("deckID", w.deck, "blockIDs", w.text), kernel.API)
	w.Fail("/api/riff/addRiffCards", 1, kerneltest.FailLost)
	w.Failed(t, findAction(t, "create_card"), args("deckID", w.deck, "blockIDs", w.text), kernel.OutcomeUnknown)
}

// TestCreateCardNeedsWrite: a card is an attribute of its block.
func TestCreateCardNeedsWrite(t *testing.T) {
	w := newWorkspace(t)
	create := findAction(t, "create_card")
	_, block, _ := w.makeHiddenCard(w.deck)
	hidden := w.Refused(w.t, create, args("blockIDs", []any{w.text, block}), tool.NotFound)
	actiontest.SameRefusal(w.t, hidden, w.Refused(w.t, create, args("blockIDs", []any{w.text, actiontest.Nowhere}), tool.NotFound), string(block), actiontest.Nowhere)
	w.Levels[w.notebook] = access.Read
	w.Refused(w.t, create, args("blockIDs", w.text), tool.Denied)
	w.Levels[w.notebook] = access.Write
	w.Must(t, create, args("blockIDs", w.text))
}
