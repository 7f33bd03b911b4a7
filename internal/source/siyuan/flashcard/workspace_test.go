package flashcard_test

import (
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/flashcard"
	"collie/internal/source/siyuan/kernel"
)

// workspace is a kernel with one document of five blocks. The first block and the list are cards of the built-in deck,
// the heading is a card of the deck "Geo 地理".
type workspace struct {
	*actiontest.Kit
	t                                  *testing.T
	notebook, doc                      kernel.ID
	cloze, heading, answer, list, text kernel.ID
	deck                               kernel.ID // the id of "Geo 地理"
}

func newWorkspace(t *testing.T) *workspace {
	t.Helper()
	t.Parallel()
	w := &workspace{Kit: actiontest.New(t), t: t}
	w.notebook = kernel.ID(w.Notebook("Cards 闪卡"))
	w.doc = kernel.ID(w.Doc(string(w.notebook), "/Deck doc",
		"What is 2+2? ==four==\n\nplain text 文字\n\n- question\n  - answer\n\n## Capital of France 法国首都\n\nParis 巴黎"))
	list := w.Children(w.t, w.doc)
	w.cloze, w.text, w.list, w.heading, w.answer = list[0], list[1], list[2], list[3], list[4]
	w.deck = w.newDeck("Geo 地理")
	w.addCards(kernel.BuiltInDeck, w.cloze, w.list)
	w.addCards(w.deck, w.heading)
	return w
}

// makeBlock makes a document with one paragraph and returns the paragraph.
func (w *workspace) makeBlock(nb kernel.ID, hpath, text string) kernel.ID {
	w.t.Helper()
	return w.Children(w.t, kernel.ID(w.Doc(string(nb), hpath, text)))[0]
}

// addCards makes blocks cards of a deck.
func (w *workspace) addCards(deck kernel.ID, blocks ...kernel.ID) {
	w.t.Helper()
	if _, err := w.Client.AddCards(w.t.Context(), deck, blocks); err != nil {
		w.t.Fatal(err)
	}
}

// newDeck makes a deck as a person does in SiYuan.
func (w *workspace) newDeck(name string) kernel.ID {
	w.t.Helper()
	return kernel.ID(w.Post(w.t, "/api/riff/createRiffDeck", map[string]any{"name": name}).Get("data.id").Str)
}

// cardID returns the id of a block's card in a deck.
func (w *workspace) cardID(deck, block kernel.ID) kernel.ID {
	w.t.Helper()
	page, err := w.Client.Cards(w.t.Context(), deck, 1, 512)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range page.Blocks {
		if c.ID == block {
			return c.Card
		}
	}
	w.t.Fatalf("%s is not a card of %s", block, deck)
	return ""
}

// makeHiddenCard makes a notebook of level none with a card in it, and returns notebook, block and card.
func (w *workspace) makeHiddenCard(deck kernel.ID) (nb, block, card kernel.ID) {
	w.t.Helper()
	nb = kernel.ID(w.Notebook("Secret 秘密"))
	block = w.makeBlock(nb, "/Hidden plan", "launch code ==0000==")
	w.addCards(deck, block)
	w.Levels[nb] = access.None
	return nb, block, w.cardID(deck, block)
}

func findAction(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, flashcard.Tool(), name)
}

// stringItems returns the items of a list as strings.
func stringItems(v gjson.Result) []string {
	out := []string{}
	for _, item := range v.Array() {
		out = append(out, item.String())
	}
	return out
}

// args returns a JSON object made of alternating names and values.
func args(pairs ...any) string { return actiontest.Args(pairs...) }
