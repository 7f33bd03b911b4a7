package flashcard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestGetCards(t *testing.T) {
	w := newWorkspace(t)
	get := findAction(t, "get_cards")
	got := w.Must(t, get, args("deckID", kernel.BuiltInDeck))
	blocks := stringItems(got.Get("data.#.blockID"))
	slices.Sort(blocks)
	if diff := cmp.Diff(sortedIDs(w.cloze, w.list), blocks); diff != "" {
		t.Error(diff)
	}
	first := got.Get(`data.#(blockID=="` + string(w.cloze) + `")`)
	if first.Get("content").Str != "What is 2+2? four" || first.Get("hPath").Str != "/Deck doc" || first.Get("cardID").Str == "" || first.Get("due").Str == "" {
		t.Errorf("%s", first.Raw)
	}
	if got := w.Must(t, get, args("deckID", "")); got.Get("total").Int() != 3 {
		t.Errorf("all decks: %s", got.Raw)
	}
	if err := w.Client.ReviewCard(t.Context(), w.deck, w.cardID(w.deck, w.heading), 4); err != nil {
		t.Fatal(err)
	}
	c := w.Must(t, get, args("deckID", w.deck)).Get("data.0")
	if c.Get("reps").Int() != 1 || c.Get("state").Int() != 2 || c.Get("lapses").Int() != 0 {
		t.Errorf("after a review: %s", c.Raw)
	}
}

func TestGetCardsPages(t *testing.T) {
	w := newWorkspace(t)
	get := findAction(t, "get_cards")
	var text strings.Builder
	for i := range 9 {
		fmt.Fprintf(&text, "n ==%d==\n\n", i)
	}
	w.addCards(w.deck, w.Children(w.t, kernel.ID(w.Doc(string(w.notebook), "/Many", text.String())))...)
	seen := map[string]bool{}
	for page := 1; page <= 3; page++ {
		got := w.Must(t, get, args("deckID", w.deck, "page", page, "pageSize", 4))
		want := fmt.Sprintf(`{"total":10,"page":%d,"pageCount":3,"hasNextPage":%t}`, page, page < 3)
		if have := fmt.Sprintf(`{"total":%s,"page":%s,"pageCount":%s,"hasNextPage":%s}`, got.Get("total").Raw, got.Get("page").Raw, got.Get("pageCount").Raw, got.Get("hasNextPage").Raw); have != want {
			t.Errorf("page %d: %s, want %s", page, have, want)
		}
		for _, id := range stringItems(got.Get("data.#.cardID")) {
			seen[id] = true
		}
	}
	if len(seen) != 10 {
		t.Errorf("%d different cards on all pages, want 10", len(seen))
	}
	if got := w.Must(t, get, args("deckID", w.deck, "page", 99, "pageSize", 4)); got.Get("page").Int() != 3 || got.Get("data.#").Int() != 2 {
		t.Errorf("a page beyond the end: %s", got.Raw)
	}
}

func TestGetCardsBadInput(t *testing.T) {
	w := newWorkspace(t)
	get := findAction(t, "get_cards")
	w.Refused(w.t, get, `{}`, tool.Invalid)
	w.Refused(w.t, get, args("deckID", actiontest.Nowhere), tool.NotFound)
	w.Refused(w.t, get, args("deckID", "Geo"), tool.NotFound)
}

// TestGetCardsDropsUnreadable: cards of blocks in hidden notebooks are neither shown nor counted.
func TestGetCardsDropsUnreadable(t *testing.T) {
	w := newWorkspace(t)
	nb, block, card := w.makeHiddenCard(w.deck)
	w.addCards(w.deck, actiontest.Nowhere)
	get := findAction(t, "get_cards")
	for _, deck := range []kernel.ID{w.deck, ""} {
		got := w.Must(t, get, args("deckID", deck))
		for _, leak := range []string{string(nb), string(block), string(card), "Hidden", "launch", actiontest.Nowhere} {
			if strings.Contains(got.Raw, leak) {
				t.Errorf("deck %q shows %q: %s", deck, leak, got.Raw)
			}
		}
		if got.Get("total").Int() != got.Get("data.#").Int() || !got.Get("partial").Bool() {
			t.Errorf("deck %q: %s", deck, got.Raw)
		}
	}
	// With one card on a page: hidden cards must not leave empty pages, which would reveal their number.
	got := w.Must(t, get, args("deckID", w.deck, "pageSize", 1))
	if got.Get("pageCount").Int() != 1 || got.Get("data.#").Int() != 1 || got.Get("hasNextPage").Bool() {
		t.Errorf("%s", got.Raw)
	}
	// If nothing is hidden, a card whose block does not exist is left out without a note.
	w.Levels = map[kernel.ID]access.Level{w.notebook: access.Read}
	if got := w.Must(t, get, args("deckID", w.deck)); got.Get("total").Int() != 2 || got.Get("partial").Exists() {
		t.Errorf("level r is enough to read: %s", got.Raw)
	}
}
