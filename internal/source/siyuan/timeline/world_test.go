package timeline_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/timeline"
	"collie/internal/tool"
)

// nowhere is an id that no kernel has.
const nowhere = "20990101000000-zzzzzzz"

// world is a kernel whose data repository has a key, with one document of three paragraphs.
type world struct {
	*actiontest.Kit
	t       *testing.T
	nb, doc kernel.ID
	blocks  []kernel.ID
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := &world{Kit: actiontest.New(t), t: t}
	w.nb = kernel.ID(w.Notebook("Notes 笔记"))
	w.doc = kernel.ID(w.Doc(string(w.nb), "/Plan 计划", "one 一\n\ntwo\n\nthree"))
	w.blocks = w.children(w.doc)
	w.post("/api/repo/initRepoKey", map[string]any{})
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

// texts are the Markdown of the blocks of a document.
func (w *world) texts() string {
	w.t.Helper()
	list, err := w.Client.ChildBlocks(w.t.Context(), w.doc)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, b := range list {
		out = append(out, b.Markdown)
	}
	return strings.Join(out, "|")
}

// keep makes a copy of the document in its history, and waits until it is found there. A real kernel finds it after
// some seconds, and keeps one copy a second.
func (w *world) keep() {
	w.t.Helper()
	before := w.copies()
	for begun := time.Now(); time.Since(begun) < patience; {
		if err := w.Client.KeepHistory(w.t.Context(), w.doc); err != nil {
			w.t.Fatal(err)
		}
		if w.until(5*time.Second, func() bool { return w.copies() > before }) {
			return
		}
	}
	w.t.Fatal("the copy is not found")
}

// patience is how long a real kernel may take.
const patience = 30 * time.Second

// until looks whether something is so, again and again for some time.
func (w *world) until(limit time.Duration, ok func() bool) bool {
	for begun := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		if ok() {
			return true
		}
		if time.Since(begun) > limit {
			return false
		}
	}
}

// copies counts those of the document.
func (w *world) copies() (n int) {
	w.t.Helper()
	times, err := w.Client.HistoryTimes(w.t.Context(), w.doc)
	for _, at := range times {
		items, failed := w.Client.HistoryItems(w.t.Context(), w.doc, at)
		n, err = n+len(items), errors.Join(err, failed)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *world) update(id kernel.ID, text string) {
	w.t.Helper()
	if _, err := w.Client.Update(w.t.Context(), id, "markdown", text); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) appendBlock(text string) kernel.ID {
	w.t.Helper()
	done, err := w.Client.Append(w.t.Context(), w.doc, "markdown", text)
	if err != nil {
		w.t.Fatal(err)
	}
	return kernel.Created(done)[0]
}

// post asks the kernel for what no action does: what a person does in SiYuan.
func (w *world) post(path string, body map[string]any) {
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
	if code := gjson.GetBytes(answer, "code"); err != nil || !code.Exists() || code.Int() != 0 {
		w.t.Fatalf("%s: %s %v", path, answer, err)
	}
}

// Must is [actiontest.Kit.Must]. It also checks that the action uses no endpoint that it does not declare.
func (w *world) Must(t testing.TB, a *action.Action, args string) gjson.Result {
	t.Helper()
	w.ResetCalls()
	got := w.Kit.Must(t, a, args)
	beside := []string{"block/getBlockInfo", "query/sql"}
	for _, c := range w.Calls() {
		endpoint := strings.TrimPrefix(c.Path, "/api/")
		if !strings.HasPrefix(endpoint, "ui/") && !slices.Contains(beside, endpoint) && !slices.Contains(a.Endpoints, endpoint) {
			t.Errorf("%s uses %s, which it does not declare", a.Name, endpoint)
		}
	}
	return got
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

func act(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, timeline.Tool(), name)
}

// args makes a JSON object of pairs.
func args(pairs ...any) string { return actiontest.Args(pairs...) }
