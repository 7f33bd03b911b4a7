package action

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// The ways in which an argument stands in a list of tools, the tag "list" of a struct field.
// Without one it stands there if the action needs it, or is common.
const (
	listAlways = "yes"
	listNever  = "no"
	// listText is for what may be of any type: a text, which [Action.Adapt] takes for what it holds.
	listText = "text"
	// listJSON is for objects with members of any name, which closed schemas cannot say: a text
	// that holds JSON.
	listJSON = "json"
)

// mostListed bounds the values of an argument that a list of tools names.
const mostListed = 4

// lists reports whether an argument stands in a list of tools.
func (a *Action) lists(p *Param) bool {
	switch p.list {
	case listNever:
		return false
	case "":
		return p.Required || a.Common
	}
	return true
}

// Listed are the schemas of the arguments that stand in a list of tools, a JSON object. They say
// types and few values: models read the list with every request.
func (a *Action) Listed() json.RawMessage {
	o := object{}
	for i := range a.params {
		if p := &a.params[i]; a.lists(p) {
			o.addRaw(p.Name, p.listed())
		}
	}
	return o.bytes()
}

func (p *Param) listed() json.RawMessage {
	switch p.list {
	case listText:
		return json.RawMessage(`{"type":"string"}`)
	case listJSON:
		return json.RawMessage(`{"type":"string","description":"JSON"}`)
	}
	if !p.basic {
		return plain(gjson.ParseBytes(p.schema))
	}
	o := object{}
	o.addText("type", p.Type)
	if len(p.Enum) > 0 && len(p.Enum) <= mostListed {
		o.addTexts("enum", p.Enum)
	}
	return o.bytes()
}

// plain is of a schema what types it wants and which values. Of several forms it is the first.
func plain(schema gjson.Result) json.RawMessage {
	if forms := schema.Get("anyOf"); forms.Exists() {
		return plain(forms.Array()[0])
	}
	o := object{}
	if t := schema.Get("type"); t.Exists() {
		o.addRaw("type", json.RawMessage(t.Raw))
	}
	if e := schema.Get("enum"); e.Exists() && len(e.Array()) <= mostListed {
		o.addRaw("enum", json.RawMessage(e.Raw))
	}
	if items := schema.Get("items"); items.Exists() {
		o.addRaw("items", plain(items))
	}
	if props := schema.Get("properties"); props.Exists() {
		members := object{}
		props.ForEach(func(name, of gjson.Result) bool {
			members.addRaw(name.String(), plain(of))
			return true
		})
		o.addRaw("properties", members.bytes())
	}
	return o.bytes()
}
