package flashcard_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// sortedBlocks returns the ids of the blocks of listed cards, sorted.
func sortedBlocks(got gjson.Result) []string {
	out := stringItems(got.Get("cards.#.blockID"))
	slices.Sort(out)
	return out
}

// sortedIDs returns ids as sorted strings.
func sortedIDs(ids ...kernel.ID) []string {
	out := []string{}
	for _, id := range ids {
		out = append(out, string(id))
	}
	slices.Sort(out)
	return out
}

// TestListCardsByScope checks that each scope covers all its decks, because the kernel's own scopes
// cover the built-in deck only.
func TestListCardsByScope(t *testing.T) {
	w := newWorkspace(t)
	other := w.makeBlock(w.notebook, "/Other", "b ==c==")
	below := w.makeBlock(w.notebook, "/Deck doc/Below", "d ==e==")
	elsewhere := w.makeBlock(kernel.ID(w.Notebook("Else")), "/E", "f ==g==")
	w.addCards(kernel.BuiltInDeck, other)
	w.addCards(w.deck, below, elsewhere)
	list := findAction(t, "list_cards")
	tests := []struct {
		args string
		want []string
	}{
		{args("scope", "all"), sortedIDs(w.cloze, w.list, w.heading, other, below, elsewhere)},
		{args("scope", "deck", "deckID", kernel.BuiltInDeck), sortedIDs(w.cloze, w.list, other)},
		{args("scope", "deck", "deckID", w.deck), sortedIDs(w.heading, below, elsewhere)},
		{args("scope", "notebook", "notebook", w.notebook), sortedIDs(w.cloze, w.list, w.heading, other, below)},
		{args("scope", "tree", "rootID", w.doc), sortedIDs(w.cloze, w.list, w.heading, below)},
		{args("scope", "tree", "rootID", w.text), sortedIDs(w.cloze, w.list, w.heading, below)},            // a block means its document
		{args("scope", "tree", "rootID", w.notebook), sortedIDs(w.cloze, w.list, w.heading, other, below)}, // the notebook's own document
	}
	for _, tt := range tests {
		got := w.Must(t, list, tt.args)
		if diff := cmp.Diff(tt.want, sortedBlocks(got)); diff != "" {
			t.Errorf("%s:\n%s", tt.args, diff)
		}
		if n := int64(len(tt.want)); got.Get("total").Int() != n || got.Get("unreviewedCount").Int() != n || got.Get("partial").Exists() {
			t.Errorf("%s: %s", tt.args, got.Raw)
		}
	}
}

func TestListCardsShowsFrontAndBack(t *testing.T) {
	w := newWorkspace(t)
	cards := map[string]gjson.Result{}
	w.addCards(kernel.BuiltInDeck, w.text)
	for _, c := range w.Must(t, findAction(t, "list_cards"), args("scope", "all")).Get("cards").Array() {
		cards[c.Get("blockID").Str] = c
	}
	tests := []struct {
		block                     kernel.ID
		kind, front, back, answer string
		gradable                  bool
	}{
		{block: w.cloze, kind: "cloze", front: "What is 2+2? ____", back: "What is 2+2? four", answer: "four", gradable: true},
		{block: w.heading, kind: "heading", front: "Capital of France 法国首都", back: "Paris 巴黎", answer: "Paris 巴黎", gradable: true},
		{block: w.list, kind: "list", front: "question", back: "- answer", answer: "- answer", gradable: true},
		{block: w.text, kind: "plain", front: "plain text 文字"},
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

// TestListCardsMarks: the answer of a cloze is what SiYuan shows as a mark, not any text between ==.
func TestListCardsMarks(t *testing.T) {
	w := newWorkspace(t)
	doc := kernel.ID(w.Doc(string(w.notebook), "/Marks", strings.Join([]string{
		"**==bold==** and ==E=mc²== and `==code==` and a == b == c", "```\n==code==\n```", "$$\na==b==c\n$$", "1. one\n2. two", "a ==b\nc== d",
	}, "\n\n")))
	blocks := w.Children(w.t, doc)
	w.addCards(kernel.BuiltInDeck, blocks...)
	got := w.Must(t, findAction(t, "list_cards"), args("scope", "tree", "rootID", doc))
	for i, want := range []string{
		"**____** and ____ and `==code==` and a == b == c|bold; E=mc²|cloze", "```\n==code==\n```||plain", "$$\na==b==c\n$$||plain", "one|2. two|list", "a ____ d|b\nc|cloze",
	} {
		c := got.Get(`cards.#(blockID=="` + string(blocks[i]) + `")`)
		if have := c.Get("front").Str + "|" + c.Get("review.referenceAnswer").Str + "|" + c.Get("review.kind").Str; have != want {
			t.Errorf("%q, want %q", have, want)
		}
		if c.Get("hPath").Str != "/Marks" {
			t.Errorf("%s", c.Raw)
		}
	}
}

func TestListCardsFilters(t *testing.T) {
	w := newWorkspace(t)
	id := w.cardID(kernel.BuiltInDeck, w.cloze)
	if err := w.Client.ReviewCard(t.Context(), kernel.BuiltInDeck, id, 3); err != nil {
		t.Fatal(err)
	}
	list := findAction(t, "list_cards")
	if got := w.Must(t, list, args("scope", "all")); got.Get("total").Int() != 2 {
		t.Errorf("a card that was rated is still due: %s", got.Raw)
	}
	w.Post(w.t, "/api/riff/batchSetRiffCardsDueTime", map[string]any{"cardDues": []any{map[string]any{"id": id, "due": "20200101000000"}}})
	for filter, want := range map[string][]string{
		"due": sortedIDs(w.cloze, w.list, w.heading), "new": sortedIDs(w.list, w.heading), "old": sortedIDs(w.cloze),
	} {
		got := w.Must(t, list, args("scope", "all", "filter", filter))
		if diff := cmp.Diff(want, sortedBlocks(got)); diff != "" {
			t.Errorf("%s:\n%s", filter, diff)
		}
		if got.Get("unreviewedNewCardCount").Int() != 2 || got.Get("unreviewedOldCardCount").Int() != 1 {
			t.Errorf("%s: %s", filter, got.Raw)
		}
	}
	// SiYuan lists cards again that this session has seen or skipped, unless reviewedCards names them.
	got := w.Must(t, list, args("scope", "deck", "deckID", kernel.BuiltInDeck, "reviewedCards", []any{map[string]any{"cardID": id}}))
	if diff := cmp.Diff(sortedIDs(w.list), sortedBlocks(got)); diff != "" || got.Get("unreviewedCount").Int() != 1 {
		t.Errorf("a card of this session is listed: %s\n%s", diff, got.Raw)
	}
}

// makeCards makes a document of n cards and returns it with its blocks.
func (w *workspace) makeCards(nb, deck kernel.ID, hpath string, n int) (doc kernel.ID, blocks []kernel.ID) {
	w.t.Helper()
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "n ==%d==\n\n", i)
	}
	doc = kernel.ID(w.Doc(string(nb), hpath, text.String()))
	blocks = w.Children(w.t, doc)
	w.addCards(deck, blocks...)
	return doc, blocks
}

// TestListCardsCutsAtTwenty: all due cards are counted and come in a stable order, though SiYuan names at most twenty
// new cards, chosen at random.
func TestListCardsCutsAtTwenty(t *testing.T) {
	w := newWorkspace(t)
	doc, blocks := w.makeCards(w.notebook, kernel.BuiltInDeck, "/Many", 30)
	list := findAction(t, "list_cards")
	seen := []any{}
	found := map[string]bool{}
	for _, want := range []struct{ showing, total int64 }{{20, 30}, {10, 10}} {
		for range 2 { // again the same
			got := w.Must(t, list, args("scope", "tree", "rootID", doc, "reviewedCards", seen))
			if got.Get("cards.#").Int() != want.showing || got.Get("showing").Int() != want.showing ||
				got.Get("total").Int() != want.total || got.Get("unreviewedNewCardCount").Int() != want.total ||
				got.Get("truncated").Bool() != (want.total > 20) {
				t.Errorf("%s", got.Raw)
			}
			for _, id := range stringItems(got.Get("cards.#.cardID")) {
				found[id] = true
			}
			if c := got.Get("cards.#(nextDues.4!=\"16 days\")"); c.Exists() {
				t.Errorf("when it comes back is left out: %s", c.Raw)
			}
		}
		if len(found) != len(seen)+int(want.showing) {
			t.Errorf("%d different cards on two equal calls", len(found)-len(seen))
		}
		for id := range found {
			seen = append(seen, map[string]any{"cardID": id})
		}
	}
	if len(found) != len(blocks) {
		t.Errorf("%d cards were listed, want %d", len(found), len(blocks))
	}
}

// TestListCardsInTurn: cards come in the order in which they were learned, before new ones.
func TestListCardsInTurn(t *testing.T) {
	w := newWorkspace(t)
	_, blocks := w.makeCards(w.notebook, kernel.BuiltInDeck, "/Many", 3)
	for _, b := range []kernel.ID{blocks[2], blocks[0]} {
		id := w.cardID(kernel.BuiltInDeck, b)
		if err := w.Client.ReviewCard(t.Context(), kernel.BuiltInDeck, id, 3); err != nil {
			t.Fatal(err)
		}
		for at := time.Now().UnixMilli(); time.Now().UnixMilli() == at; { // the time of learning has a precision of 1 ms
			runtime.Gosched()
		}
		w.Post(w.t, "/api/riff/batchSetRiffCardsDueTime", map[string]any{"cardDues": []any{map[string]any{"id": id, "due": "20200101000000"}}})
	}
	got := stringItems(w.Must(t, findAction(t, "list_cards"), args("scope", "deck", "deckID", kernel.BuiltInDeck)).Get("cards.#.blockID"))
	if len(got) != 5 || got[0] != string(blocks[2]) || got[1] != string(blocks[0]) {
		t.Errorf("cards come as %q, want %s and %s first", got, blocks[2], blocks[0])
	}
}

// TestListCardsBesideMany: cards outside of the scope and hidden cards do not take up the limit, so that all others
// are listed.
func TestListCardsBesideMany(t *testing.T) {
	w := newWorkspace(t)
	list := findAction(t, "list_cards")
	for _, deck := range []kernel.ID{kernel.BuiltInDeck, w.deck} {
		secret := kernel.ID(w.Notebook("Secret"))
		w.makeCards(secret, deck, "/Many", 60)
		w.Levels[secret] = access.None
	}
	late, later := w.makeBlock(w.notebook, "/Deck doc/Late", "a ==b=="), w.makeBlock(w.notebook, "/Deck doc/Later", "c ==d==")
	w.addCards(kernel.BuiltInDeck, late)
	w.addCards(w.deck, later)
	for _, tt := range []struct {
		args string
		want []string
	}{
		{args("scope", "all"), sortedIDs(w.cloze, w.list, w.heading, late, later)},
		{args("scope", "deck", "deckID", w.deck), sortedIDs(w.heading, later)},
		{args("scope", "notebook", "notebook", w.notebook), sortedIDs(w.cloze, w.list, w.heading, late, later)},
		{args("scope", "tree", "rootID", w.doc), sortedIDs(w.cloze, w.list, w.heading, late, later)},
	} {
		if diff := cmp.Diff(tt.want, sortedBlocks(w.Must(t, list, tt.args))); diff != "" {
			t.Errorf("%s:\n%s", tt.args, diff)
		}
	}
}

// TestListCardsOfClosedNotebook: no card is listed for a closed notebook, or the call is refused. SiYuan would answer with the
// due cards of all notebooks.
func TestListCardsOfClosedNotebook(t *testing.T) {
	w := newWorkspace(t)
	closed := kernel.ID(w.Notebook("Closed"))
	w.addCards(kernel.BuiltInDeck, w.makeBlock(closed, "/C", "a ==b=="))
	if err := w.Client.CloseNotebook(t.Context(), closed); err != nil {
		t.Fatal(err)
	}
	got, err := w.Do(t, findAction(t, "list_cards"), args("scope", "notebook", "notebook", closed))
	if err == nil && (got.Get("total").Int() != 0 || got.Get("partial").Exists()) {
		t.Errorf("%s", got.Raw)
	}
}

func TestListCardsBadInput(t *testing.T) {
	w := newWorkspace(t)
	list := findAction(t, "list_cards")
	for _, scope := range []string{"deck", "notebook", "tree"} {
		w.Refused(w.t, list, args("scope", scope), tool.Invalid)
	}
	w.Refused(w.t, list, args("filter", "due"), tool.Invalid)
	w.Refused(w.t, list, args("scope", "deck", "deckID", actiontest.Nowhere), tool.NotFound)
	w.Refused(w.t, list, args("scope", "notebook", "notebook", actiontest.Nowhere), tool.NotFound)
	// An unknown root would get the cards of all trees from the kernel.
	w.Refused(w.t, list, args("scope", "tree", "rootID", actiontest.Nowhere), tool.NotFound)
}

// TestListCardsDropsUnreadable: neither a card of a hidden notebook nor its part in any count shows.
func TestListCardsDropsUnreadable(t *testing.T) {
	w := newWorkspace(t)
	nb, block, card := w.makeHiddenCard(kernel.BuiltInDeck)
	_, block2, card2 := w.makeHiddenCard(w.deck)
	w.addCards(w.deck, actiontest.Nowhere) // a card whose block is gone
	list := findAction(t, "list_cards")
	for _, a := range []string{
		args("scope", "all"), args("scope", "deck", "deckID", kernel.BuiltInDeck), args("scope", "deck", "deckID", w.deck),
		args("scope", "notebook", "notebook", w.notebook), args("scope", "tree", "rootID", w.doc),
	} {
		got := w.Must(t, list, a)
		for _, leak := range []string{string(nb), string(block), string(card), string(block2), string(card2), "Secret", "Hidden", "launch", actiontest.Nowhere} {
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
	// The result of a fully readable scope does not mention cards elsewhere.
	if got := w.Must(t, list, args("scope", "notebook", "notebook", w.notebook)); got.Get("partial").Exists() {
		t.Errorf("the scope of one notebook tells of another: %s", got.Raw)
	}
	hiddenRoot := w.Refused(w.t, list, args("scope", "tree", "rootID", block), tool.NotFound)
	actiontest.SameRefusal(w.t, hiddenRoot, w.Refused(w.t, list, args("scope", "tree", "rootID", actiontest.Nowhere), tool.NotFound), string(block), actiontest.Nowhere)
	hiddenNotebook := w.Refused(w.t, list, args("scope", "notebook", "notebook", nb), tool.NotFound)
	actiontest.SameRefusal(w.t, hiddenNotebook, w.Refused(w.t, list, args("scope", "notebook", "notebook", actiontest.Nowhere), tool.NotFound), string(nb), actiontest.Nowhere)
}

func TestListCardsNeedsOnlyRead(t *testing.T) {
	w := newWorkspace(t)
	w.Levels[w.notebook] = access.Read
	if got := w.Must(t, findAction(t, "list_cards"), args("scope", "tree", "rootID", w.doc)); got.Get("total").Int() != 3 {
		t.Errorf("%s", got.Raw)
	}
}
