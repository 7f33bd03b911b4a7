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
		provider.Completions, `data: {"id":"1","model":"m","choices":[{"delta":{"content":"Well"}}]}` + "\n\n", "data: {oops}\n\n",
		`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"nowhere","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n",
	},
	"responses": {
		provider.Responses,
		`data: {"type":"response.created","response":{"id":"1","model":"m"}}` + "\n\n" + `data: {"type":"response.output_text.delta","delta":"Well"}` + "\n\n", "data: {oops}\n\n",
		`data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"i","call_id":"c","name":"nowhere","arguments":"{}"}}` + "\n\n" +
			`data: {"type":"response.completed","response":{"id":"1","status":"completed","output":[]}}` + "\n\n",
	},
	"anthropic": {
		provider.Anthropic, `data: {"type":"message_start","message":{"id":"1","model":"m"}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Well"}}` + "\n\n", "data: {oops}\n\n",
		`data: {"type":"message_start","message":{"id":"1","model":"m"}}` + "\n\n" +
			`data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"nowhere","input":{}}}` + "\n\n" +
			`data: {"type":"content_block_stop","index":0}` + "\n\n" + `data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
	},
	"gemini": {
		provider.Gemini, `data: {"modelVersion":"m","candidates":[{"content":{"parts":[{"text":"Well"}]}}]}` + "\n\n", "data: {oops}\n\n",
		`data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"nowhere","args":{}}}]},"finishReason":"STOP"}]}` + "\n\n",
	},
	"ollama": {
		provider.Ollama, `{"model":"m","message":{"content":"Well"},"done":false}` + "\n", "{oops}\n",
		`{"model":"m","message":{"content":"","tool_calls":[{"function":{"name":"nowhere","arguments":{}}}]},"done":true,"done_reason":"stop"}` + "\n",
	},
}

// spoilt is a faulty answer of a provider, and the expected outcome of the turn that gets it.
type spoilt struct {
	turns func(d dialect) []provider.Turn // the script
	state string                          // the state in which the turn ends
	text  string                          // the beginning of the turn's text
	says  string                          // a text that the JSON of the turn contains
	key   string                          // the state of the provider's key afterwards
	limit int                             // maxTurnSeconds; 0 means 60
}

// failing returns the script of a turn whose every attempt fails in this way.
func failing(f provider.Failure) func(dialect) []provider.Turn {
	return func(dialect) []provider.Turn {
		turn := provider.Turn{Say: "Well, here is the beginning of an answer", Chunk: 4}
		for range 20 {
			turn.Fail = append(turn.Fail, f)
		}
		return []provider.Turn{turn}
	}
}

// raw returns a script whose first answer is sent byte for byte: body, with the other fields of more.
func raw(body func(d dialect) []provider.Bytes, more provider.Raw) func(dialect) []provider.Turn {
	return func(d dialect) []provider.Turn {
		answer := more
		answer.Body = body(d)
		return []provider.Turn{{Raw: &answer}, {Say: "got $RESULTS"}}
	}
}

func texts(list ...string) (body []provider.Bytes) {
	for _, text := range list {
		body = append(body, provider.Bytes{Text: text})
	}
	return body
}

// tools returns a script in which the model makes these calls.
func tools(list ...provider.Call) func(dialect) []provider.Turn {
	return func(dialect) []provider.Turn { return []provider.Turn{{Call: list}, {Say: "got $RESULTS"}} }
}

// spoiling are the faulty answers by name.
var spoiling = map[string]spoilt{
	"stall":            {failing(provider.Failure{After: 6, Hang: true}), "error", "Well", "took longer than 2s", "active", 2},
	"reset":            {failing(provider.Failure{After: 6, Cut: true}), "error", "Well", "cut off", "active", 0},
	"error in between": {failing(provider.Failure{After: 6, Message: "it broke"}), "error", "Well", "it broke", "active", 0},
	"half a frame": {raw(func(d dialect) []provider.Bytes {
		return texts(d.begun, strings.TrimRight(d.begun, "\n")[:len(d.begun)-12])
	}, provider.Raw{}), "error", "Well", "cut off", "active", 0},
	"garbage": {raw(func(d dialect) []provider.Bytes { return texts(d.begun, d.garbage) }, provider.Raw{}), "error", "Well", "does not read", "active", 0},
	"wrong type": {raw(func(dialect) []provider.Bytes { return texts("<html>Sign in</html>") },
		provider.Raw{Header: map[string]string{"Content-Type": "text/html"}}), "error", "", "Sign in", "active", 0},
	"64 MiB": {raw(func(d dialect) []provider.Bytes {
		open, _, _ := strings.Cut(d.garbage, "oops")
		return append(texts(d.begun, open), provider.Bytes{Text: strings.Repeat("x", 1<<20), Repeat: 64})
	}, provider.Raw{}), "error", "Well", "longer than", "active", 0},
	"no UTF-8": {raw(func(d dialect) []provider.Bytes {
		before, after, _ := strings.Cut(d.begun, "Well")
		return []provider.Bytes{{Text: before + "Well", Base64: []byte{0xff, 0xfe}}, {Text: after}}
	}, provider.Raw{}), "error", "Well\ufffd\ufffd", "cut off", "active", 0},
	"no such key": {failing(provider.Failure{Status: 401, Message: "no such key"}), "error", "", "no such key", "invalid", 0},
	"too many":    {failing(provider.Failure{Status: 429, Header: map[string]string{"Retry-After": "600"}}), "error", "", "no key can be used", "cooling", 0},
	"once overloaded": {func(dialect) []provider.Turn {
		return []provider.Turn{{Say: "Well then", Fail: []provider.Failure{{Status: 503}}}}
	}, "done", "Well then", "", "active", 0},
	"broken arguments": {tools(provider.Call{Tool: "notebook", Raw: `{"action": 5 5`}), "done", "got", "error", "active", 0},
	"unknown tool":     {raw(func(d dialect) []provider.Bytes { return texts(d.stranger) }, provider.Raw{}), "done", "got", "there is no such tool", "active", 0},
	"200 calls": {func(d dialect) []provider.Turn {
		var list []provider.Call
		for range 200 {
			list = append(list, provider.Call{Tool: "notebook", Args: json.RawMessage(`{"action":"list"}`)})
		}
		return tools(list...)(d)
	}, "done", "got", "no more are made", "active", 0},
}

// TestSpoiltAnswers has turns get every faulty answer, in each of the five APIs. Every turn must end in the expected state
// and keep the text that came before the fault, the provider's key must have the expected state, and the gateway must be
// able to stop at once.
func TestSpoiltAnswers(t *testing.T) {
	var script provider.Script
	var providers []string
	for kind, d := range dialects {
		for name, s := range spoiling {
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
		for name := range spoiling {
			providers = append(providers, fmt.Sprintf(`%q:{"kind":%q,"baseURL":%q,"keys":[{"label":"a","secret":"x"}]}`, slug(kind, name), kind, at.URL+"/v1"))
		}
	}
	p := gateway.Place(t)
	settings := p.Settings(t, nil, `"siyuan":{}`, `"providers":{`+strings.Join(providers, ",")+`}`)
	g := p.Serve(t, settings)
	control := g.Control(t)
	t.Run("turns", func(t *testing.T) {
		for kind := range dialects {
			for name, s := range spoiling {
				t.Run(kind+" "+name, func(t *testing.T) {
					t.Parallel()
					_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{}`)
					status, accepted := post(t, g.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", control, "application/json",
						fmt.Sprintf(`{"userMessage":{"text":%q},"overrides":{"model":%q,"maxTurnSeconds":%d}}`, kind+", "+name+".", slug(kind, name)+"/m", cmp.Or(s.limit, 60)))
					if status != http.StatusAccepted {
						t.Fatalf("status %d: %s", status, accepted.Raw)
					}
					end := ended(t, g, accepted.Get("turnId").String())
					if end.Get("state").String() != s.state || !strings.HasPrefix(textOf(end), s.text) || !strings.Contains(end.Raw, s.says) {
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
			for name, s := range spoiling {
				state := k.Get("models.0.state").String() // the state for the one model, which may differ from the key's own
				if state == "" {
					state = k.Get("state").String()
				}
				if k.Get("provider").String() == slug(kind, name) && state != s.key {
					t.Errorf("the key of %s, %s is %s", kind, name, k.Raw)
				}
			}
		}
	}
	p.AwaitNone(t, leaveLimit)
}
