package acceptance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
	"collie/test/await"
)

// The capabilities of a client that shows questions, and its answers to them.
const (
	shows = `{"elicitation":{}}`
	yes   = `{"action":"accept","content":{"confirm":true}}`
	no    = `{"action":"decline"}`
)

// TestWhoMayAnswerAQuestion lets each kind of caller make the dangerous call, and every other caller answer yes to the
// question. The call runs only if the caller that was asked agrees.
func TestWhoMayAnswerAQuestion(t *testing.T) {
	t.Parallel()
	w, s, _ := confirmWorld(t)
	tb := newOutcomeTable()
	tb.addRow("way", "asked", "answered by", "outcome")
	cell := func(way, asked, by, got, want string) {
		t.Helper()
		got, _, _ = strings.Cut(got, " ") // without the code
		tb.addRow(way, asked, by, got)
		if got != want {
			t.Errorf("%s, asked %s, answered by %s: %s, want %s", way, asked, by, got, want)
		}
	}
	s.checkLegacyAnswers(t, w, cell)
	s.checkModernAnswers(t, w, cell)
	s.checkProgramAnswers(t, cell)
	t.Log(tb.text())
}

// recordCell records one cell of the table of outcomes and compares it with the expected outcome.
type recordCell func(way, asked, by, got, want string)

// checkLegacyAnswers checks that a question counts as answered only in the session that was asked.
func (s *keyedGateway) checkLegacyAnswers(t *testing.T, w *world, cell recordCell) {
	const way = "elicitation legacy"
	mine, second := s.openLegacy(t, s.token, shows), s.openLegacy(t, s.token, shows)
	bridged := s.openLegacy(t, s.bridge, shows, "Collie-Stream", "a")
	thief := &legacySession{keyedGateway: s, key: s.bridge, id: mine.id}
	stranger := &legacySession{keyedGateway: s, key: "no key of this gateway", id: mine.id}
	for _, by := range []struct {
		name   string
		reply  func(t *testing.T, q gjson.Result, result string) int
		status int
	}{
		{name: "second session", reply: func(t *testing.T, q gjson.Result, r string) int { return second.reply(t, q.Get("id"), r) }, status: 202},
		{name: "session of a bridge", reply: func(t *testing.T, q gjson.Result, r string) int { return bridged.reply(t, q.Get("id"), r) }, status: 404},
		{name: "other key, session 1", reply: func(t *testing.T, q gjson.Result, r string) int { return thief.reply(t, q.Get("id"), r) }, status: 404},
		{name: "no key, session 1", reply: func(t *testing.T, q gjson.Result, r string) int { return stranger.reply(t, q.Get("id"), r) }, status: 401},
		{name: "session 1, other question", reply: func(t *testing.T, _ gjson.Result, r string) int { return mine.reply(t, gjson.Parse("4711"), r) }, status: 202},
	} {
		status := 0
		got := outcomeOf(mine.call(t, func(q gjson.Result) {
			status = by.reply(t, q, yes)
			mine.reply(t, q.Get("id"), no) // this result counts
		}))
		if status != by.status {
			t.Errorf("%s is answered with status %d, want %d", by.name, status, by.status)
		}
		cell(way, "session 1", by.name, got, "confirmation_declined")
	}
	cell(way, "session 1", "session 1", outcomeOf(mine.call(t, func(q gjson.Result) { mine.reply(t, q.Get("id"), yes) })), "ran")
	for _, kind := range []string{"bridge", "pipe"} {
		settings := w.settings
		if kind == "pipe" {
			settings = w.Settings(t, nil, w.siyuanSection(w.URL()), `"log":{"level":"debug"}`)
		}
		a, b := connectStdio(t, w.StartStdio(t, s.Home, settings), legacy, shows), connectStdio(t, w.StartStdio(t, s.Home, settings), legacy, shows)
		answer := func(p *stdioClient, result string) func(gjson.Result) {
			return func(q gjson.Result) { p.writeLine(t, `{"jsonrpc":"2.0","id":`+q.Get("id").Raw+`,"result":`+result+`}`) }
		}
		cell(way, kind+" 1", kind+" 2", outcomeOf(a.call(t, func(q gjson.Result) { answer(b, yes)(q); answer(a, no)(q) })), "confirmation_declined")
		cell(way, kind+" 1", kind+" 1", outcomeOf(a.call(t, answer(a, yes))), "ran")
	}
}

// checkModernAnswers checks that an answer counts only with the requestState of the question, once, in the same request, and
// from a client with the same key, pipe and name.
func (s *keyedGateway) checkModernAnswers(t *testing.T, w *world, cell recordCell) {
	const way = "elicitation modern"
	ask := func(key, name string, head ...string) string {
		m := s.callModern(t, key, name, shows, dangerousCall, head...)
		if outcomeOf(m) != "asked" {
			t.Fatalf("%s is not asked: %s", name, m.Raw)
		}
		return m.Get("result.requestState").String()
	}
	answered := func(state, result string) string {
		return fmt.Sprintf(`,"requestState":%q,"inputResponses":{"ask_1":%s}`, state, result)
	}
	state := ask(s.token, "editor")
	for _, by := range []struct {
		name, key, called, params string
		head                      []string
	}{
		{name: "agent", key: s.token, called: "agent", params: dangerousCall + answered(state, yes)},
		{name: "no name", key: s.token, called: "-", params: dangerousCall + answered(state, yes)},
		{name: "editor of a bridge", key: s.bridge, called: "editor", params: dangerousCall + answered(state, yes), head: []string{"Collie-Stream", "a"}},
		{name: "editor, control key", key: s.control, called: "editor", params: dangerousCall + answered(state, yes)},
		{name: "editor, other arguments", key: s.token, called: "editor", params: `"name":"system","arguments":{"action":"workspace_info","verbose":true}` + answered(state, yes)},
		{name: "editor, other tool", key: s.token, called: "editor", params: `"name":"fs","arguments":{"action":"workspace_info"}` + answered(state, yes), head: []string{"Mcp-Name", "fs"}},
		{name: "editor, invented state", key: s.token, called: "editor", params: dangerousCall + answered("collie.park.AAAAAAAAAAAAAAAAAAAAAAAAAA", yes)},
	} {
		cell(way, "editor", by.name, outcomeOf(s.callModern(t, by.key, by.called, shows, by.params, by.head...)), "refused")
	}
	cell(way, "editor", "editor, in advance", outcomeOf(s.callModern(t, s.token, "editor", shows, dangerousCall+`,"inputResponses":{"ask_1":`+yes+`}`)), "asked")
	cell(way, "editor", "editor", outcomeOf(s.callModern(t, s.token, "editor", shows, dangerousCall+answered(state, yes))), "ran")
	cell(way, "editor", "editor, again", outcomeOf(s.callModern(t, s.token, "editor", shows, dangerousCall+answered(state, yes))), "refused")
	state = ask(s.bridge, "editor", "Collie-Stream", "a")
	cell(way, "bridge a", "bridge b", outcomeOf(s.callModern(t, s.bridge, "editor", shows, dangerousCall+answered(state, yes), "Collie-Stream", "b")), "refused")
	cell(way, "bridge a", "editor", outcomeOf(s.callModern(t, s.token, "editor", shows, dangerousCall+answered(state, yes), "Collie-Stream", "a")), "refused")
	cell(way, "bridge a", "bridge a", outcomeOf(s.callModern(t, s.bridge, "editor", shows, dangerousCall+answered(state, yes), "Collie-Stream", "a")), "ran")
	for _, kind := range []string{"bridge", "pipe"} {
		settings := w.settings
		if kind == "pipe" {
			settings = w.Settings(t, nil, w.siyuanSection(w.URL()), `"log":{"level":"debug"}`)
		}
		a, b := connectStdio(t, w.StartStdio(t, s.Home, settings), modern, shows), connectStdio(t, w.StartStdio(t, s.Home, settings), modern, shows)
		state := a.call(t, nil).Get("result.requestState").String()
		cell(way, kind+" 1", kind+" 2", outcomeOf(b.send(t, dangerousCall+answered(state, yes), nil)), "refused")
		cell(way, kind+" 1", kind+" 1", outcomeOf(a.send(t, dangerousCall+answered(state, yes), nil)), "ran")
	}
}

// checkProgramAnswers checks that only a program with the control key may answer for a person at the API; a token does not
// suffice.
func (s *keyedGateway) checkProgramAnswers(t *testing.T, cell recordCell) {
	for _, by := range []struct{ name, key, confirm, elicit string }{
		{name: "control key (own program)", key: s.control, confirm: "ran", elicit: "ran"},
		{name: "token", key: s.token, confirm: "code", elicit: "code"},
		{name: "bridge key", key: s.bridge, confirm: "code", elicit: "code"},
	} {
		for _, way := range []struct{ name, more, method, want string }{
			{name: "confirm method", more: `,"confirms":true`, method: tool.MethodConfirm, want: by.confirm},
			{name: "elicitation at the API", more: `,"capabilities":{"elicitation":{}}`, method: "elicitation/create", want: by.elicit},
		} {
			asked, last := s.callAPI(t, by.key, true, way.more)
			if (asked == way.method) != (way.want == "ran") || asked != "" && way.want != "ran" {
				t.Errorf("%s, %s: asked %q", way.name, by.name, asked)
			}
			cell(way.name, by.name, by.name, outcomeOf(last), way.want)
		}
	}
	_, last := s.callAPI(t, s.control, false, `,"confirms":true`)
	cell("confirm method", "control key, no dialogue", "-", outcomeOf(last), "confirmation_needed")
}

// TestElicitationConfirms turns the setting http.elicitationConfirms off: no client over HTTP may answer for its person,
// but a client that the user started on a pipe still may.
func TestElicitationConfirms(t *testing.T) {
	t.Parallel()
	w, s, pending := confirmWorld(t, `"http":{"elicitationConfirms":false}`)
	calls := map[string]func() string{
		legacy: func() string {
			return outcomeOf(s.openLegacy(t, s.token, shows).call(t, func(q gjson.Result) { t.Errorf("asked %s", q.Raw) }))
		},
		modern: func() string { return outcomeOf(s.callModern(t, s.token, "editor", shows, dangerousCall)) },
	}
	for era, call := range calls {
		if got := call(); !strings.HasPrefix(got, "code ") {
			t.Errorf("%s over HTTP: %s, want a code", era, got)
		}
	}
	code := strings.TrimPrefix(calls[modern](), "code ")
	if _, err := pending.Answer(t.Context(), code, true); err != nil {
		t.Fatal(err)
	}
	if got := calls[modern](); got != "ran" {
		t.Errorf("after the person's yes: %s", got)
	}
	if got := outcomeOf(connectStdio(t, w.StartStdio(t, s.Home, w.settings), modern, shows).call(t, nil)); got != "asked" {
		t.Errorf("on a pipe: %s, want a question", got)
	}
	// The gateway reads the setting while it runs, and applies it to open sessions too.
	open := s.openLegacy(t, s.token, shows)
	w.SettingsAt(t, w.settings, nil, w.siyuanSection(w.URL()))
	await.Until(t, "a question over HTTP", func() bool { return calls[modern]() == "asked" })
	if got := outcomeOf(open.call(t, func(q gjson.Result) { open.reply(t, q.Get("id"), yes) })); got != "ran" {
		t.Errorf("in an open session: %s", got)
	}
}

// TestTokensConfirm: each token decides whether its client may answer for a person, in both eras. The settings decide
// only for tokens that do not say.
func TestTokensConfirm(t *testing.T) {
	t.Parallel()
	for _, general := range []string{"true", "false"} {
		w, s, _ := confirmWorld(t, `"http":{"elicitationConfirms":`+general+`}`)
		for name, choice := range map[string]string{"trusted": "=true", "mute": "=false", "plain": ""} {
			args := []string{"token", "add", name, "--config", w.settings}
			if choice != "" {
				args = append(args, "--elicitation-confirms"+choice)
			}
			out, errs, code := w.Run(t, s.Home, args...)
			if code != 0 {
				t.Fatalf("%q: %s", args, errs)
			}
			token := strings.TrimSpace(out)
			await.Until(t, "the token counts", func() bool { return s.acceptsToken(t, token) })
			confirms := choice == "=true" || choice == "" && general == "true"
			session, asked := s.openLegacy(t, token, shows), 0
			got := outcomeOf(session.call(t, func(q gjson.Result) {
				asked++
				session.reply(t, q.Get("id"), yes)
			}))
			if confirms && (got != "ran" || asked != 1) || !confirms && (!strings.HasPrefix(got, "code ") || asked > 0) {
				t.Errorf("%s where the settings say %s, legacy: %s, asked %d times", name, general, got, asked)
			}
			if got := outcomeOf(s.callModern(t, token, "editor", shows, dangerousCall)); confirms != (got == "asked") || !confirms && !strings.HasPrefix(got, "code ") {
				t.Errorf("%s where the settings say %s, modern: %s", name, general, got)
			}
		}
	}
}

// acceptsToken reports whether the gateway accepts a token.
func (s *keyedGateway) acceptsToken(t *testing.T, token string) bool {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/v1/lists/tools", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
