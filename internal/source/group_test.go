package source_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/mcp/mcptest"
	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// newGroupedSource returns a source of one Tool in the grouped view.
func newGroupedSource(name string, actions ...tool.Action) *tooltest.Fake {
	offer := tooltest.Offer(name, actions...)
	offer.Tools[0].View = tool.Grouped
	offer.Tools[0].Description = "All about " + name + ".\nSecond line."
	return tooltest.NewFake(name, offer)
}

// noteActions returns three actions with different arguments.
func noteActions() []tool.Action {
	return []tool.Action{
		tooltest.Action("create", `"properties":{"title":{"type":"string"},"text":{"type":"string"},"tags":{"type":"array"}},"required":["title","text"]`),
		tooltest.Action("list", `"properties":{"limit":{"type":"integer"}}`),
		tooltest.Action("count"),
	}
}

// A grouped tool has an enum of its actions, a line for each that shows how to call it, and a help action.
func TestGroupedDefinition(t *testing.T) {
	t.Parallel()
	c := openCatalog(t, source.Options{}, newGroupedSource("notes", noteActions()...))
	entries := listEntries(t, c, tool.ListTools, "")
	if len(entries) != 1 {
		t.Fatalf("%d tools, want one", len(entries))
	}
	checkEqual(t, "definition", entries[0].Raw, `{"name":"notes","description":"All about notes.\nCall {action, …}; action=help topic=ACTION tells more.\n`+
		`create(title, text, …)\nlist(…)\ncount()","inputSchema":{"type":"object","properties":{"action":{"enum":["create","list","count","help"],"type":"string"},`+
		`"topic":{"type":"string"}},"required":["action"]}}`)
}

// A call of a grouped tool becomes a call of the action it names; the other arguments pass byte for byte.
func TestGroupedCall(t *testing.T) {
	t.Parallel()
	c := openCatalog(t, source.Options{}, newGroupedSource("notes", noteActions()...))
	for args, want := range map[string][2]string{
		`{"action":"create","title":"a","text":"b"}`:                      {"create", `{"title":"a","text":"b"}`},
		`{ "title" : 1.0e2 , "action":"create" , "n":12345678901234567 }`: {"create", `{"title":1.0e2,"n":12345678901234567}`},
		`{"action":"count"}`:               {"count", `{}`},
		`{"action":"list","topic":"mine"}`: {"list", `{"topic":"mine"}`},
	} {
		call, err := c.Resolve(t.Context(), toolCall("notes", args))
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		if call.Target != want[0] || string(call.Args) != want[1] || call.Action == nil || call.Action.Name != want[0] {
			t.Errorf("%s: %s %s, want %s", args, call.Target, call.Args, want)
		}
	}
}

// If an action takes an argument named action or topic, or is itself named help, calls nest all arguments in args,
// and the help action gets another name.
func TestNestedGroup(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]tool.Action{
		"action": tooltest.Action("run", `"properties":{"action":{"type":"string"}}`),
		"topic":  tooltest.Action("run", `"properties":{"topic":{"type":"string"}}`),
		"help":   tooltest.Action("help"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := openCatalog(t, source.Options{}, newGroupedSource("odd", tooltest.Action("plain"), odd))
			def := listEntries(t, c, tool.ListTools, "")[0]
			checkEqual(t, "actions", def.Get("inputSchema.properties.action.enum").Raw, `["plain","`+odd.Name+`","collie_help"]`)
			checkEqual(t, "args", def.Get("inputSchema.properties.args").Raw, `{"description":"JSON","type":"string"}`)
			if about := def.Get("description").String(); !strings.Contains(about, "Call {action, args:{…}}; action=collie_help") {
				t.Errorf("description: %s", about)
			}
			call, err := c.Resolve(t.Context(), toolCall("odd", `{"action":"`+odd.Name+`","args":{"action":"x","topic":"y"}}`))
			if err != nil {
				t.Fatal(err)
			}
			checkEqual(t, "action", call.Target, odd.Name)
			checkEqual(t, "arguments", string(call.Args), `{"action":"x","topic":"y"}`)
			for _, none := range []string{`{"action":"plain"}`, `{"action":"plain","args":null}`} {
				if call, err := c.Resolve(t.Context(), toolCall("odd", none)); err != nil || string(call.Args) != "{}" {
					t.Errorf("%s: %v, arguments %s", none, err, call.Args)
				}
			}
			// Models sometimes forget to nest the arguments.
			if beside, err := c.Resolve(t.Context(), toolCall("odd", `{"action":"plain","n":1}`)); err != nil || string(beside.Args) != `{"n":1}` {
				t.Errorf("arguments beside the action: %v, arguments %s", err, beside.Args)
			}
			r, err := resolveAndRun(t.Context(), c, toolCall("odd", `{"action":"collie_help","topic":"plain"}`))
			if err != nil || !strings.Contains(string(r.Raw), "# odd plain") {
				t.Errorf("help: %s %v", r.Raw, err)
			}
		})
	}
}

// Help shows a Tool, or one action with its whole schema. It can be called, and read as a resource of a listed
// template.
func TestHelp(t *testing.T) {
	t.Parallel()
	c := openCatalog(t, source.Options{}, newGroupedSource("notes", noteActions()...))
	checkEqual(t, "templates", listedNames(t, c, tool.ListTemplates, ""), []string{"collie://help/{tool}/{action}"})
	for name, call := range map[string]tool.Request{
		"notes create": toolCall("notes", `{"action":"help","topic":"create"}`),
		"notes":        toolCall("notes", `{"action":"help"}`),
	} {
		r, err := resolveAndRun(t.Context(), c, call)
		if err != nil {
			t.Errorf("help %s: %v", name, err)
			continue
		}
		page := gjson.GetBytes(r.Raw, "content.0.text").String()
		uri := "collie://help/" + strings.ReplaceAll(name, " ", "/")
		read, err := resolveAndRun(t.Context(), c, tool.Request{Kind: tool.KindRead, Name: uri})
		if err != nil {
			t.Errorf("read %s: %v", uri, err)
		}
		checkEqual(t, "resource "+uri, gjson.GetBytes(read.Raw, "contents.0.text").String(), page)
		checkEqual(t, "uri", gjson.GetBytes(read.Raw, "contents.0.uri").String(), uri)
		if !strings.HasPrefix(page, "# "+name+"\n") || !strings.Contains(page, "create(title, text, …)") {
			t.Errorf("help %s: %s", name, page)
		}
		if schema := string(noteActions()[0].InputSchema); name == "notes create" && !strings.Contains(page, schema) {
			t.Errorf("help %s lacks the schema %s: %s", name, schema, page)
		}
	}
}

// An unknown action is refused as a wrong argument of a known tool, with the nearest existing action.
func TestUnknownActionNamesTheNearest(t *testing.T) {
	t.Parallel()
	c := openCatalog(t, source.Options{}, newGroupedSource("notes", noteActions()...))
	for args, message := range map[string]string{
		`{"action":"creat"}`: `unknown action "creat"; did you mean "create"?`,
		`{"action":"qqqq"}`:  `unknown action "qqqq"`,
		`{}`:                 `the argument "action" is missing`,
		`{"action":""}`:      `the argument "action" is missing`,
	} {
		call, err := c.Resolve(t.Context(), toolCall("notes", args))
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Kind != tool.Invalid {
			t.Errorf("%s: %v, want an invalid argument", args, err)
			continue
		}
		checkEqual(t, "message", e.Message, message)
		checkEqual(t, "hint", e.Hint, "actions of notes: create, list, count, help")
		checkEqual(t, "tool", call.Tool, "notes")
	}
	_, err := resolveAndRun(t.Context(), c, toolCall("notes", `{"action":"help","topic":"lisst"}`))
	if err == nil || !strings.Contains(err.Error(), `did you mean "list"?`) {
		t.Errorf("unknown topic: %v", err)
	}
	if _, err := c.Resolve(t.Context(), toolCall("note", "{}")); tool.KindOf(err) != tool.NotFound {
		t.Errorf("note: %v, want an unknown tool", err)
	}
	for name, message := range map[string]string{
		"notes_list":    `unknown tool; call "notes" with action="list"`,
		"notes_nothing": "unknown tool", "note_list": "unknown tool",
	} {
		_, err := c.Resolve(t.Context(), toolCall(name, "{}"))
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Kind != tool.NotFound || e.Message != message {
			t.Errorf("%s: %v, want %s", name, e, message)
		}
	}
}

// The grouped list of fifty servers with twenty tools each has at most 8 % of the bytes of their flat list.
func TestGroupedListIsSmall(t *testing.T) {
	t.Parallel()
	defs := mcptest.ToolDefinitions(20)
	var sources []tool.Source
	for i := range 50 {
		offer := tooltest.Offer(fmt.Sprintf("server%02d", i))
		for _, def := range defs {
			offer.Tools[0].Actions = append(offer.Tools[0].Actions, tool.Action{
				Name: gjson.GetBytes(def, "name").String(), Definition: def,
				InputSchema: json.RawMessage(gjson.GetBytes(def, "inputSchema").Raw),
			})
		}
		sources = append(sources, tooltest.NewFake(offer.Tools[0].Name, offer))
	}
	c := openCatalog(t, source.Options{Profiles: map[string]source.Profile{"grouped": {View: tool.Grouped}}}, sources...)
	flat, _ := c.List(t.Context(), tool.ListTools, "")
	small, _ := c.List(t.Context(), tool.ListTools, "grouped")
	if n := len(listedNames(t, c, tool.ListTools, "")); n != 1000 {
		t.Errorf("%d flat tools, want 1000", n)
	}
	if n := len(listedNames(t, c, tool.ListTools, "grouped")); n != 50 {
		t.Errorf("%d grouped tools, want 50", n)
	}
	ratio := float64(len(small)) / float64(len(flat))
	t.Logf("flat %d bytes, grouped %d bytes: %.1f %%", len(flat), len(small), 100*ratio)
	if ratio > 0.08 {
		t.Errorf("grouped is %.1f %% of flat, want at most 8 %%", 100*ratio)
	}
}
