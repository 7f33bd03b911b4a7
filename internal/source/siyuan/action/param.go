package action

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Param is one argument of an action, read from the tags of a struct field:
//
//	json:"name"        its name; ",omitempty" has no meaning here
//	about:"…"          what it is, in a few words
//	req:"true"         it must be given
//	default:"3"        what counts where it is not given, as JSON or as plain text
//	enum:"a,b"         the values it may have; of an array, its items
//	min:"0" max:"20"   bounds: of a number, of the length of a text, of the count of an array
//	unique:"true"      items of an array differ; unique:"rowID,columnID" in these members
//	list:"yes"         it stands in a list of tools: "no", or as "text" or "json" text
//
// A field's type gives the JSON type: string kinds, bool, integers, floats, slices, maps with
// string keys, structs, pointers to these for "not given", and [json.RawMessage] for anything.
// A type with a method ArgSchema() string says its schema itself.
type Param struct {
	Name, About string
	Required    bool
	Default     json.RawMessage // nil if there is none
	Type        string          // of JSON; empty is any
	Items       string          // of an array
	Enum        []string
	Unique      []string // members of items that differ together; empty where Unique is off
	UniqueItems bool
	schema      json.RawMessage
	shape       *shape
	list        string
}

// Schema is the JSON Schema of the argument.
func (p *Param) Schema() json.RawMessage { return p.schema }

type schemer interface{ ArgSchema() string }

func paramsOf(t reflect.Type) []Param {
	if t.Kind() != reflect.Struct {
		panic("arguments are not a struct: " + t.String())
	}
	var out []Param
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			out = append(out, paramsOf(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		out = append(out, paramOf(name, f))
	}
	return out
}

func paramOf(name string, f reflect.StructField) Param {
	p := Param{Name: name, About: f.Tag.Get("about"), Required: f.Tag.Get("req") == "true", list: f.Tag.Get("list")}
	if e := f.Tag.Get("enum"); e != "" {
		p.Enum = strings.Split(e, ",")
	}
	switch u := f.Tag.Get("unique"); u {
	case "":
	case "true":
		p.UniqueItems = true
	default:
		p.Unique = strings.Split(u, ",")
	}
	p.schema, p.Type, p.Items = fieldSchema(f.Type, f.Tag, &p)
	p.shape = shapeOf(gjson.ParseBytes(p.schema))
	if d, ok := f.Tag.Lookup("default"); ok {
		p.Default = literal(d, p.Type)
	}
	return p
}

// literal is a default as JSON.
func literal(text, typ string) json.RawMessage {
	if typ == "string" {
		return quote(text)
	}
	if !json.Valid([]byte(text)) {
		panic(fmt.Sprintf("default %q is not JSON of type %s", text, typ))
	}
	return json.RawMessage(text)
}

// fieldSchema is the schema of a type with what its tag says.
func fieldSchema(t reflect.Type, tag reflect.StructTag, p *Param) (schema json.RawMessage, typ, items string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s, ok := reflect.New(t).Interface().(schemer); ok {
		raw := json.RawMessage(s.ArgSchema())
		var head struct{ Type any }
		if err := json.Unmarshal(raw, &head); err != nil {
			panic("schema of " + t.String() + ": " + err.Error())
		}
		typ, _ = head.Type.(string)
		return withAbout(raw, p.About), typ, ""
	}
	o := object{}
	if t == reflect.TypeFor[json.RawMessage]() {
		o.about(p.About)
		return o.bytes(), "", ""
	}
	switch t.Kind() {
	case reflect.String:
		typ = "string"
		o.add("type", typ)
		o.bounds(tag, "minLength", "maxLength")
	case reflect.Bool:
		typ = "boolean"
		o.add("type", typ)
	case reflect.Int, reflect.Int64, reflect.Int32:
		typ = "integer"
		o.add("type", typ)
		o.bounds(tag, "minimum", "maximum")
	case reflect.Float64:
		typ = "number"
		o.add("type", typ)
		o.bounds(tag, "minimum", "maximum")
	case reflect.Slice:
		typ = "array"
		o.add("type", typ)
		inner := Param{Enum: p.Enum}
		raw, it, _ := fieldSchema(t.Elem(), "", &inner)
		items = it
		o.addRaw("items", raw)
		o.bounds(tag, "minItems", "maxItems")
		if p.UniqueItems {
			o.add("uniqueItems", true)
		}
		o.about(p.About)
		return o.bytes(), typ, items
	case reflect.Map:
		typ = "object"
		raw, _, _ := fieldSchema(t.Elem(), "", &Param{})
		o.add("type", typ)
		o.addRaw("additionalProperties", raw)
	case reflect.Struct:
		typ = "object"
		o.addAll(structSchema(paramsOf(t)))
	default:
		panic("no schema for " + t.String())
	}
	if len(p.Enum) > 0 {
		o.add("enum", p.Enum)
	}
	o.about(p.About)
	if d, ok := tag.Lookup("default"); ok {
		o.addRaw("default", literal(d, typ))
	}
	return o.bytes(), typ, items
}

// structSchema is the schema of an object with these members and no others.
func structSchema(params []Param) json.RawMessage {
	props, required := object{}, []string{}
	for i := range params {
		props.addRaw(params[i].Name, params[i].schema)
		if params[i].Required {
			required = append(required, params[i].Name)
		}
	}
	o := object{}
	o.add("type", "object")
	o.addRaw("properties", props.bytes())
	if len(required) > 0 {
		o.add("required", required)
	}
	o.add("additionalProperties", false)
	return o.bytes()
}

// object builds a JSON object whose members keep their order.
type object struct{ buf []byte }

func (o *object) add(key string, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		panic("a schema does not encode: " + err.Error())
	}
	o.addRaw(key, raw)
}

// addRaw adds a member.
func (o *object) addRaw(key string, raw json.RawMessage) {
	o.next()
	o.buf = append(append(o.buf, quote(key)...), ':')
	o.buf = append(o.buf, raw...)
}

// addAll takes over all members of raw, an object that has some.
func (o *object) addAll(raw json.RawMessage) {
	o.next()
	o.buf = append(o.buf, raw[1:len(raw)-1]...)
}

// next begins the next member.
func (o *object) next() {
	if len(o.buf) == 0 {
		o.buf = append(o.buf, '{')
	} else {
		o.buf = append(o.buf, ',')
	}
}

func (o *object) about(text string) {
	if text != "" {
		o.add("description", text)
	}
}

func (o *object) bounds(tag reflect.StructTag, low, high string) {
	for _, b := range [...][2]string{{"min", low}, {"max", high}} {
		v, ok := tag.Lookup(b[0])
		if !ok {
			continue
		}
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			panic(fmt.Sprintf("bound %s:%q is not a number", b[0], v))
		}
		o.addRaw(b[1], json.RawMessage(v))
	}
}

func (o *object) bytes() json.RawMessage {
	if len(o.buf) == 0 {
		return json.RawMessage("{}")
	}
	return append(o.buf, '}')
}

// withAbout puts a description into a schema that has none of its own.
func withAbout(schema json.RawMessage, about string) json.RawMessage {
	if about == "" {
		return schema
	}
	o := object{}
	o.addAll(schema)
	o.about(about)
	return o.bytes()
}

func quote(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		panic("a string does not encode: " + err.Error())
	}
	return raw
}
