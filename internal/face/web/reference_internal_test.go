package web

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

//go:generate go test . -run ^TestReference$ -update

var update = flag.Bool("update", false, "write the document of the API")

// TestReference: openapi.json and docs/reference/api.md are up to date with the routes.
func TestReference(t *testing.T) {
	t.Parallel()
	d := newDocument(t)
	openapi, err := json.Marshal(d.openapi())
	if err != nil {
		t.Fatal(err)
	}
	openapi = bytes.ReplaceAll(openapi, []byte(`"/api/v1/`), []byte("\n"+`"/api/v1/`)) // one path or type per line, so that diffs can be read
	for name := range d.types {
		openapi = bytes.Replace(openapi, []byte(`"`+name+`":{"`), []byte("\n"+`"`+name+`":{"`), 1)
	}
	for file, want := range map[string]string{"openapi.json": string(openapi) + "\n", "../../../docs/reference/api.md": d.markdown()} {
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v; go generate ./internal/face/web writes it", err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is old, go generate ./internal/face/web writes it (-want +got):\n%s", file, diff)
		}
	}
}

// schema is a JSON Schema.
type schema = map[string]any

// document describes the routes.
type document struct {
	t      *testing.T
	routes []Route
	types  map[string]schema       // by the names in the document
	named  map[reflect.Type]string // names of the types
	sent   map[string]bool         // types that clients send: no member is required and no other is allowed
	words  map[string]string       // comments of fields, by "package.Type.Field"
}

// newDocument returns a document of all routes that have a summary. schemaOf then adds the types as they are needed.
func newDocument(t *testing.T) *document {
	d := &document{t: t, types: map[string]schema{}, named: map[reflect.Type]string{}, sent: map[string]bool{}, words: readFieldComments(t)}
	for _, r := range Routes() {
		if r.about.summary == "" {
			continue
		}
		d.routes = append(d.routes, r)
		if in := reflect.TypeOf(r.about.in); in != nil {
			d.markSent(in)
		}
		if r.about.asks {
			d.markSent(reflect.TypeFor[askAnswer]())
		}
	}
	return d
}

// markSent adds t, if it is a struct, and all structs in it to d.sent.
func (d *document) markSent(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		d.markSent(t.Elem())
	case reflect.Struct:
		if d.sent[nameOf(t)] || t == reflect.TypeFor[time.Time]() {
			return
		}
		d.sent[nameOf(t)] = true
		for f := range t.Fields() {
			d.markSent(f.Type)
		}
	}
}

// nameOf returns the name of a type in the document, which begins with a capital.
func nameOf(t reflect.Type) string {
	name := t.Name()
	return strings.ToUpper(name[:1]) + name[1:]
}

// readFieldComments reads the comments of fields from the source, by "package.Type.Field".
func readFieldComments(t *testing.T) map[string]string {
	out := map[string]string{}
	for _, dir := range []string{".", "../../chat", "../../llm", "../../llm/admin", "../../llm/keypool", "../../tool", "../../pipeline/gate/grant", "../../pipeline/audit"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if !ok {
					return true
				}
				if s, ok := spec.Type.(*ast.StructType); ok {
					for _, field := range s.Fields.List {
						text := strings.Join(strings.Fields(field.Doc.Text()+" "+field.Comment.Text()), " ")
						for _, id := range field.Names {
							out[f.Name.Name+"."+spec.Name.Name+"."+id.Name] = text
						}
					}
				}
				return true
			})
		}
	}
	return out
}

// schemaOf returns the schema of values of type t. For a struct that is a reference to its entry in d.types.
func (d *document) schemaOf(t reflect.Type) schema {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return schema{}
	case reflect.TypeFor[time.Time]():
		return schema{"type": "string", "format": "date-time"}
	case reflect.TypeFor[[]byte]():
		return schema{"type": "string", "contentEncoding": "base64"}
	}
	switch t.Kind() {
	case reflect.Interface:
		return schema{}
	case reflect.Pointer:
		return d.schemaOf(t.Elem())
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint8, reflect.Uint64:
		return schema{"type": "integer"}
	case reflect.Float64:
		return schema{"type": "number"}
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Slice:
		return schema{"type": "array", "items": d.schemaOf(t.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": d.schemaOf(t.Elem())}
	case reflect.Struct:
		d.define(t)
		return schema{"$ref": "#/components/schemas/" + d.named[t]}
	}
	d.t.Fatalf("no schema for %s", t)
	return nil
}

// define adds a struct to d.types and d.named, unless it is there already.
func (d *document) define(t reflect.Type) {
	if _, there := d.named[t]; there {
		return
	}
	name := nameOf(t)
	if _, there := d.types[name]; there {
		d.t.Fatalf("two types are called %s", name)
	}
	d.named[t], d.types[name] = name, schema{}
	properties, required := map[string]schema{}, []string{}
	d.addFields(t, properties, &required)
	out := schema{"type": "object", "properties": properties}
	if d.sent[name] {
		out["additionalProperties"] = false
	} else if len(required) > 0 {
		out["required"] = required
	}
	d.types[name] = out
}

// addFields adds the fields of a struct, and of those embedded in it, to properties, and the names of those that are always
// there to required.
func (d *document) addFields(t reflect.Type, properties map[string]schema, required *[]string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			d.addFields(f.Type, properties, required)
			continue
		case name == "-" || !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		s := d.schemaOf(f.Type)
		optional := strings.Contains(options, "omit")
		if kind := f.Type.Kind(); !optional && (kind == reflect.Slice || kind == reflect.Map || kind == reflect.Pointer) && len(s) > 0 {
			if text, ok := s["type"].(string); ok {
				s["type"] = []string{text, "null"}
			} else {
				s = schema{"oneOf": []schema{s, {"type": "null"}}}
			}
		}
		path := strings.Split(t.String(), ".") // package.Type
		if text := d.words[path[0]+"."+path[1]+"."+f.Name]; text != "" && len(s) > 0 {
			s["description"] = text
		}
		properties[name] = s
		if !optional {
			*required = append(*required, name)
		}
	}
}

var inPath = regexp.MustCompile(`\{(\w+)\}`)

// scope describes who may use a route of a class.
func scope(c Class) string {
	switch c {
	case ClassManage:
		return "a person: the control key of the command line, or a browser that is signed in"
	case ClassChat:
		return "a token with the scope chat"
	case ClassCall, ClassRead:
		return "a token with the scope tools"
	}
	return ""
}

// mediaTypes returns the media types of a body, each with its schema if it is JSON.
func (d *document) mediaTypes(body any) schema {
	as := func(types ...string) schema {
		out := schema{}
		for _, t := range types {
			out[t] = schema{}
		}
		return out
	}
	switch body.(type) {
	case eventStream:
		return as("text/event-stream")
	case file:
		return as("*/*")
	case markdown:
		return as("application/json", "text/markdown")
	}
	return schema{"application/json": schema{"schema": d.schemaOf(reflect.TypeOf(body))}}
}

// openapi returns the document in the form of OpenAPI 3.1.
func (d *document) openapi() schema {
	paths := map[string]schema{}
	for _, r := range d.routes {
		method, path, _ := strings.Cut(r.Pattern, " ")
		parameters := []schema{}
		for _, m := range inPath.FindAllStringSubmatch(path, -1) {
			parameters = append(parameters, schema{"name": m[1], "in": "path", "required": true, "schema": schema{"type": "string"}})
		}
		for _, q := range r.about.query {
			name, meaning, _ := strings.Cut(q, ": ")
			parameters = append(parameters, schema{"name": name, "in": "query", "description": meaning, "schema": schema{"type": "string"}})
		}
		good := schema{"description": "It is done"}
		if r.about.out != nil {
			good["content"] = d.mediaTypes(r.about.out)
		}
		op := schema{
			"summary": r.about.summary, "x-class": r.Class, "description": "For " + scope(r.Class) + ".",
			"responses": schema{fmt.Sprint(r.status()): good, "default": schema{"$ref": "#/components/responses/Error"}},
		}
		if len(parameters) > 0 {
			op["parameters"] = parameters
		}
		if r.about.in != nil {
			op["requestBody"] = schema{"required": true, "content": d.mediaTypes(r.about.in)}
		}
		if r.about.asks {
			content, _ := op["requestBody"].(schema)["content"].(schema)
			content[streamType] = schema{"schema": schema{"oneOf": []schema{d.schemaOf(reflect.TypeOf(r.about.in)), d.schemaOf(reflect.TypeFor[askAnswer]())}}}
			op["responses"].(schema)["200"] = schema{
				"description": "Lines while it runs", "content": schema{streamType: schema{"schema": d.schemaOf(reflect.TypeFor[askLine]())}},
			}
		}
		if paths[path] == nil {
			paths[path] = schema{}
		}
		paths[path][strings.ToLower(method)] = op
	}
	text := schema{"type": "string"}
	fault := schema{
		"type": "object", "required": []string{"type", "message"},
		"properties": schema{
			"type": text, "code": text, "message": text, "subject": text, "hint": text,
			"fields": schema{"type": "array"}, "outcomeUnknown": schema{"type": "boolean"}, "retryAfterSeconds": schema{"type": "number"},
		},
	}
	return schema{
		"openapi":  "3.1.0",
		"info":     schema{"title": "Collie", "version": "v1", "description": "The API of a running gateway."},
		"security": []schema{{"token": []string{}}},
		"paths":    paths,
		"components": schema{
			"securitySchemes": schema{"token": schema{"type": "http", "scheme": "bearer"}},
			"schemas":         d.types,
			"responses": schema{"Error": schema{
				"description": "It is refused, or has failed",
				"content":     schema{"application/json": schema{"schema": schema{"type": "object", "properties": schema{"error": fault, "protocolError": schema{}}}}},
			}},
		},
	}
}

// status returns the HTTP status of a successful answer.
func (r *Route) status() int {
	switch {
	case r.about.status != 0:
		return r.about.status
	case r.about.out == nil:
		return 204
	}
	return 200
}

// markdown returns the document for people: a section for each route, then one for each type.
func (d *document) markdown() string {
	var b bytes.Buffer
	b.WriteString("# The API of a gateway\n\nUnder the address of `collie serve`, with `Authorization: Bearer TOKEN`. `GET /api/v1/openapi.json` has the same for programs.\n" +
		"What goes wrong is answered as `{\"error\":{\"type\":…,\"message\":…,\"hint\":…}}`, also a path or a method that is not there (404, 405).\n" +
		"A body is JSON, of type `application/json`, unless it says otherwise; members that a type does not have are refused.\n" +
		"Optional are the members of what is sent, and those marked so of what is answered.\n")
	for _, r := range d.routes {
		fmt.Fprintf(&b, "\n## %s\n\n%s. For %s.\n\n", r.Pattern, r.about.summary, scope(r.Class))
		if len(r.about.query) > 0 {
			b.WriteString("| query | meaning |\n|---|---|\n")
			for _, q := range r.about.query {
				name, meaning, _ := strings.Cut(q, ": ")
				fmt.Fprintf(&b, "| %s | %s |\n", name, cell(meaning))
			}
			b.WriteString("\n")
		}
		if r.about.in != nil {
			fmt.Fprintf(&b, "- Body: %s\n", d.body(r.about.in))
		}
		fmt.Fprintf(&b, "- Answer: %d", r.status())
		if r.about.out != nil {
			fmt.Fprintf(&b, ", %s", d.body(r.about.out))
		}
		b.WriteString("\n")
		if r.about.asks {
			fmt.Fprintf(&b, "- As `%s`, for the control key: the body is the first line, and lines of type %s follow; the answer (200) has lines of type %s among others\n",
				streamType, typeText(d.schemaOf(reflect.TypeFor[askAnswer]())), typeText(d.schemaOf(reflect.TypeFor[askLine]())))
		}
	}
	b.WriteString("\n# Types\n")
	for _, name := range slices.Sorted(maps.Keys(d.types)) {
		s := d.types[name]
		properties, _ := s["properties"].(map[string]schema)
		fmt.Fprintf(&b, "\n## %s\n\n", name)
		if len(properties) == 0 {
			b.WriteString("No members.\n")
			continue
		}
		required, _ := s["required"].([]string)
		b.WriteString("| member | type | | meaning |\n|---|---|---|---|\n")
		for _, p := range slices.Sorted(maps.Keys(properties)) {
			always := ""
			if required != nil && !slices.Contains(required, p) {
				always = "optional"
			}
			meaning, _ := properties[p]["description"].(string)
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", p, typeText(properties[p]), always, cell(meaning))
		}
	}
	return b.String()
}

// cell escapes a text for a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// body describes a body in Markdown.
func (d *document) body(body any) string {
	var out []string
	for media, s := range d.mediaTypes(body) {
		if inner, _ := s.(schema)["schema"].(schema); inner != nil {
			out = append(out, typeText(inner))
			continue
		}
		out = append(out, "`"+media+"`")
	}
	slices.Sort(out)
	return strings.Join(out, " or ")
}

// typeText describes a schema in Markdown.
func typeText(s schema) string {
	if ref, ok := s["$ref"].(string); ok {
		name := filepath.Base(ref)
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	}
	if either, ok := s["oneOf"].([]schema); ok {
		return typeText(either[0]) + " or null"
	}
	text, null := "", ""
	switch t := s["type"].(type) {
	case string:
		text = t
	case []string:
		text, null = t[0], " or null"
	}
	switch text {
	case "":
		return "any JSON"
	case "array":
		items, _ := s["items"].(schema)
		text = "array of " + typeText(items)
	case "object":
		if inner, ok := s["additionalProperties"].(schema); ok && len(inner) > 0 {
			text = "object of " + typeText(inner)
		}
	}
	if format, ok := s["format"].(string); ok {
		text += " (" + format + ")"
	}
	return text + null
}
