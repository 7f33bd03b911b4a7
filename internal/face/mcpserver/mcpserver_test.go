package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/mcp"
	"collie/internal/tool"
	"collie/test/await"
)

const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// each runs a test for both eras over both transports.
func each(t *testing.T, test func(t *testing.T, w *world, c *client)) {
	t.Helper()
	for _, protocol := range []string{legacy, modern} {
		t.Run("http "+protocol, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			test(t, w, w.dial(t, protocol))
		})
		t.Run("stdio "+protocol, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			test(t, w, w.dialLines(t, protocol))
		})
	}
}

// results returns result with the fields that the era of c adds to it.
func results(c *client, result string, cacheable bool) string {
	if c.Era == mcp.Legacy {
		return result
	}
	if cacheable {
		return `{"resultType":"complete","ttlMs":0,"cacheScope":"private",` + result[1:]
	}
	return `{"resultType":"complete",` + result[1:]
}

// Results of a source reach the client byte for byte, apart from what the era adds.
func TestResults(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world, c *client) {
		if c.Instructions != "Read me." || mcp.GetString(c.Info, "name") != "collie" || mcp.GetString(c.Info, "version") != "9" {
			t.Errorf("hello: %q, %s", c.Instructions, c.Info)
		}
		odd := `{"content":[],"x":12345678901234567890,"z":{"b":1.0,"a":"<&>"}}`
		w.fake.On("echo", func(context.Context, *tool.Call) (tool.Result, error) {
			return tool.Result{Raw: json.RawMessage(odd)}, nil
		})
		for _, tt := range []struct{ method, params, result string }{
			{"tools/call", `{"name":"s__echo","arguments":{"n":1}}`, results(c, odd, false)},
			{"tools/call", `{"name":"s__echo"}`, results(c, odd, false)},
			{"tools/call", `{"name":"s__fail","arguments":{}}`, results(c, `{"content":[{"type":"text","text":"no"}],"isError":true}`, false)},
			{"resources/read", `{"uri":"s://a"}`, results(c, `{"contents":[{"uri":"s://a","text":"contents of s://a"}]}`, true)},
			{"prompts/get", `{"name":"s__greet"}`, results(c, `{"messages":[{"role":"user","content":{"type":"text","text":"greet"}}]}`, false)},
			{
				"completion/complete", `{"ref":{"type":"ref/prompt","name":"s__greet"},"argument":{"name":"x","value":""}}`,
				results(c, `{"completion":{"values":["greet"],"hasMore":false}}`, false),
			},
			{
				"completion/complete", `{"ref":{"type":"ref/resource","uri":"s://item/{id}"},"argument":{"name":"id","value":""}}`,
				results(c, `{"completion":{"values":["s://item/{id}"],"hasMore":false}}`, false),
			},
			{"resources/templates/list", `{}`, results(c, `{"resourceTemplates":[{"uriTemplate":"s://item/{id}","name":"t"}]}`, true)},
			{"prompts/list", `{}`, results(c, `{"prompts":[{"name":"s__greet"}]}`, true)},
			{"resources/list", `{}`, results(c, `{"resources":[{"uri":"s://a","name":"r"},{"uri":"s://b","name":"r"}]}`, true)},
		} {
			got, err := c.request(t, tt.method, tt.params)
			if err != nil || got != tt.result {
				t.Errorf("%s %s: %v\ngot  %s\nwant %s", tt.method, tt.params, err, got, tt.result)
			}
		}
		got, err := c.request(t, "tools/list", `{}`)
		if names := gjson.Get(got, "tools.#.name").Raw; err != nil || names != `["s__echo","s__fail","s__hang","s__ask"]` {
			t.Errorf("tools: %s %v", names, err)
		}
	})
}

// If a known tool is refused, the result has isError; any other refusal is a protocol error with the era's
// code. Errors from a server are passed on unchanged.
func TestRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world, c *client) {
		for _, tt := range []struct {
			args, kind string
		}{
			{`{"name":"s__echo","arguments":{"n":"x"}}`, "validation_error"},
			{`{"name":"s__off","arguments":{}}`, "disabled_error"},
		} {
			got, err := c.request(t, "tools/call", tt.args)
			inner := gjson.Get(got, "content.0.text").String()
			if err != nil || !gjson.Get(got, "isError").Bool() || gjson.Get(inner, "error.type").String() != tt.kind {
				t.Errorf("%s: %s %v, want a result with an error of type %s", tt.args, got, err, tt.kind)
			}
		}
		notFound := mcp.CodeResourceNotFound
		if c.Era == mcp.Modern {
			notFound = mcp.CodeInvalidParams
		}
		for _, tt := range []struct {
			method, params string
			code           int
			text           string
		}{
			{"tools/call", `{"name":"s__eco","arguments":{}}`, mcp.CodeInvalidParams, `did you mean \"s__echo\"?`},
			{"tools/call", `{"arguments":{}}`, mcp.CodeInvalidParams, "params.name"},
			{"tools/call", `{"name":17}`, mcp.CodeInvalidParams, "params.name"},
			{"resources/read", `{"uri":"none://"}`, notFound, `"data":{"uri":"none://"}`},
			{"resources/read", `{"uri":"s://item/1"}`, -5, `{"code":-5,"message":"own","x":1.0}`},
			{"prompts/get", `{"name":"s__none"}`, mcp.CodeInvalidParams, "unknown prompt"},
			{"completion/complete", `{"ref":{}}`, mcp.CodeInvalidParams, "params.ref"},
			{"tools/list", `{"cursor":"x"}`, mcp.CodeInvalidParams, "params.cursor"},
			{"no/such", `{}`, mcp.CodeMethodNotFound, "no/such"},
		} {
			got, err := c.request(t, tt.method, tt.params)
			e, ok := errors.AsType[*mcp.RPCError](err)
			if ok && tt.text == "params.name" && e.Code() == -32020 {
				continue // the modern HTTP transport refuses the request earlier
			}
			if !ok || e.Code() != tt.code || !strings.Contains(string(e.Raw), tt.text) {
				t.Errorf("%s %s: %s %v; want code %d with %s", tt.method, tt.params, got, err, tt.code, tt.text)
			}
		}
	})
}

// Methods of one era do not exist in the other.
func TestErasDoNotMix(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ *world, c *client) {
		other := []string{"subscriptions/listen"}
		if c.Era == mcp.Modern {
			other = []string{"resources/subscribe", "resources/unsubscribe", "logging/setLevel"}
		}
		for _, method := range other {
			_, err := c.request(t, method, `{"uri":"s://a","level":"info","notifications":{}}`)
			if e, ok := errors.AsType[*mcp.RPCError](err); !ok || e.Code() != mcp.CodeMethodNotFound {
				t.Errorf("%s: %v, want method not found", method, err)
			}
		}
	})
}

// A call knows who made it, and a cancellation reaches the source.
func TestCallsCarryTheirCaller(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world, c *client) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := c.Call(ctx, &mcp.Request{Method: "tools/call", Name: "s__hang", Params: c.Own(json.RawMessage(`{"name":"s__hang","arguments":{}}`))})
			done <- err
		}()
		await.Until(t, "the call has come", func() bool { return len(w.fake.Calls()) > 0 })
		call := w.fake.Calls()[0]
		if call.Client != "test 2" || call.Principal == "" || call.Origin == "" || call.Caller == nil || call.ID == "" {
			t.Errorf("call: %+v", call)
		}
		if (call.Session == "") != (c.Era == mcp.Modern && call.Origin == tool.MCPRemote) {
			t.Errorf("session %q", call.Session)
		}
		for can, want := range map[tool.Capability]bool{
			tool.CanSample: true, tool.CanElicit: true, tool.CanRoots: false, tool.CanConfirm: false,
			tool.TakesInputRequired: c.Era == mcp.Modern, tool.WantsProgress: false, "other": false,
		} {
			if call.Caller.Supports(can) != want {
				t.Errorf("Supports(%s) is %t", can, !want)
			}
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

// A source can ask and notify the caller while its call runs.
func TestCallerIsAskedAndTold(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"http", "stdio"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fake.On("ask", func(ctx context.Context, call *tool.Call) (tool.Result, error) {
				call.Caller.Notify(ctx, "notifications/progress", json.RawMessage(`{"progressToken":"p","progress":1}`))
				answer, err := call.Caller.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"?"}`))
				if err != nil {
					return tool.Result{}, err
				}
				return tool.Result{Raw: json.RawMessage(`{"content":[],"answer":` + string(answer) + `}`)}, nil
			})
			c := w.dial(t, legacy)
			if transport == "stdio" {
				c = w.dialLines(t, legacy)
			}
			c.answer = func(m mcp.Message) (json.RawMessage, error) {
				if m.Method != "elicitation/create" || string(m.Params) != `{"message":"?"}` {
					t.Errorf("asked %s %s", m.Method, m.Params)
				}
				return json.RawMessage(`{"action":"accept","n":1.0}`), nil
			}
			params := `{"name":"s__ask","arguments":{},"_meta":{"progressToken":"p"}}`
			got, err := c.request(t, "tools/call", params)
			if want := `{"content":[],"answer":{"action":"accept","n":1.0}}`; got != want || err != nil {
				t.Errorf("%s %v, want %s", got, err, want)
			}
			if told := c.awaitNotification(t); told != `notifications/progress {"progressToken":"p","progress":1}` {
				t.Errorf("told %s", told)
			}
			c.answer = func(mcp.Message) (json.RawMessage, error) { return nil, &mcp.Error{Code: -1, Message: "no"} }
			_, err = c.request(t, "tools/call", params)
			if e, ok := errors.AsType[*mcp.RPCError](err); !ok || e.Code() != -1 {
				t.Errorf("the client's own refusal: %v", err)
			}
		})
	}
}

// A legacy session gets only what it has subscribed to, and nothing after its end.
func TestSessionsAreTold(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"http", "stdio"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c := w.dial(t, legacy)
			if transport == "stdio" {
				c = w.dialLines(t, legacy)
			}
			for _, r := range []struct{ method, params string }{
				{"resources/subscribe", `{"uri":"s://a"}`}, {"resources/subscribe", `{"uri":"s://a"}`}, {"logging/setLevel", `{"level":"warning"}`},
			} {
				if got, err := c.request(t, r.method, r.params); got != "{}" || err != nil {
					t.Fatalf("%s: %s %v", r.method, got, err)
				}
			}
			if diff := cmp.Diff([]string{"s://a"}, w.fake.Subscribed()); diff != "" {
				t.Error(diff)
			}
			logged := func(level string) {
				w.fake.Report(tool.Change{
					Kind: tool.LogMessage, Method: "notifications/message", Level: level, Params: json.RawMessage(`{"level":"` + level + `"}`),
				})
			}
			w.fake.Touch("s://b") // nobody has subscribed to it
			w.fake.Touch("s://a")
			logged("info")
			logged("error")
			w.fake.Publish(*w.fake.Offer(), tool.ToolsChanged)
			for _, want := range []string{
				`notifications/resources/updated {"uri":"s://a"}`, `notifications/message {"level":"error"}`, `notifications/tools/list_changed `,
			} {
				if got := c.awaitNotification(t); got != want {
					t.Errorf("told %s, want %s", got, want)
				}
			}
			if got, err := c.request(t, "resources/unsubscribe", `{"uri":"s://a"}`); got != "{}" || err != nil {
				t.Errorf("unsubscribe: %s %v", got, err)
			}
			if got := w.fake.Subscribed(); len(got) > 0 {
				t.Errorf("still subscribed: %v", got)
			}
			if _, err := c.request(t, "resources/subscribe", `{"uri":"s://b"}`); err != nil {
				t.Error(err)
			}
			if _, err := c.request(t, "logging/setLevel", `{"level":"loud"}`); err == nil {
				t.Error("level loud was taken")
			}
			_ = c.Link.Close()
			await.Until(t, "the subscriptions of a session end with it", func() bool { return len(w.fake.Subscribed()) == 0 })
		})
	}
}

// A modern client that subscribes gets an acknowledgement of what was granted, then the changes, each with
// the id of its subscription. When the gateway stops, the stream ends with a result.
func TestListen(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"http", "stdio"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c := w.dial(t, modern)
			if transport == "stdio" {
				c = w.dialLines(t, modern)
			}
			done := make(chan string, 1)
			go func() {
				got, err := c.request(t, "subscriptions/listen", `{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["s://a","none://"]}}`)
				if err != nil {
					got = err.Error()
				}
				done <- got
			}()
			hears := func() (method string, params gjson.Result) {
				method, raw, _ := strings.Cut(c.awaitNotification(t), " ")
				params = gjson.Parse(raw)
				if id := params.Get(`_meta.io\.modelcontextprotocol/subscriptionId`); id.Type != gjson.Number {
					t.Errorf("%s has no subscription id: %s", method, raw)
				}
				return method, params
			}
			method, params := hears()
			granted := params.Get("notifications")
			if method != "notifications/subscriptions/acknowledged" || !granted.Get("toolsListChanged").Bool() ||
				granted.Get("resourceSubscriptions").Raw != `["s://a"]` || granted.Get("promptsListChanged").Exists() {
				t.Errorf("first %s %s", method, params)
			}
			w.fake.Touch("s://a")
			if method, params := hears(); method != "notifications/resources/updated" || params.Get("uri").String() != "s://a" {
				t.Errorf("then %s %s", method, params)
			}
			w.fake.Publish(*w.fake.Offer(), tool.PromptsChanged) // it did not subscribe to those
			w.fake.Publish(*w.fake.Offer(), tool.ToolsChanged)
			if method, _ := hears(); method != "notifications/tools/list_changed" {
				t.Errorf("then %s", method)
			}
			w.stop()
			select {
			case got := <-done:
				if !strings.Contains(got, `"resultType":"complete"`) {
					t.Errorf("the end: %s", got)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("the stream did not end")
			}
			await.Until(t, "the subscriptions of a stream end with it", func() bool { return len(w.fake.Subscribed()) == 0 })
		})
	}
}

// A subscription without a filter is refused.
func TestListenNeedsAFilter(t *testing.T) {
	t.Parallel()
	c := newWorld(t).dial(t, modern)
	for _, params := range []string{`{}`, `{"notifications":7}`} {
		if _, err := c.request(t, "subscriptions/listen", params); err == nil || !strings.Contains(err.Error(), "params.notifications") {
			t.Errorf("%s: %v", params, err)
		}
	}
}
