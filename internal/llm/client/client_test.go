package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/llm"
	"collie/internal/llm/client"
	"collie/internal/llm/keypool"
	"collie/internal/llm/models"
	"collie/test/await"
)

// reply is the response of a provider.
type reply struct {
	status int
	header map[string]string
	body   string
	err    error
}

const (
	start = `data: {"id":"1","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n"
	hello = `data: {"id":"1","model":"m-1","choices":[{"index":0,"delta":{"content":"hello"}}]}` + "\n\n"
	done  = `data: {"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}` + "\n\ndata: [DONE]\n\n"
)

var answer = reply{status: 200, body: start + hello + done}

func refusalReply(status int, code string) reply {
	return reply{status: status, body: fmt.Sprintf(`{"error":{"message":"no: %s","type":"%s","code":"%s"}}`, code, code, code)}
}

// fixture stands for the network to all providers. It replies by the key of a request; the last reply of a key is repeated.
type fixture struct {
	mu      sync.Mutex
	replies map[string][]reply
	asked   []string // keys, in order
	bodies  []string
}

func (w *fixture) RoundTrip(r *http.Request) (*http.Response, error) {
	raw, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	defer w.mu.Unlock()
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	w.asked = append(w.asked, key)
	w.bodies = append(w.bodies, string(raw))
	list := w.replies[key]
	if len(list) == 0 {
		return nil, errors.New("no reply to " + key)
	}
	x := list[0]
	if len(list) > 1 {
		w.replies[key] = list[1:]
	}
	if x.err != nil {
		return nil, x.err
	}
	h := http.Header{"Content-Type": {"text/event-stream"}}
	if x.status != 200 || r.Method == http.MethodGet {
		h.Set("Content-Type", "application/json")
	}
	for name, value := range x.header {
		h.Set(name, value)
	}
	return &http.Response{StatusCode: x.status, Header: h, Body: io.NopCloser(strings.NewReader(x.body)), Request: r, Status: fmt.Sprint(x.status)}, nil
}

// heard holds what a stream yielded.
type heard struct {
	text    string
	retries []llm.Retry
	notices []string
	starts  []llm.Event
	err     *llm.Error
	took    time.Duration
}

// newClient returns a client with the providers "one" (keys k1 to k3) and "two" (key other), and its key pool.
func newClient(t *testing.T, w *fixture) (*client.Client, *keypool.Pool) {
	t.Helper()
	pool := keypool.New(keypool.Options{Jitter: func() float64 { return 0 }})
	c, err := client.New(client.Options{Pool: pool, Transport: w, Jitter: func() float64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	keys := func(labels ...string) (out []keypool.Key) {
		for _, l := range labels {
			out = append(out, keypool.Key{Label: l, Secret: l, Weight: 1})
		}
		return out
	}
	yes := true
	err = c.Apply([]client.Provider{
		{Name: "one", Kind: "openai", BaseURL: "http://one.example/v1", Keys: keys("k1", "k2", "k3")},
		{Name: "two", Kind: "openai", BaseURL: "http://two.example/v1", Keys: keys("other")},
	}, map[string]client.Override{"one/acme-9": {Context: 1234, Tools: &yes, Price: &models.Price{Input: 1, Output: 2}}, "zebra": {Output: 9}})
	if err != nil {
		t.Fatal(err)
	}
	return c, pool
}

func streamAnswer(ctx context.Context, t *testing.T, c *client.Client, r *llm.Request, fallbacks ...string) (h heard) {
	t.Helper()
	m, _, err := c.Model("one/acme-9", fallbacks)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for e, err := range m.Stream(ctx, r) {
		if err != nil {
			h.err, _ = errors.AsType[*llm.Error](err)
			if h.err == nil {
				t.Fatalf("an error of another type: %v", err)
			}
			break
		}
		switch e.Kind {
		case llm.EventText:
			h.text += e.Text
		case llm.EventRetry:
			h.retries = append(h.retries, e.Retry)
		case llm.EventNotice:
			h.notices = append(h.notices, e.Code)
		case llm.EventStart:
			h.starts = append(h.starts, e)
		default:
		}
	}
	h.took = time.Since(began)
	return h
}

// TestFailures checks for each class of failure which keys are used, how long the request takes, which notices are sent,
// and how it ends.
func TestFailures(t *testing.T) {
	t.Parallel()
	// all has every key of provider one get the reply x; the key of provider two gets the answer.
	all := func(x reply) map[string][]reply {
		return map[string][]reply{"k1": {x}, "k2": {x}, "k3": {x}, "other": {answer}}
	}
	// first has k1 get the replies of list, one for each request, and all other keys the answer.
	first := func(list ...reply) map[string][]reply {
		return map[string][]reply{"k1": list, "k2": {answer}, "k3": {answer}, "other": {answer}}
	}
	for name, tc := range map[string]struct {
		replies   map[string][]reply
		fallbacks []string
		asked     string
		class     llm.Class // of the error; empty for the answer
		took      time.Duration
		state     keypool.State // of k1 afterwards
	}{
		"answer":                    {replies: first(answer), asked: "k1", state: keypool.Active},
		"rate limit":                {replies: first(refusalReply(429, "rate_limit_exceeded")), asked: "k1 k2", state: keypool.Cooling},
		"quota":                     {replies: first(refusalReply(429, "insufficient_quota")), asked: "k1 k2", state: keypool.Exhausted},
		"credential":                {replies: first(refusalReply(401, "invalid_api_key")), asked: "k1 k2", state: keypool.Invalid},
		"permission":                {replies: first(refusalReply(403, "permission_error")), asked: "k1 k2", state: keypool.Active},
		"model access":              {replies: first(refusalReply(404, "model_not_found")), asked: "k1 k2", state: keypool.Active},
		"overloaded key":            {replies: first(refusalReply(529, "overloaded_error")), asked: "k1 k2", state: keypool.Cooling},
		"region":                    {replies: first(refusalReply(403, "unsupported_country_region_territory")), asked: "k1 k2", state: keypool.Active},
		"region everywhere":         {replies: all(refusalReply(403, "unsupported_country_region_territory")), asked: "k1 k2", class: llm.ClassRegion, state: keypool.Active},
		"transient":                 {replies: first(refusalReply(500, "server_error"), answer), asked: "k1 k1", took: 500 * time.Millisecond, state: keypool.Active},
		"transient twice":           {replies: first(reply{err: io.ErrUnexpectedEOF}, refusalReply(503, "unavailable"), answer), asked: "k1 k1 k1", took: 2500 * time.Millisecond, state: keypool.Active},
		"transient for good":        {replies: all(refusalReply(500, "server_error")), asked: "k1 k1 k1", class: llm.ClassTransient, took: 2500 * time.Millisecond, state: keypool.Active},
		"transient, then another":   {replies: all(refusalReply(500, "server_error")), fallbacks: []string{"two/zebra"}, asked: "k1 k1 k1 other", took: 2500 * time.Millisecond, state: keypool.Active},
		"caller":                    {replies: all(refusalReply(400, "invalid_request_error")), fallbacks: []string{"two/zebra"}, asked: "k1", class: llm.ClassCaller, state: keypool.Active},
		"too long":                  {replies: all(refusalReply(400, "context_length_exceeded")), fallbacks: []string{"two/zebra"}, asked: "k1", class: llm.ClassContext, state: keypool.Active},
		"all limited":               {replies: all(refusalReply(429, "rate_limit_exceeded")), asked: "k1 k2 k3", class: llm.ClassAllCooling, state: keypool.Cooling},
		"all limited, then another": {replies: all(refusalReply(429, "rate_limit_exceeded")), fallbacks: []string{"two/zebra"}, asked: "k1 k2 k3 other", state: keypool.Cooling},
		"all refused":               {replies: all(refusalReply(401, "invalid_api_key")), asked: "k1 k2 k3", class: llm.ClassCredential, state: keypool.Invalid},
		"overloaded provider":       {replies: all(refusalReply(529, "overloaded_error")), asked: "k1 k2 k2 k2 k2 k2", class: llm.ClassOverloaded, took: 15 * time.Second, state: keypool.Active},
		"failure inside the stream": {replies: first(reply{status: 200, body: start + `data: {"error":{"message":"slow down","code":"rate_limit_exceeded"}}` + "\n\n"}), asked: "k1 k2", state: keypool.Cooling},
		"waits for what is said": {replies: map[string][]reply{
			"k1": {{status: 429, header: map[string]string{"Retry-After": "3"}, body: "{}"}, answer}, "k2": {refusalReply(401, "invalid_api_key")}, "k3": {refusalReply(401, "invalid_api_key")},
		}, asked: "k1 k2 k3 k1", took: 3 * time.Second, state: keypool.Active},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &fixture{replies: tc.replies}
				c, pool := newClient(t, w)
				h := streamAnswer(t.Context(), t, c, &llm.Request{Messages: hiMessage()}, tc.fallbacks...)
				if got := strings.Join(w.asked, " "); got != tc.asked {
					t.Errorf("asked with %s, want %s", got, tc.asked)
				}
				if tc.class == "" && (h.err != nil || h.text != "hello" || len(h.starts) != 1 || h.starts[0].Key != w.asked[len(w.asked)-1]) {
					t.Errorf("heard %+v", h)
				}
				if tc.class != "" && (h.err == nil || h.err.Class != tc.class || h.text != "") {
					t.Errorf("heard %+v, want %s", h, tc.class)
				}
				if len(h.retries) < strings.Count(tc.asked, " ") {
					t.Errorf("%d retries are told: %+v", len(h.retries), h.retries)
				}
				if h.took < tc.took || h.took > tc.took+time.Second {
					t.Errorf("it took %v, want %v", h.took, tc.took)
				}
				for _, s := range pool.List() {
					if s.Label == "k1" && s.State != tc.state {
						t.Errorf("k1 is %s, want %s", s.State, tc.state)
					}
				}
			})
		})
	}
}

func hiMessage() []llm.Message {
	return []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{{Kind: llm.PartText, Text: "hi"}}}}
}

// After the first part of an answer, no other key or model is tried.
func TestNoSecondTryOnceSeen(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"failure": start + hello + `data: {"error":{"message":"slow down","code":"rate_limit_exceeded"}}` + "\n\n",
		"cut":     start + hello,
	} {
		w := &fixture{replies: map[string][]reply{"k1": {{status: 200, body: body}}, "k2": {answer}, "k3": {answer}, "other": {answer}}}
		c, _ := newClient(t, w)
		h := streamAnswer(t.Context(), t, c, &llm.Request{Messages: hiMessage()}, "two/zebra")
		if h.text != "hello" || h.err == nil || len(w.asked) != 1 || len(h.retries) != 0 {
			t.Errorf("%s: %+v after %v", name, h, w.asked)
		}
	}
}

func TestConversationMovesWithItsKey(t *testing.T) {
	t.Parallel()
	w := &fixture{replies: map[string][]reply{"k1": {refusalReply(429, "rate_limit_exceeded")}, "k2": {answer}, "k3": {answer}}}
	c, _ := newClient(t, w)
	for range 5 {
		if h := streamAnswer(t.Context(), t, c, &llm.Request{Messages: hiMessage(), Session: "s"}); h.text != "hello" {
			t.Fatalf("%+v", h)
		}
	}
	if got := strings.Join(w.asked, " "); got != "k1 k2 k2 k2 k2 k2" {
		t.Error(got)
	}
}

func TestModelWithoutTools(t *testing.T) {
	t.Parallel()
	w := &fixture{replies: map[string][]reply{"k1": {{status: 400, body: `{"error":{"message":"acme-9 does not support tools"}}`}, answer}}}
	c, _ := newClient(t, w)
	h := streamAnswer(t.Context(), t, c, &llm.Request{Messages: hiMessage(), Tools: []llm.Tool{{Name: "t", Schema: []byte(`{"type":"object"}`)}}})
	if h.text != "hello" || len(h.notices) != 1 || h.notices[0] != "model_without_tools" {
		t.Errorf("%+v", h)
	}
	if !strings.Contains(w.bodies[0], `"tools"`) || strings.Contains(w.bodies[1], `"tools"`) {
		t.Errorf("sent %q", w.bodies)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fixture{replies: map[string][]reply{"k1": {refusalReply(500, "server_error")}}}
		c, _ := newClient(t, w)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			await.Sleep(100 * time.Millisecond)
			cancel()
		}()
		h := streamAnswer(ctx, t, c, &llm.Request{Messages: hiMessage()})
		if h.err == nil || h.err.Class != llm.ClassCanceled || h.took != 100*time.Millisecond {
			t.Errorf("%+v", h)
		}
	})
}

func TestWhichModel(t *testing.T) {
	t.Parallel()
	c, _ := newClient(t, &fixture{})
	for ref, want := range map[string]string{
		"one/acme-9": "one acme-9 1234", "two/acme-9": "two acme-9 32768", "two/vendor/m": "two vendor/m 32768", "acme-9": "one acme-9 1234",
		"x": "", "": "", "one/": "", "three/": "",
	} {
		_, info, err := c.Model(ref, nil)
		e, _ := errors.AsType[*llm.Error](err)
		switch ref {
		case "x":
			if e == nil || e.Class != llm.ClassModelAccess || !strings.Contains(e.Hint, "one, two") {
				t.Errorf("%q: %v", ref, err)
			}
		case "one/":
			if e == nil || e.Class != llm.ClassNoProvider || !strings.Contains(e.Hint, "agent.model one/MODEL") {
				t.Errorf("%q: %v", ref, err)
			}
		case "three/":
			if e == nil || e.Class != llm.ClassNoProvider || e.Provider != "three" {
				t.Errorf("%q: %v", ref, err)
			}
		case "":
			if e == nil || e.Class != llm.ClassNoProvider || e.Hint == "" {
				t.Errorf("%q: %v", ref, err)
			}
		default:
			if got := fmt.Sprintf("%s %s %d", info.Provider, info.Model, info.Context); err != nil || got != want {
				t.Errorf("%q: %s, %v", ref, got, err)
			}
		}
	}
	if got := c.Cost("one", "acme-9", llm.Usage{Input: 10, Output: 5}); got != 20 {
		t.Errorf("it costs %d", got)
	}
	if got := c.Cost("two", "acme-9", llm.Usage{Input: 10}); got >= 0 {
		t.Errorf("a model without a price costs %d", got)
	}
	empty, err := client.New(client.Options{Pool: keypool.New(keypool.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := empty.Model("m", nil); err == nil || !strings.Contains(err.Error(), "no provider") {
		t.Errorf("without providers: %v", err)
	}
	if err := empty.Apply([]client.Provider{{Name: "a", Kind: "azure"}}, nil); err == nil {
		t.Error("an unknown kind is taken")
	}
}

func TestKeysAreTested(t *testing.T) {
	t.Parallel()
	list := reply{status: 200, body: `{"object":"list","data":[{"id":"acme-9"},{"id":"n"}]}`}
	w := &fixture{replies: map[string][]reply{"k1": {refusalReply(401, "invalid_api_key"), list}, "k2": {list}, "k3": {list}, "other": {list}}}
	c, pool := newClient(t, w)
	if _, err := c.Test(t.Context(), "one", "k1"); err == nil || pool.List()[0].State != keypool.Invalid {
		t.Errorf("a refused key: %v, %s", err, pool.List()[0].State)
	}
	if names, err := c.Test(t.Context(), "one", "k1"); len(names) != 2 || err != nil || pool.List()[0].State != keypool.Active {
		t.Errorf("a key that works: %q, %v, %s", names, err, pool.List()[0].State)
	}
	if _, err := c.Test(t.Context(), "one", "none"); err == nil {
		t.Error("an unknown key works")
	}
	infos, err := c.List(t.Context(), "")
	if err != nil || len(infos) != 4 || infos[0].Context != 1234 || infos[3].Provider != "two" {
		t.Errorf("%+v, %v", infos, err)
	}
}

// Local servers report the length of the context and the abilities of a model at other endpoints.
func TestServersOfThisMachine(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		// The first model is loaded with a shorter context, the second is not loaded, the third has no tools. The server's
		// embedding model is left out.
		"lmstudio": {"qwen3-8b 8192 tools", "pixtral-12b 131072 tools images", "gemma-2-9b 4096"},
		"llamacpp": {"local-model 6144 images"},
	} {
		files := http.FileServer(http.Dir(filepath.Join("testdata", name)))
		srv := httptest.NewServer(files)
		t.Cleanup(srv.Close)
		c, err := client.New(client.Options{Pool: keypool.New(keypool.Options{})})
		if err != nil {
			t.Fatal(err)
		}
		list := func(overrides map[string]client.Override) (got []string) {
			if err := c.Apply([]client.Provider{{Name: name, Kind: "openai", BaseURL: srv.URL + "/v1/"}}, overrides); err != nil {
				t.Fatal(err)
			}
			infos, err := c.List(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range infos {
				text := fmt.Sprintf("%s %d", i.Model, i.Context)
				if i.Tools {
					text += " tools"
				}
				if i.Images {
					text += " images"
				}
				got = append(got, text)
			}
			return got
		}
		if got := list(nil); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		first, _, _ := strings.Cut(want[0], " ")
		if got := list(map[string]client.Override{name + "/" + first: {Context: 777}}); !strings.HasPrefix(got[0], first+" 777") {
			t.Errorf("%s: the settings do not win: %q", name, got)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	var got string
	reads := 0
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		got = r.Header.Get("X-Team")
		return &http.Response{StatusCode: 401, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	})
	c, err := client.New(client.Options{
		Pool: keypool.New(keypool.Options{}), Transport: transport,
		Secret: func(_ context.Context, written string) (string, error) {
			reads++
			return fmt.Sprintf("read %d of %s", reads, written), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply([]client.Provider{{Name: "a", Kind: "openai", Headers: map[string]string{"X-Team": "${T}"}}}, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second request does not read the secret again
		if _, err := c.Test(t.Context(), "a", ""); err == nil || got != "read 1 of ${T}" {
			t.Errorf("%v, header %q", err, got)
		}
	}
	if n, known := c.ClearCache(client.CacheModels); n != 1 || !known {
		t.Errorf("cleared %d, %t", n, known)
	}
	if _, err := c.Test(t.Context(), "a", ""); err == nil || got != "read 2 of ${T}" {
		t.Errorf("after the cache was cleared: %v, header %q", err, got)
	}
	if _, known := c.ClearCache("trees"); known {
		t.Error("a cache that does not exist was cleared")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// BenchmarkFind shows that looking up a provider takes as long among thousands as among ten.
func BenchmarkFind(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, err := client.New(client.Options{Pool: keypool.New(keypool.Options{})})
			if err != nil {
				b.Fatal(err)
			}
			var list []client.Provider
			for i := range n {
				list = append(list, client.Provider{Name: fmt.Sprint("p", i), Kind: "openai"})
			}
			if err := c.Apply(list, nil); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, _, err := c.Model("p7/m", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Requests are counted by model and outcome, however many names of models there are.
func TestFigures(t *testing.T) {
	t.Parallel()
	c, _ := newClient(t, &fixture{replies: map[string][]reply{"k1": {answer}, "k2": {answer}, "k3": {answer}, "other": {refusalReply(400, "bad")}}})
	const asked = 1000
	for i := range asked {
		for _, name := range []string{"one/acme-9", fmt.Sprintf("two/made-up-%d", i)} {
			m, _, err := c.Model(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range m.Stream(t.Context(), &llm.Request{}) {
				if err != nil && name == "one/acme-9" {
					t.Fatal(err)
				}
			}
		}
	}
	got, failed := c.Figures(), uint64(0)
	for _, f := range got[1:] {
		failed += f.Requests["caller"]
	}
	if len(got) > 250 || failed != asked {
		t.Errorf("%d models with %d failures", len(got), failed)
	}
	want := client.Figures{Provider: "one", Model: "acme-9", Requests: map[string]uint64{"ok": asked}, Usage: llm.Usage{Input: 3 * asked, Output: asked}, Cost: 5 * asked}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Error(diff)
	}
}
