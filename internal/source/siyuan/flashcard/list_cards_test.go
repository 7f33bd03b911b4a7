package flashcard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func blocksOf(got gjson.Result) []string {
	out := strs(got.Get("cards.#.blockID"))
	slices.Sort(out)
	return out
}

func sorted(ids ...kernel.ID) []string {
	out := []string{}
	for _, id := range ids {
		out = append(out, string(id))
	}
	slices.Sort(out)
	return out
}

// TestListCardsByScope holds the scopes to what they say: the kernel's own know the built-in deck only.
func TestListCardsByScope(t *testing.T) {
	w := newWorld(t)
	other := w.block(w.nb, "/Other", "b ==c==")
	below := w.block(w.nb, "/Deck doc/Below", "d ==e==")
	elsewhere := w.block(kernel.ID(w.Notebook("Else")), "/E", "f ==g==")
	w.add(kernel.BuiltInDeck, other)
	w.add(w.deck, below, elsewhere)
	list := act(t, "list_cards")
	tests := []struct {
		args string
		want []string
	}{
		{args("scope", "all"), sorted(w.cloze, w.list, w.heading, other, below, elsewhere)},
		{args("scope", "deck", "deckID", kernel.BuiltInDeck), sorted(w.cloze, w.list, other)},
		{args("scope", "deck", "deckID", w.deck), sorted(w.heading, below, elsewhere)},
		{args("scope", "notebook", "notebook", w.nb), sorted(w.cloze, w.list, w.heading, other, below)},
		{args("scope", "tree", "rootID", w.doc), sorted(w.cloze, w.list, w.heading, below)},
		{args("scope", "tree", "rootID", w.text), sorted(w.cloze, w.list, w.heading, below)}, // a block means its document
	}
	for _, tt := range tests {
		got := w.Must(t, list, tt.args)
		if diff := cmp.Diff(tt.want, blocksOf(got)); diff != "" {
			t.Errorf("%s:\n%s", tt.args, diff)
		}
		if n := int64(len(tt.want)); got.Get("total").Int() != n || got.Get("unreviewedCount").Int() != n || got.Get("partial").Exists() {
			t.Errorf("%s: %s", tt.args, got.Raw)
		}
	}
}

func TestListCardsShowsFrontAndBack(t *testing.T) {
	w := newWorld(t)
	cards := map[string]gjson.Result{}
	w.add(kernel.BuiltInDeck, w.text)
	for _, c := range w.Must(t, act(t, "list_cards"), args("scope", "all")).Get("cards").Array() {
		cards[c.Get("blockID").Str] = c
	}
	tests := []struct {
		block                     kernel.ID
		kind, front, back, answer string
		gradable                  bool
	}{
		{w.cloze, "cloze", "What is 2+2? ____", "What is 2+2? four", "four", true},
		{w.heading, "heading", "Capital of France 法国首都", "Paris 巴黎", "Paris 巴黎", true},
		{w.list, "list", "question", "- answer", "- answer", true},
		{w.text, "plain", "plain text 文字", "", "", false},
	}
	for _, tt := range tests {
		c := cards[string(tt.block)]
		got := []any{
			c.Get("review.kind").Str, c.Get("front").Str, c.Get("back").Str, c.Get("review.referenceAnswer").Str,
			c.Get("review.gradable").Bool(), c.Get("review.prompt").Str,
		}
		if diff := cmp.Diff([]any{tt.kind, tt.front, tt.back, tt.answer, tt.gradable, tt.front}, got); diff != "" {
			t.Errorf("%s: %s\n%s", tt.kind, diff, c.Raw)
		}
		if c.Get("cardID").Str == "" || c.Get("deckID").Str == "" || c.Get("nextDues.4").Str != "16 days" {
			t.Errorf("%s: %s", tt.kind, c.Raw)
		}
	}
}

func TestListCardsFilters(t *testing.T) {
	w := newWorld(t)
	id := w.card(kernel.BuiltInDeck, w.cloze)
	if err := w.Client.ReviewCard(t.Context(), kernel.BuiltInDeck, id, 3, nil); err != nil {
		t.Fatal(err)
	}
	list := act(t, "list_cards")
	if got := w.Must(t, list, args("scope", "all")); got.Get("total").Int() != 2 {
		t.Errorf("a card that was rated is still due: %s", got.Raw)
	}
	w.post("/api/riff/batchSetRiffCardsDueTime", map[string]any{"cardDues": []any{map[string]any{"id": id, "due": "20200101000000"}}})
	for filter, want := range map[string][]string{
		"due": sorted(w.cloze, w.list, w.heading), "new": sorted(w.list, w.heading), "old": sorted(w.cloze),
	} {
		got := w.Must(t, list, args("scope", "all", "filter", filter))
		if diff := cmp.Diff(want, blocksOf(got)); diff != "" {
			t.Errorf("%s:\n%s", filter, diff)
		}
		if got.Get("unreviewedNewCardCount").Int() != 2 || got.Get("unreviewedOldCardCount").Int() != 1 {
			t.Errorf("%s: %s", filter, got.Raw)
		}
	}
	w.Must(t, list, args("scope", "deck", "deckID", kernel.BuiltInDeck, "reviewedCards", []any{map[string]any{"cardID": id}}))
	asked := w.Calls()[slices.IndexFunc(w.Calls(), func(c kerneltest.Call) bool { return strings.HasSuffix(c.Path, "DueCards") })]
	if got := asked.Get("reviewedCards.0.cardID").Str; got != string(id) {
		t.Errorf("the kernel was not told what has been seen: %s", asked.Body)
	}
}

func TestListCardsCutsAtTwenty(t *testing.T) {
	w := newWorld(t)
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, "n ==%d==\n\n", i)
	}
	doc := kernel.ID(w.Doc(string(w.nb), "/Many", text.String()))
	w.add(kernel.BuiltInDeck, w.children(doc)...)
	got := w.Must(t, act(t, "list_cards"), args("scope", "tree", "rootID", doc))
	if got.Get("cards.#").Int() != 20 || got.Get("showing").Int() != 20 || got.Get("total").Int() != 30 || !got.Get("truncated").Bool() {
		t.Errorf("%s", got.Raw)
	}
}

func TestListCardsBadInput(t *testing.T) {
	w := newWorld(t)
	list := act(t, "list_cards")
	for _, scope := range []string{"deck", "notebook", "tree"} {
		w.refused(list, args("scope", scope), tool.Invalid)
	}
	w.refused(list, args("filter", "due"), tool.Invalid)
	w.refused(list, args("scope", "deck", "deckID", nowhere), tool.Unknown)
	w.refused(list, args("scope", "notebook", "notebook", nowhere), tool.Unknown)
	// An unknown root would get the cards of all trees from the kernel (README 42).
	w.refused(list, args("scope", "tree", "rootID", nowhere), tool.Unknown)
}

// TestListCardsDropsUnreadable is R-1-35: neither a card of a hidden notebook nor its part in any count shows.
func TestListCardsDropsUnreadable(t *testing.T) {
	w := newWorld(t)
	nb, block, card := w.hidden(kernel.BuiltInDeck)
	_, block2, card2 := w.hidden(w.deck)
	w.add(w.deck, nowhere) // a card whose block is gone
	list := act(t, "list_cards")
	for _, a := range []string{
		args("scope", "all"), args("scope", "deck", "deckID", kernel.BuiltInDeck), args("scope", "deck", "deckID", w.deck),
		args("scope", "notebook", "notebook", w.nb), args("scope", "tree", "rootID", w.doc),
	} {
		got := w.Must(t, list, a)
		for _, leak := range []string{string(nb), string(block), string(card), string(block2), string(card2), "Secret", "Hidden", "launch", nowhere} {
			if strings.Contains(got.Raw, leak) {
				t.Errorf("%s shows %q: %s", a, leak, got.Raw)
			}
		}
		n := got.Get("cards.#").Int()
		if got.Get("total").Int() != n || got.Get("unreviewedCount").Int() != n || got.Get("unreviewedNewCardCount").Int() != n || got.Get("showing").Int() != n {
			t.Errorf("%s counts more than it shows: %s", a, got.Raw)
		}
	}
	if got := w.Must(t, list, args("scope", "all")); !got.Get("partial").Bool() || got.Get("cards.#").Int() != 3 {
		t.Errorf("%s", got.Raw)
	}
	// A scope that is all readable says nothing of what lies elsewhere.
	if got := w.Must(t, list, args("scope", "notebook", "notebook", w.nb)); got.Get("partial").Exists() {
		t.Errorf("the scope of one notebook tells of another: %s", got.Raw)
	}
	hiddenRoot := w.refused(list, args("scope", "tree", "rootID", block), tool.Unknown)
	w.same(hiddenRoot, block, w.refused(list, args("scope", "tree", "rootID", nowhere), tool.Unknown), nowhere)
	hiddenNotebook := w.refused(list, args("scope", "notebook", "notebook", nb), tool.Unknown)
	w.same(hiddenNotebook, nb, w.refused(list, args("scope", "notebook", "notebook", nowhere), tool.Unknown), nowhere)
}

func TestListCardsNeedsOnlyRead(t *testing.T) {
	w := newWorld(t)
	w.Levels[w.nb] = access.Read
	if got := w.Must(t, act(t, "list_cards"), args("scope", "tree", "rootID", w.doc)); got.Get("total").Int() != 3 {
		t.Errorf("%s", got.Raw)
	}
}
