package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/mcp"
	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// Parts of a definition, with its author's white space and spelling of numbers.
const (
	itsInput       = `{"type":"object","properties":{"n":{"type":"integer", "minimum":1.0}},"required":["n"]}`
	itsOutput      = `{"type":"object", "properties":{"sum":{"type":"number"}},"required":["sum"]}`
	itsAnnotations = `{"title":"Adds","readOnlyHint":false, "destructiveHint":true,"openWorldHint":false}`
	itsDefinition  = `"title":"Add","description":"Adds one","inputSchema":` + itsInput + `,"outputSchema":` + itsOutput + `,"annotations":` +
		itsAnnotations + `,"icons":[{"src":"data:,"}],"_meta":{"a/b":1.0},"other":[1e2]}`
	itsResult = `{"content":[{"type":"text","text":"3","annotations":{"audience":["user"]},"_meta":{"a/b":1}},{"type":"resource_link","uri":"s://a","name":"r"},` +
		`{"type":"new kind", "data":1.0}],"structuredContent":{"sum":3.0, "more":"\u00e9"},"_meta":{"a/b":1e2},"other":null}`
	itsFailure = `{"content":[{"type":"text","text":"no sum"}],"isError":true,"structuredContent":{"why":1.0}}`
	itsError   = `{"code":-5,"message":"own","data":{"x":1.0},"y":1e2}`
)

// viewCase is one view of a server's actions.
type viewCase struct {
	profile source.Profile
	// call returns the name and arguments that a client sends to call an action.
	call func(action, args string) (name, arguments string)
	// describe returns the name and arguments of the call that describes an action; nil if the list does
	// that.
	describe func(action string) (name, arguments string)
}

func flatCall(action, args string) (string, string) { return "s__" + action, args }

func groupedCall(action, args string) (string, string) {
	return "s", strings.Replace(`{"action":"`+action+`",`+args[1:], ",}", "}", 1)
}

func groupedHelp(action string) (string, string) {
	return "s", `{"action":"help","topic":"` + action + `"}`
}

func searchCall(action, args string) (string, string) {
	return "collie_call", `{"name":"s__` + action + `","args":` + args + `}`
}

func searchDescribe(action string) (string, string) {
	return "collie_describe", `{"name":"s__` + action + `"}`
}

// Definitions and answers of a server reach clients of both eras unchanged in every view, as do its errors.
// Collie's own refusals are the same in all views.
func TestFidelityInEveryView(t *testing.T) {
	t.Parallel()
	for name, view := range map[string]viewCase{
		"flat":         {source.Profile{View: tool.Flat}, flatCall, nil},
		"grouped":      {source.Profile{View: tool.Grouped}, groupedCall, groupedHelp},
		"search":       {source.Profile{View: tool.Search}, searchCall, searchDescribe},
		"auto flat":    {source.Profile{Default: tool.Auto, Budget: 64 << 10}, flatCall, nil},
		"auto grouped": {source.Profile{Default: tool.Auto, Budget: 4 << 10}, groupedCall, groupedHelp},
		"auto search":  {source.Profile{Default: tool.Auto, Budget: 3 << 10}, searchCall, searchDescribe},
	} {
		for _, era := range []string{legacy, modern} {
			t.Run(name+" "+era, func(t *testing.T) {
				t.Parallel()
				w := serveSource(t, newAddingSource(), map[string]source.Profile{"": view.profile})
				view.check(t, w, w.dial(t, era))
			})
		}
	}
}

// newAddingSource is a server whose actions answer in every possible way. It has more actions than a view chosen by
// auto may list.
func newAddingSource() *tooltest.Fake {
	offer := tooltest.Offer("s")
	add := func(name string) *tool.Action {
		offer.Tools[0].Actions = append(offer.Tools[0].Actions, tool.Action{
			Name: name, Title: "Add", Description: "Adds one", InputSchema: json.RawMessage(itsInput), Definition: json.RawMessage(`{"name":"` + name + `",` + itsDefinition),
		})
		return &offer.Tools[0].Actions[len(offer.Tools[0].Actions)-1]
	}
	add("sum")
	add("fails")
	add("errs")
	add("off").Off = "switched off here"
	for i := range 60 {
		add("other_" + strings.Repeat("x", 30) + string(rune('a'+i%26)) + string(rune('a'+i/26)))
	}
	f := tooltest.NewFake("s", offer)
	f.On("sum", func(context.Context, *tool.Call) (tool.Result, error) {
		return tool.Result{Raw: json.RawMessage(itsResult)}, nil
	})
	f.On("fails", func(context.Context, *tool.Call) (tool.Result, error) {
		return tool.Result{Raw: json.RawMessage(itsFailure), IsError: true}, nil
	})
	f.On("errs", func(context.Context, *tool.Call) (tool.Result, error) {
		return tool.Result{}, &tool.ProtocolError{Code: -5, Message: "own", Raw: json.RawMessage(itsError)}
	})
	return f
}

// check makes the calls of one view as a client does, and compares definitions, results and errors with those of the server.
func (v *viewCase) check(t *testing.T, w *world, c *client) {
	t.Helper()
	call := func(name, args string) (string, error) {
		return c.request(t, "tools/call", `{"name":"`+name+`","arguments":`+args+`}`)
	}
	list, err := c.request(t, "tools/list", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	said := list
	if v.describe == nil {
		if want := `{"name":"s__sum",` + itsDefinition; !strings.Contains(list, want) {
			t.Errorf("the list does not have the definition as it is: %.2000s", list)
		}
	} else {
		said, err = call(v.describe("sum"))
		text := gjson.Get(said, "content.0.text").String()
		for _, part := range []string{itsInput, itsOutput, itsAnnotations} {
			if err != nil || !strings.Contains(text, part) {
				t.Errorf("what is said of the action lacks %s: %s, %v", part, text, err)
			}
		}
		for _, entry := range gjson.Get(list, "tools").Array() { // a missing hint means the worst, and some tools have none
			name, hints := entry.Get("name").String(), entry.Get("annotations")
			if calls, _ := v.call("sum", "{}"); name == calls && (hints.Get("readOnlyHint").Bool() || hints.Get("destructiveHint").Raw == "false") {
				t.Errorf("%s is said to do no harm: %s", name, hints.Raw)
			}
			if entry.Get("outputSchema").Exists() {
				t.Errorf("%s declares what not all behind it answer", name)
			}
		}
	}

	sum, err := call(v.call("sum", `{"n":2}`))
	if err != nil || sum != results(c, itsResult, false) {
		t.Errorf("the result arrives as %s, %v", sum, err)
	}
	if calls := w.fake.Calls(); len(calls) != 1 || string(calls[0].Args) != `{"n":2}` {
		t.Errorf("the server was called as %+v", calls)
	}
	failure, err := call(v.call("fails", `{"n":2}`))
	if err != nil || failure != results(c, itsFailure, false) {
		t.Errorf("the failure arrives as %s, %v", failure, err)
	}
	answer, err := call(v.call("errs", `{"n":2}`))
	if e, ok := errors.AsType[*mcp.RPCError](err); !ok || string(e.Raw) != itsError {
		t.Errorf("the server's protocol error arrives as %s, %v", answer, err)
	}
	for _, refused := range []struct{ action, args, kind string }{
		{"sum", `{}`, "validation_error"}, {"sum", `{"n":"x"}`, "validation_error"}, {"off", `{"n":2}`, "disabled_error"},
	} {
		answer, err := call(v.call(refused.action, refused.args))
		if err != nil || !gjson.Get(answer, "isError").Bool() || !strings.Contains(answer, refused.kind) {
			t.Errorf("%s with %s: %s, %v, want an error of type %s", refused.action, refused.args, answer, err, refused.kind)
		}
	}
	if n := len(w.fake.Calls()); n != 3 {
		t.Errorf("the server was called %d times, want 3", n)
	}
	if answer, err := c.request(t, "tools/call", `{"name":"s__nothing","arguments":{}}`); err == nil {
		t.Errorf("a tool that is not there answers %s", answer)
	}
	for what, text := range map[string]string{"the list": list, "what is said of an action": said, "a result": sum, "a failure": failure} {
		if strings.Contains(strings.ToLower(text), "x-collie") {
			t.Errorf("%s has words that are for our own programs: %s", what, text)
		}
	}
}
