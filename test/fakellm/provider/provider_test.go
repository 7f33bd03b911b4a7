package provider_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"collie/test/fakellm/provider"
)

const question = "What is for dinner?"

// script has a first turn with reasoning, text and two parallel calls, and a second one that
// answers with the results.
const script = `{"conversations": [{"turns": [
	{"think": "Let me see, 让我看看.", "say": "I look it up.", "call": [
		{"tool": "fs", "args": {"action": "read", "path": "/晚饭"}}, {"tool": "get-sum", "args": {"a": 1, "b": 2}}]},
	{"say": "Noodles, 面条, for three."}
]}]}`

// api writes requests of one API, and reads its answers, streamed or not.
type api struct {
	name, path, stream string
	header             map[string]string
	// ask is the body of the first request. The second request has calls and results after the question.
	ask, calls, results string
	// pick returns the content of an answer, or of a piece of it: text, names and arguments of calls, why it ended.
	pick func(v map[string]any) (text, calls, stop string)
}

var apis = []api{
	{
		name: provider.Anthropic, path: "/v1/messages", stream: "/v1/messages",
		header: map[string]string{"X-Api-Key": "k", "Anthropic-Version": "2023-06-01"},
		ask: `{"model": "fake-1", "max_tokens": 9, "stream": STREAM, "tools": [
			{"name": "mcp__c__fs", "input_schema": {"type": "object"}}, {"name": "mcp__c__get-sum", "input_schema": {"type": "object"}}],
			"messages": [{"role": "user", "content": "QUESTION"}MORE]}`,
		calls:   `,{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "mcp__c__fs", "input": {}}, {"type": "tool_use", "id": "2", "name": "mcp__c__get-sum", "input": {}}]}`,
		results: `,{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "2", "content": "3"}, {"type": "tool_result", "tool_use_id": "1", "is_error": true, "content": [{"type": "text", "text": "noodles"}]}]}`,
		pick: func(v map[string]any) (text, calls, stop string) {
			for _, b := range objectsAt(v, "content") {
				text += stringAt(b, "text")
				if stringAt(b, "type") == "tool_use" {
					calls += stringAt(b, "name") + compact(b["input"])
				}
			}
			text += stringAt(v, "delta", "text")
			if stringAt(v, "content_block", "type") == "tool_use" {
				calls += stringAt(v, "content_block", "name")
			}
			return text, calls + stringAt(v, "delta", "partial_json"), stringAt(v, "stop_reason") + stringAt(v, "delta", "stop_reason")
		},
	},
	{
		name: provider.Completions, path: "/v1/chat/completions", stream: "/v1/chat/completions",
		header: map[string]string{"Authorization": "Bearer k"},
		ask: `{"model": "fake-1", "stream": STREAM, "tools": [
			{"type": "function", "function": {"name": "c_fs"}}, {"type": "function", "function": {"name": "c_get_sum"}}],
			"messages": [{"role": "system", "content": "Be good."}, {"role": "user", "content": "QUESTION"}MORE]}`,
		calls:   `,{"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "c_fs", "arguments": "{}"}}, {"id": "2", "type": "function", "function": {"name": "c_get_sum", "arguments": "{"}}]}`,
		results: `,{"role": "tool", "tool_call_id": "1", "content": "noodles"}, {"role": "tool", "tool_call_id": "2", "content": [{"type": "text", "text": "3"}]}`,
		pick: func(v map[string]any) (text, calls, stop string) {
			for _, c := range objectsAt(v, "choices") {
				for _, key := range []string{"message", "delta"} {
					m, _ := c[key].(map[string]any)
					text += stringAt(m, "content")
					for _, call := range objectsAt(m, "tool_calls") {
						calls += stringAt(call, "function", "name") + stringAt(call, "function", "arguments")
					}
				}
				stop += stringAt(c, "finish_reason")
			}
			return text, calls, stop
		},
	},
	{
		name: provider.Responses, path: "/v1/responses", stream: "/v1/responses",
		header: map[string]string{"Authorization": "Bearer k"},
		ask: `{"model": "fake-1", "stream": STREAM, "tools": [{"type": "namespace", "name": "mcp__c", "tools": [
			{"type": "function", "name": "fs"}, {"type": "function", "name": "get_sum", "strict": true}]}, {"type": "web_search"}],
			"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "QUESTION"}]}MORE]}`,
		calls: `,{"type": "reasoning", "id": "r"},{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look"}]},
			{"type": "function_call", "call_id": "1", "namespace": "mcp__c", "name": "fs", "arguments": "{}"}, {"type": "function_call", "call_id": "2", "name": "get_sum", "arguments": "{}"}`,
		results: `,{"type": "function_call_output", "call_id": "1", "output": "noodles"}, {"type": "function_call_output", "call_id": "2", "output": [{"type": "input_text", "text": "3"}]}`,
		pick: func(v map[string]any) (text, calls, stop string) {
			switch stringAt(v, "type") {
			case "response.output_text.delta":
				text = stringAt(v, "delta")
			case "response.output_item.added":
				calls = stringAt(v, "item", "namespace") + stringAt(v, "item", "name")
			case "response.function_call_arguments.delta":
				calls = stringAt(v, "delta")
			case "response.completed":
				stop = stringAt(v, "response", "status")
			case "":
				for _, it := range objectsAt(v, "output") {
					for _, part := range objectsAt(it, "content") {
						text += stringAt(part, "text")
					}
					calls += stringAt(it, "namespace") + stringAt(it, "name") + stringAt(it, "arguments")
				}
				stop = stringAt(v, "status")
			}
			return text, calls, stop
		},
	},
	{
		name: provider.Gemini, path: "/v1beta/models/fake-1:generateContent", stream: "/v1beta/models/fake-1:streamGenerateContent?alt=sse",
		header: map[string]string{"X-Goog-Api-Key": "k"},
		ask: `{"tools": [{"functionDeclarations": [{"name": "mcp_c_fs", "parametersJsonSchema": {}}, {"name": "mcp_c_get-sum", "parameters": {}}]}],
			"contents": [{"role": "user", "parts": [{"text": "QUESTION"}]}MORE]}`,
		calls:   `,{"role": "model", "parts": [{"functionCall": {"name": "mcp_c_fs", "args": {}}}, {"functionCall": {"name": "mcp_c_get-sum"}}]}`,
		results: `,{"role": "user", "parts": [{"functionResponse": {"name": "mcp_c_fs", "response": {"output": "noodles"}}}, {"functionResponse": {"name": "mcp_c_get-sum", "response": {"output": 3}}}]}`,
		pick: func(v map[string]any) (text, calls, stop string) {
			for _, c := range objectsAt(v, "candidates") {
				content, _ := c["content"].(map[string]any)
				for _, p := range objectsAt(content, "parts") {
					if p["thought"] == nil {
						text += stringAt(p, "text")
					}
					if f, ok := p["functionCall"].(map[string]any); ok {
						calls += stringAt(f, "name") + compact(f["args"])
					}
				}
				stop += stringAt(c, "finishReason")
			}
			return text, calls, stop
		},
	},
}

// objectsAt returns the objects below a key.
func objectsAt(v map[string]any, key string) (objects []map[string]any) {
	all, _ := v[key].([]any)
	for _, one := range all {
		if o, ok := one.(map[string]any); ok {
			objects = append(objects, o)
		}
	}
	return objects
}

// stringAt returns the text at a path of keys.
func stringAt(v map[string]any, path ...string) string {
	for _, key := range path[:len(path)-1] {
		v, _ = v[key].(map[string]any)
	}
	s, _ := v[path[len(path)-1]].(string)
	return s
}

func compact(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// startServer starts a fake provider with a script, and returns it with its URL.
func startServer(t *testing.T, text string) (*provider.Server, string) {
	t.Helper()
	parsed, err := provider.ParseScript([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	fake, err := provider.New(parsed, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	return fake, server.URL
}

// body returns a request to the API; more follows the question.
func (a api) body(streamed bool, more string) string {
	return strings.NewReplacer("STREAM", compact(streamed), "QUESTION", question, "MORE", more).Replace(a.ask)
}

// post sends a request; the caller closes its body.
func (a api) post(t *testing.T, ctx context.Context, url string, streamed bool, body string) *http.Response {
	t.Helper()
	path := a.path
	if streamed {
		path = a.stream
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range a.header {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// answerValues returns the JSON values of an answer: one, or one for each piece of a stream.
func answerValues(t *testing.T, res *http.Response) (all []map[string]any, err error) {
	t.Helper()
	defer func() { _ = res.Body.Close() }()
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		var v map[string]any
		err := json.NewDecoder(res.Body).Decode(&v)
		return []map[string]any{v}, err
	}
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && string(data) != "[DONE]\n" {
			var v map[string]any
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatalf("%s: %v", data, err)
			}
			all = append(all, v)
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return all, err
		}
	}
}

// forEachAPI runs a test for every API, whole and streamed.
func forEachAPI(t *testing.T, test func(t *testing.T, a api, streamed bool)) {
	for _, a := range apis {
		for _, streamed := range []bool{false, true} {
			t.Run(a.name+map[bool]string{true: " streamed"}[streamed], func(t *testing.T) {
				t.Parallel()
				test(t, a, streamed)
			})
		}
	}
}

// TestConversation plays a conversation in each API: it has the same content, and the results of its calls are recorded.
func TestConversation(t *testing.T) {
	t.Parallel()
	forEachAPI(t, func(t *testing.T, a api, streamed bool) {
		fake, url := startServer(t, script)
		read := func(more string) (text, calls, stop string) {
			all, err := answerValues(t, a.post(t, t.Context(), url, streamed, a.body(streamed, more)))
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range all {
				x, y, z := a.pick(v)
				text, calls, stop = text+x, calls+y, stop+z
			}
			return text, calls, stop
		}
		text, calls, stop := read("")
		if text != "I look it up." || stop == "" {
			t.Errorf("it says %q and ends with %q", text, stop)
		}
		if want := `fs{"action":"read","path":"/晚饭"}|sum{"a":1,"b":2}`; !containsInOrder(strings.ReplaceAll(calls, " ", ""), want) {
			t.Errorf("it calls %s", calls)
		}
		if text, calls, _ = read(a.calls + a.results); text != "Noodles, 面条, for three." || calls != "" {
			t.Errorf("it says %q and calls %q", text, calls)
		}
		if faults := fake.Faults(); len(faults) > 0 {
			t.Fatal(faults)
		}
		requests := fake.Requests()
		last := requests[1]
		results := compact(last.Results())
		if len(last.Results()) != 2 || !strings.Contains(results, "noodles") || !strings.Contains(results, "3") {
			t.Errorf("the results are %s", results)
		}
		if last.API != a.name || last.Turn != 1 || last.Status != 200 || last.Key != "k" || last.Stream != streamed || last.Model != "fake-1" {
			t.Errorf("on record is %+v", last)
		}
		if names := last.Names(); len(names) != 2 || !last.Offers("fs") || !last.Offers("get-sum") || last.Offers("sum2") {
			t.Errorf("offered are %q", names)
		}
	})
}

// containsInOrder reports whether text contains all parts of want in order.
func containsInOrder(text, want string) bool {
	for part := range strings.SplitSeq(want, "|") {
		_, rest, ok := strings.Cut(text, part)
		if !ok {
			return false
		}
		text = rest
	}
	return true
}

// TestUntil checks that a stream sends half of its pieces, and the rest once it may.
func TestUntil(t *testing.T) {
	t.Parallel()
	for _, a := range apis {
		until := make(chan struct{})
		fake, err := provider.New(provider.Script{Conversations: []provider.Conversation{{Turns: []provider.Turn{
			{Say: "the first half|the other one", Chunk: 1, Until: until},
		}}}}, provider.Options{})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(fake)
		t.Cleanup(server.Close)
		res := a.post(t, t.Context(), server.URL, true, a.body(true, ""))
		pieces := make(chan string)
		go func() {
			defer close(pieces)
			all, _ := answerValues(t, res)
			for _, v := range all {
				text, _, _ := a.pick(v)
				pieces <- text
			}
		}()
		select {
		case <-pieces:
			t.Errorf("%s: the answer ends before it may", a.name)
		case <-time.After(50 * time.Millisecond):
		}
		close(until)
		said := ""
		for piece := range pieces {
			said += piece
		}
		if want := "the first half|the other one"; said != want {
			t.Errorf("%s: it says %q, want %q", a.name, said, want)
		}
	}
}

// TestFailures checks that attempts fail as the script says, and that the attempt after them gets the answer.
func TestFailures(t *testing.T) {
	t.Parallel()
	forEachAPI(t, func(t *testing.T, a api, streamed bool) {
		fake, url := startServer(t, `{"conversations": [{"turns": [{"say": "Here I am, after all.", "fail": [
			{"status": 429, "message": "slow down", "header": {"Retry-After": "7"}},
			{"after": 2, "message": "it broke"}, {"after": 2, "cut": true}, {"after": 1, "hang": true}]}]}]}`)
		ask := func(ctx context.Context) (*http.Response, string, error) {
			res := a.post(t, ctx, url, streamed, a.body(streamed, ""))
			data, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			return res, string(data), err
		}
		res, text, _ := ask(t.Context())
		if res.StatusCode != 429 || res.Header.Get("Retry-After") != "7" || !strings.Contains(text, "slow down") {
			t.Errorf("answered %d %s", res.StatusCode, text)
		}
		res, text, err := ask(t.Context())
		if want := map[bool]int{true: 200, false: 500}[streamed]; res.StatusCode != want || err != nil || !strings.Contains(text, "it broke") || strings.Contains(text, "after all") {
			t.Errorf("answered %d %s, %v", res.StatusCode, text, err)
		}
		if streamed {
			if _, text, err = ask(t.Context()); err == nil {
				t.Errorf("a stream that is cut gave %s", text)
			}
			ctx, leave := context.WithCancel(t.Context())
			res = a.post(t, ctx, url, true, a.body(true, ""))
			if _, err := res.Body.Read(make([]byte, 1)); err != nil {
				t.Error(err)
			}
			leave() // it would never end
			_ = res.Body.Close()
			if res, text, err = ask(t.Context()); err != nil || !strings.Contains(text, "Here I") {
				t.Errorf("at last answered %d %s, %v", res.StatusCode, text, err)
			}
		}
		for i, r := range fake.Requests() {
			if r.Fault != "" || r.Turn != 0 || r.Attempt > 4 {
				t.Errorf("request %d is on record as %+v", i, r)
			}
		}
	})
}

// TestRefusals sends requests that the real API would refuse, and requests for which the script has no answer: all are
// refused in the form of the API.
func TestRefusals(t *testing.T) {
	t.Parallel()
	forEachAPI(t, func(t *testing.T, a api, streamed bool) {
		fake, url := startServer(t, script)
		refused := func(what, body string, header map[string]string) {
			t.Helper()
			b := a
			if header != nil {
				b.header = header
			}
			res := b.post(t, t.Context(), url, streamed, body)
			all, err := answerValues(t, res)
			if err != nil || res.StatusCode < 400 || compact(all[0]["error"]) == "null" {
				t.Errorf("%s: answered %d %v, %v", what, res.StatusCode, all, err)
			}
		}
		ask := a.body(streamed, "")
		refused("no key", ask, map[string]string{"Anthropic-Version": "1"})
		refused("no JSON", ask[:len(ask)-1], nil)
		refused("no message", `{"model": "fake-1", "max_tokens": 1, "input": [], "messages": [], "contents": []}`, nil)
		refused("a tool twice", strings.NewReplacer("get-sum", "fs", "get_sum", "fs").Replace(ask), nil)
		refused("calls without results", a.body(streamed, a.calls), nil)
		refused("results without calls", a.body(streamed, a.results), nil)
		refused("a tool that is not offered", strings.ReplaceAll(ask, "fs", "gs"), nil)
		if n := len(fake.Faults()); n != 7 {
			t.Errorf("%d faults: %q", n, fake.Faults())
		}
	})
}

// TestBesideTheConversation checks that requests outside of the conversation, and calls that wait for a tool, use up no
// turn.
func TestBesideTheConversation(t *testing.T) {
	t.Parallel()
	fake, url := startServer(t, `{"conversations": [
		{"when": {"prompt": "title"}, "turns": [], "aside": "Dinner"},
		{"when": {"api": "completions"}, "wait": {"tool": "sh"}, "turns": [{"call": [{"tool": "fs"}]}, {"say": "Done."}]}]}`)
	a := apis[1]
	ask := func(body, want string) {
		t.Helper()
		all, err := answerValues(t, a.post(t, t.Context(), url, false, body))
		if err != nil {
			t.Fatal(err)
		}
		if text, calls, _ := a.pick(all[0]); text+calls != want {
			t.Errorf("it answers %q and calls %q, want %q", text, calls, want)
		}
	}
	begin, with := `{"model": "fake-1", "messages": [{"role": "user", "content": "dinner"}`, `], "tools": [{"function": {"name": "sh"}}`
	waited := `,{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "sh", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "1", "content": ""}`
	ask(begin+`]}`, "{}")
	ask(begin+with+`]}`, "sh{}")
	ask(begin+waited+with+`]}`, "sh{}")
	ask(begin+waited+with+`, {"function": {"name": "fs"}}]}`, "fs{}")
	ask(begin+waited+strings.ReplaceAll(waited, "sh", "fs")+with+`]}`, "Done.")
	if faults := fake.Faults(); len(faults) > 0 {
		t.Error(faults)
	}
}

// TestScriptsWithMistakes checks that the error for a wrong script names the place of the mistake.
func TestScriptsWithMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"conversations": [{"turns": [{"says": "x"}]}]}`:                          "says",
		`{"conversations": [{"turns": [{}, {"stop": "soon"}]}]}`:                   "conversations[0].turns[1].stop",
		`{"conversations": [{"turns": [{"call": [{}]}]}]}`:                         "call[0].tool",
		`{"conversations": [{"turns": [{"fail": [{"status": 200}]}]}]}`:            "fail[0].status",
		`{"conversations": [{"turns": [{"fail": [{}]}]}]}`:                         "fail[0]",
		`{"conversations": [{"turns": [{"pace": "fast"}]}]}`:                       "fast",
		`{"conversations": [{"when": {"api": "smoke-signals"}, "turns": []}]}`:     "when.api",
		`{"conversations": [{"turns": [{"call": [{"tool": "fs", "args": "x}]}]}]}`: "read the script",
	} {
		if _, err := provider.ParseScript([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
