package action

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file derives the arguments of an action, with their JSON schema, from the tags of a struct.

// Param is one argument of an action, read from the tags of a struct field:
//
//	json:"name"        its name; ",omitempty" has no meaning here
//	about:"…"          what it is, in a few words
//	req:"true"         it is required
//	default:"3"        value if it is missing, as JSON or as plain text
//	enum:"a,b"         allowed values; of an array, of its items
//	min:"0" max:"20"   bounds of a number, of the length of a text, of the count of an array
//	unique:"true"      items of an array differ; unique:"rowID,columnID" in these members
//	list:"yes"         it appears in a list of tools; with "no" it does not, with "text" or "json" it appears as text
//
// The field's type gives the JSON type: string kinds, bool, integers, floats, slices, maps with string keys, structs,
// pointers to these for optional values, and [json.RawMessage] for anything. A type with a method ArgSchema() string
// provides its own schema.
type Param struct {
	Name, About string
	Required    bool
	Default     json.RawMessage // nil if there is none
	Type        string          // JSON type; empty means any
	Items       string          // JSON type of an array's items
	Enum        []string
	Unique      []string // members whose combination must differ between items; empty if Unique is off
	UniqueItems bool
	index       []int // index path of its field in the struct of arguments
	schema      json.RawMessage
	isBasic     bool // Type, Enum and the bounds are all that the schema says of values
	shape       *lateShape
	list        string
}

// Schema returns the JSON Schema of the argument.
func (p *Param) Schema() json.RawMessage { return p.schema }

type schemer interface{ ArgSchema() string }

func paramsOf(t reflect.Type) []Param {
	if t.Kind() != reflect.Struct {
		panic("arguments are not a struct: " + t.String())
	}
	out := make([]Param, 0, t.NumField())
	for f := range t.Fields() {
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			for _, p := range paramsOf(f.Type) {
				p.index = slices.Concat(f.Index, p.index)
				out = append(out, p)
			}
			continue
		}
		tags := tagsOf(f.Tag)
		name, _, _ := strings.Cut(tags.json, ",")
		if name == "" || name == "-" {
			continue
		}
		p := paramOf(name, f.Type, &tags)
		p.index = f.Index
		out = append(out, p)
	}
	return out
}

func paramOf(name string, t reflect.Type, tags *paramTags) Param {
	p := Param{Name: name, About: tags.about, Required: tags.req == "true", list: tags.list}
	if tags.enum != "" {
		p.Enum = strings.Split(tags.enum, ",")
	}
	switch tags.unique {
	case "":
	case "true":
		p.UniqueItems = true
	default:
		p.Unique = strings.Split(tags.unique, ",")
	}
	p.schema, p.Type, p.Items = fieldSchema(t, tags, &p)
	p.shape = &lateShape{schema: p.schema}
	if tags.hasValue {
		p.Default = defaultJSON(tags.value, p.Type)
	}
	return p
}

// paramTags are the tags of a field, all read in one pass: a look-up of each tag would parse the field's tags from the
// beginning, for every field of a hundred structs at each start of the program.
type paramTags struct {
	json, about, req, enum, unique, list string
	value                                string // the tag default
	min, max                             string // empty if missing
	hasValue                             bool
}

func tagsOf(tag reflect.StructTag) (out paramTags) {
	for rest := string(tag); rest != ""; {
		key, after, ok := strings.Cut(strings.TrimLeft(rest, " "), ":")
		if !ok {
			panic("tag `" + string(tag) + "` is not made of key:\"value\"")
		}
		quoted, err := strconv.QuotedPrefix(after)
		if err != nil {
			panic("tag `" + string(tag) + "` is not made of key:\"value\"")
		}
		rest = after[len(quoted):]
		value := quoted[1 : len(quoted)-1]
		if strings.IndexByte(value, '\\') >= 0 {
			if value, err = strconv.Unquote(quoted); err != nil {
				panic("tag `" + string(tag) + "`: " + err.Error())
			}
		}
		switch key {
		case "json":
			out.json = value
		case "about":
			out.about = value
		case "req":
			out.req = value
		case "enum":
			out.enum = value
		case "unique":
			out.unique = value
		case "list":
			out.list = value
		case "default":
			out.value, out.hasValue = value, true
		case "min":
			out.min = value
		case "max":
			out.max = value
		}
	}
	return out
}

// defaultJSON returns a default as JSON.
func defaultJSON(text, typ string) json.RawMessage {
	if typ == "string" {
		return Quote(text)
	}
	if !json.Valid([]byte(text)) {
		panic(fmt.Sprintf("default %q is not JSON of type %s", text, typ))
	}
	return json.RawMessage(text)
}

// fieldSchema returns the schema of a type, extended by what the tags say.
func fieldSchema(t reflect.Type, tags *paramTags, p *Param) (schema json.RawMessage, typ, items string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s, ok := schemerOf(t); ok {
		raw := json.RawMessage(s.ArgSchema())
		var head struct{ Type any }
		if err := json.Unmarshal(raw, &head); err != nil {
			panic("schema of " + t.String() + ": " + err.Error())
		}
		typ, _ = head.Type.(string)
		return withAbout(raw, p.About), typ, ""
	}
	o := objectBuilder{buf: make([]byte, 0, 96+len(p.About))}
	if t == reflect.TypeFor[json.RawMessage]() {
		o.addDescription(p.About)
		return o.bytes(), "", ""
	}
	switch t.Kind() {
	case reflect.String:
		typ = "string"
		o.addText("type", typ)
		o.addBounds(tags, "minLength", "maxLength")
	case reflect.Bool:
		typ = "boolean"
		o.addText("type", typ)
	case reflect.Int, reflect.Int64, reflect.Int32:
		typ = "integer"
		o.addText("type", typ)
		o.addBounds(tags, "minimum", "maximum")
	case reflect.Float64:
		typ = "number"
		o.addText("type", typ)
		o.addBounds(tags, "minimum", "maximum")
	case reflect.Slice:
		typ = "array"
		o.addText("type", typ)
		inner := Param{Enum: p.Enum}
		raw, it, _ := fieldSchema(t.Elem(), noTags, &inner)
		items = it
		o.addRaw("items", raw)
		o.addBounds(tags, "minItems", "maxItems")
		if p.UniqueItems {
			o.addRaw("uniqueItems", json.RawMessage("true"))
		}
		o.addDescription(p.About)
		return o.bytes(), typ, items
	case reflect.Map:
		typ = "object"
		raw, _, _ := fieldSchema(t.Elem(), noTags, &Param{})
		o.addText("type", typ)
		o.addRaw("additionalProperties", raw)
	case reflect.Struct:
		typ = "object"
		o.addAll(structSchema(paramsOf(t)))
	default:
		panic("no schema for " + t.String())
	}
	p.isBasic = typ != "object"
	if len(p.Enum) > 0 {
		o.addTexts("enum", p.Enum)
	}
	o.addDescription(p.About)
	if tags.hasValue {
		o.addRaw("default", defaultJSON(tags.value, typ))
	}
	return o.bytes(), typ, items
}

var (
	noTags      = &paramTags{}
	schemerType = reflect.TypeFor[schemer]()
)

// schemerOf returns a value of t if t provides its own schema.
func schemerOf(t reflect.Type) (s schemer, ok bool) {
	if t.PkgPath() == "" || !reflect.PointerTo(t).Implements(schemerType) {
		return nil, false
	}
	s, ok = reflect.TypeAssert[schemer](reflect.New(t))
	return s, ok
}

// structSchema returns the schema of an object with exactly these members.
func structSchema(params ...[]Param) json.RawMessage {
	size, required := 128, []string(nil)
	for _, some := range params {
		for i := range some {
			p := &some[i]
			size += len(p.Name) + len(p.schema) + 4
			if p.Required {
				required = append(required, p.Name)
				size += len(p.Name) + 3
			}
		}
	}
	o := objectBuilder{buf: make([]byte, 0, size)}
	o.addText("type", "object")
	o.key("properties")
	o.buf = append(o.buf, '{')
	first := true
	for _, some := range params {
		for i := range some {
			if !first {
				o.buf = append(o.buf, ',')
			}
			first = false
			o.buf = append(append(appendQuoted(o.buf, some[i].Name), ':'), some[i].schema...)
		}
	}
	o.buf = append(o.buf, '}')
	if len(required) > 0 {
		o.addTexts("required", required)
	}
	o.addRaw("additionalProperties", json.RawMessage("false"))
	return o.bytes()
}

// objectBuilder builds a JSON object whose members keep their order.
type objectBuilder struct{ buf []byte }

// addText adds a string member.
func (o *objectBuilder) addText(key, value string) {
	o.key(key)
	o.buf = appendQuoted(o.buf, value)
}

// addTexts adds a member that is a list of strings.
func (o *objectBuilder) addTexts(key string, values []string) {
	o.key(key)
	o.buf = append(o.buf, '[')
	for i, v := range values {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.buf = appendQuoted(o.buf, v)
	}
	o.buf = append(o.buf, ']')
}

// addRaw adds a member that is JSON already.
func (o *objectBuilder) addRaw(key string, raw json.RawMessage) {
	o.key(key)
	o.buf = append(o.buf, raw...)
}

// key writes the name of a member.
func (o *objectBuilder) key(key string) {
	o.next()
	o.buf = append(appendQuoted(o.buf, key), ':')
}

// addAll adds all members of raw, an object that is not empty.
func (o *objectBuilder) addAll(raw json.RawMessage) {
	o.next()
	o.buf = append(o.buf, raw[1:len(raw)-1]...)
}

// next begins the next member.
func (o *objectBuilder) next() {
	if len(o.buf) == 0 {
		o.buf = append(o.buf, '{')
	} else {
		o.buf = append(o.buf, ',')
	}
}

func (o *objectBuilder) addDescription(text string) {
	if text != "" {
		o.addText("description", text)
	}
}

func (o *objectBuilder) addBounds(tags *paramTags, low, high string) {
	for _, b := range [...][2]string{{low, tags.min}, {high, tags.max}} {
		if b[1] == "" {
			continue
		}
		if _, err := strconv.ParseFloat(b[1], 64); err != nil {
			panic(fmt.Sprintf("bound %s:%q is not a number", b[0], b[1]))
		}
		o.addRaw(b[0], json.RawMessage(b[1]))
	}
}

func (o *objectBuilder) bytes() json.RawMessage {
	if len(o.buf) == 0 {
		return json.RawMessage("{}")
	}
	return append(o.buf, '}')
}

// withAbout adds a description to a schema that has none.
func withAbout(schema json.RawMessage, about string) json.RawMessage {
	if about == "" {
		return schema
	}
	o := objectBuilder{}
	o.addAll(schema)
	o.addDescription(about)
	return o.bytes()
}

// Quote returns a text as JSON.
func Quote(s string) json.RawMessage { return appendQuoted(nil, s) }

// appendQuoted appends a text as [json.Marshal] writes it, with a fast path for text without escapes.
func appendQuoted(to []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			raw, err := json.Marshal(s)
			if err != nil {
				panic("a text does not encode: " + err.Error())
			}
			return append(to, raw...)
		}
	}
	return append(append(append(to, '"'), s...), '"')
}
