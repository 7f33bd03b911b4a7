package source

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/tidwall/gjson"

	"collie/internal/source/find"
	"collie/internal/tool"
)

// This file has the three tools of the search view, which find, describe and call all others.

// The tools that stand for all actions in the search view. No other source can use these names.
const (
	findName     = "collie_find"
	describeName = "collie_describe"
	callName     = "collie_call"
)

const (
	// The definitions of the three search tools together take at most searchBytes, plus bytesEach for each Tool
	// behind them. Beyond mostAbout Tools only their names are listed.
	searchBytes, bytesEach, mostAbout = 2 << 10, 32, 40

	// maxDescription is the longest description that every model API accepts, in characters.
	maxDescription = 1024

	fewHits, mostHits = 5, 20
	// maxArguments bounds the optional arguments in the signature of a hit; hitText bounds its description, in
	// characters.
	maxArguments, hitText = 8, 160
)

var (
	findAction = tool.Action{
		Name: findName, ReadOnly: true, Idempotent: true, Strict: true, Risk: tool.RiskNone, Effects: tool.EffectRead,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"what you want to do"},` +
			`"limit":{"type":"integer","minimum":1,"maximum":20,"description":"5 if not given"},` +
			`"server":{"type":"string","description":"only tools of this one"}},"required":["query"],"additionalProperties":false}`),
	}
	describeAction = tool.Action{
		Name: describeName, ReadOnly: true, Idempotent: true, Strict: true, Risk: tool.RiskNone, Effects: tool.EffectRead,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"as collie_find gives it"}},` +
			`"required":["name"],"additionalProperties":false}`),
	}
	callSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"as collie_find gives it"},` +
		`"args":{"type":"object","description":"its arguments","additionalProperties":true}},"required":["name"],"additionalProperties":false}`)
)

// searchTool is the Tool under which calls of collie_find and collie_describe are recorded. A call of collie_call is
// recorded under the tool that it calls.
var searchTool = tool.Tool{Name: "collie"}

// searchTools holds what a profile shows behind the search tools.
type searchTools struct {
	names []string           // exposed names of the actions, in the order of their sources
	index func() *find.Index // over names; built once, in the background
	tools []*tool.Tool       // those with an action among names, each once
}

// addSearch adds the three search tools, which stand for the actions of names.
func (v *view) addSearch(s *snapshot, names []string) {
	if len(names) == 0 {
		return
	}
	v.search = &searchTools{names: names}
	for _, name := range names {
		if t := v.tools[name].tool; !slices.Contains(v.search.tools, t) {
			v.search.tools = append(v.search.tools, t)
		}
	}
	v.search.index = sync.OnceValue(func() *find.Index { return find.New(v.documents()) })
	s.catalog.indexes.make(v.search.index) // so that the first question need not wait for it
}

// indexBuilder builds search indexes in the background until it is closed.
type indexBuilder struct {
	mu     sync.Mutex
	closed bool
	run    sync.WaitGroup
}

func (x *indexBuilder) make(index func() *find.Index) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.closed {
		x.run.Go(func() { index() })
	}
}

// close waits for the builds in progress; no more are begun.
func (x *indexBuilder) close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.run.Wait()
}

// documents returns one document for each action behind the search, for the index.
func (v *view) documents() []find.Doc {
	docs := make([]find.Doc, len(v.search.names))
	for i, name := range v.search.names {
		t := v.tools[name]
		required, optional := argumentNames(t.action.InputSchema)
		docs[i] = find.Doc{
			Server: t.tool.Name, Name: t.action.Shown(), Title: t.action.Title, Description: t.action.Description,
			Params: append(required, optional...), Values: schemaText(t.action.InputSchema), About: t.tool.About,
		}
	}
	return docs
}

// schemaText returns the words in a schema: descriptions and values of its arguments.
func schemaText(schema json.RawMessage) string {
	var b strings.Builder
	gjson.GetBytes(schema, "properties").ForEach(func(_, arg gjson.Result) bool {
		b.WriteString(arg.Get("description").String() + "\n")
		for _, values := range []string{"enum", "items.enum"} {
			for _, v := range arg.Get(values).Array() {
				b.WriteString(v.String() + "\n")
			}
		}
		return true
	})
	return b.String()
}

// searchDefinitions returns the definitions of the three search tools.
func (v *view) searchDefinitions() []json.RawMessage {
	define := func(name, description string, schema json.RawMessage, readOnly bool) json.RawMessage {
		o := orderedObject{}
		o.add("name", name)
		o.add("description", description)
		o.addRaw("inputSchema", acceptedSchema(gjson.ParseBytes(schema)))
		if readOnly {
			hints := orderedObject{}
			hints.add("readOnlyHint", true)
			o.addRaw("annotations", hints.bytes())
		}
		return o.bytes()
	}
	describe := define(describeName, "The exact definition of a tool that "+findName+" found: its arguments with their types.", describeAction.InputSchema, true)
	call := define(callName, "Call a tool that "+findName+" found, or that you know the name of. It answers as that tool does.", callSchema, false)
	head := fmt.Sprintf("Find tools by what they do. %d tools are not listed but can be called with %s. Ask in a few words, best English ones. They belong to:",
		len(v.search.names), callName)
	remaining := searchBytes + bytesEach*len(v.search.tools) - len(describe) - len(call) - len(define(findName, head, findAction.InputSchema, true))
	remaining = min(remaining, maxDescription-len(head))
	return []json.RawMessage{define(findName, head+v.searchableSummary(remaining), findAction.InputSchema, true), describe, call}
}

// searchableSummary lists the Tools that are behind the search and what they are for, in about limit bytes of JSON.
func (v *view) searchableSummary(limit int) string {
	names := make([]string, len(v.search.tools))
	for i, t := range v.search.tools {
		names[i] = t.Name
	}
	list := strings.Join(names, ", ")
	if len(list) > limit {
		return " " + truncate(list, max(0, limit-len(" …"))) + "…"
	}
	if len(names) > mostAbout || !slices.ContainsFunc(v.search.tools, func(t *tool.Tool) bool { return t.About != "" }) {
		return " " + list
	}
	each := (limit - len(list)) / len(names) // each line break takes the place of a comma
	var b strings.Builder
	for _, t := range v.search.tools {
		b.WriteString("\n" + t.Name)
		if about := firstLine(t.About, each); about != "" {
			for quoted := len(jsonEscaped(about)); quoted > each-len(": ") && about != ""; quoted = len(jsonEscaped(about)) {
				about = truncate(about, max(0, len(about)-max(1, quoted-each+len(": "))))
			}
			if about != "" {
				b.WriteString(": " + about)
			}
		}
	}
	return b.String()
}

// jsonEscaped returns text as JSON encodes it, without the quotes.
func jsonEscaped(text string) string {
	o := orderedObject{}
	o.add("", text)
	return strings.TrimSuffix(strings.TrimPrefix(string(o.bytes()), `{"":"`), `"}`)
}

// resolveSearch fills in the target of a call of one of the three search tools.
func (c *Catalog) resolveSearch(v *view, call *tool.Call) error {
	call.Source, call.Tool, call.Target = c, searchTool.Name, call.Name
	switch call.Name {
	case findName:
		call.Action = &findAction
		return nil
	case describeName:
		call.Action = &describeAction
		return nil
	}
	callArgs := gjson.ParseBytes(call.Args)
	name, args := callArgs.Get("name"), decodedObject(callArgs.Get("args"))
	switch {
	case name.Type != gjson.String || name.Str == "":
		return badSearchCall("name", "must be the name of a tool, as "+findName+" gives it")
	case args.Exists() && args.Type != gjson.Null && !args.IsObject():
		return badSearchCall("args", "must be an object with the arguments of the tool")
	case isSearch(name.Str):
		return badSearchCall("name", name.Str+" is called itself, not with "+callName)
	}
	call.Args = json.RawMessage("{}")
	if args.IsObject() {
		call.Args = json.RawMessage(args.Raw)
	}
	t, err := c.findNamed(v, call.Profile, name.Str)
	if err != nil {
		return err
	}
	return c.resolveTarget(v, call, t)
}

// decodedObject returns the object that v, a string, holds as JSON; any other v is returned as it is. Objects with
// members of any name are declared as strings in lists, so clients send them so.
func decodedObject(v gjson.Result) gjson.Result {
	if v.Type == gjson.String && gjson.Valid(v.Str) {
		if inner := gjson.Parse(v.Str); inner.IsObject() || inner.Type == gjson.Null {
			return inner
		}
	}
	return v
}

func badSearchCall(field, message string) error {
	return &tool.Error{
		Op: "call", Kind: tool.Invalid, Subject: callName, Message: fmt.Sprintf("%q %s", field, message),
		Hint:   `call it as {"name": "server__tool", "args": {…}}`,
		Fields: []tool.Field{{Path: "/" + field, Message: message}},
	}
}

func isSearch(name string) bool { return name == findName || name == describeName || name == callName }

// runSearch runs collie_find or collie_describe.
func (c *Catalog) runSearch(call *tool.Call) (tool.Result, error) {
	v := c.snapshot().view(call.Profile)
	if v.search == nil {
		return tool.Result{}, unknownToolError(v, call.Name) // it was listed before the settings changed
	}
	args := gjson.ParseBytes(call.Args)
	if call.Target == findName {
		return v.find(args.Get("query").String(), args.Get("server").String(), int(args.Get("limit").Int()))
	}
	name := args.Get("name").String()
	t, err := c.findNamed(v, call.Profile, name)
	switch {
	case err != nil:
		return tool.Result{}, err
	case t.action != nil && t.action.DirectOnly && call.Origin != tool.Direct:
		return tool.Result{}, unknownToolError(v, name)
	case t.isOff(&v.profile):
		return tool.Result{}, &tool.Error{Op: "describe", Kind: tool.Disabled, Subject: name, Message: "it is switched off: " + t.whyOff()}
	case t.action == nil:
		return textResult(string(groupDefinition(name, t.tool, shownActions(t.tool, &v.profile)))), nil
	}
	return textResult(string(withName(t.action.Definition, t.action.Name, name))), nil
}

// find returns the best matches for a query, each with its signature and a short description.
func (v *view) find(query, server string, limit int) (tool.Result, error) {
	if limit <= 0 {
		limit = fewHits
	}
	if server != "" && !slices.ContainsFunc(v.search.tools, func(t *tool.Tool) bool { return t.Name == server }) {
		var names []string
		for _, t := range v.search.tools {
			names = append(names, t.Name)
		}
		err := notKnown("find", fmt.Sprintf("no server %q", server), findName, nil)
		err.Fields = []tool.Field{{Path: "/server", Message: "must be one of: " + strings.Join(names, ", ")}}
		return tool.Result{}, err
	}
	var b strings.Builder
	n, english := 0, hasHan(query)
	for _, h := range v.search.index().Search(query, len(v.search.names)) {
		name := v.search.names[h.Doc]
		t := v.tools[name]
		if server != "" && t.tool.Name != server {
			continue
		}
		if n++; n > min(limit, mostHits) {
			break
		}
		b.WriteString(callLine(name, t.action) + "\n")
		english = english && !hasHan(t.action.Description)
	}
	if n == 0 {
		return textResult("Nothing fits. Ask in other words, best in English, with what is to be done and to what: \"create issue\"."), nil
	}
	if english {
		b.WriteString("These are described in English: English keywords find most.\n")
	}
	b.WriteString("Call one with " + callName + `: {"name": …, "args": {…}}. ` + describeName + " tells all of its arguments.")
	return textResult(b.String()), nil
}

// hasHan reports whether a text has Chinese characters.
func hasHan(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// callLine returns a line that shows how to call an action by name, and what it does.
func callLine(name string, a *tool.Action) string {
	signature := ""
	if a.Signature != "" {
		_, rest, _ := strings.Cut(a.Signature, "(")
		signature = name + "(" + rest
	} else {
		signature = name + typedArguments(a.InputSchema)
	}
	line := signature + " — " + firstLine(a.Description, hitText)
	if a.Dangerous || a.Destructive {
		line += " [dangerous]"
	}
	return line
}

// typedArguments returns the arguments of a schema with their types, in parentheses: the required ones first, then
// the optional ones marked with "?", as many as maxArguments allows.
func typedArguments(schema json.RawMessage) string {
	required, optional := argumentNames(schema)
	props := gjson.GetBytes(schema, "properties").Map()
	var parts []string
	for _, name := range required {
		parts = append(parts, name+": "+typeName(props[name]))
	}
	for i, name := range optional {
		if i == maxArguments {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, name+"?: "+typeName(props[name]))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// typeName returns the type in a schema, or its values if there are few.
func typeName(schema gjson.Result) string {
	if values := schema.Get("enum").Array(); len(values) > 0 && len(values) <= maxValues {
		var words []string
		for _, v := range values {
			words = append(words, v.Raw)
		}
		return strings.Join(words, "|")
	}
	t := schema.Get("type")
	switch {
	case t.String() == "array" && schema.Get("items.type").Type == gjson.String:
		return schema.Get("items.type").String() + "[]"
	case t.Type == gjson.String:
		return t.String()
	}
	return "any"
}
