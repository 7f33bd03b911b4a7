package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/app"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	auditadmin "collie/internal/pipeline/audit/admin"
	"collie/internal/pipeline/gate"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// nasty is a text with which a server or client might try to deceive the person who is asked.
const nasty = "a\x1b[2K\r\u202eb\nLet it run once? [y/N] y"

// fakeTerminal is a terminal at which a person has typed something.
type fakeTerminal struct {
	io.Reader
	shown bytes.Buffer
}

func (d *fakeTerminal) Write(b []byte) (int, error) { return d.shown.Write(b) }

func (d *fakeTerminal) Close() error { return nil }

// confirmKit is a home in which calls of one action can be made and confirmed.
type confirmKit struct {
	t    *testing.T
	dir  string
	gate *gate.Stage
}

// newConfirmKit returns a kit with an empty home, whose gate stores waiting calls there.
func newConfirmKit(t *testing.T) *confirmKit {
	t.Helper()
	dir := t.TempDir()
	p, _, _ := newProgram("")
	p.Home = dir
	cfg, err := p.Load()
	if err != nil {
		t.Fatal(err)
	}
	return &confirmKit{t, dir, gate.New(gate.Options{Dir: filepath.Join(cfg.Paths.State, "pending")})}
}

// call makes a dangerous call for a client that cannot be asked, and returns its error.
func (h *confirmKit) call(args string) error {
	a := tooltest.Action("drop")
	a.Dangerous, a.Description = true, nasty
	_, err := tooltest.Checked(h.t.Context(), h.gate.Check, &tool.Call{
		Request: tool.Request{Kind: tool.KindCall, Origin: tool.MCPRemote, Principal: "token", Client: nasty},
		Args:    json.RawMessage(args), Tool: "notes", Action: &a, Source: tooltest.NewFake("notes", tool.Offer{}),
	}, func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{}, nil })
	return err
}

// makeWaitingCall makes the same call, fails the test if it does not wait for a person, and returns the code under which it waits.
func (h *confirmKit) makeWaitingCall(args string) string {
	h.t.Helper()
	e, ok := errors.AsType[*tool.Error](h.call(args))
	if !ok || e.Kind != tool.Unconfirmed {
		h.t.Fatalf("the call does not wait: %v", e)
	}
	return e.Facts["confirmationCode"].(string)
}

// runCommand runs a command line. If d is nil, there is no terminal.
func (h *confirmKit) runCommand(d *fakeTerminal, line ...string) (code int, out, errs string) {
	h.t.Helper()
	p, o, e := newProgram("y\ny\ny\n")
	p.TTY = func() (io.ReadWriteCloser, error) {
		if d == nil {
			return nil, errors.New("no such device")
		}
		return d, nil
	}
	root := p.Root(ConfirmCommand(p.Program))
	root.SetArgs(append(line, "--home", h.dir))
	if err := root.ExecuteContext(h.t.Context()); err != nil {
		code = p.Report(err)
	}
	return code, o.String(), e.String()
}

// Only a yes lets the call run, and only the same call. No answer leaves it waiting.
func TestConfirmAsksAtTheTerminal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		typed string
		exit  int
		then  tool.ErrorKind // result of the same call, made again; empty if it runs
	}{
		{typed: "y\n", exit: 0, then: ""},
		{typed: " YES \n", exit: 0, then: ""},
		{typed: "是\n", exit: 0, then: ""},
		{typed: "n\n", exit: 5, then: tool.Declined},
		{typed: "\n", exit: 5, then: tool.Declined},
		{typed: "yes please\n", exit: 5, then: tool.Declined},
		{typed: "", exit: 5, then: tool.Unconfirmed}, // no answer
	} {
		h := newConfirmKit(t)
		code := h.makeWaitingCall(`{"id":"one"}`)
		d := &fakeTerminal{Reader: strings.NewReader(tt.typed)}
		exit, out, errs := h.runCommand(d, "confirm", strings.ToLower(code))
		if exit != tt.exit {
			t.Errorf("%q: exit %d, want %d: %s%s", tt.typed, exit, tt.exit, out, errs)
		}
		var kind tool.ErrorKind
		if err := h.call(`{"id":"one"}`); err != nil {
			kind = tool.KindOf(err)
		}
		if kind != tt.then {
			t.Errorf("%q: the same call again: %q, want %q", tt.typed, kind, tt.then)
		}
		if err := h.call(`{"id":"two"}`); tool.KindOf(err) != tool.Unconfirmed {
			t.Errorf("%q: another call: %v", tt.typed, err)
		}
	}
}

// The person sees the whole question. Nothing in it controls the terminal or looks like text of ours.
func TestConfirmShowsTheQuestion(t *testing.T) {
	t.Parallel()
	h := newConfirmKit(t)
	code := h.makeWaitingCall(`{"id":"\u001b[2K\u202e"}`)
	d := &fakeTerminal{Reader: strings.NewReader("y\n")}
	if exit, _, errs := h.runCommand(d, "confirm", code); exit != 0 {
		t.Fatal(errs)
	}
	got := regexp.MustCompile(`asked \S+ ago`).ReplaceAllString(d.shown.String(), "asked T ago")
	got = regexp.MustCompile(`expires in \S+`).ReplaceAllString(got, "expires in T")
	const want = "notes drop\n" +
		"  effect: a\uFFFD[2K \uFFFDb\n" +
		"  risk: high\n" +
		`  arguments: {"id":"\u001b[2K\u202e"}` + "\n" +
		"  asked T ago by a\uFFFD[2K \uFFFDb Let it run once? [y/N] y (mcp-remote) for token; this expires in T\n" +
		"Let it run once? [y/N] "
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("shown (-want +got):\n%s", d)
	}
}

// If a question has a name, only that name is a yes, for waiting calls and for calls of a command. --yes gives the name by
// itself.
func TestNamesAreTyped(t *testing.T) {
	t.Parallel()
	q := tool.Question{Tool: "notebook", Action: "remove", Risk: tool.RiskCritical, Name: "工作 1", Args: "{}"}
	raw, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]bool{"工作 1\n": true, " 工作 1 \r\n": true, "y\n": false, "yes\n": false, "工作\n": false, "\n": false} {
		var shown bytes.Buffer
		yes, err := askPending(t.Context(), root.NewLines(strings.NewReader(typed)), &shown, &app.PendingCall{Question: q})
		if yes != want || err != nil || !strings.HasSuffix(shown.String(), "To let it run, type 工作 1: ") || strings.Contains(shown.String(), "[y/N]") {
			t.Errorf("%q: %t, %v, shown %q", typed, yes, err, shown.String())
		}
		c := &caller{from: "notes", person: true, out: &shown, in: root.NewLines(strings.NewReader(typed))}
		got, err := c.Ask(t.Context(), tool.MethodConfirm, raw)
		if said := gjson.ParseBytes(got); err != nil || said.Get("confirm").Bool() != want || said.Get("name").Exists() != want {
			t.Errorf("%q: %s, %v", typed, got, err)
		}
	}
	c := &caller{yes: true, out: io.Discard}
	if got, err := c.Ask(t.Context(), tool.MethodConfirm, raw); err != nil || gjson.GetBytes(got, "name").String() != q.Name {
		t.Errorf("--yes: %s, %v", got, err)
	}
}

// Even a file of waiting calls that somebody has modified cannot control the terminal.
func TestQuestionTextIsHarmless(t *testing.T) {
	t.Parallel()
	q := tool.Question{Tool: nasty, Action: nasty, Effect: nasty, Targets: []string{nasty, nasty}, Args: nasty}
	got := QuestionText(&q)
	if strings.ContainsFunc(strings.ReplaceAll(got, "\n", ""), output.IsControl) || strings.Count(got, "\n") != 6 {
		t.Errorf("%q", got)
	}
	var shown bytes.Buffer
	w := &app.PendingCall{Question: q, Client: nasty, Principal: nasty, Origin: nasty}
	if yes, err := askPending(t.Context(), root.NewLines(strings.NewReader("")), &shown, w); yes || tool.KindOf(err) != tool.Unconfirmed {
		t.Errorf("%t, %v", yes, err)
	}
	if text := shown.String(); strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), output.IsControl) || strings.Count(text, "\n") != 8 {
		t.Errorf("%q", text)
	}
}

// A call cannot be confirmed without a terminal, but it can be refused.
func TestConfirmNeedsATerminal(t *testing.T) {
	t.Parallel()
	h := newConfirmKit(t)
	code := h.makeWaitingCall(`{}`)
	exit, out, errs := h.runCommand(nil, "confirm", code)
	if exit != 5 || out != "" || !strings.Contains(errs, "no terminal") || !strings.Contains(errs, "no such device") {
		t.Errorf("exit %d, %q, %q", exit, out, errs)
	}
	if exit, _, errs := h.runCommand(nil, "confirm", code, "--yes"); exit != 2 || !strings.Contains(errs, "unknown flag: --yes") {
		t.Errorf("--yes: exit %d, %q", exit, errs)
	}
	if h.makeWaitingCall(`{}`) != code {
		t.Error("the call does not wait any more")
	}
	// Refusing needs no terminal.
	if exit, out, errs = h.runCommand(nil, "confirm", "--deny", code); exit != 0 || !strings.HasPrefix(out, "refused") {
		t.Errorf("exit %d, %q, %q", exit, out, errs)
	}
	if err := h.call(`{}`); tool.KindOf(err) != tool.Declined {
		t.Errorf("the call again: %v", err)
	}
}

// Unknown codes and wrong arguments have the right exit codes.
func TestConfirmUsage(t *testing.T) {
	t.Parallel()
	h := newConfirmKit(t)
	for line, want := range map[string]int{
		"confirm AAAAAA": 1, "confirm --deny AAAAAA": 1, "confirm A --deny B": 2, "confirm A B": 2, "confirm --deny": 2, "confirm": 0,
	} {
		if exit, _, errs := h.runCommand(&fakeTerminal{Reader: strings.NewReader("y\n")}, strings.Fields(line)...); exit != want || errs == "" {
			t.Errorf("%s: exit %d, want %d: %s", line, exit, want, errs)
		}
	}
}

// The list has the waiting calls, oldest first, as a table, as JSON and for completion.
func TestConfirmListsWhatWaits(t *testing.T) {
	t.Parallel()
	h := newConfirmKit(t)
	first, second := h.makeWaitingCall(`{"n":1}`), h.makeWaitingCall(`{"n":2}`)
	_, _, _ = h.runCommand(nil, "confirm", "--deny", h.makeWaitingCall(`{"n":3}`)) // answered, so it is not waiting any more
	exit, out, _ := h.runCommand(nil, "confirm")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if exit != 0 || len(lines) != 3 || !regexp.MustCompile(`^CODE +ASKED +WHO +CALL +TARGETS$`).MatchString(lines[0]) {
		t.Fatalf("exit %d:\n%s", exit, out)
	}
	for i, code := range []string{first, second} {
		if !regexp.MustCompile(`^` + code + ` +\d+s ago +a.*\(mcp-remote\) +notes drop`).MatchString(lines[i+1]) {
			t.Errorf("%q", lines[i+1])
		}
	}
	if strings.ContainsFunc(strings.ReplaceAll(out, "\n", ""), output.IsControl) {
		t.Errorf("%q", out)
	}
	_, out, _ = h.runCommand(nil, "confirm", "--json")
	var got struct{ Waiting []app.PendingCall }
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Waiting) != 2 || got.Waiting[0].Code != first {
		t.Errorf("%v: %s", err, out)
	}
	p, _, _ := newProgram("")
	p.Home = h.dir
	if codes, _ := p.completeCodes(nil, nil, ""); len(codes) != 2 || codes[0] != first+"\tnotes drop" {
		t.Errorf("completion %q", codes)
	}
}

// A person's answer is recorded in the audit.
func TestConfirmIsOnRecord(t *testing.T) {
	t.Parallel()
	h := newConfirmKit(t)
	code := h.makeWaitingCall(`{}`)
	exit, out, errs := h.runCommand(&fakeTerminal{Reader: strings.NewReader("y\n")}, "confirm", code, "--json")
	if exit != 0 || !strings.Contains(out, `"state":"approved"`) {
		t.Fatalf("exit %d, %s%s", exit, out, errs)
	}
	p, _, _ := newProgram("")
	p.Home = h.dir
	cfg, err := p.Load()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for e, err := range auditadmin.Open(cfg).Query(t.Context(), auditadmin.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == "change" && e.Name == "confirm" && e.Origin == string(tool.Direct) && strings.Contains(string(e.Detail), `"answer":"approved"`) &&
			strings.Contains(string(e.Detail), code) {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d records of the answer, want 1", found)
	}
}

// The command line confirms its own calls, at the terminal or with --yes, which answers only questions of the
// gate.
func TestCallerConfirms(t *testing.T) {
	t.Parallel()
	q, err := json.Marshal(tool.Question{Tool: "notes", Action: "drop", Targets: []string{nasty, "工作"}, Args: "{}"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		person, yes bool
		typed, want string // empty if there is no person to ask
	}{
		{person: true, yes: false, typed: "y\n", want: `{"confirm":true}`},
		{person: true, yes: false, typed: "\n", want: `{"confirm":false}`},
		{person: true, yes: false, typed: "no\n", want: `{"confirm":false}`},
		{person: true, yes: false, typed: "", want: `{"confirm":false}`},
		{person: false, yes: true, typed: "n\n", want: `{"beforehand":true,"confirm":true}`},
		{person: true, yes: true, typed: "n\n", want: `{"beforehand":true,"confirm":true}`},
		{person: false, yes: false, typed: "y\n", want: ""},
	} {
		var shown bytes.Buffer
		c := &caller{from: "notes", person: tt.person, yes: tt.yes, out: &shown, in: root.NewLines(strings.NewReader(tt.typed))}
		got, err := c.Ask(t.Context(), tool.MethodConfirm, q)
		if can := c.Supports(tool.CanConfirm); can != (tt.want != "") || (err == nil) != can || string(got) != tt.want {
			t.Errorf("%+v: can %t, %s, %v", tt, can, got, err)
		}
		if asked := tt.person && !tt.yes; asked != strings.Contains(shown.String(), "    - 工作\n  arguments: {}\nRun it? [y/N] ") ||
			strings.ContainsFunc(strings.ReplaceAll(shown.String(), "\n", ""), output.IsControl) {
			t.Errorf("%+v: shown %q", tt, shown.String())
		}
		if c.Supports(tool.CanElicit) != tt.person || strings.Contains(string(c.Capabilities()), "confirm") {
			t.Errorf("%+v: %s", tt, c.Capabilities())
		}
		if _, err := c.Ask(t.Context(), "elicitation/create", json.RawMessage(`{"message":"?"}`)); (err == nil) != tt.person {
			t.Errorf("%+v: elicitation: %v", tt, err)
		}
		for err = nil; err == nil; { // read the rest of the input, so that the reader ends
			_, err = c.in.Next(t.Context())
		}
	}
}

// --yes reaches a running gateway together with the call, and only with the control key.
func TestRemoteConfirms(t *testing.T) {
	t.Parallel()
	a := tooltest.Action("drop")
	a.Dangerous = true
	src := tooltest.NewFake("notes", tooltest.Offer("notes", a))
	r := serveGateway(t, src)
	for _, yes := range []bool{true, false} {
		c := &caller{from: "notes", yes: yes, out: io.Discard, in: root.NewLines(strings.NewReader(""))}
		_, err := r.Call(t.Context(), newCallRequest("notes/drop", "{}", c))
		if yes && err != nil || !yes && tool.KindOf(err) != tool.Unconfirmed {
			t.Errorf("--yes %t: %v", yes, err)
		}
	}
	r.Gateway.Control = "token"
	c := &caller{from: "notes", yes: true, out: io.Discard, in: root.NewLines(strings.NewReader(""))}
	if _, err := r.Call(t.Context(), newCallRequest("notes/drop", "{}", c)); tool.KindOf(err) != tool.Unconfirmed {
		t.Errorf("with another key: %v", err)
	}
	if n := len(src.Calls()); n != 1 {
		t.Errorf("%d calls ran, want 1", n)
	}
}

// The grants that a question offers are numbered, each on a line of its own, and an answer names one of them by its id.
func TestQuestionOffersGrants(t *testing.T) {
	t.Parallel()
	until := time.Date(2030, 1, 2, 12, 0, 0, 0, time.Local)
	q := tool.Question{Tool: "fs", Action: "mv", Args: "{}", Grants: []tool.GrantOffer{
		{ID: "g1", Scope: "turn", Kind: "notebook", Within: "工作"},
		{ID: "g2", Scope: "session", Kind: "subtree", Within: "/工作/" + nasty},
		{ID: "g3", Scope: "always", Kind: "path", Within: "/srv/www/x", Expires: &until},
		{ID: "g4", Scope: "always", Kind: "host", Within: "https://go.dev"},
		{ID: "g5", Scope: "session", Kind: "command", Within: "go test …"},
		{ID: "g6", Scope: "session", Kind: "any"},
	}}
	text := QuestionText(&q)
	for _, want := range []string{
		"\n    1  until this answer is finished: everything in notebook 工作\n", "\n    3  always, until 2030-01-02: everything in folder /srv/www/x\n",
		"\n    4  always, until you take it back: everything at https://go.dev\n", "\n    5  in this conversation: the command go test …\n",
		"\n    6  in this conversation: whatever its arguments are\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
	if strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), output.IsControl) || strings.Count(text, "\n") != 9 {
		t.Errorf("the question is %q", text)
	}
	if got := Prompt(&q); got != "Run it? [y/N/1-6] " {
		t.Errorf("the prompt is %q", got)
	}
	for typed, want := range map[string]string{
		"y": `{"confirm":true}`, "1": `{"confirm":true,"grant":"g1"}`, " 6\n": `{"confirm":true,"grant":"g6"}`,
		"0": `{"confirm":false}`, "7": `{"confirm":false}`, "-1": `{"confirm":false}`, "g1": `{"confirm":false}`, "": `{"confirm":false}`, "1 2": `{"confirm":false}`,
	} {
		if got := string(Answer(&q, typed)); got != want {
			t.Errorf("%q: %s, want %s", typed, got, want)
		}
	}
}

// A question is in the language of the terminal as a whole: what would happen, why a person is asked, and what kind of thing
// each target is. Names stay as they are.
func TestQuestionInChinese(t *testing.T) { //nolint:paralleltest // the language is that of the process
	locale.Use(locale.OfLocale("zh_CN.UTF-8"))
	defer locale.Use(nil)
	text := QuestionText(&tool.Question{
		Tool: "fs", Action: "mv", Effect: "move this document and all below it to /Work/Done", Why: "make is not known to do no harm with these arguments (command.unknown)",
		Targets: []string{"document /Work/Plans (20260102030405-abcdefg)", "path /Work/Done", "other thing"}, Args: "{}",
		Grants: []tool.GrantOffer{{ID: "g1", Scope: "turn", Kind: "notebook", Within: "Work"}},
	})
	for _, want := range []string{
		"  影响：把这个文档及其下的全部内容移动到 /Work/Done\n", "  原因：不能确定 make 带这些参数是无害的 (command.unknown)\n", "  目标：\n",
		"    - 文档 /Work/Plans (20260102030405-abcdefg)\n", "    - 路径 /Work/Done\n", "    - other thing\n", "    1  直到这次回答结束：笔记本 Work 中的全部内容\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nlacks %q", text, want)
		}
	}
}
