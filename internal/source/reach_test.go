package source_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"collie/internal/pipeline/gate"
	"collie/internal/pipeline/switches"
	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
	"collie/test/await"
	"collie/test/catalogs"
)

// TestNothingUnreachable: whatever names servers use and whatever a profile shows, each action that is on and shown
// can be found, is described with its exact schema, and can be called by the names that a client sees. No other
// action can be reached by any name.
func TestNothingUnreachable(t *testing.T) {
	t.Parallel()
	recorded := catalogs.Servers()
	views, on, others := map[tool.View]int{}, 0, 0
	for seed := range await.Fewer(worlds) {
		w := newRandomCatalog(t, rand.New(rand.NewPCG(uint64(seed), 14)), recorded) // seeded: the same worlds each time
		for _, a := range w.actions {
			if a.shown {
				views[w.views[a.tool.Name]]++
				on++
				w.checkReached(t, a)
			} else {
				others++
				w.checkHidden(t, a)
			}
		}
		w.checkListsNoOther(t)
		if t.Failed() {
			t.Fatalf("in world %d: profile %+v", seed, w.profile)
		}
	}
	t.Logf("%d actions are shown %v, %d are not", on, views, others)
	if len(views) != 3 || others == 0 {
		t.Errorf("shown were %v, and %d actions were not: some case is missing", views, others)
	}
}

// worlds is the number of random catalogs that are tried.
const worlds = 60

// randomCatalog is a random catalog with a profile, and what that profile should see.
type randomCatalog struct {
	catalog *source.Catalog
	profile source.Profile
	fakes   map[string]*tooltest.Fake // by name of the tool
	actions []*expectedAction
	views   map[string]tool.View // the view in which each tool is shown
	listed  map[string]gjson.Result
	gate    *gate.Stage
}

// expectedAction is an action, and whether the profile shows it.
type expectedAction struct {
	tool   *tool.Tool
	action *tool.Action
	shown  bool
	names  []string // names that it has in some view, or that a client might guess
}

var (
	oddServers = []string{"a", "a__b", "b", "_", "__", "-", "A", "help", "x-1", strings.Repeat("s", 64), "git"}
	oddActions = []string{
		"c", "b__c", "a__b__c", "__", "a", "C", "读取", "写入", "чтение", "🙂", "🙃", "c.d", "c/d", "c d", `c"d`, "help", "collie_help", "action", "topic", "git_push",
		strings.Repeat("long", 30), strings.Repeat("long", 30) + "er", strings.Repeat("长", 70), "collie_find", "collie_call", "a/c", "a.c", "é", "<b>&",
	}
	oddSchemas = []string{
		`{"type":"object"}`, `{}`, `{"type":"object","properties":{"action":{"type":"string"}},"required":["action"]}`,
		`{ "type" : "object", "properties":{"args":{"type":"object"},"n":{"type":"number","default":1.0e2}}, "additionalProperties":false}`,
		`{"type":"object","properties":{"topic":{"enum":["a",null,1]},"ключ":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":["string","null"]}}}`,
		`{"properties":{"name":{},"query":{"anyOf":[{"type":"string"},{"type":"array"}]}},"required":["name","name","away"],"type":"object"}`,
	}
	oddWords = []string{"read", "write", "issue", "calendar", "weather", "commit", "日历", "笔记", "the", "page", "invoice", "<b>", `"quoted"`}
	oddAbout = []string{"", "", "what it is for", "日历和笔记", `"<\`}
)

// oneIn is true once in n calls on average.
func oneIn(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// pickSome returns at most n elements of list in random order.
func pickSome[T any](r *rand.Rand, list []T, n int) []T {
	out := slices.Clone(list)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:min(len(out), n)]
}

// oddTool returns a server with definitions that no author would write.
func oddTool(r *rand.Rand, name string) tool.Tool {
	t := tool.Tool{Name: name, Prefix: name + "__", About: oddAbout[r.IntN(len(oddAbout))], Description: "Server " + name}
	if oneIn(r, 3) {
		t.Prefix = ""
	}
	for _, name := range pickSome(r, oddActions, 1+r.IntN(12)) {
		about := strings.Join(pickSome(r, oddWords, 4), " ")
		schema := oddSchemas[r.IntN(len(oddSchemas))]
		def := fmt.Sprintf(`{"name":%s,"description":%s,"inputSchema":%s,"annotations":{"destructiveHint":%t},"x-more":[1.0]}`,
			quoted(name), quoted(about), schema, oneIn(r, 2))
		if oneIn(r, 3) {
			def = `{"title":"T", ` + def[1:]
		}
		t.Actions = append(t.Actions, tool.Action{
			Name: name, Description: about, Definition: json.RawMessage(def), InputSchema: json.RawMessage(schema), DirectOnly: oneIn(r, 12),
		})
	}
	return t
}

// quoted returns s as a JSON string.
func quoted(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return string(raw)
}

// newRandomCatalog returns a catalog of recorded and odd servers, and a profile.
func newRandomCatalog(t *testing.T, r *rand.Rand, recorded []catalogs.Server) *randomCatalog {
	t.Helper()
	var tools []tool.Tool
	for _, s := range pickSome(r, recorded, r.IntN(3)) {
		tools = append(tools, s.Tool())
	}
	for _, name := range pickSome(r, oddServers, 1+r.IntN(5)) {
		if !slices.ContainsFunc(tools, func(t tool.Tool) bool { return t.Name == name }) {
			tools = append(tools, oddTool(r, name))
		}
	}
	views := []tool.View{tool.Flat, tool.Grouped, tool.Search}
	for i := range tools {
		if oneIn(r, 8) {
			tools[i].View = views[r.IntN(len(views))]
		}
	}
	w := &randomCatalog{fakes: map[string]*tooltest.Fake{}, views: map[string]tool.View{}, listed: map[string]gjson.Result{}, gate: gate.New(gate.Options{})}
	w.profile = source.Profile{Default: append(views, tool.Auto, tool.Auto)[r.IntN(5)], Budget: []int{1, 2 << 10, 8 << 10, 64 << 10}[r.IntN(4)], Views: map[string]tool.View{}}
	if oneIn(r, 6) {
		w.profile.View = views[r.IntN(len(views))]
	}
	if oneIn(r, 4) {
		w.profile.Views[tools[0].Name] = views[r.IntN(len(views))]
	}

	all := sourcesOfTools(tools)
	everything := openCatalog(t, source.Options{Profiles: map[string]source.Profile{"": {View: tool.Flat}}}, all...)
	exposed := map[[2]string]string{}
	for _, name := range listedNames(t, everything, tool.ListTools, "") {
		call, err := everything.Resolve(t.Context(), toolCall(name, "{}"))
		if err != nil {
			t.Fatal(err)
		}
		exposed[[2]string{call.Tool, call.Target}] = name
	}

	hides, keeps := drawRules(r, tools, 4), []rule(nil)
	if oneIn(r, 4) {
		keeps = drawRules(r, tools, 8)
	}
	w.profile.Hide, w.profile.Tools = patterns(hides), patterns(keeps)
	for i := range tools {
		tl := &tools[i]
		if oneIn(r, 12) {
			tl.Off = "the whole server is off"
		}
		tl.Actions = slices.Clone(tl.Actions)
		for j := range tl.Actions {
			a := &tl.Actions[j]
			if oneIn(r, 8) {
				a.Off = "switched off"
			}
			covers := func(r rule) bool { return r.covers(tl.Name, a.Name) }
			w.actions = append(w.actions, &expectedAction{
				tool: tl, action: a,
				shown: tl.Off == "" && a.Off == "" && !a.DirectOnly && !slices.ContainsFunc(hides, covers) && (len(keeps) == 0 || slices.ContainsFunc(keeps, covers)),
				names: []string{tl.Name + "/" + a.Name, tl.Name + "." + a.Name, exposed[[2]string{tl.Name, a.Name}], tl.Prefix + a.Name, a.Name, tl.Name + "__" + a.Name},
			})
		}
	}
	all = sourcesOfTools(tools)
	for _, s := range all {
		w.fakes[s.Name()] = s.(*tooltest.Fake) //nolint:forcetypeassert // made so below
	}
	w.catalog = openCatalog(t, source.Options{Profiles: map[string]source.Profile{"": w.profile}}, all...)
	for _, e := range listEntries(t, w.catalog, tool.ListTools, "") {
		name := e.Get("name").String()
		if _, twice := w.listed[name]; twice || !callLine.MatchString(name) {
			t.Errorf("%q is listed twice, or no name that all clients take", name)
		}
		w.listed[name] = e
	}
	for _, tl := range w.catalog.Tools("") {
		w.views[tl.Name] = tl.View
	}
	return w
}

// callLine matches the names of tools that all clients accept.
var callLine = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// sourcesOfTools returns a source for each tool.
func sourcesOfTools(tools []tool.Tool) []tool.Source {
	var out []tool.Source
	for _, t := range tools {
		out = append(out, tooltest.NewFake(t.Name, tool.Offer{Tools: []tool.Tool{t}}))
	}
	return out
}

// rule covers the actions of a tool; an empty field stands for any.
type rule struct{ tool, action string }

func (r rule) covers(tool, action string) bool {
	return (r.tool == "" || r.tool == tool) && (r.action == "" || r.action == action)
}

// drawRules returns up to n random rules.
func drawRules(r *rand.Rand, tools []tool.Tool, n int) []rule {
	var out []rule
	for range r.IntN(n + 1) {
		t := tools[r.IntN(len(tools))]
		a := t.Actions[r.IntN(len(t.Actions))].Name
		out = append(out, []rule{{t.Name, a}, {t.Name, a}, {t.Name, a}, {t.Name, ""}, {"", a}}[r.IntN(5)])
	}
	return out
}

// patterns returns the rules as a profile writes them, such as "git/push" or "*/push".
func patterns(rules []rule) []string {
	var out []string
	for _, r := range rules {
		p := r.tool
		if p == "" {
			p = "*"
		}
		if r.action != "" {
			p += "/" + r.action
		}
		out = append(out, p)
	}
	return out
}

// callTool makes a call as the pipeline does, through the stages that refuse hidden and disabled actions.
func (w *randomCatalog) callTool(t *testing.T, name, args string) (*tool.Call, tool.Result, error) {
	t.Helper()
	r := toolCall(name, args)
	r.Origin = tool.MCPLocal
	call, err := w.catalog.Resolve(t.Context(), r)
	for _, check := range []tool.Check{switches.Check, w.gate.Check} {
		if err == nil {
			call, err = check(t.Context(), call)
		}
	}
	if err != nil {
		return nil, tool.Result{}, err
	}
	result, err := call.Source.Run(t.Context(), call)
	return call, result, err
}

// resultText returns the text of a call's result, "" if the call is refused.
func (w *randomCatalog) resultText(t *testing.T, name, args string) string {
	t.Helper()
	_, r, err := w.callTool(t, name, args)
	if err != nil {
		return ""
	}
	return gjson.GetBytes(r.Raw, "content.0.text").String()
}

// isTargetOf reports whether c is a call of the action.
func (a *expectedAction) isTargetOf(c *tool.Call) bool {
	return c != nil && c.Source.Name() == a.tool.Name && c.Action != nil && c.Action.Name == a.action.Name
}

// oddArgs are arguments that a gateway would change if it decoded and encoded them.
const oddArgs = `{"n":1.0e2, "text":"\u00e9","deep":{"action":"x"}}`

// checkCall checks that a call by name reaches the action with its arguments unchanged.
func (w *randomCatalog) checkCall(t *testing.T, a *expectedAction, name, args string) {
	t.Helper()
	_, _, err := w.callTool(t, name, args)
	calls := w.fakes[a.tool.Name].Calls()
	if err != nil || len(calls) == 0 {
		t.Errorf("%s of %s, called as %s %s: %v", a.action.Name, a.tool.Name, name, args, err)
		return
	}
	got := calls[len(calls)-1]
	same := string(got.Args) == oddArgs || string(got.Args) == strings.ReplaceAll(oddArgs, ", ", ",") // with the grouped argument "action" taken out
	if !a.isTargetOf(&got) || got.Tool != a.tool.Name || got.Target != a.action.Name || !same {
		t.Errorf("%s of %s, called as %s %s, arrives as %s of %s with %s", a.action.Name, a.tool.Name, name, args, got.Target, got.Tool, got.Args)
	}
}

// checkReached checks that a client can find, describe and call an action with only what the gateway
// shows.
func (w *randomCatalog) checkReached(t *testing.T, a *expectedAction) {
	t.Helper()
	before := len(w.fakes[a.tool.Name].Calls())
	made := 2
	w.checkCall(t, a, a.tool.Name+"/"+a.action.Name, oddArgs)
	switch w.views[a.tool.Name] { //nolint:exhaustive // Auto is none of them
	case tool.Flat:
		name := ""
		for exposed := range w.listed {
			if call, err := w.catalog.Resolve(t.Context(), toolCall(exposed, "{}")); err == nil && a.isTargetOf(call) {
				name = exposed
			}
		}
		checkDefinition(t, a, name, w.listed[name].Raw)
		w.checkCall(t, a, name, oddArgs)
	case tool.Grouped:
		w.checkReachedGrouped(t, a)
	case tool.Search:
		name := w.find(t, a)
		checkDefinition(t, a, name, w.resultText(t, "collie_describe", `{"name":`+quoted(name)+`}`))
		w.checkCall(t, a, "collie_call", `{"name":`+quoted(name)+`,"args":`+oddArgs+`}`)
		w.checkCall(t, a, name, oddArgs)
		made++
	}
	if n := len(w.fakes[a.tool.Name].Calls()) - before; n != made {
		t.Errorf("%d calls of %s arrive at %s, want %d", n, a.action.Name, a.tool.Name, made)
	}
}

// checkDefinition checks that a definition is the author's but for the name.
func checkDefinition(t *testing.T, a *expectedAction, name, definition string) {
	t.Helper()
	want, err := sjson.Set(string(a.action.Definition), "name", name)
	if err != nil {
		t.Fatal(err)
	}
	if name == "" || definition != want {
		t.Errorf("%s of %s is described under the name %q as\n%.500s\nwant\n%.500s", a.action.Name, a.tool.Name, name, definition, want)
	}
}

// checkReachedGrouped does the checks of reaches for an action that is shown in a grouped tool.
func (w *randomCatalog) checkReachedGrouped(t *testing.T, a *expectedAction) {
	t.Helper()
	entry := w.listed[a.tool.Name]
	enum := entry.Get("inputSchema.properties.action.enum").Array()
	if !slices.ContainsFunc(enum, func(v gjson.Result) bool { return v.String() == a.action.Name }) {
		t.Errorf("%s is not among the actions of %s: %v", a.action.Name, a.tool.Name, enum)
		return
	}
	help := enum[len(enum)-1].String()
	page := w.resultText(t, a.tool.Name, `{"action":`+quoted(help)+`,"topic":`+quoted(a.action.Name)+`}`)
	if !strings.Contains(page, "\n"+string(a.action.InputSchema)+"\n") {
		t.Errorf("help for %s of %s is %.500q", a.action.Name, a.tool.Name, page)
	}
	args := `{"action":` + quoted(a.action.Name) + `,"args":` + oddArgs + `}`
	if !entry.Get("inputSchema.properties.args").Exists() {
		args = `{"action":` + quoted(a.action.Name) + `,` + oddArgs[1:]
	}
	w.checkCall(t, a, a.tool.Name, args)
}

// found matches the line of a finding, and its name.
var found = regexp.MustCompile(`(?m)^([A-Za-z0-9_-]{1,64})\(`)

// find asks for an action by its name, then by words of its description, and returns the name under which it is
// found.
func (w *randomCatalog) find(t *testing.T, a *expectedAction) string {
	t.Helper()
	words, _, _ := strings.Cut(a.action.Description, ".")
	for _, question := range []string{a.action.Name, words, a.action.Name + " " + words} {
		for _, name := range w.foundNames(t, a, question) {
			if call, err := w.catalog.Resolve(t.Context(), toolCall(name, "{}")); err == nil && a.isTargetOf(call) {
				return name
			}
		}
	}
	t.Errorf("%s of %s is not found by its name, nor by %q", a.action.Name, a.tool.Name, words)
	return ""
}

// foundNames returns the names that a search limited to the action's server finds.
func (w *randomCatalog) foundNames(t *testing.T, a *expectedAction, question string) []string {
	t.Helper()
	var out []string
	text := w.resultText(t, "collie_find", `{"limit":20,"server":`+quoted(a.tool.Name)+`,"query":`+quoted(question)+`}`)
	for _, m := range found.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// checkHidden checks that a client cannot find, describe or call an action under any of its names.
func (w *randomCatalog) checkHidden(t *testing.T, a *expectedAction) {
	t.Helper()
	before := len(w.fakes[a.tool.Name].Calls())
	for _, name := range append(a.names, a.tool.Name) {
		means, _, err := w.callTool(t, name, `{"action":`+quoted(a.action.Name)+`}`)
		if err == nil && a.isTargetOf(means) {
			t.Errorf("%s of %s is called as %s", a.action.Name, a.tool.Name, name)
		}
		if through, _, err := w.callTool(t, "collie_call", `{"name":`+quoted(name)+`,"args":{"action":`+quoted(a.action.Name)+`}}`); err == nil && a.isTargetOf(through) {
			t.Errorf("%s of %s is called as %s by collie_call", a.action.Name, a.tool.Name, name)
		}
		text := w.resultText(t, "collie_describe", `{"name":`+quoted(name)+`}`)
		if means == nil && text != "" && w.fakes[name] == nil { // a tool with other actions that are shown may be described as a whole
			t.Errorf("%s, which cannot be called, is described as %.200s", name, text)
		}
		if enum := gjson.Get(text, "inputSchema.properties.action.enum").Raw; gjson.Get(text, "name").String() == a.tool.Name && strings.Contains(enum, quoted(a.action.Name)+",") {
			t.Errorf("%s is described as an action of %s", a.action.Name, a.tool.Name)
		}
	}
	for _, call := range w.fakes[a.tool.Name].Calls()[before:] {
		if a.isTargetOf(&call) {
			t.Errorf("a call arrives at %s of %s", a.action.Name, a.tool.Name)
		}
	}
	for _, help := range []string{"help", "collie_help"} {
		page := w.resultText(t, a.tool.Name, `{"action":"`+help+`","topic":`+quoted(a.action.Name)+`}`)
		if strings.Contains(page, "# "+a.tool.Name+" "+a.action.Name+"\n") {
			t.Errorf("there is help for %s of %s", a.action.Name, a.tool.Name)
		}
	}
	if r, err := resolveAndRun(t.Context(), w.catalog, tool.Request{Kind: tool.KindRead, Name: "collie://help/" + a.tool.Name + "/" + a.action.Name}); err == nil {
		t.Errorf("%s of %s has a help page: %s", a.action.Name, a.tool.Name, r.Raw)
	}
	for _, name := range w.foundNames(t, a, a.action.Name+" "+a.action.Description) {
		if call, err := w.catalog.Resolve(t.Context(), toolCall(name, "{}")); err != nil || a.isTargetOf(call) {
			t.Errorf("%s of %s is found as %s: %v", a.action.Name, a.tool.Name, name, err)
		}
	}
}

// checkListsNoOther checks that the list shows exactly what the profile shows.
func (w *randomCatalog) checkListsNoOther(t *testing.T) {
	t.Helper()
	want, searched := map[string]bool{}, false
	flat := 0
	for _, a := range w.actions {
		switch view := w.views[a.tool.Name]; {
		case !a.shown:
		case view == tool.Flat:
			flat++
		case view == tool.Grouped:
			want[a.tool.Name] = true
		default:
			searched = true
		}
	}
	n := len(want) + flat
	if searched {
		n += len([]string{"collie_find", "collie_describe", "collie_call"})
	}
	if len(w.listed) != n {
		t.Errorf("%d tools are listed, want %d", len(w.listed), n)
	}
	for name := range want {
		var on []string
		for _, a := range w.actions {
			if a.shown && a.tool.Name == name {
				on = append(on, a.action.Name)
			}
		}
		var got []string
		for _, v := range w.listed[name].Get("inputSchema.properties.action.enum").Array() {
			got = append(got, v.String())
		}
		if len(got) != len(on)+1 || !slices.Equal(got[:len(on)], on) {
			t.Errorf("the actions of %s are %v, want %v and help", name, got, on)
		}
	}
}
