package search_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/search"
	"collie/internal/tool"
)

// nowhere is an id that no kernel has.
const nowhere = "20990101000000-zzzzzzz"

// world is a kernel with a notebook of fruit, and one called Secret, whose every word has
// CANARY beside it.
type world struct {
	*actiontest.Kit
	t              *testing.T
	fruit, secret  string
	doc, secretDoc string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := &world{Kit: actiontest.New(t), t: t}
	w.fruit, w.secret = w.Notebook("Fruit 水果"), w.Notebook("Secret CANARY")
	w.doc = w.Doc(w.fruit, "/Apple 苹果", "# Apple heading\n\nApple pie with **apple** cinnamon 苹果派\n\n- apple juice\n- banana split\n\nTagged #fruit/apple# apple")
	w.secretDoc = w.Doc(w.secret, "/CANARY apple", "CANARY apple pie 苹果\n\nCANARY #canarytag# apple\n\nCANARY names Apple 苹果 in passing")
	return w
}

// hide makes the secret notebook one that does not exist for callers.
func (w *world) hide() { w.Levels[kernel.ID(w.secret)] = access.None }

// act is an action of the tool by name.
func act(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, search.Tool(), name)
}

// do runs an action with pairs of arguments.
func (w *world) do(name string, pairs ...any) gjson.Result {
	w.t.Helper()
	return w.Must(w.t, act(w.t, name), args(pairs...))
}

// refused runs an action that must be refused with a kind and without a write.
func (w *world) refused(kind tool.ErrorKind, name string, pairs ...any) *tool.Error {
	w.t.Helper()
	w.ResetCalls()
	err := w.Refused(w.t, act(w.t, name), args(pairs...), kind)
	if n := len(w.Writes()); n != 0 {
		w.t.Errorf("%s: refused, and yet %d writes", name, n)
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		w.t.Fatalf("%s: %v is not a tool.Error", name, err)
	}
	return e
}

// hiddenLikeMissing runs an action on something hidden and on something that does not exist,
// which must be answered the same.
func (w *world) hiddenLikeMissing(name, hidden string, pairs ...any) {
	w.t.Helper()
	w.hide()
	got := string(w.refused(tool.Unknown, name, pairs...).Payload())
	for i := range pairs {
		if text, ok := pairs[i].(string); ok {
			pairs[i] = strings.ReplaceAll(text, hidden, nowhere)
		}
		if list, ok := pairs[i].([]string); ok {
			list = slices.Clone(list)
			for n := range list {
				list[n] = strings.ReplaceAll(list[n], hidden, nowhere)
			}
			pairs[i] = list
		}
	}
	want := strings.ReplaceAll(string(w.refused(tool.Unknown, name, pairs...).Payload()), nowhere, hidden)
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("%s: what is hidden differs from what does not exist (-missing +hidden):\n%s", name, diff)
	}
}

// silent fails if a result tells anything of the secret notebook.
func (w *world) silent(got gjson.Result) {
	w.t.Helper()
	for _, word := range []string{"CANARY", "canary", w.secret, w.secretDoc} {
		if strings.Contains(got.Raw, word) {
			w.t.Errorf("the result tells of what is hidden (%s): %s", word, got.Raw)
		}
	}
}

// until waits for what a real kernel does on its own, some seconds later and whether it is flushed or not.
func (w *world) until(what string, done func() bool) {
	w.t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); !done(); <-tick.C {
		if time.Since(begun) > time.Minute {
			w.t.Fatalf("in vain: %s", what)
		}
	}
}

// children are the ids of the blocks right below a document.
func (w *world) children(id string) []string {
	w.t.Helper()
	list, err := w.Client.ChildBlocks(w.t.Context(), kernel.ID(id))
	if err != nil {
		w.t.Fatal(err)
	}
	var ids []string
	for _, b := range list {
		ids = append(ids, string(b.ID))
	}
	return ids
}

// asked are the bodies of the calls to an endpoint.
func (w *world) asked(endpoint string) []gjson.Result {
	var out []gjson.Result
	for _, c := range w.Calls() {
		if c.Path == "/api/"+endpoint {
			out = append(out, gjson.Parse(c.Body))
		}
	}
	return out
}

// last is the body of the last call to an endpoint.
func (w *world) last(endpoint string) gjson.Result {
	all := w.asked(endpoint)
	if len(all) == 0 {
		w.t.Fatalf("no call to %s", endpoint)
	}
	return all[len(all)-1]
}

func texts(list gjson.Result, member string) []string {
	out := []string{}
	for _, item := range list.Array() {
		out = append(out, item.Get(member).Str)
	}
	return out
}

func args(pairs ...any) string { return actiontest.Args(pairs...) }

// between puts something between the client and the kernel that changes requests.
func (w *world) between(change func(endpoint, body string) string) {
	w.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		changed := change(r.URL.Path, string(body))
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(changed)), int64(len(changed))
		w.Handler().ServeHTTP(rw, r)
	}))
	w.t.Cleanup(server.Close)
	w.Client = kernel.New(server.URL, kernel.Options{Token: "TEST_TOKEN"})
	w.t.Cleanup(w.Client.Close)
}
