package flashcard_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/flashcard"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// nowhere is an id that no kernel has.
const nowhere = "20990101000000-zzzzzzz"

// world is a kernel with one document of five blocks, of which the first and the list are cards of the built-in deck,
// and the heading of a deck of its own.
type world struct {
	*actiontest.Kit
	t                                  *testing.T
	nb, doc                            kernel.ID
	cloze, heading, answer, list, text kernel.ID
	deck                               kernel.ID // "Geo 地理"
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := &world{Kit: actiontest.New(t), t: t}
	w.nb = kernel.ID(w.Notebook("Cards 闪卡"))
	w.doc = kernel.ID(w.Doc(string(w.nb), "/Deck doc",
		"What is 2+2? ==four==\n\nplain text 文字\n\n- question\n  - answer\n\n## Capital of France 法国首都\n\nParis 巴黎"))
	list := w.children(w.doc)
	w.cloze, w.text, w.list, w.heading, w.answer = list[0], list[1], list[2], list[3], list[4]
	w.deck = w.newDeck("Geo 地理")
	w.add(kernel.BuiltInDeck, w.cloze, w.list)
	w.add(w.deck, w.heading)
	return w
}

func (w *world) children(id kernel.ID) (ids []kernel.ID) {
	w.t.Helper()
	list, err := w.Client.ChildBlocks(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, b := range list {
		ids = append(ids, b.ID)
	}
	return ids
}

// block makes a document with one paragraph and returns the paragraph.
func (w *world) block(nb kernel.ID, hpath, text string) kernel.ID {
	w.t.Helper()
	return w.children(kernel.ID(w.Doc(string(nb), hpath, text)))[0]
}

func (w *world) add(deck kernel.ID, blocks ...kernel.ID) {
	w.t.Helper()
	if _, err := w.Client.AddCards(w.t.Context(), deck, blocks); err != nil {
		w.t.Fatal(err)
	}
}

// newDeck makes a deck as a person does in SiYuan.
func (w *world) newDeck(name string) kernel.ID {
	w.t.Helper()
	return kernel.ID(w.post("/api/riff/createRiffDeck", map[string]any{"name": name}).Get("data.id").Str)
}

// card is the id of a block's card in a deck.
func (w *world) card(deck, block kernel.ID) kernel.ID {
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

// hidden makes a notebook of level none with a card in it, and returns block and card.
func (w *world) hidden(deck kernel.ID) (nb, block, card kernel.ID) {
	w.t.Helper()
	nb = kernel.ID(w.Notebook("Secret 秘密"))
	block = w.block(nb, "/Hidden plan", "launch code ==0000==")
	w.add(deck, block)
	w.Levels[nb] = access.None
	return nb, block, w.card(deck, block)
}

// refused runs an action that must be refused with kind and without a write.
func (w *world) refused(a *action.Action, args string, kind tool.ErrorKind) *tool.Error {
	w.t.Helper()
	w.ResetCalls()
	err := w.Refused(w.t, a, args, kind)
	if n := len(w.Writes()); n != 0 {
		w.t.Errorf("%s %s: refused, and yet %d writes: %v", a.Name, args, n, w.Writes())
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		w.t.Fatalf("%s: %v is not a tool.Error", a.Name, err)
	}
	return e
}

// same fails unless two errors differ only in the id that the caller gave.
func (w *world) same(a *tool.Error, idA kernel.ID, b *tool.Error, idB kernel.ID) {
	w.t.Helper()
	if x, y := strings.ReplaceAll(a.Error()+a.Hint, string(idA), "ID"), strings.ReplaceAll(b.Error()+b.Hint, string(idB), "ID"); x != y {
		w.t.Errorf("what may not be seen and what does not exist differ:\n%s\n%s", x, y)
	}
}

// Must is [actiontest.Kit.Must]. It also checks that the action uses no endpoint that it does not declare.
func (w *world) Must(t testing.TB, a *action.Action, args string) gjson.Result {
	t.Helper()
	w.ResetCalls()
	got := w.Kit.Must(t, a, args)
	beside := []string{"block/getBlockInfo", "query/sql", "sqlite/flushTransaction", "notebook/lsNotebooks"}
	for _, c := range w.Calls() {
		endpoint := strings.TrimPrefix(c.Path, "/api/")
		if !strings.HasPrefix(endpoint, "ui/") && !slices.Contains(beside, endpoint) && !slices.Contains(a.Endpoints, endpoint) {
			t.Errorf("%s uses %s, which it does not declare", a.Name, endpoint)
		}
	}
	return got
}

func act(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, flashcard.Tool(), name)
}

// args makes a JSON object of pairs.
func args(pairs ...any) string { return actiontest.Args(pairs...) }

// strs are the texts of a list.
func strs(v gjson.Result) []string {
	out := []string{}
	for _, item := range v.Array() {
		out = append(out, item.String())
	}
	return out
}

// post asks the kernel for what no action does: what a person does in SiYuan.
func (w *world) post(path string, body map[string]any) gjson.Result {
	w.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.URL()+path, bytes.NewReader(raw))
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if got := gjson.ParseBytes(answer); err == nil && got.Get("code").Exists() && got.Get("code").Int() == 0 {
		return got
	}
	w.t.Fatalf("%s: %s %v", path, answer, err)
	return gjson.Result{}
}
