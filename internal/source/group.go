package source

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
)

const (
	// helpAction asks a grouped Tool for help; nestedHelp does where the Tool is nested, see nested.
	helpAction = "help"
	nestedHelp = "collie_help"
	// maxSignatures bounds the signature lines of one grouped tool, in bytes; what does not
	// fit is one help away.
	maxSignatures = 800
	// mostValues bounds the values of an argument that several actions take.
	mostValues = 4
	// mostNamed bounds the actions that the enum of a grouped tool names: interfaces to models take fewer than a thousand values.
	// Help names those of larger tools.
	mostNamed = 500
)

// nested reports whether a Tool's grouped form keeps an action's arguments apart, in args,
// because an action uses a name that the group needs for itself.
func nested(t *tool.Tool) bool {
	for i := range t.Actions {
		a := &t.Actions[i]
		props := gjson.GetBytes(a.InputSchema, "properties")
		if a.Name == helpAction || props.Get("action").Exists() || props.Get("topic").Exists() {
			return true
		}
	}
	return false
}

// helpName is how help is asked for: a name that no action has.
func helpName(t *tool.Tool) string {
	if !nested(t) {
		return helpAction
	}
	name := nestedHelp
	for offers(t, name) {
		name += "_"
	}
	return name
}

// groupDefinition is one MCP tool made of a Tool's actions: an "action" argument that names
// one of them, a line for each that shows its arguments, and "help" for the rest.
func groupDefinition(name string, t *tool.Tool, actions []*tool.Action) json.RawMessage {
	help := helpName(t)
	enum := make([]string, 0, len(actions)+1)
	readOnly, destructive := true, false
	for _, a := range actions {
		enum = append(enum, a.Name)
		readOnly = readOnly && a.ReadOnly
		destructive = destructive || a.Dangerous
	}
	properties := orderedObject{}
	what := map[string]any{"type": "string"}
	if len(enum) < mostNamed {
		what["enum"] = append(enum, help)
	}
	properties.add("action", what)
	if nested(t) {
		properties.add("args", map[string]any{"type": "string", "description": "JSON"})
	} else {
		addListed(&properties, actions)
	}
	properties.add("topic", map[string]any{"type": "string"})
	schema := orderedObject{}
	schema.add("type", "object")
	schema.addRaw("properties", properties.bytes())
	schema.add("required", []string{"action"})
	def := orderedObject{}
	def.add("name", name)
	if t.Title != "" {
		def.add("title", t.Title)
	}
	def.add("description", groupDescription(t, actions, help))
	def.addRaw("inputSchema", schema.bytes())
	// What is not said is the worst: neither read-only nor harmless (MCP 2025-03-26 and later).
	if readOnly || !destructive && allOurs(actions) {
		hints := orderedObject{}
		hints.add(map[bool]string{true: "readOnlyHint", false: "destructiveHint"}[readOnly], readOnly)
		def.addRaw("annotations", hints.bytes())
	}
	return def.bytes()
}

// allOurs reports whether all actions are our own, so that what they say of danger is true.
func allOurs(actions []*tool.Action) bool {
	return !slices.ContainsFunc(actions, func(a *tool.Action) bool { return !a.Strict })
}

// addListed declares the arguments of the actions with their types, each once.
func addListed(properties *orderedObject, actions []*tool.Action) {
	var names []string
	schemas := map[string]string{}
	for _, a := range actions {
		gjson.ParseBytes(a.Listed).ForEach(func(k, v gjson.Result) bool {
			name := k.String()
			if old, ok := schemas[name]; ok {
				schemas[name] = both(old, v.Raw)
			} else {
				names, schemas[name] = append(names, name), v.Raw
			}
			return true
		})
	}
	for _, name := range names {
		properties.addRaw(name, json.RawMessage(schemas[name]))
	}
}

// both is what holds for an argument that two actions take: their values where they have the same
// type and few of them, else the type alone. Where the types differ it is text, which can hold JSON.
func both(a, b string) string {
	if a == b {
		return a
	}
	typ, want := gjson.Get(a, "type").String(), gjson.Get(b, "type").String()
	if typ != want {
		return `{"type":"string"}`
	}
	if items := gjson.Get(a, "items"); items.Exists() {
		return `{"type":"array","items":` + both(items.Raw, gjson.Get(b, "items").Raw) + `}`
	}
	var values []string
	known, other := gjson.Get(a, "enum"), gjson.Get(b, "enum")
	for _, v := range append(known.Array(), other.Array()...) {
		if !slices.Contains(values, v.String()) {
			values = append(values, v.String())
		}
	}
	o := orderedObject{}
	o.add("type", typ)
	if known.Exists() && other.Exists() && len(values) <= mostValues {
		o.add("enum", values)
	}
	return string(o.bytes())
}

func groupDescription(t *tool.Tool, actions []*tool.Action, help string) string {
	var b strings.Builder
	common := slices.ContainsFunc(actions, func(a *tool.Action) bool { return a.Common })
	most := 120
	if common {
		most = 300 // it was written for this place
	}
	if about := firstLine(t.Description, most); about != "" {
		b.WriteString(about + "\n")
	}
	if marked := dangerous(actions); len(marked) > 0 {
		b.WriteString("Dangerous: " + strings.Join(marked, ", ") + "\n")
	}
	switch {
	case nested(t):
		b.WriteString("Call {action, args:{…}}; action=" + help + " topic=ACTION tells more.\n")
	case !common:
		b.WriteString("Call {action, …}; action=" + help + " topic=ACTION tells more.\n")
	default: // as the lines that follow it
		b.WriteString(help + "(topic=ACTION)\n")
	}
	left := maxSignatures
	for _, a := range actions {
		if common && !a.Common {
			continue
		}
		line := cmp.Or(a.Short, signature(a))
		if common && strings.HasSuffix(line, "()") {
			continue // its name says it all
		}
		if left -= len(line) + 1; left < 0 {
			break
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// dangerous are the actions that a person confirms, as a description names them: to a model, which sees no annotations, that is
// the mark of danger.
func dangerous(actions []*tool.Action) []string {
	var out []string
	for _, a := range actions {
		switch {
		case a.Dangerous:
			out = append(out, a.Name)
		case a.DangerousWith != "":
			out = append(out, a.Name+" with "+a.DangerousWith)
		}
	}
	return out
}

// signature is one line that shows how an action is called: its required arguments, and …
// where it takes others.
func signature(a *tool.Action) string {
	if a.Signature != "" {
		return a.Signature
	}
	required, optional := arguments(a.InputSchema)
	s := a.Name + "(" + strings.Join(required, ", ")
	if len(optional) > 0 {
		if len(required) > 0 {
			s += ", "
		}
		s += "…"
	}
	return s + ")"
}

// arguments are the names in a schema: those required in the order of "required", the
// others in that of "properties".
func arguments(schema json.RawMessage) (required, optional []string) {
	is := map[string]bool{}
	for _, r := range gjson.GetBytes(schema, "required").Array() {
		if name := r.String(); !is[name] {
			is[name] = true
			required = append(required, name)
		}
	}
	gjson.GetBytes(schema, "properties").ForEach(func(k, _ gjson.Result) bool {
		if !is[k.String()] {
			optional = append(optional, k.String())
		}
		return true
	})
	return required, optional
}

// firstLine is the first line of text, cut to about n characters.
func firstLine(text string, n int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if short := cutRunes(line, n); len(short) < len(line) {
		return short + "…"
	}
	return line
}

// argument is a text among the arguments of a call, "" if there is none.
func argument(args json.RawMessage, name string) string { return gjson.GetBytes(args, name).String() }

// ungroup returns the arguments of the action that a call of a grouped tool names.
func ungroup(t *tool.Tool, a *tool.Action, args json.RawMessage) json.RawMessage {
	if nested(t) {
		switch inner := unwritten(gjson.GetBytes(args, "args")); {
		case inner.Exists() && inner.Type == gjson.Null:
			return adapted(a, json.RawMessage("{}"), "")
		case inner.Exists():
			return adapted(a, json.RawMessage(inner.Raw), "")
		}
	}
	return adapted(a, args, "action") // also where somebody forgot to nest them
}

// without is obj less one field; the rest keeps its bytes.
func without(obj json.RawMessage, field string) json.RawMessage {
	out := make([]byte, 0, len(obj))
	out = append(out, '{')
	gjson.ParseBytes(obj).ForEach(func(k, v gjson.Result) bool {
		if k.String() != field {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(append(out, k.Raw...), ':'), v.Raw...)
		}
		return true
	})
	return append(out, '}')
}

// orderedObject builds a JSON object whose members keep their order, so that a list's
// bytes are the same each time.
type orderedObject struct{ buf []byte }

func (o *orderedObject) add(key string, value any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a model reads <, not its escape
	if err := e.Encode(value); err != nil {
		panic("source: a definition does not encode: " + err.Error())
	}
	o.addRaw(key, bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func (o *orderedObject) addRaw(key string, raw json.RawMessage) {
	if len(o.buf) == 0 {
		o.buf = append(o.buf, '{')
	} else {
		o.buf = append(o.buf, ',')
	}
	o.buf = append(append(append(o.buf, '"'), key...), `":`...)
	o.buf = append(o.buf, raw...)
}

func (o *orderedObject) bytes() json.RawMessage {
	if len(o.buf) == 0 {
		return json.RawMessage("{}")
	}
	return append(o.buf, '}')
}
