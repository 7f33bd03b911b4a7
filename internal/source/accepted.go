package source

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// simplifiedDefinition returns one of our own tool definitions with its input schema reduced to the keywords that every
// model API accepts: an API refuses the whole request for one keyword it does not know. Calls are still validated
// against the full schema.
func simplifiedDefinition(def json.RawMessage) json.RawMessage {
	out, err := sjson.SetRawBytes(def, "inputSchema", acceptedSchema(gjson.GetBytes(def, "inputSchema")))
	if err != nil {
		panic("source: a definition is not a JSON object: " + err.Error())
	}
	return out
}

// refusedWords are the keywords of our schemas that at least one model API refuses.
var refusedWords = []string{"additionalProperties", "default", "minLength", "maxLength", "uniqueItems"}

// acceptedSchema returns schema without the refused words. A default moves into the description. A part that cannot
// be described without them, such as an object with members of any name, becomes a string that holds JSON.
func acceptedSchema(schema gjson.Result) []byte {
	o := orderedObject{}
	about := schema.Get("description").String()
	if value := schema.Get("default"); value.Exists() {
		about += "; " + value.Raw + " if not given"
	}
	schema.ForEach(func(k, v gjson.Result) bool {
		switch key := k.String(); {
		case slices.Contains(refusedWords, key):
		case key == "description":
			o.add(key, about)
		case key == "items":
			o.addRaw(key, acceptedSchema(v))
		case key == "properties":
			members := orderedObject{}
			v.ForEach(func(name, of gjson.Result) bool {
				if isExpressible(of) {
					members.addRaw(name.String(), acceptedSchema(of))
				} else {
					text := orderedObject{}
					text.add("type", "string")
					text.add("description", of.Get("description").String()+" (JSON)")
					members.addRaw(name.String(), text.bytes())
				}
				return true
			})
			o.addRaw(key, members.bytes())
		case key == "anyOf":
			forms := []byte{'['}
			for i, form := range v.Array() {
				if i > 0 {
					forms = append(forms, ',')
				}
				forms = append(forms, acceptedSchema(form)...)
			}
			o.addRaw(key, append(forms, ']'))
		default:
			o.addRaw(key, json.RawMessage(v.Raw))
		}
		return true
	})
	return o.bytes()
}

// isExpressible reports whether schema can be described without the refused words: each part has one type, and each
// object names all its members.
func isExpressible(schema gjson.Result) bool {
	if forms := schema.Get("anyOf"); forms.Exists() {
		return !slices.ContainsFunc(forms.Array(), func(form gjson.Result) bool { return !isExpressible(form) })
	}
	switch typ := schema.Get("type"); {
	case typ.Type != gjson.String:
		return false
	case typ.Str == "array":
		return isExpressible(schema.Get("items"))
	case typ.Str == "object":
		members, all := 0, true
		schema.Get("properties").ForEach(func(_, of gjson.Result) bool {
			members++
			all = all && isExpressible(of)
			return all
		})
		return members > 0 && all
	}
	return true
}
