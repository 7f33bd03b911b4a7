package source_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/mcp/mcptest"
	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// openCatalog joins sources into a catalog that is closed with the test.
func openCatalog(t *testing.T, opts source.Options, sources ...tool.Source) *source.Catalog {
	t.Helper()
	c := source.New(sources, opts)
	t.Cleanup(c.Close)
	return c
}

// listEntries returns the entries of a list as they are sent.
func listEntries(t *testing.T, c *source.Catalog, kind tool.ListKind, profile string) []gjson.Result {
	t.Helper()
	raw, _ := c.List(t.Context(), kind, profile)
	if !json.Valid(raw) {
		t.Fatalf("list of %s is not JSON: %s", kind, raw)
	}
	return gjson.GetBytes(raw, string(kind)).Array()
}

// listedNames returns a field of each entry of a list.
func listedNames(t *testing.T, c *source.Catalog, kind tool.ListKind, profile string) []string {
	t.Helper()
	field := map[tool.ListKind]string{
		tool.ListTools: "name", tool.ListPrompts: "name", tool.ListResources: "uri", tool.ListTemplates: "uriTemplate",
	}[kind]
	out := []string{}
	for _, e := range listEntries(t, c, kind, profile) {
		out = append(out, e.Get(field).String())
	}
	return out
}

// checkEqual fails the test if got and want differ.
func checkEqual[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// resolveAndRun resolves a call as the pipeline does and runs it.
func resolveAndRun(ctx context.Context, c *source.Catalog, r tool.Request) (tool.Result, error) {
	call, err := c.Resolve(ctx, r)
	if err != nil {
		return tool.Result{}, err
	}
	return call.Source.Run(ctx, call)
}

// toolCall returns a client's call of a tool.
func toolCall(name, args string) tool.Request {
	return tool.Request{Kind: tool.KindCall, Name: name, Args: json.RawMessage(args)}
}

// A list that has not changed is handed out as it is. It does not run beside other tests, whose objects would count.
func TestListsAgainAllocateNothing(t *testing.T) { //nolint:paralleltest // see above
	c := openCatalog(t, source.Options{}, tooltest.NewFake("srv", tool.Offer{Tools: []tool.Tool{{Name: "srv", Actions: []tool.Action{tooltest.Action("do")}}}}))
	if n := testing.AllocsPerRun(100, func() { c.List(t.Context(), tool.ListTools, "") }); n != 0 {
		t.Errorf("%v objects a list, want none", n)
	}
}

// A call does not build the list of tools that nobody has asked for: a command that makes one call would have to wait
// for it. This test counts allocations, so it does not run beside others.
func TestCallsMakeNoList(t *testing.T) { //nolint:paralleltest // see above
	const tools = 500
	var actions []tool.Action
	for i := range tools {
		a := tooltest.Action(fmt.Sprint("do", i))
		a.Definition = fmt.Appendf(nil, `{"title":"t","name":%q,"inputSchema":{"type":"object"}}`, a.Name) // a definition that is costly to list
		actions = append(actions, a)
	}
	made := func(lists bool) float64 {
		return testing.AllocsPerRun(3, func() {
			c := source.New([]tool.Source{tooltest.NewFake("srv", tooltest.Offer("srv", actions...))}, source.Options{})
			defer c.Close()
			if _, err := c.Resolve(t.Context(), toolCall("srv__do7", "{}")); err != nil {
				t.Error(err)
			}
			if lists {
				c.List(t.Context(), tool.ListTools, "")
			}
		})
	}
	if call, both := made(false), made(true); both-call < tools {
		t.Errorf("a call makes %.0f objects, one with a list after it %.0f: the list was there already", call, both)
	}
}

// The catalog is itself a source: it serves help, instructions and URIs that no list names.
func TestCatalogIsASource(t *testing.T) {
	t.Parallel()
	tooltest.Source(t, func(t *testing.T) tooltest.Fixture {
		offer := tooltest.Offer("srv", tooltest.Action("echo"))
		offer.ReadsAny, offer.Instructions = true, "Be kind."
		offer.Tools[0].View = tool.Grouped
		fake := tooltest.NewFake("srv", offer)
		fake.On("srv://hidden", func(_ context.Context, c *tool.Call) (tool.Result, error) {
			return tooltest.Contents(c.Target, "found"), nil
		})
		fake.Hang("srv://slow")
		c := openCatalog(t, source.Options{}, fake)
		read := func(uri string) *tool.Call {
			return &tool.Call{Request: tool.Request{Kind: tool.KindRead, Name: uri}, Target: uri, Args: json.RawMessage("{}")}
		}
		return tooltest.Fixture{
			Source: c,
			Good: func() []*tool.Call {
				return []*tool.Call{
					{Request: tool.Request{Kind: tool.KindCall, Name: "srv"}, Target: "collie://help/srv"},
					{Request: tool.Request{Kind: tool.KindCall, Name: "srv"}, Target: "collie://help/srv/echo"},
					read("collie://help/srv"), read("collie://help/srv/echo"), read("collie://instructions/srv"), read("srv://hidden"),
				}
			},
			Refused: func() []*tool.Call {
				return []*tool.Call{
					{Request: tool.Request{Kind: tool.KindCall}, Target: "collie://help/srv/ech"},
					read("collie://help/none"),
					read("collie://none"), read("collie://server/srv/"), read("collie://server/none/x"), read("srv://none"),
				}
			},
			Hangs: func() *tool.Call { return read("srv://slow") },
		}
	})
}

// The same offers in the same order give the same bytes, in every list and view.
func TestListsAreTheSameBytesEachTime(t *testing.T) {
	t.Parallel()
	sources := func() []tool.Source {
		offer := tool.Offer{
			Tools:     []tool.Tool{tooltest.Tool("b", tooltest.Action("z"), tooltest.Action("a"))},
			Resources: []tool.Resource{tooltest.Resource("x://2"), tooltest.Resource("x://1")},
			Templates: []tool.Template{tooltest.Template("x://{n}")},
			Prompts:   []tool.Prompt{tooltest.Prompt("q"), tooltest.Prompt("p")},
		}
		return []tool.Source{tooltest.NewFake("b", offer), tooltest.NewFake("a", tooltest.Offer("a", tooltest.Action("m")))}
	}
	opts := source.Options{Profiles: map[string]source.Profile{"g": {View: tool.Grouped}}}
	one, two := openCatalog(t, opts, sources()...), openCatalog(t, opts, sources()...)
	for _, profile := range []string{"", "g"} {
		for _, kind := range []tool.ListKind{tool.ListTools, tool.ListResources, tool.ListTemplates, tool.ListPrompts} {
			a, _ := one.List(t.Context(), kind, profile)
			b, _ := two.List(t.Context(), kind, profile)
			checkEqual(t, string(kind), string(b), string(a))
		}
	}
	checkEqual(t, "order of tools", listedNames(t, one, tool.ListTools, ""), []string{"b__z", "b__a", "a__m"})
	checkEqual(t, "order of prompts", listedNames(t, one, tool.ListPrompts, ""), []string{"b__q", "b__p"})
	checkEqual(t, "order of resources", listedNames(t, one, tool.ListResources, ""), []string{"x://2", "x://1"})
}

// A rename changes the bytes of the name and nothing else, however odd the definition is.
func TestRenamingKeepsEveryOtherByte(t *testing.T) {
	t.Parallel()
	for seed := range int64(50) {
		offer := tooltest.Offer("srv")
		expected := []string{}
		for _, def := range mcptest.OddDefinitions(seed) {
			name := gjson.GetBytes(def, "name")
			offer.Tools[0].Actions = append(offer.Tools[0].Actions, tool.Action{
				Name: name.String(), Definition: def, InputSchema: json.RawMessage(gjson.GetBytes(def, "inputSchema").Raw),
			})
			exposed := "srv__" + strings.Map(cleanRune, name.String())
			expected = append(expected, string(def[:name.Index])+`"`+exposed+`"`+string(def[name.Index+len(name.Raw):]))
		}
		c := openCatalog(t, source.Options{}, tooltest.NewFake("srv", offer))
		raw, _ := c.List(t.Context(), tool.ListTools, "")
		checkEqual(t, "list", string(raw), `{"tools":[`+strings.Join(expected, ",")+`]}`)
	}
}

// cleanRune returns r, or an underscore if r may not be in the name of a tool.
func cleanRune(r rune) rune {
	if strings.ContainsRune("_-", r) || r < 128 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
		return r
	}
	return '_'
}

// Profiles show some tools, hide some, and choose views.
func TestProfiles(t *testing.T) {
	t.Parallel()
	sources := []tool.Source{
		tooltest.NewFake("git", tooltest.Offer("git", tooltest.Action("log"), tooltest.Action("push"), tooltest.Action("pull"))),
		tooltest.NewFake("web", tooltest.Offer("web", tooltest.Action("get"))),
	}
	c := openCatalog(t, source.Options{Profiles: map[string]source.Profile{
		"git":     {Tools: []string{"git"}},
		"some":    {Tools: []string{"git/p*", "web"}, Hide: []string{"git/push"}},
		"grouped": {View: tool.Grouped, Views: map[string]tool.View{"web": tool.Flat}, Hide: []string{"git/push"}},
	}}, sources...)
	for profile, shown := range map[string][]string{
		"":        {"git__log", "git__push", "git__pull", "web__get"},
		"default": {"git__log", "git__push", "git__pull", "web__get"},
		"nobody":  {}, // a client whose profile was removed sees nothing, not everything
		"git":     {"git__log", "git__push", "git__pull"},
		"some":    {"git__pull", "web__get"},
		"grouped": {"git", "web__get"},
	} {
		checkEqual(t, "profile "+profile, listedNames(t, c, tool.ListTools, profile), shown)
	}
	group := listEntries(t, c, tool.ListTools, "grouped")[0]
	checkEqual(t, "actions of a group", group.Get("inputSchema.properties.action.enum").String(), `["log","pull","help"]`)

	// Under no name can a client call, or read about, what its profile hides.
	for _, hidden := range []tool.Request{
		toolCall("git__push", "{}"), toolCall("git/push", "{}"), toolCall("git.push", "{}"),
		toolCall("git", `{"action":"push"}`), toolCall("git", `{"action":"help","topic":"push"}`),
	} {
		hidden.Profile = "grouped"
		if _, err := resolveAndRun(t.Context(), c, hidden); err == nil {
			t.Errorf("profile grouped hides git push, and %s %s runs", hidden.Name, hidden.Args)
		}
	}
	if calls := sources[0].(*tooltest.Fake).Calls(); len(calls) > 0 {
		t.Errorf("calls of what is hidden reached the source: %+v", calls)
	}
	if got := c.InputSchema("grouped", "web__get"); !slices.Equal(got, json.RawMessage(`{"type":"object"}`)) {
		t.Errorf("schema of web__get: %s", got)
	}
}

// An action that is switched off is not listed, but a call of it still resolves: the refusal says that it is off, not
// that it is unknown.
func TestSwitchedOffIsNotListed(t *testing.T) {
	t.Parallel()
	off := tooltest.Action("push")
	off.Off = "because"
	whole := tooltest.Tool("web", tooltest.Action("get"))
	whole.Off = "because"
	c := openCatalog(t, source.Options{},
		tooltest.NewFake("git", tooltest.Offer("git", tooltest.Action("log"), off)),
		tooltest.NewFake("web", tool.Offer{Tools: []tool.Tool{whole}}))
	checkEqual(t, "listed", listedNames(t, c, tool.ListTools, ""), []string{"git__log"})
	for _, name := range []string{"git__push", "web__get"} {
		if call, err := c.Resolve(t.Context(), toolCall(name, "{}")); err != nil || call.Action == nil {
			t.Errorf("%s: %v, action %v", name, err, call.Action)
		}
	}
}

// Set replaces the sources: those in both sets are not disturbed, those that go are no longer watched.
func TestSetReplacesSources(t *testing.T) {
	t.Parallel()
	a := tooltest.NewFake("a", tooltest.Offer("a", tooltest.Action("x")))
	b := tooltest.NewFake("b", tooltest.Offer("b", tooltest.Action("x")))
	d := tooltest.NewFake("d", tooltest.Offer("d", tooltest.Action("x")))
	c := openCatalog(t, source.Options{}, a, b)
	_, before := c.List(t.Context(), tool.ListTools, "")
	c.Set([]tool.Source{b, d}, nil, nil)
	checkEqual(t, "tools", listedNames(t, c, tool.ListTools, ""), []string{"b__x", "d__x"})
	checkEqual(t, "watchers", []int{a.Watchers(), b.Watchers(), d.Watchers()}, []int{0, 1, 1})
	if _, after := c.List(t.Context(), tool.ListTools, ""); after <= before {
		t.Errorf("revision %d after %d", after, before)
	}
	if _, err := c.Resolve(t.Context(), toolCall("a__x", "{}")); tool.KindOf(err) != tool.NotFound {
		t.Errorf("a__x: %v, want an unknown tool", err)
	}
	c.Close()
	c.Close() // twice is harmless
	checkEqual(t, "watchers after Close", []int{a.Watchers(), b.Watchers(), d.Watchers()}, []int{0, 0, 0})
}

// A prepared list is the one that is served, also after a change of its content.
func TestPrepare(t *testing.T) {
	t.Parallel()
	fake := tooltest.NewFake("git", tooltest.Offer("git", tooltest.Action("log")))
	c := openCatalog(t, source.Options{}, fake)
	c.Prepare("")
	checkEqual(t, "before", listedNames(t, c, tool.ListTools, ""), []string{"git__log"})
	c.Prepare("nobody")
	fake.Publish(tooltest.Offer("git", tooltest.Action("log"), tooltest.Action("push")), tool.ToolsChanged)
	c.Prepare("")
	checkEqual(t, "after a change", listedNames(t, c, tool.ListTools, ""), []string{"git__log", "git__push"})
}
