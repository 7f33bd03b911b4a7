package agent_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/test/await"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

// dialect has, for one API, raw pieces of answers that the fake provider cannot make itself. The test sends them byte for
// byte, or combines them to faulty answers.
type dialect struct {
	api      string // name of the API in package provider
	begun    string // the beginning of a stream, with the text Well
	garbage  string // a piece of a stream that is not valid JSON
	stranger string // a stream that calls the tool nowhere
}

var dialects = map[string]dialect{
	"openai": {
		api: provider.Completions, begun: `data: {"id":"1","model":"m","choices":[{"delta":{"content":"Well"}}]}` + "\n\n", garbage: "data: {oops}\n\n",
		stranger: `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"nowhere","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n",
	},
	"responses": {
		api:   provider.Responses,
		begun: `data: {"type":"response.created","response":{"id":"1","model":"m"}}` + "\n\n" + `data: {"type":"response.output_text.delta","delta":"Well"}` + "\n\n", garbage: "data: {oops}\n\n",
		stranger: `data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"i","call_id":"c","name":"nowhere","arguments":"{}"}}` + "\n\n" +
			`data: {"type":"response.completed","response":{"id":"1","status":"completed","output":[]}}` + "\n\n",
	},
	"anthropic": {
		api: provider.Anthropic, begun: `data: {"type":"message_start","message":{"id":"1","model":"m"}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Well"}}` + "\n\n", garbage: "data: {oops}\n\n",
		stranger: `data: {"type":"message_start","message":{"id":"1","model":"m"}}` + "\n\n" +
			`data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"nowhere","input":{}}}` + "\n\n" +
			`data: {"type":"content_block_stop","index":0}` + "\n\n" + `data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
	},
	"gemini": {
		api: provider.Gemini, begun: `data: {"modelVersion":"m","candidates":[{"content":{"parts":[{"text":"Well"}]}}]}` + "\n\n", garbage: "data: {oops}\n\n",
		stranger: `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"nowhere","args":{}}}]},"finishReason":"STOP"}]}` + "\n\n",
	},
	"ollama": {
		api: provider.Ollama, begun: `{"model":"m","message":{"content":"Well"},"done":false}` + "\n", garbage: "{oops}\n",
		stranger: `{"model":"m","message":{"content":"","tool_calls":[{"function":{"name":"nowhere","arguments":{}}}]},"done":true,"done_reason":"stop"}` + "\n",
	},
}

// faultyAnswer is a faulty answer of a provider, and the expected outcome of the turn that gets it.
type faultyAnswer struct {
	turns      func(d dialect) []provider.Turn // the script
	state      string                          // the state in which the turn ends
	text       string                          // the beginning of the turn's text
	contains   string                          // a text that the JSON of the turn contains
	keyState   string                          // the state of the provider's key afterwards
	maxSeconds int                             // maxTurnSeconds; 0 means 60
}

// failEveryAttempt returns the script of a turn whose every attempt fails in this way.
func failEveryAttempt(f provider.Failure) func(dialect) []provider.Turn {
	return func(dialect) []provider.Turn {
		turn := provider.Turn{Say: "Well, here is the beginning of an answer", Chunk: 4}
		for range 20 {
			turn.Fail = append(turn.Fail, f)
		}
		return []provider.Turn{turn}
	}
}

// sendRaw returns a script whose first answer is sent byte for byte: body, with the other fields of more.
func sendRaw(body func(d dialect) []provider.Bytes, more provider.Raw) func(dialect) []provider.Turn {
	return func(d dialect) []provider.Turn {
		answer := more
		answer.Body = body(d)
		return []provider.Turn{{Raw: &answer}, {Say: "got $RESULTS"}}
	}
}

func bytesOf(list ...string) (body []provider.Bytes) {
	for _, text := range list {
		body = append(body, provider.Bytes{Text: text})
	}
	return body
}

// makeCalls returns a script in which the model makes these calls.
func makeCalls(list ...provider.Call) func(dialect) []provider.Turn {
	return func(dialect) []provider.Turn { return []provider.Turn{{Call: list}, {Say: "got $RESULTS"}} }
}

// faultyAnswers are the faulty answers by name.
var faultyAnswers = map[string]faultyAnswer{
	"stall":            {turns: failEveryAttempt(provider.Failure{After: 6, Hang: true}), state: "error", text: "Well", contains: "took longer than 2s", keyState: "active", maxSeconds: 2},
	"reset":            {turns: failEveryAttempt(provider.Failure{After: 6, Cut: true}), state: "error", text: "Well", contains: "cut off", keyState: "active"},
	"error in between": {turns: failEveryAttempt(provider.Failure{After: 6, Message: "it broke"}), state: "error", text: "Well", contains: "it broke", keyState: "active"},
	"half a frame": {turns: sendRaw(func(d dialect) []provider.Bytes {
		return bytesOf(d.begun, strings.TrimRight(d.begun, "\n")[:len(d.begun)-12])
	}, provider.Raw{}), state: "error", text: "Well", contains: "cut off", keyState: "active"},
	"garbage": {turns: sendRaw(func(d dialect) []provider.Bytes { return bytesOf(d.begun, d.garbage) }, provider.Raw{}), state: "error", text: "Well", contains: "does not read", keyState: "active"},
	"wrong type": {turns: sendRaw(func(dialect) []provider.Bytes { return bytesOf("<html>Sign in</html>") },
		provider.Raw{Header: map[string]string{"Content-Type": "text/html"}}), state: "error", text: "", contains: "Sign in", keyState: "active"},
	"64 MiB": {turns: sendRaw(func(d dialect) []provider.Bytes {
		open, _, _ := strings.Cut(d.garbage, "oops")
		return append(bytesOf(d.begun, open), provider.Bytes{Text: strings.Repeat("x", 1<<20), Repeat: 64})
	}, provider.Raw{}), state: "error", text: "Well", contains: "longer than", keyState: "active"},
	"no UTF-8": {turns: sendRaw(func(d dialect) []provider.Bytes {
		before, after, _ := strings.Cut(d.begun, "Well")
		return []provider.Bytes{{Text: before + "Well", Base64: []byte{0xff, 0xfe}}, {Text: after}}
	}, provider.Raw{}), state: "error", text: "Well\ufffd\ufffd", contains: "cut off", keyState: "active"},
	"no such key": {turns: failEveryAttempt(provider.Failure{Status: 401, Message: "no such key"}), state: "error", text: "", contains: "no such key", keyState: "invalid"},
	"too many":    {turns: failEveryAttempt(provider.Failure{Status: 429, Header: map[string]string{"Retry-After": "600"}}), state: "error", text: "", contains: "no key can be used", keyState: "cooling"},
	"once overloaded": {turns: func(dialect) []provider.Turn {
		return []provider.Turn{{Say: "Well then", Fail: []provider.Failure{{Status: 503}}}}
	}, state: "done", text: "Well then", keyState: "active"},
	"broken arguments": {turns: makeCalls(provider.Call{Tool: "notebook", Raw: `{"action": 5 5`}), state: "done", text: "got", contains: "error", keyState: "active"},
	"unknown tool":     {turns: sendRaw(func(d dialect) []provider.Bytes { return bytesOf(d.stranger) }, provider.Raw{}), state: "done", text: "got", contains: "there is no such tool", keyState: "active"},
	"200 calls": {turns: func(d dialect) []provider.Turn {
		var list []provider.Call
		for range 200 {
			list = append(list, provider.Call{Tool: "notebook", Args: json.RawMessage(`{"action":"list"}`)})
		}
		return makeCalls(list...)(d)
	}, state: "done", text: "got", contains: "no more are made", keyState: "active"},
}

// TestSpoiltAnswers has turns get every faulty answer, in each of the five APIs. Every turn must end in the expected state
// and keep the text that came before the fault, the provider's key must have the expected state, and the gateway must be
// able to stop at once.
func TestSpoiltAnswers(t *testing.T) {
	var script provider.Script
	var providers []string
	for kind, d := range dialects {
		for name, s := range faultyAnswers {
			script.Conversations = append(script.Conversations, provider.Conversation{When: provider.When{Prompt: kind + ", " + name + "."}, Turns: s.turns(d), Aside: "got no tools"})
		}
	}
	fake, err := provider.New(script, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := httptest.NewServer(fake)
	t.Cleanup(func() {
		at.CloseClientConnections()
		at.Close()
	})
	slug := func(kind, name string) string { return kind + "-" + strings.ReplaceAll(name, " ", "-") }
	for kind := range dialects {
		for name := range faultyAnswers {
			providers = append(providers, fmt.Sprintf(`%q:{"kind":%q,"baseURL":%q,"keys":[{"label":"a","secret":"x"}]}`, slug(kind, name), kind, at.URL+"/v1"))
		}
	}
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, nil, `"siyuan":{}`, `"providers":{`+strings.Join(providers, ",")+`}`)
	g := p.Serve(t, settings)
	control := g.Control(t)
	t.Run("turns", func(t *testing.T) {
		for kind := range dialects {
			for name, s := range faultyAnswers {
				t.Run(kind+" "+name, func(t *testing.T) {
					t.Parallel()
					_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{}`)
					status, accepted := post(t, g.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", control, "application/json",
						fmt.Sprintf(`{"userMessage":{"text":%q},"overrides":{"model":%q,"maxTurnSeconds":%d}}`, kind+", "+name+".", slug(kind, name)+"/m", cmp.Or(s.maxSeconds, 60)))
					if status != http.StatusAccepted {
						t.Fatalf("status %d: %s", status, accepted.Raw)
					}
					end := awaitTurnEnd(t, g, accepted.Get("turnId").String())
					if end.Get("state").String() != s.state || !strings.HasPrefix(textOf(end), s.text) || !strings.Contains(end.Raw, s.contains) {
						t.Errorf("it ended %s with %.80q: %.700s", end.Get("state"), textOf(end), end.Get("error").Raw)
					}
				})
			}
		}
	})
	begun := time.Now()
	g.Signal(os.Interrupt)
	g.ExitCode()
	await.Within(t, "to end with nothing to wait for", time.Since(begun), 8*time.Second)
	// A gateway that has ended has written the states of its keys to the file.
	out, stderr, code := p.Run(t, g.Home, "keys", "list", "--json", "--config", settings)
	if code != 0 {
		t.Fatalf("keys list: %s", stderr)
	}
	for _, k := range gjson.Get(out, "keys").Array() {
		for kind := range dialects {
			for name, s := range faultyAnswers {
				state := k.Get("models.0.state").String() // the state for the one model, which may differ from the key's own
				if state == "" {
					state = k.Get("state").String()
				}
				if k.Get("provider").String() == slug(kind, name) && state != s.keyState {
					t.Errorf("the key of %s, %s is %s", kind, name, k.Raw)
				}
			}
		}
	}
	p.AwaitNone(t, leaveLimit)
}
