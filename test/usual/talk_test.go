package usual_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

// swappableHandler is a handler that can be replaced while it serves.
type swappableHandler struct{ atomic.Pointer[http.Handler] }

func (s *swappableHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := s.Load()
	if h == nil {
		http.Error(w, "no script yet", http.StatusServiceUnavailable)
		return
	}
	(*h).ServeHTTP(w, r)
}

// chatting is a gateway with notes and a model, for conversations over the API. The script of the model can be
// written after the notes were made.
type chatting struct {
	gateway.Programs
	*gateway.Gateway
	settings string
	model    *swappableHandler
}

// newChatting starts a gateway with these MCP servers.
func newChatting(t *testing.T, servers ...gateway.Server) *chatting {
	t.Helper()
	return newChattingWith(t, `"siyuan":{}`, servers...)
}

// newChattingWith is newChatting with other members of the settings; they must have a section "siyuan".
func newChattingWith(t *testing.T, members string, servers ...gateway.Server) *chatting {
	t.Helper()
	model := &swappableHandler{}
	at := httptest.NewServer(model)
	t.Cleanup(func() {
		at.CloseClientConnections()
		at.Close()
	})
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, servers, members, `"agent":{"model":"fake/m"}`,
		fmt.Sprintf(`"providers":{"fake":{"kind":"openai","baseURL":%q,"keys":[{"label":"a","secret":"x"}]}}`, at.URL+"/v1"))
	return &chatting{Programs: p, Gateway: p.Serve(t, settings), settings: settings, model: model}
}

// setScript makes the model follow these turns from now on.
func (c *chatting) setScript(t *testing.T, turns ...provider.Turn) {
	t.Helper()
	fake, err := provider.New(provider.Script{Conversations: []provider.Conversation{{Turns: turns}}}, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := http.Handler(fake)
	c.model.Store(&h)
}

// callTurn returns a turn in which the model calls a tool.
func callTurn(tool string, args map[string]any) provider.Turn {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return provider.Turn{Call: []provider.Call{{Tool: tool, Args: raw}}}
}

// makeNotebook makes a notebook with level rw and documents of two paragraphs each, and returns its id.
func (c *chatting) makeNotebook(t *testing.T, name string, titles ...string) (box string) {
	t.Helper()
	box = runAction(t, c.Gateway, "notebook/create", map[string]any{"name": name}).Get("id").String()
	for _, title := range titles {
		runAction(t, c.Gateway, "fs/write", map[string]any{"path": "/" + name + "/" + title, "markdown": "first words of " + title + "\n\nlast words of " + title})
	}
	if out, stderr, code := c.Run(t, c.Home, "siyuan", "permission", "set", box, "rw", "--config", c.settings); code != 0 {
		t.Fatalf("set a level: %s%s", out, stderr)
	}
	return box
}

// beginSession begins a conversation and returns its id.
func (c *chatting) beginSession(t *testing.T) string {
	t.Helper()
	_, made := sendJSON(t, "POST", c.URL+"/api/v1/sessions", c.Control(t), `{}`)
	return made.Get("id").String()
}

// lastMessage returns the id of the message that the next message of a conversation follows.
func (c *chatting) lastMessage(t *testing.T, session string) string {
	t.Helper()
	_, view := sendJSON(t, "GET", c.URL+"/api/v1/sessions/"+session, c.Control(t), "")
	if n := view.Get("path.#").Int(); n > 0 {
		return view.Get(fmt.Sprintf("path.%d.id", n-1)).String()
	}
	return view.Get("rootId").String()
}

// say sends a message and answers the questions of the gate with the lines that answer returns. It returns the final
// state of the turn, and how its calls ended.
func (c *chatting) say(t *testing.T, session, text string, answer func(id int64, q gjson.Result) []string) (end gjson.Result, results []gjson.Result) {
	t.Helper()
	first, err := json.Marshal(map[string]any{
		"userMessage": map[string]string{"text": text, "parentId": c.lastMessage(t, session)}, "capabilities": map[string]any{"elicitation": map[string]any{"form": map[string]any{}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	body, say := io.Pipe()
	defer say.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+"/api/v1/sessions/"+session+"/turns", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.Control(t))
	r.Header.Set("Content-Type", "application/x-ndjson")
	go func() { _, _ = say.Write(append(first, '\n')) }() // ends when it is read, or with the pipe
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := gjson.Parse(strings.Clone(lines.Text()))
		switch {
		case line.Get("turn").Exists():
			return line.Get("turn"), results
		case line.Get("error").Exists():
			t.Fatalf("%s", line.Raw)
		case line.Get("event.type").String() == "tool.result":
			results = append(results, line.Get("event.data"))
		case line.Get("ask").Exists():
			for _, said := range answer(line.Get("ask.id").Int(), line.Get("ask.params")) {
				if _, err := io.WriteString(say, said+"\n"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return gjson.Result{}, results // the gateway has ended
}

// agreeWithGrant returns an answer function that agrees and chooses the first offered grant of a scope and a kind. If none is
// offered, it agrees to the one call.
func agreeWithGrant(scope, kind string) func(int64, gjson.Result) []string {
	return func(id int64, q gjson.Result) []string {
		grant := q.Get(fmt.Sprintf(`grants.#(scope==%q)#|#(kind==%q).id`, scope, kind)).String()
		if grant == "" {
			return []string{fmt.Sprintf(`{"id":%d,"result":{"confirm":true}}`, id)}
		}
		return []string{fmt.Sprintf(`{"id":%d,"result":{"confirm":true,"grant":%q}}`, id, grant)}
	}
}

// listGrants returns the output of `collie grants list`, which asks the gateway.
func (c *chatting) listGrants(t *testing.T) gjson.Result {
	t.Helper()
	return c.listGrantsWith(t, c.settings)
}

// listGrantsWith is listGrants with other settings, so that the command reads the file itself.
func (c *chatting) listGrantsWith(t *testing.T, settings string) gjson.Result {
	t.Helper()
	out, stderr, code := c.Run(t, c.Home, "grants", "list", "--json", "--config", settings)
	if code != 0 {
		t.Fatalf("grants list: %s", stderr)
	}
	return gjson.Get(out, "grants")
}
