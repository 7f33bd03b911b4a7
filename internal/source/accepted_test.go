package source_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source"
	"collie/internal/source/upstream/modelapi"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
	"collie/test/catalogs"
)

// Whatever servers list, Collie's grouped and search definitions are accepted by every model API. In the flat view
// the servers' own definitions pass byte for byte.
func TestViewsFitAPIs(t *testing.T) {
	t.Parallel()
	servers := catalogs.Servers()
	huge := catalogs.Server{Name: "huge"}
	for i := range 1500 {
		huge.Tools = append(huge.Tools, fmt.Appendf(nil, `{"name":"do_%d","description":%q,"inputSchema":{"type":"object"}}`, i, strings.Repeat("x", 3000)))
	}
	nested := catalogs.Server{Name: "nested", Tools: []json.RawMessage{
		json.RawMessage(`{"name":"help","inputSchema":{"type":"object","properties":{"action":{}},"anyOf":[{}]}}`),
	}}
	for i := range 60 { // whose names alone are longer than a description may be
		servers = append(servers, catalogs.Server{Name: fmt.Sprintf("a-server-with-a-long-name-%d", i), Tools: nested.Tools})
	}
	servers = append(servers, huge, nested)
	for _, about := range []string{"", strings.Repeat("what it is for ", 40), strings.Repeat("笔记和日历的工具", 30)} {
		c := catalogOf(t, servers, about)
		for _, profile := range []string{"@grouped", "@search"} {
			for _, def := range listEntries(t, c, tool.ListTools, profile) {
				name := def.Get("name").String()
				for _, a := range modelapi.APIs() {
					for _, b := range a.Check(name, json.RawMessage(def.Raw)) {
						t.Errorf("%s: %s%s: %s, which %s does not take", profile, name, b.At, b.Limit, a.Name)
					}
				}
			}
		}
		flat := listEntries(t, c, tool.ListTools, "@flat")
		i := 0
		for _, s := range servers {
			for _, def := range s.Tools {
				want, got := gjson.GetBytes(def, "inputSchema").Raw, flat[i].Get("inputSchema").Raw
				if want != got || flat[i].Get("description").Raw != gjson.GetBytes(def, "description").Raw {
					t.Fatalf("%s of %s passes as %s", def, s.Name, flat[i].Raw)
				}
				i++
			}
		}
	}
}

// Some model APIs refuse additionalProperties, without which an object with members of any name cannot be described.
// Such an argument is listed as a string that holds JSON. A call may send it as an object too.
func TestArgumentsAsText(t *testing.T) {
	t.Parallel()
	a := tooltest.Action("help")
	c := openCatalog(t, source.Options{}, tooltest.NewFake("s", tooltest.Offer("s", a)))
	for name, r := range map[string]tool.Request{
		"nested, an object": toolCall("s", `{"action":"help","args":{"n":1}}`),
		"nested, a text":    toolCall("s", `{"action":"help","args":"{\"n\":1}"}`),
		"search, an object": toolCall("collie_call", `{"name":"s__help","args":{"n":1}}`),
		"search, a text":    toolCall("collie_call", `{"name":"s__help","args":"{\"n\":1}"}`),
	} {
		r.Profile = map[bool]string{true: "@grouped", false: "@search"}[r.Name == "s"]
		call, err := c.Resolve(t.Context(), r)
		if err != nil || call.Action == nil || call.Action.Name != "help" || string(call.Args) != `{"n":1}` {
			t.Errorf("%s: %v, %+v", name, err, call)
		}
	}
	for _, args := range []string{`"n"`, `"[1]"`, `[1]`, `"{"`} {
		r := toolCall("collie_call", `{"name":"s__help","args":`+args+`}`)
		r.Profile = "@search"
		if _, err := c.Resolve(t.Context(), r); tool.KindOf(err) != tool.Invalid {
			t.Errorf("args %s: %v, want an error of kind %s", args, err, tool.Invalid)
		}
	}
}
