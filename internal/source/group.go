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

// This file makes the one MCP tool that stands for a whole server in the grouped view.

const (
	// helpAction is the action that returns the help of a grouped Tool. nestedHelp takes its place where the Tool is
	// nested; see needsNestedArguments.
	helpAction = "help"
	nestedHelp = "collie_help"
	// maxSignatures bounds the signature lines in the description of one grouped tool, in bytes. The help action
	// shows the rest.
	maxSignatures = 800
	// maxValues bounds the enum of an argument that is merged from several actions.
	maxValues = 4
	// maxNamed is the number of actions from which a grouped tool has no enum of them, since model APIs accept fewer
	// than a thousand values. The help action lists them all.
	maxNamed = 500
)

// needsNestedArguments reports whether calls of a Tool's grouped form must put the action's arguments into a member
// "args". They must if an action uses a name that the grouped form needs for itself, such as "action".
func needsNestedArguments(t *tool.Tool) bool {
	for i := range t.Actions {
		a := &t.Actions[i]
		props := gjson.GetBytes(a.InputSchema, "properties")
		if a.Shown() == helpAction || props.Get("action").Exists() || props.Get("topic").Exists() {
			return true
		}
	}
	return false
}

// helpName returns the name of the help action, which differs from every action of t.
func helpName(t *tool.Tool) string {
	if !needsNestedArguments(t) {
		return helpAction
	}
	name := nestedHelp
	for hasAction(t, name) {
		name += "_"
	}
	return name
}

// groupDefinition returns one MCP tool that stands for several actions of t: its argument "action" names one of them,
// its description has lines that show the arguments of the first or the common ones, and "help" shows the details.
func groupDefinition(name string, t *tool.Tool, actions []*tool.Action) json.RawMessage {
	help := helpName(t)
	enum := make([]string, 0, len(actions)+1)
	readOnly, destructive := true, false
	for _, a := range actions {
		enum = append(enum, a.Shown())
		readOnly = readOnly && a.ReadOnly
		destructive = destructive || a.Dangerous
	}
	properties := orderedObject{}
	actionSchema := map[string]any{"type": "string"}
	if len(enum) < maxNamed {
		actionSchema["enum"] = append(enum, help)
	}
	properties.add("action", actionSchema)
	if needsNestedArguments(t) {
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
	// A missing annotation means the worst in MCP (2025-03-26 and later): not read-only, and destructive.
	switch {
	case readOnly:
		def.add("annotations", map[string]bool{"readOnlyHint": true})
	case !destructive && allOurs(actions):
		def.add("annotations", map[string]bool{"destructiveHint": false})
	}
	return def.bytes()
}

// allOurs reports whether all actions are our own, which alone are Strict, so that their annotations can be trusted.
func allOurs(actions []*tool.Action) bool {
	return !slices.ContainsFunc(actions, func(a *tool.Action) bool { return !a.Strict })
}

// addListed declares the arguments of all actions with their types, each name once.
func addListed(properties *orderedObject, actions []*tool.Action) {
	var names []string
	schemas := map[string]string{}
	for _, a := range actions {
		gjson.ParseBytes(a.Listed).ForEach(func(k, v gjson.Result) bool {
			name := k.String()
			if old, ok := schemas[name]; ok {
				schemas[name] = mergeSchemas(old, v.Raw)
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

// mergeSchemas merges the schemas of one argument that two actions take: the union of their values if they have the
// same type and few values, else that type alone. Different types become a string, which can hold JSON.
func mergeSchemas(a, b string) string {
	if a == b {
		return a
	}
	typ, want := gjson.Get(a, "type").String(), gjson.Get(b, "type").String()
	if typ != want {
		return `{"type":"string"}`
	}
	if items := gjson.Get(a, "items"); items.Exists() {
		return `{"type":"array","items":` + mergeSchemas(items.Raw, gjson.Get(b, "items").Raw) + `}`
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
	if known.Exists() && other.Exists() && len(values) <= maxValues {
		o.add("enum", values)
	}
	return string(o.bytes())
}

func groupDescription(t *tool.Tool, actions []*tool.Action, help string) string {
	var b strings.Builder
	common := slices.ContainsFunc(actions, func(a *tool.Action) bool { return a.Common })
	limit := 120
	if common {
		limit = 300 // such a Tool has a description written for this place
	}
	if about := firstLine(t.Description, limit); about != "" {
		b.WriteString(about + "\n")
	}
	if marked := dangerousActions(actions); len(marked) > 0 {
		b.WriteString("Dangerous: " + strings.Join(marked, ", ") + "\n")
	}
	switch {
	case needsNestedArguments(t):
		b.WriteString("Call {action, args:{…}}; action=" + help + " topic=ACTION tells more.\n")
	case !common:
		b.WriteString("Call {action, …}; action=" + help + " topic=ACTION tells more.\n")
	default: // shown as the signature lines below
		b.WriteString(help + "(topic=ACTION)\n")
	}
	remaining := maxSignatures
	for _, a := range actions {
		if common && !a.Common {
			continue
		}
		line := cmp.Or(a.Short, signature(a))
		if common && strings.HasSuffix(line, "()") {
			continue // the name says enough
		}
		if remaining -= len(line) + 1; remaining < 0 {
			break
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// dangerousActions returns the names of the actions that need a person's confirmation, as the description lists them.
// Models do not see annotations, so the description is where they learn of the danger.
func dangerousActions(actions []*tool.Action) []string {
	var out []string
	for _, a := range actions {
		switch {
		case a.Dangerous:
			out = append(out, a.Shown())
		case a.DangerousWith != "":
			out = append(out, a.Shown()+" with "+a.DangerousWith)
		}
	}
	return out
}

// signature returns one line that shows how to call an action: its required arguments, then … if it has optional
// ones.
func signature(a *tool.Action) string {
	if a.Signature != "" {
		return a.Signature
	}
	required, optional := argumentNames(a.InputSchema)
	s := a.Shown() + "(" + strings.Join(required, ", ")
	if len(optional) > 0 {
		if len(required) > 0 {
			s += ", "
		}
		s += "…"
	}
	return s + ")"
}

// argumentNames returns the argument names of a schema: the required ones in the order of "required", the others in the
// order of "properties".
func argumentNames(schema json.RawMessage) (required, optional []string) {
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

// firstLine returns the first line of text, cut to about n characters.
func firstLine(text string, n int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if short := cutRunes(line, n); len(short) < len(line) {
		return short + "…"
	}
	return line
}

// stringArgument returns a string argument of a call, "" if it is missing.
func stringArgument(args json.RawMessage, name string) string {
	return gjson.GetBytes(args, name).String()
}

// ungroupedArguments converts the arguments of a call to the grouped tool to those of its action a: it drops "action",
// and unwraps "args" if the tool nests its arguments there.
func ungroupedArguments(t *tool.Tool, a *tool.Action, args json.RawMessage) json.RawMessage {
	if needsNestedArguments(t) {
		switch inner := decodedObject(gjson.GetBytes(args, "args")); {
		case inner.Exists() && inner.Type == gjson.Null:
			return adaptArguments(a, json.RawMessage("{}"), "")
		case inner.Exists():
			return adaptArguments(a, json.RawMessage(inner.Raw), "")
		}
	}
	return adaptArguments(a, args, "action") // also for a call that did not nest them
}

// withoutMember returns obj less one member; the rest keeps its bytes.
func withoutMember(obj json.RawMessage, field string) json.RawMessage {
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
	e.SetEscapeHTML(false) // models read "<" better than its escape
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
