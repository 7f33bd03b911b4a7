package search_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/search"
	"collie/internal/tool"
)

// workspace is a kernel with a notebook of fruit, and one called Secret. Every block of the secret one has the word CANARY in it,
// so that a result that has this word shows something secret.
type workspace struct {
	*actiontest.Kit
	t              *testing.T
	fruit, secret  string
	doc, secretDoc string
}

func newWorkspace(t *testing.T) *workspace {
	t.Helper()
	t.Parallel()
	w := &workspace{Kit: actiontest.New(t), t: t}
	w.fruit, w.secret = w.Notebook("Fruit 水果"), w.Notebook("Secret CANARY")
	w.doc = w.Doc(w.fruit, "/Apple 苹果", "# Apple heading\n\nApple pie with **apple** cinnamon 苹果派\n\n- apple juice\n- banana split\n\nTagged #fruit/apple# apple")
	w.secretDoc = w.Doc(w.secret, "/CANARY apple", "CANARY apple pie 苹果\n\nCANARY #canarytag# apple\n\nCANARY names Apple 苹果 in passing")
	return w
}

// hideSecret hides the secret notebook from callers.
func (w *workspace) hideSecret() { w.Levels[kernel.ID(w.secret)] = access.None }

// findAction returns an action of the tool by its name.
func findAction(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, search.Tool(), name)
}

// runAction runs an action with pairs of arguments.
func (w *workspace) runAction(name string, pairs ...any) gjson.Result {
	w.t.Helper()
	return w.Must(w.t, findAction(w.t, name), args(pairs...))
}

// checkRefused runs an action that must be refused with a kind and without a write.
func (w *workspace) checkRefused(kind tool.ErrorKind, name string, pairs ...any) *tool.Error {
	w.t.Helper()
	return w.Refused(w.t, findAction(w.t, name), args(pairs...), kind)
}

// checkHiddenLikeMissing runs an action on something hidden and on something that does not exist, which must be answered the
// same.
func (w *workspace) checkHiddenLikeMissing(name, hidden string, pairs ...any) {
	w.t.Helper()
	w.hideSecret()
	w.HiddenAsMissing(w.t, findAction(w.t, name), args(pairs...), hidden, actiontest.Nowhere)
}

// checkTellsNothing fails the test if a result reveals anything of the secret notebook.
func (w *workspace) checkTellsNothing(got gjson.Result) {
	w.t.Helper()
	for _, word := range []string{"CANARY", "canary", w.secret, w.secretDoc} {
		if strings.Contains(got.Raw, word) {
			w.t.Errorf("the result tells of what is hidden (%s): %s", word, got.Raw)
		}
	}
}

// waitUntil waits for what a real kernel does on its own, some seconds later and whether it is flushed or not.
func (w *workspace) waitUntil(what string, done func() bool) {
	w.t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); !done(); <-tick.C {
		if time.Since(begun) > time.Minute {
			w.t.Fatalf("in vain: %s", what)
		}
	}
}

// changeRequests puts a proxy between the client and the kernel that changes the bodies of requests.
func (w *workspace) changeRequests(change func(endpoint, body string) string) {
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

// args returns a JSON object made of alternating names and values.
func args(pairs ...any) string { return actiontest.Args(pairs...) }

// children returns the ids of the blocks directly below a document.
func (w *workspace) children(id string) (ids []string) {
	w.t.Helper()
	for _, child := range w.Children(w.t, kernel.ID(id)) {
		ids = append(ids, string(child))
	}
	return ids
}
