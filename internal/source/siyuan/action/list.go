package action

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// How an argument appears in a list of tools: the tag "list" of a struct field. Without the tag it appears if it is
// required, or if its action is common.
const (
	listAlways = "yes"
	listNever  = "no"
	// listText lists an argument of any type as text; [Action.Adapt] converts the text back.
	listText = "text"
	// listJSON lists an object with members of any name as text that holds JSON, since closed schemas cannot describe
	// it.
	listJSON = "json"
)

// maxListed bounds the enum values of an argument in a list of tools.
const maxListed = 4

// inToolList reports whether an argument appears in a list of tools.
func (a *Action) inToolList(p *Param) bool {
	switch p.list {
	case listNever:
		return false
	case "":
		return p.Required || a.Common
	}
	return true
}

// Listed returns the schemas of the arguments that appear in a list of tools, as a JSON object. They are reduced to
// types and few values, since models read the list with every request.
func (a *Action) Listed() json.RawMessage {
	o := objectBuilder{}
	for i := range a.params {
		if p := &a.params[i]; a.inToolList(p) {
			o.addRaw(p.Name, p.listedSchema())
		}
	}
	return o.bytes()
}

func (p *Param) listedSchema() json.RawMessage {
	switch p.list {
	case listText:
		return json.RawMessage(`{"type":"string"}`)
	case listJSON:
		return json.RawMessage(`{"type":"string","description":"JSON"}`)
	}
	if !p.isBasic {
		return reduceSchema(gjson.ParseBytes(p.schema))
	}
	o := objectBuilder{}
	o.addText("type", p.Type)
	if len(p.Enum) > 0 && len(p.Enum) <= maxListed {
		o.addTexts("enum", p.Enum)
	}
	return o.bytes()
}

// reduceSchema reduces a schema to its types and values. Of several forms it takes the first.
func reduceSchema(schema gjson.Result) json.RawMessage {
	if forms := schema.Get("anyOf"); forms.Exists() {
		return reduceSchema(forms.Array()[0])
	}
	o := objectBuilder{}
	if t := schema.Get("type"); t.Exists() {
		o.addRaw("type", json.RawMessage(t.Raw))
	}
	if e := schema.Get("enum"); e.Exists() && len(e.Array()) <= maxListed {
		o.addRaw("enum", json.RawMessage(e.Raw))
	}
	if items := schema.Get("items"); items.Exists() {
		o.addRaw("items", reduceSchema(items))
	}
	if props := schema.Get("properties"); props.Exists() {
		members := objectBuilder{}
		props.ForEach(func(name, of gjson.Result) bool {
			members.addRaw(name.String(), reduceSchema(of))
			return true
		})
		o.addRaw("properties", members.bytes())
	}
	return o.bytes()
}
