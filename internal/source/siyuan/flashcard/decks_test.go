package flashcard_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
)

func TestGetDecks(t *testing.T) {
	w := newWorkspace(t)
	got := w.Must(t, findAction(t, "get_decks"), `{}`).Get("decks")
	if diff := cmp.Diff([]string{string(kernel.BuiltInDeck), string(w.deck)}, stringItems(got.Get("#.id"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Built-in Deck", "Geo 地理"}, stringItems(got.Get("#.name"))); diff != "" {
		t.Error(diff)
	}
	// The kernel does not list the built-in deck, so its size comes from elsewhere.
	if diff := cmp.Diff([]string{"2", "1"}, stringItems(got.Get("#.size"))); diff != "" {
		t.Error(diff)
	}
	if got.Get("1.created").Str == "" {
		t.Error("when a deck was made is left out")
	}
}

// TestGetDecksHidesSizes: the size of a deck would count cards of hidden notebooks, and its time would tell
// of changes to them.
func TestGetDecksHidesSizes(t *testing.T) {
	w := newWorkspace(t)
	w.makeHiddenCard(w.deck)
	got := w.Must(t, findAction(t, "get_decks"), `{}`)
	if strings.Contains(got.Raw, `"size"`) || strings.Contains(got.Raw, `"updated"`) {
		t.Errorf("%s", got.Raw)
	}
	if got.Get("decks.#").Int() != 2 {
		t.Errorf("%s", got.Raw)
	}
	w.Levels = map[kernel.ID]access.Level{w.notebook: access.Read}
	if got := w.Must(t, findAction(t, "get_decks"), `{}`); !strings.Contains(got.Raw, `"size":2`) {
		t.Errorf("nothing is hidden, and sizes are left out: %s", got.Raw)
	}
}
