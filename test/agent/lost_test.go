package agent_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/test/await"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

var killCount = flag.Int("kills", 3, "how often TestKilledGatewayLosesNothing kills a gateway")

// heardTurn is the state of a turn that a client puts together from the events it receives over HTTP.
type heardTurn struct {
	text    string
	seq     int64
	started bool // a call was begun
	state   string
	last    string // id of the last event
}

// listen reads the events of path until the turn or the connection ends, or until it has read most events. With most 0
// there is no such limit.
func (f *heardTurn) listen(t *testing.T, ctx context.Context, g *gateway.Gateway, control, path, turn string, most int) {
	t.Helper()
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, g.URL+"/api/v1"+path, http.NoBody)
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+control)
	if f.last != "" {
		r.Header.Set("Last-Event-ID", f.last)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return // it was killed
	}
	defer resp.Body.Close()
	id := ""
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 16<<20)
	for n := 0; f.state == "" && (most == 0 || n < most) && lines.Scan(); {
		if after, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			id = after
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		n++
		f.applyEvent(t, gjson.Parse(data), turn)
		if id != "" {
			f.last, id = id, ""
		}
	}
}

// applyEvent applies an event of the turn. It fails the test if an event before it is missing.
func (f *heardTurn) applyEvent(t *testing.T, e gjson.Result, turn string) {
	t.Helper()
	if e.Get("turnId").String() != turn {
		return
	}
	seq, kind, data := e.Get("seq").Int(), e.Get("type").String(), e.Get("data")
	if kind != "snapshot" && seq != f.seq+1 {
		t.Errorf("after %d comes %d, %s", f.seq, seq, kind)
	}
	f.seq = seq
	switch kind {
	case "snapshot":
		f.text = textOf(data)
	case "text.delta":
		f.text += data.Get("text").String()
	case "tool.start":
		f.started = true
	case "turn.end":
		f.state = data.Get("state").String()
	}
}

// textOf returns the text of a turn, without results of tools.
func textOf(turn gjson.Result) string {
	var b strings.Builder
	for _, p := range turn.Get("parts").Array() {
		if p.Get("type").String() == "text" {
			b.WriteString(p.Get("text").String())
		}
	}
	return b.String()
}

// slowTurn returns a turn in which the model says so many words slowly, five characters every millisecond.
func slowTurn(words int) provider.Turn {
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "%d ", i)
	}
	return provider.Turn{Say: b.String(), Chunk: 5, Pace: provider.Duration(time.Millisecond)}
}

// TestKilledGatewayLosesNothing kills a gateway at random moments of turns, also during tool calls. The next gateway must
// have every accepted message and, if a tool call had begun, all text before it. No call may have run twice, or have run
// although its state says that it did not.
func TestKilledGatewayLosesNothing(t *testing.T) {
	before, after := slowTurn(120), slowTurn(60)
	var script provider.Script
	for round := range *killCount {
		turn := before
		turn.Call = []provider.Call{
			{Tool: "notebook", Args: json.RawMessage(fmt.Sprintf(`{"action":"create","name":"made %d."}`, round))},
			{Tool: "slow", Args: json.RawMessage(`{"ms":200}`)},
		}
		script.Conversations = append(script.Conversations, provider.Conversation{
			When: provider.When{Prompt: fmt.Sprintf("round %d.", round)}, Turns: []provider.Turn{turn, after},
		})
	}
	p, settings := newPrograms(t, script, gateway.Server{Name: "side"})
	home := t.TempDir()
	g := p.ServeIn(t, home, settings)
	states := map[string]int{}
	for round := range *killCount {
		control := g.Control(t)
		_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{}`)
		session, said := made.Get("id").String(), fmt.Sprintf("round %d.", round)
		status, accepted := post(t, g.URL+"/api/v1/sessions/"+session+"/turns", control, "application/json",
			fmt.Sprintf(`{"userMessage":{"text":%q},"overrides":{"allow":["notebook.create","side.*"]}}`, said))
		if status != http.StatusAccepted {
			t.Fatalf("status %d: %s", status, accepted.Raw)
		}
		turn := accepted.Get("turnId").String()
		heard := make(chan heardTurn, 1)
		go func() { // ends with the gateway
			var f heardTurn
			f.listen(t, t.Context(), g, control, "/turns/"+turn+"/events", turn, 0)
			heard <- f
		}()
		await.Moment(rand.N(700 * time.Millisecond))
		g.Signal(os.Kill)
		g.ExitCode()
		f := <-heard
		g = p.ServeIn(t, home, settings)
		end := awaitTurnEnd(t, g, turn)
		if state := end.Get("state").String(); state != "interrupted" && state != "done" {
			t.Errorf("round %d: the turn ended %s", round, end.Raw)
		}
		whole, text := before.Say+after.Say, textOf(end)
		if !strings.HasPrefix(whole, text) || f.started && !strings.HasPrefix(text, before.Say) {
			t.Errorf("round %d: the text that was kept is %q; a call had begun: %v", round, text, f.started)
		}
		var view json.RawMessage
		g.Get(t, "/sessions/"+session, &view)
		if got := gjson.GetBytes(view, `path.#(role=="user").parts.0.text`).String(); got != said {
			t.Errorf("round %d: the message is %q, want %q: %s", round, got, said, view)
		}
		effects := 0
		for _, n := range callAsPerson(t, g, "notebook/list", nil).Array() {
			if n.Get("name").String() == fmt.Sprintf("made %d.", round) {
				effects++
			}
		}
		state := end.Get(`calls.#(name=="notebook").state`).String()
		states[end.Get("state").String()+" "+state]++
		switch state {
		case "done":
			if effects != 1 {
				t.Errorf("round %d: the call is done, and there are %d notebooks", round, effects)
			}
		case "unknown":
			if effects > 1 {
				t.Errorf("round %d: there are %d notebooks", round, effects)
			}
		default:
			if effects != 0 {
				t.Errorf("round %d: the call is %q, and there are %d notebooks", round, state, effects)
			}
		}
	}
	t.Logf("turns and their calls: %v", states)
	g.Signal(os.Interrupt)
	g.ExitCode()
	p.AwaitNone(t, leaveLimit)
}

// TestTurnsOfOtherProcessesGoOn runs turns in three processes that share one file of conversations, and kills one of the
// processes: the turns of the other two go on to their ends.
func TestTurnsOfOtherProcessesGoOn(t *testing.T) {
	long := slowTurn(2500)
	p, settings := newPrograms(t, scriptOf(long))
	home := t.TempDir()
	alone := func() (run *gateway.Process, lines *bufio.Scanner, session, turn string) {
		run = p.Start(t, home, "agent", "run", "--local", "--json", "talk", "--config", settings)
		if err := run.Stdin.Close(); err != nil {
			t.Fatal(err)
		}
		lines = bufio.NewScanner(run.Stdout)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			if e := gjson.Parse(lines.Text()); e.Get("type").String() == "text.delta" {
				return run, lines, e.Get("sessionId").String(), e.Get("turnId").String()
			}
		}
		t.Fatalf("it said nothing: %s", run.Stderr())
		return nil, nil, "", ""
	}
	g := p.ServeIn(t, home, settings)
	control := g.Control(t)
	_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{}`)
	_, first := post(t, g.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", control, "application/json", `{"userMessage":{"text":"talk"}}`)
	second, told, _, secondTurn := alone()
	third, _, session, thirdTurn := alone()
	third.Signal(os.Kill)
	third.ExitCode()
	for told.Scan() { // reads its output, so that it does not block
	}
	if code := second.ExitCode(); code != 0 {
		t.Errorf("the second ends with %d: %s", code, second.Stderr())
	}
	for name, turn := range map[string]string{"first": first.Get("turnId").String(), "second": secondTurn} {
		if end := awaitTurnEnd(t, g, turn); end.Get("state").String() != "done" || textOf(end) != long.Say {
			t.Errorf("the %s is %s, with %d bytes of %d", name, end.Get("state"), len(textOf(end)), len(long.Say))
		}
	}
	var view json.RawMessage
	g.Get(t, "/sessions/"+session, &view) // the next message continues this conversation
	status, next := post(t, g.URL+"/api/v1/sessions/"+session+"/turns", control, "application/json",
		fmt.Sprintf(`{"userMessage":{"text":"more","parentId":%q}}`, gjson.GetBytes(view, "path.1.id").String()))
	if status != http.StatusAccepted {
		t.Fatalf("status %d: %s", status, next.Raw)
	}
	if end := awaitTurnEnd(t, g, thirdTurn); end.Get("state").String() != "interrupted" || !strings.HasPrefix(long.Say, textOf(end)) {
		t.Errorf("the third is %s", end.Raw)
	}
	if status, _ := post(t, g.URL+"/api/v1/turns/"+next.Get("turnId").String()+"/cancel", control, "application/json", `{}`); status != http.StatusAccepted {
		t.Errorf("cancelled with status %d", status)
	}
	if end := awaitTurnEnd(t, g, next.Get("turnId").String()); end.Get("state").String() != "cancelled" {
		t.Errorf("what was sent next is %s", end.Get("state"))
	}
}

// TestReconnectsOverHTTP has a client lose its connection many times. With Last-Event-ID it continues where it was, and
// misses nothing.
func TestReconnectsOverHTTP(t *testing.T) {
	long := slowTurn(2000)
	p, settings := newPrograms(t, scriptOf(long))
	g := p.Serve(t, settings)
	control := g.Control(t)
	_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{}`)
	session := made.Get("id").String()
	_, accepted := post(t, g.URL+"/api/v1/sessions/"+session+"/turns", control, "application/json", `{"userMessage":{"text":"talk"}}`)
	turn := accepted.Get("turnId").String()
	stays := make(chan heardTurn, 1)
	go func() { // ends with the turn
		var f heardTurn
		f.listen(t, t.Context(), g, control, "/turns/"+turn+"/events", turn, 0)
		stays <- f
	}()
	var f heardTurn
	cuts := 0
	for ; f.state == "" && cuts < 20; cuts++ {
		f.listen(t, t.Context(), g, control, "/events?sessions="+session, turn, 1+rand.IntN(4))
	}
	if t.Logf("%d connections", cuts); f.state != "" && cuts < 5 { // a busy machine comes to fewer
		t.Errorf("the turn ended after %d connections", cuts)
	}
	f.listen(t, t.Context(), g, control, "/events?sessions="+session, turn, 0)
	end := awaitTurnEnd(t, g, turn)
	for name, got := range map[string]heardTurn{"came again": f, "stayed": <-stays} {
		if got.state != "done" || got.text != long.Say || textOf(end) != long.Say {
			t.Errorf("the client that %s has %d bytes, the file %d, the model said %d; it ended %q", name, len(got.text), len(textOf(end)), len(long.Say), got.state)
		}
	}
}
