package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/face/web"
	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/gate"
	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// identities are the keys of a gateway, and identities that resemble that of the command line.
var identities = map[string]web.Identity{
	"control":   {Principal: "me", Origin: tool.Direct, Manage: true},
	"token":     {Principal: "token", Origin: tool.MCPLocal},
	"bridge":    {Principal: "me", Origin: tool.MCPLocal},
	"remote":    {Principal: "token", Origin: tool.MCPRemote},
	"direct":    {Principal: "me", Origin: tool.Direct},
	"manager":   {Principal: "me", Origin: tool.MCPLocal, Manage: true},
	"anonymous": {},
}

// expectedRefusal returns the type of the error that a caller gets who cannot confirm. Without a known origin, the decision table denies
// the call.
func expectedRefusal(key string) string {
	if identities[key].Origin == "" {
		return string(tool.Denied)
	}
	return string(tool.Unconfirmed)
}

// serveDangerous starts a gateway with one dangerous action, and one that asks its caller.
func serveDangerous(t *testing.T) (*httptest.Server, *tooltest.Fake) {
	t.Helper()
	drop := tooltest.Action("drop")
	drop.Dangerous = true
	fake := tooltest.NewFake("s", tooltest.Offer("s", drop, tooltest.Action("ask")))
	fake.On("ask", func(ctx context.Context, c *tool.Call) (tool.Result, error) {
		raw, err := c.Caller.Ask(ctx, "elicitation/create", []byte(`{"message":"?"}`))
		return tool.Result{Raw: []byte(`{"content":[],"answer":` + string(raw) + `}`)}, err
	})
	log, err := audit.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	catalog := source.New([]tool.Source{fake}, source.Options{})
	srv := httptest.NewServer(web.New(web.Options{
		Pipeline: pipeline.New(catalog, pipeline.Options{Audit: log, Gate: gate.Options{Dir: t.TempDir()}}),
		Identify: func(r *http.Request) web.Identity { return identities[r.Header.Get("Authorization")] },
	}))
	t.Cleanup(func() {
		srv.Close()
		catalog.Close()
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv, fake
}

// Only the command line may declare that a person is there to confirm.
func TestOnlyTheControlKeyConfirms(t *testing.T) {
	t.Parallel()
	srv, fake := serveDangerous(t)
	for key := range identities {
		for _, capabilities := range []string{`{}`, `{"collie/confirm":{},"confirms":true}`} {
			before := len(fake.Calls())
			asked, last := callInDialogue(t, srv, key, `{"name":"s__drop","confirms":true,"capabilities":`+capabilities+`}`)
			ran := len(fake.Calls()) - before
			if key == "control" {
				if asked != tool.MethodConfirm || ran != 1 || gjson.Get(last, "isError").Raw != "false" {
					t.Errorf("%s: asked %q, %d ran, %s", key, asked, ran, last)
				}
				continue
			}
			if kind := gjson.Get(last, "error.type").String(); asked != "" || ran != 0 || kind != expectedRefusal(key) {
				t.Errorf("%s: asked %q, %d ran, %s", key, asked, ran, last)
			}
		}
		// A plain request cannot be asked anything, and a declaration alone is not a yes.
		before := len(fake.Calls())
		if last := callPlainly(t, srv, key, `{"name":"s__drop","confirms":true}`); gjson.Get(last, "error.type").String() != expectedRefusal(key) || len(fake.Calls()) > before {
			t.Errorf("%s without a stream: %s", key, last)
		}
	}
	// Only the member "confirms" gives the capability.
	if asked, last := callInDialogue(t, srv, "control", `{"name":"s__drop","capabilities":{"collie/confirm":{}}}`); asked != "" || gjson.Get(last, "error.type").String() != string(tool.Unconfirmed) {
		t.Errorf("asked %q, %s", asked, last)
	}
}

// callInDialogue makes a call as a dialogue and answers yes to one question.
func callInDialogue(t *testing.T, srv *httptest.Server, key, first string) (asked, last string) {
	t.Helper()
	body, say := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/api/v1/calls", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", key)
	req.Header.Set("Content-Type", "application/x-ndjson")
	go func() { _, _ = io.WriteString(say, first+"\n") }()
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	defer say.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		last = lines.Text()
		if m := gjson.Get(last, "ask.method").String(); m != "" {
			asked = m
			if _, err := io.WriteString(say, `{"id":`+gjson.Get(last, "ask.id").Raw+`,"result":{"confirm":true}}`+"\n"); err != nil {
				t.Fatal(err)
			}
			continue
		}
		break
	}
	return asked, last
}

// callPlainly makes a call in a plain request.
func callPlainly(t *testing.T, srv *httptest.Server, key, body string) string {
	t.Helper()
	w := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/calls", strings.NewReader(body))
	req.Header.Set("Authorization", key)
	req.Header.Set("Content-Type", "application/json")
	srv.Config.Handler.ServeHTTP(w, req)
	if !json.Valid(w.Body.Bytes()) {
		t.Errorf("no JSON: %s", w.Body)
	}
	return w.Body.String()
}

// A token is not a person: its holder may answer questions of servers, but not those of the gate. A caller
// that may manage is asked in the client's own way.
func TestElicitationOfATokenConfirmsNothing(t *testing.T) {
	t.Parallel()
	srv, fake := serveDangerous(t)
	const body = `{"name":"s__drop","capabilities":{"elicitation":{}}}`
	for key, who := range identities {
		before := len(fake.Calls())
		asked, last := callInDialogue(t, srv, key, body)
		ran := len(fake.Calls()) - before
		if who.Manage {
			if asked != "elicitation/create" || ran != 0 || gjson.Get(last, "error.type").String() != string(tool.Declined) {
				t.Errorf("%s: asked %q, %d ran, %s", key, asked, ran, last) // the answer that callInDialogue gives is for a different question
			}
			continue
		}
		if asked != "" || ran != 0 || gjson.Get(last, "error.type").String() != expectedRefusal(key) {
			t.Errorf("%s: asked %q, %d ran, %s", key, asked, ran, last)
		}
	}
	if asked, last := callInDialogue(t, srv, "token", `{"name":"s__ask","capabilities":{"elicitation":{}}}`); asked != "elicitation/create" {
		t.Errorf("a server's question: asked %q, %s", asked, last)
	}
}
