package kerneltest

import (
	"bytes"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// This file lets the same tests run against a real kernel.

// RealKernel is the environment variable with the address of a real kernel, http://token@127.0.0.1:16806, against
// which the tests then run instead of the vault. Its workspace must be empty, and is emptied after each test. Tests
// must run one at a time (-parallel 1, -p 1).
const RealKernel = "COLLIE_TEST_KERNEL"

// restartLimit bounds how long a real kernel may take to restart.
const restartLimit = time.Minute

// realKernel returns the kernel that [RealKernel] names, nil if it names none. It refuses a workspace with notes.
var realKernel = sync.OnceValues(func() (http.Handler, error) {
	address := os.Getenv(RealKernel)
	if address == "" {
		return nil, nil
	}
	target, err := url.Parse(address)
	if err != nil || target.Host == "" || target.User == nil {
		return nil, fmt.Errorf("%s: want http://token@host:port", RealKernel)
	}
	token := target.User.Username()
	target.User = nil
	proxy := &httputil.ReverseProxy{
		Transport: &http.Transport{DisableKeepAlives: true}, // so that no goroutine outlives a test
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Authorization", "Token "+token)
		},
	}
	if err := await(proxy); err != nil {
		return nil, err
	}
	if there := notebooks(proxy); len(there) > 0 {
		return nil, fmt.Errorf("%s: the workspace has notebooks (%v), and tests would take them for theirs; start the kernel on an empty one", RealKernel, there)
	}
	return proxy, nil
})

// onReal makes k use the real kernel, and removes everything that was created at the end of the test.
func (k *Kernel) onReal(backend http.Handler) {
	k.t.Helper()
	if err := await(backend); err != nil {
		k.t.Fatal(err)
	}
	k.backend = backend
	before := k.things()
	k.t.Cleanup(func() {
		_ = await(backend)
		forgetCards(backend)
		for range 5 { // removing a notebook may end a kernel, which has the notebook again after its restart
			_ = await(backend)
			ask(backend, "/api/sqlite/flushTransaction", nil)
			leftover := slices.DeleteFunc(k.things(), func(th thing) bool { return slices.Contains(before, th) })
			for _, thing := range leftover {
				thing.remove(backend)
			}
			if len(leftover) == 0 {
				return
			}
		}
	})
}

// NeedsVault skips the test on a real kernel; reason says what that lacks.
func (k *Kernel) NeedsVault(reason string) {
	k.t.Helper()
	if k.vault == nil {
		k.t.Skip("not before a real kernel: " + reason)
	}
}

// thing is a notebook or a file left by a test.
type thing struct{ notebook, file string }

func (th thing) remove(backend http.Handler) {
	if th.notebook != "" {
		ask(backend, "/api/notebook/removeNotebook", map[string]any{"notebook": th.notebook})
		return
	}
	ask(backend, "/api/file/removeFile", map[string]any{"path": th.file})
}

// things lists what tests leave in a workspace.
func (k *Kernel) things() []thing {
	var all []thing
	for _, id := range notebooks(k.backend) {
		all = append(all, thing{notebook: id})
	}
	for _, dir := range []string{"/data/assets", "/data/templates", "/data/storage/av", "/data/storage/petal", "/data/storage/riff", "/data/emojis"} {
		for _, entry := range ask(k.backend, "/api/file/readDir", map[string]any{"path": dir}).Get("data").Array() {
			all = append(all, thing{file: dir + "/" + entry.Get("name").Str})
		}
	}
	return all
}

// forgetCards removes all decks and cards, which outlive their blocks and files.
func forgetCards(backend http.Handler) {
	for _, deck := range ask(backend, "/api/riff/getRiffDecks", nil).Get("data").Array() {
		ask(backend, "/api/riff/removeRiffDeck", map[string]any{"deckID": deck.Get("id").Str})
	}
	const builtIn = "20230218211946-2kw8jgx"
	blocks := []string{}
	for _, card := range ask(backend, "/api/riff/getRiffCards", map[string]any{"id": builtIn, "page": 1, "pageSize": 1 << 20}).Get("data.blocks").Array() {
		blocks = append(blocks, card.Get("id").Str)
	}
	if len(blocks) > 0 {
		ask(backend, "/api/riff/removeRiffCards", map[string]any{"deckID": builtIn, "blockIDs": blocks})
	}
}

func notebooks(backend http.Handler) (ids []string) {
	for _, n := range ask(backend, "/api/notebook/lsNotebooks", nil).Get("data.notebooks").Array() {
		ids = append(ids, n.Get("id").Str)
	}
	return ids
}

// await waits until a kernel has started.
func await(backend http.Handler) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); ; <-tick.C {
		if ask(backend, "/api/system/bootProgress", nil).Get("data.progress").Int() == 100 {
			return nil
		}
		if time.Since(begun) > restartLimit {
			return fmt.Errorf("%s: no kernel answers", RealKernel)
		}
	}
}

// ask makes a call and returns its answer; the result does not exist if there is none.
func ask(backend http.Handler, endpoint string, body map[string]any) gjson.Result {
	if body == nil {
		body = map[string]any{}
	}
	answer := httptest.NewRecorder()
	backend.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, endpoint, bytes.NewReader(mustJSON(body))))
	return gjson.ParseBytes(answer.Body.Bytes())
}

// newReal returns a kernel that uses the real one, nil if none is named.
func newReal(t testing.TB) *Kernel {
	t.Helper()
	backend, err := realKernel()
	if err != nil {
		t.Fatal(err)
	}
	if backend == nil {
		return nil
	}
	k := &Kernel{t: t, faults: map[string][]fault{}, plugins: map[string]bool{}, links: map[string]bool{}}
	k.onReal(backend)
	return k
}

// upload writes a file into the workspace of a real kernel.
func (k *Kernel) upload(p string, content []byte) {
	k.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("path", p)
	_ = form.WriteField("isDir", "false")
	part, err := form.CreateFormFile("file", path.Base(p))
	if err == nil {
		_, err = part.Write(content)
	}
	if err := errors.Join(err, form.Close()); err != nil {
		k.t.Fatalf("kerneltest: %v", err)
	}
	answer := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/api/file/putFile", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	k.backend.ServeHTTP(answer, r)
	if got := gjson.ParseBytes(answer.Body.Bytes()); got.Get("code").Int() != 0 {
		k.t.Fatalf("kerneltest: putFile answers %s", got.Raw)
	}
}
