package card_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/vault/api"
	"collie/internal/vault/card"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/vaulttest"
	"collie/internal/vault/workspace"
)

const (
	builtIn = "20230218211946-2kw8jgx" // the id of the deck that always exists
	nowhere = "20990101000000-zzzzzzz" // an id that nothing has
)

// fixture is a workspace with a notebook and the routes of this package only.
type fixture struct {
	*vaulttest.Vault
	nb string
}

// newFixture returns a workspace with one notebook.
func newFixture(t testing.TB) *fixture {
	t.Helper()
	w := &fixture{Vault: vaulttest.New(t, card.Register)}
	w.Update(func(tx *workspace.Tx) { w.nb = tx.CreateNotebook("Cards 闪卡").ID })
	return w
}

// createDoc makes a document and returns its id and those of its blocks.
func (w *fixture) createDoc(title, markdown string) (id string, blocks []string) {
	w.T.Helper()
	w.Update(func(tx *workspace.Tx) {
		d := tx.AddDocument(tx.Notebook(w.nb), nil, title, "", tx.Identify(markup.Parse(markdown)))
		id = d.ID()
		for _, b := range d.Root.Children {
			blocks = append(blocks, b.ID)
		}
	})
	return id, blocks
}

// ask calls an endpoint of cards that must answer code 0.
func (w *fixture) ask(endpoint, format string, args ...any) gjson.Result {
	w.T.Helper()
	rec := httptest.NewRecorder()
	body := strings.NewReader(fmt.Sprintf(format, args...))
	w.Mux.ServeHTTP(rec, httptest.NewRequestWithContext(w.T.Context(), http.MethodPost, "/api/riff/"+endpoint, body))
	got := gjson.ParseBytes(rec.Body.Bytes())
	if !got.Get("code").Exists() || got.Get("code").Int() != 0 {
		w.T.Fatalf("%s: %s", endpoint, rec.Body)
	}
	return got.Get("data")
}

// addCards makes cards of blocks in a deck, and returns the deck as it is answered.
func (w *fixture) addCards(deck string, blocks ...string) gjson.Result {
	w.T.Helper()
	return w.ask("addRiffCards", `{"deckID":%q,"blockIDs":%s}`, deck, api.MustJSON(blocks))
}

// dueBlocks returns the ids of the blocks whose cards are due in the built-in deck.
func (w *fixture) dueBlocks() []string {
	return stringsAt(w.ask("getRiffDueCards", `{"deckID":""}`), "cards.#.blockID")
}

// listCards returns the first page of the cards of a deck.
func (w *fixture) listCards(deck string) gjson.Result {
	return w.ask("getRiffCards", `{"id":%q,"page":1,"pageSize":512}`, deck)
}

// stringsAt returns the strings of the JSON array at a path.
func stringsAt(v gjson.Result, path string) []string {
	list := []string{}
	for _, item := range v.Get(path).Array() {
		list = append(list, item.Str)
	}
	return list
}

func TestCardsAreDueUntilReviewed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	_, blocks := w.createDoc("Deck", "What is 2+2? ==four==\n\n法国首都 ==巴黎==\n\nthree")
	if got := w.ask("getRiffDueCards", `{"deckID":""}`).Raw; got != `{"cards":[],"unreviewedCount":0,"unreviewedNewCardCount":0,"unreviewedOldCardCount":0}` {
		t.Errorf("without a card: %s", got)
	}
	if got := w.addCards(builtIn, blocks...); got.Get("size").Int() != 3 || got.Get("name").Str != "Built-in Deck" {
		t.Errorf("%s", got.Raw)
	}
	if got := w.addCards(builtIn, blocks[0]); got.Get("size").Int() != 3 {
		t.Errorf("a card was made twice: %s", got.Raw)
	}
	due := w.ask("getRiffDueCards", `{"deckID":""}`)
	if diff := cmp.Diff(blocks, stringsAt(due, "cards.#.blockID")); diff != "" {
		t.Errorf("due, in the order they were made:\n%s", diff)
	}
	const fresh = `{"1":"1 minute","2":"5 minutes","3":"10 minutes","4":"16 days"}`
	if c := due.Get("cards.0"); c.Get("nextDues").Raw != fresh || c.Get("lastReview").Int() != -62135596800000 || due.Get("unreviewedNewCardCount").Int() != 3 {
		t.Errorf("%s", due.Raw)
	}
	review := func(i int, rating int) {
		w.ask("reviewRiffCard", `{"deckID":%q,"cardID":%q,"rating":%d}`, builtIn, due.Get(fmt.Sprintf("cards.%d.cardID", i)).Str, rating)
	}
	review(0, 4)
	review(1, 1)
	if diff := cmp.Diff(blocks[2:], w.dueBlocks()); diff != "" {
		t.Errorf("after reviews:\n%s", diff)
	}
	listed := w.listCards(builtIn)
	if diff := cmp.Diff([]string{blocks[2], blocks[1], blocks[0]}, stringsAt(listed, "blocks.#.id")); diff != "" {
		t.Errorf("by when they are due:\n%s", diff)
	}
	c := listed.Get("blocks.2")
	if at, err := time.Parse(time.RFC3339Nano, c.Get("riffCard.due").Str); err != nil || time.Until(at) < 15*24*time.Hour {
		t.Errorf("an easy card is due %s %v", c.Get("riffCard.due"), err)
	}
	if c.Get("riffCard.reps").Int() != 1 || c.Get("riffCard.state").Int() != 2 || c.Get("content").Str != "What is 2+2? four" || c.Get("type").Str != "NodeParagraph" {
		t.Errorf("%s", c.Raw)
	}
}

func TestWrongRatingForgets(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	_, blocks := w.createDoc("D", "a ==b==")
	w.addCards(builtIn, blocks...)
	id := w.listCards(builtIn).Get("blocks.0.riffCardID").Str
	for _, tt := range []struct {
		rating string
		reps   int64
	}{{"3", 1}, {"3", 2}, {"9", 0}} {
		w.ask("reviewRiffCard", `{"deckID":%q,"cardID":%q,"rating":%s}`, builtIn, id, tt.rating)
		if got := w.listCards(builtIn).Get("blocks.0.riffCard.reps").Int(); got != tt.reps {
			t.Errorf("after rating %s: %d reviews, want %d", tt.rating, got, tt.reps)
		}
	}
	if diff := cmp.Diff(blocks, w.dueBlocks()); diff != "" {
		t.Error(diff)
	}
	w.ask("reviewRiffCard", `{"deckID":%q,"cardID":%q,"rating":3}`, nowhere, id)
	w.ask("reviewRiffCard", `{"deckID":%q,"cardID":%q,"rating":3}`, builtIn, nowhere)
	if diff := cmp.Diff(blocks, w.dueBlocks()); diff != "" {
		t.Errorf("a card was reviewed through another deck:\n%s", diff)
	}
}

// TestSkipAndSetDue checks the behaviour of a kernel: a skip changes nothing, and a new card has no due time to set.
func TestSkipAndSetDue(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	_, blocks := w.createDoc("D", "a\n\nb")
	w.addCards(builtIn, blocks...)
	id := w.ask("getRiffDueCards", `{"deckID":""}`).Get("cards.0.cardID").Str
	w.ask("skipReviewRiffCard", `{"deckID":%q,"cardID":%q}`, builtIn, id)
	w.ask("batchSetRiffCardsDueTime", `{"cardDues":[{"id":%q,"due":"20990101000000"}]}`, id)
	if diff := cmp.Diff(blocks, w.dueBlocks()); diff != "" {
		t.Errorf("a new card that was skipped and put off:\n%s", diff)
	}
	w.ask("reviewRiffCard", `{"deckID":%q,"cardID":%q,"rating":3}`, builtIn, id)
	if diff := cmp.Diff(blocks[1:], w.dueBlocks()); diff != "" {
		t.Errorf("after a review:\n%s", diff)
	}
	w.ask("batchSetRiffCardsDueTime", `{"cardDues":[{"id":%q,"due":"20200101000000"}]}`, id)
	if diff := cmp.Diff(blocks, w.dueBlocks()); diff != "" {
		t.Errorf("with a time of its own:\n%s", diff)
	}
}

// TestRound checks that an answer has at most twenty new cards and two hundred others, and the number of all due cards.
func TestRound(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.addManyCards(230)
	for _, id := range stringsAt(w.listCards(builtIn), "blocks.#.riffCardID")[:205] {
		w.ask("reviewRiffCard", `{"deckID":%q,"cardID":%q,"rating":3}`, builtIn, id)
		w.ask("batchSetRiffCardsDueTime", `{"cardDues":[{"id":%q,"due":"20200101000000"}]}`, id)
	}
	got := w.ask("getRiffDueCards", `{"deckID":""}`)
	counts := []int64{
		got.Get("cards.#").Int(), got.Get("unreviewedCount").Int(), got.Get("unreviewedNewCardCount").Int(), got.Get("unreviewedOldCardCount").Int(),
	}
	if diff := cmp.Diff([]int64{220, 230, 20, 200}, counts); diff != "" {
		t.Error(diff)
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	top, a := w.createDoc("Top", "a")
	var below string
	w.Update(func(tx *workspace.Tx) {
		d := tx.AddDocument(tx.Notebook(w.nb), tx.Document(top), "Below", "", tx.Identify(markup.Parse("b")))
		below = d.Root.Children[0].ID
	})
	_, c := w.createDoc("Other", "c")
	var far string
	w.Update(func(tx *workspace.Tx) { far = tx.Page(tx.CreateNotebook("Far")).Root.Children[0].ID })
	w.addCards(builtIn, a[0], below, c[0], far)
	for name, tt := range map[string]struct {
		endpoint, body string
		want           []string
	}{
		"tree":         {"getTreeRiffDueCards", fmt.Sprintf(`{"rootID":%q}`, top), []string{a[0], below}},
		"page":         {"getTreeRiffDueCards", fmt.Sprintf(`{"rootID":%q}`, w.nb), []string{a[0], below, c[0]}},
		"unknown tree": {"getTreeRiffDueCards", fmt.Sprintf(`{"rootID":%q}`, nowhere), []string{a[0], below, c[0], far}},
		"notebook":     {"getNotebookRiffDueCards", fmt.Sprintf(`{"notebook":%q}`, w.nb), []string{a[0], below, c[0]}},
		"all":          {"getRiffDueCards", `{"deckID":"","reviewedCards":[{"cardID":"x"}]}`, []string{a[0], below, c[0], far}},
	} {
		if diff := cmp.Diff(tt.want, stringsAt(w.ask(tt.endpoint, "%s", tt.body), "cards.#.blockID")); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	w.Update(func(tx *workspace.Tx) { tx.Notebook(w.nb).Conf.Closed = true })
	if diff := cmp.Diff([]string{far}, w.dueBlocks()); diff != "" {
		t.Errorf("with a closed notebook:\n%s", diff)
	}
	// Asked for that notebook, the kernel returns its cards all the same.
	if diff := cmp.Diff([]string{far}, stringsAt(w.ask("getNotebookRiffDueCards", `{"notebook":%q}`, w.nb), "cards.#.blockID")); diff != "" {
		t.Errorf("of a closed notebook:\n%s", diff)
	}
}

// TestCardsOfRemovedBlocks are not listed; they are back when the block is, as after an undo.
func TestCardsOfRemovedBlocks(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	doc, blocks := w.createDoc("D", "a\n\nb")
	w.addCards(builtIn, append(blocks, nowhere)...)
	id := w.listCards(builtIn).Get("blocks.0.riffCardID").Str
	w.ask("reviewRiffCard", `{"deckID":%q,"cardID":%q,"rating":3}`, builtIn, id)
	var cut *tree.Block
	w.Update(func(tx *workspace.Tx) {
		cut = tx.Block(blocks[0]).Clone()
		tx.Block(blocks[0]).Cut()
	})
	if got := w.listCards(builtIn); got.Get("total").Int() != 2 || slices.Contains(stringsAt(got, "blocks.#.id"), blocks[0]) {
		t.Errorf("the card of a removed block is listed: %s", got.Raw)
	}
	w.Update(func(tx *workspace.Tx) { tx.Document(doc).Root.Insert(0, tx.Identify([]*tree.Block{cut})...) })
	got := w.listCards(builtIn)
	if got.Get("total").Int() != 3 || got.Get("blocks.1.id").Str != blocks[0] || got.Get("blocks.1.riffCard.reps").Int() != 1 {
		t.Errorf("the block is back: %s", got.Raw)
	}
	if last := got.Get("blocks.2"); last.Get("id").Str != nowhere || last.Get("box").Str != "" || last.Get("riffCard").Raw != "null" {
		t.Errorf("a card that never had a block: %s", last.Raw)
	}
}

func TestDecks(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	_, blocks := w.createDoc("D", "a\n\nb")
	w.addCards(builtIn, blocks[0])
	geo := w.ask("createRiffDeck", `{"name":"Geo 地理"}`).Get("id").Str
	w.ask("createRiffDeck", `{"name":""}`)
	w.addCards(geo, blocks...)
	if got := w.addCards(nowhere, blocks[0]); got.Type != gjson.Null {
		t.Errorf("a deck that does not exist: %s", got.Raw)
	}
	if got := w.decksAttr(blocks[0]); got != builtIn+","+geo+","+nowhere {
		t.Errorf("the block says %q", got)
	}
	if diff := cmp.Diff([]string{"Geo 地理", ""}, stringsAt(w.ask("getRiffDecks", `{}`), "#.name")); diff != "" {
		t.Error(diff)
	}
	if got := w.listCards(""); got.Get("total").Int() != 3 {
		t.Errorf("all decks: %s", got.Raw)
	}
	if got := w.ask("removeRiffCards", `{"deckID":%q,"blockIDs":[%q]}`, geo, blocks[0]); got.Get("size").Int() != 1 {
		t.Errorf("%s", got.Raw)
	}
	if got := w.decksAttr(blocks[0]); got != builtIn+","+nowhere {
		t.Errorf("the block says %q", got)
	}
	w.ask("removeRiffCards", `{"deckID":"","blockIDs":[%q]}`, blocks[0])
	if got := w.decksAttr(blocks[0]); got != "" || len(w.dueBlocks()) != 0 {
		t.Errorf("the block says %q and is due: %v", got, w.dueBlocks())
	}
}

// decksAttr returns the attribute of a block that lists its decks.
func (w *fixture) decksAttr(id string) (value string) {
	w.Update(func(tx *workspace.Tx) { value = tx.Block(id).Attrs["custom-riff-decks"] })
	return value
}

// addManyCards adds n cards to the built-in deck.
func (w *fixture) addManyCards(n int) (blocks []string) {
	w.T.Helper()
	w.Update(func(tx *workspace.Tx) {
		list := make([]*tree.Block, n)
		for i := range list {
			list[i] = &tree.Block{Kind: tree.Paragraph, Text: "n ==x=="}
		}
		for _, b := range tx.AddDocument(tx.Notebook(w.nb), nil, "Many", "", tx.Identify(list)).Root.Children {
			blocks = append(blocks, b.ID)
		}
	})
	w.addCards(builtIn, blocks...)
	return blocks
}

func TestPages(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	blocks := w.addManyCards(45)
	if diff := cmp.Diff(blocks[:20], w.dueBlocks()); diff != "" {
		t.Errorf("due:\n%s", diff)
	}
	var listed []string
	for page := 1; page <= 4; page++ {
		got := w.ask("getRiffCards", `{"id":%q,"page":%d}`, builtIn, page)
		if got.Get("total").Int() != 45 || got.Get("pageCount").Int() != 3 {
			t.Errorf("page %d: %d cards on %d pages", page, got.Get("total").Int(), got.Get("pageCount").Int())
		}
		listed = append(listed, stringsAt(got, "blocks.#.id")...)
	}
	if diff := cmp.Diff(blocks, listed); diff != "" {
		t.Errorf("listed:\n%s", diff)
	}
	for _, odd := range []string{`{"id":"","page":0,"pageSize":0}`, `{"id":"","page":-5,"pageSize":-1}`, `{"id":"","page":4611686018427387904,"pageSize":4611686018427387904}`} {
		if got := w.ask("getRiffCards", "%s", odd); got.Get("total").Int() != 45 {
			t.Errorf("%s: %s", odd, got.Raw)
		}
	}
}

// BenchmarkLargeDeck requests the due cards of 10,000, and one page of all.
func BenchmarkLargeDeck(b *testing.B) {
	w := newFixture(b)
	w.addManyCards(10_000)
	b.Run("due", func(b *testing.B) {
		for b.Loop() {
			w.ask("getRiffDueCards", `{"deckID":""}`)
		}
	})
	b.Run("page", func(b *testing.B) {
		for b.Loop() {
			w.listCards(builtIn)
		}
	})
}
