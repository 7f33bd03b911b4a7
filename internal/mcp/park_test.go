package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/mcp"
)

const allCapabilities = `{"roots":{},"sampling":{},"elicitation":{}}`

// callAskTool makes a modern call of the tool ask, which asks the client, and returns the result or the JSON-RPC
// error. args are its arguments; state is the requestState of the previous result, answers are the inputResponses;
// both may be empty.
func (s *httpFixture) callAskTool(who, args, state, answers string) json.RawMessage {
	s.t.Helper()
	params := `{"name":"ask","arguments":` + args
	if state != "" {
		params += `,"requestState":` + state
	}
	if answers != "" {
		params += `,"inputResponses":` + answers
	}
	r := s.exchange("POST", rpcRequest(1, "tools/call", params+","+modernMeta(allCapabilities)+"}"), modernHeaders("tools/call", "Mcp-Name", "ask", "Who", who)...)
	m, err := mcp.Parse([]byte(r.body))
	if err != nil {
		s.t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	if m.Error != nil {
		return m.Error
	}
	return m.Result
}

// parseInputRequired returns the state and the questions of an input_required result.
func parseInputRequired(t *testing.T, result json.RawMessage) (state string, asked map[string]struct {
	Method string
	Params json.RawMessage
},
) {
	t.Helper()
	if mcp.GetString(result, "resultType") != "input_required" {
		t.Fatalf("no question but %s", result)
	}
	if err := json.Unmarshal(mcp.Get(result, "inputRequests"), &asked); err != nil || len(asked) == 0 {
		t.Fatalf("%s: %v", result, err)
	}
	return string(mcp.Get(result, "requestState")), asked
}

func TestParkedRequest(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	const args = `{"ask":"elicitation/create","params":{"message":"é","n":1.0},"times":3}`
	result := s.callAskTool("ada", args, "", "")
	states := map[string]bool{}
	for n := range 3 {
		state, asked := parseInputRequired(t, result)
		if states[state] {
			t.Errorf("the state %s came twice", state)
		}
		states[state] = true
		if len(asked) != 1 {
			t.Errorf("%d questions at once", len(asked))
		}
		for key, q := range asked {
			if want := fmt.Sprintf(`{"message":"é","n":1.0,"nr":%d}`, n); q.Method != "elicitation/create" || string(q.Params) != want {
				t.Errorf("asked %s with %s, want %s", q.Method, q.Params, want)
			}
			result = s.callAskTool("ada", args, state, fmt.Sprintf(`{"%s":{"action": "accept","n":%d.0}}`, key, n))
		}
	}
	want := `{"action": "accept","n":0.0};{"action": "accept","n":1.0};{"action": "accept","n":2.0}`
	if got := textOfResult(t, result); got != want {
		t.Errorf("answered %s\nwant %s", got, want)
	}
	for state := range states { // a used state is not valid again
		if got := s.callAskTool("ada", args, state, `{}`); !strings.Contains(string(got), "-32602") {
			t.Errorf("a state used before gives %s", got)
		}
	}
}

// A state is refused if it is made up, or presented by another principal or for another request. Such an
// attempt does not affect the parked request.
func TestParkedRequestIsBound(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	const args = `{"ask":"roots/list"}`
	state, _ := parseInputRequired(t, s.callAskTool("ada", args, "", ""))
	answers := `{"ask_1":{"roots":[]}}`
	refused := func(what string, got string) {
		t.Helper()
		if !strings.Contains(got, "-32602") || !strings.Contains(got, "requestState") {
			t.Errorf("%s gives %s", what, got)
		}
	}
	refused("another principal", string(s.callAskTool("eve", args, state, answers)))
	refused("a made up state", string(s.callAskTool("ada", args, `"collie.park.AAAAAAAAAAAAAAAAAAAAAAAAAA"`, answers)))
	other := `{"name":"echo","arguments":{},"requestState":` + state + `,"inputResponses":` + answers + `,` + modernMeta(allCapabilities) + `}`
	refused("another tool", s.exchange("POST", rpcRequest(1, "tools/call", other), modernHeaders("tools/call", "Mcp-Name", "echo", "Who", "ada")...).body)
	renamed := strings.Replace(other, `"name":"echo","arguments":{}`, `"name":"ask","arguments":`+args, 1)
	renamed = strings.Replace(renamed, `{"name":"t","version":"1"}`, `{"name":"eve","version":"1"}`, 1)
	refused("a client of another name", s.exchange("POST", rpcRequest(1, "tools/call", renamed), modernHeaders("tools/call", "Mcp-Name", "ask", "Who", "ada")...).body)
	refused("other arguments", string(s.callAskTool("ada", `{"ask":"roots/list","times":2}`, state, answers)))
	refused("arguments twice", string(s.callAskTool("ada", `{"ask":"x"},"arguments":`+args, state, answers)))
	refused("one more parameter", string(s.callAskTool("ada", args+`,"more":1`, state, answers)))
	if got := textOfResult(t, s.callAskTool("ada", `{ "\u0061sk": "roots\/list" }`, state, answers)); got != `{"roots":[]}` {
		t.Errorf("answered %s", got)
	}
	// The Service handles a state that this package did not issue.
	if got := string(s.callAskTool("ada", args, `"of somebody behind"`, `{}`)); !strings.Contains(got, "input_required") {
		t.Errorf("a foreign state gives %s", got)
	}
}

// Questions that a retry leaves unanswered are asked again, together with new ones.
func TestParkedQuestionsAskedAgain(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	const args = `{"ask":"sampling/createMessage","at":4}`
	result := s.callAskTool("ada", args, "", "")
	asked := map[string]string{}
	for round := 0; mcp.GetString(result, "resultType") == "input_required"; round++ {
		if round > 20 {
			t.Fatal("it does not end")
		}
		state, open := parseInputRequired(t, result)
		var answers json.RawMessage
		for key, q := range open {
			if before, ok := asked[key]; ok && before != string(q.Params) {
				t.Errorf("question %s was %s, now it is %s", key, before, q.Params)
			}
			asked[key] = string(q.Params)
			if answers == nil { // one answer per round, mixed with values that are not answers
				answers = mcp.Edit(nil, mcp.Field{Key: key, Value: q.Params},
					mcp.Field{Key: "nobody", Value: []byte(`{}`)}, mcp.Field{Key: "null", Value: []byte(`null`)})
			}
		}
		result = s.callAskTool("ada", args, state, string(answers))
	}
	if got, want := textOfResult(t, result), `{"nr":0};{"nr":1};{"nr":2};{"nr":3}`; got != want {
		t.Errorf("answered %s\nwant %s", got, want)
	}
	if len(asked) != 4 {
		t.Errorf("asked %v, want four questions", asked)
	}
}

func TestParkedLimit(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	const args = `{"ask":"roots/list"}`
	var states []string
	for n := range 64 {
		result := s.callAskTool("ada", args, "", "")
		if mcp.GetString(result, "resultType") != "input_required" {
			t.Fatalf("request %d: %s", n, result)
		}
		state, _ := parseInputRequired(t, result)
		states = append(states, state)
	}
	if got := string(s.callAskTool("ada", args, "", "")); !strings.Contains(got, "too many") {
		t.Errorf("one more gives %s", got)
	}
	if err := <-s.service.ended; err == nil {
		t.Error("the one too many did not end")
	}
	parseInputRequired(t, s.callAskTool("eve", args, "", "")) // another principal's requests are counted separately
	s.callAskTool("ada", args, states[0], `{"ask_1":{}}`)
	parseInputRequired(t, s.callAskTool("ada", args, "", ""))
	if err := s.server.Close(); err != nil {
		t.Fatal(err)
	}
	for range 65 {
		if err := <-s.service.ended; !errors.Is(err, mcp.ErrSessionClosed) {
			t.Errorf("ended with %v", err)
		}
	}
}

func TestParkedOnAStream(t *testing.T) {
	t.Parallel()
	l := startLineClient(t, t.Context(), nil, 0)
	call := func(id int, more string) mcp.Message {
		l.writeLine(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask","arguments":{"ask":"roots/list"}%s,%s}}`, id, more, modernMeta(allCapabilities))
		return l.next()
	}
	state, asked := parseInputRequired(t, call(1, "").Result)
	if d := cmp.Diff(1, len(asked)); d != "" {
		t.Error(d)
	}
	m := call(2, `,"requestState":`+state+`,"inputResponses":{"ask_1":{"roots":[1.0]}}`)
	if got := textOfResult(t, m.Result); got != `{"roots":[1.0]}` {
		t.Errorf("answered %s", got)
	}
	// A client that declared no capabilities is not asked.
	l.writeLine(`{"jsonrpc":"2.0","id":3,"method":"ask","params":{"ask":"roots/list",%s}}`, modernMeta("{}"))
	if got := textOfResult(t, l.next().Result); got != mcp.ErrNoAsking.Error() {
		t.Errorf("answered %s", got)
	}
	l.closeInputAndWait()
}
