package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

const openapiFile, apiPage = "internal/face/web/openapi.json", "reference/api.html"

// This file makes the page about the API from openapi.json.

// schema is a JSON Schema, with the keywords that the page shows.
type schema struct {
	Ref                  string `json:"$ref"`
	Type                 any    // a string, or a list of them
	Format               string
	Description          string
	Enum                 []any
	Items                *schema
	AdditionalProperties json.RawMessage
	Properties           map[string]*schema
	Required             []string
	ContentEncoding      string
}

// body is what a route takes or answers, by media type.
type body struct {
	Description string
	Content     map[string]struct{ Schema *schema }
}

// operation is one method of one route.
type operation struct {
	Summary, Description string
	Parameters           []struct {
		In, Name, Description string
		Required              bool
		Schema                *schema
	}
	RequestBody *body
	Responses   map[string]*body
}

// api replaces the page of docs/reference/api.md by one that is made from openapi.json and has the same headings.
func (s *site) api() error {
	raw, err := fs.ReadFile(s.root, openapiFile)
	if err != nil {
		return err
	}
	var api struct {
		Paths      map[string]map[string]*operation
		Components struct{ Schemas map[string]*schema }
	}
	if err := json.Unmarshal(raw, &api); err != nil {
		return fmt.Errorf("%s: %w", openapiFile, err)
	}
	d := s.page("en", apiPage)
	if d == nil {
		return fmt.Errorf("docs/reference/api.md is missing")
	}
	wanted := d.headings
	intro, _, _ := strings.Cut(string(d.body), "<h2")
	d.headings, d.sections = wanted[:1:1], d.sections[:1:1]
	var out bytes.Buffer
	fmt.Fprintf(&out, `%s<p><a href="../../openapi.json" download>openapi.json</a></p>`, intro)
	d.head(&out, 2, "Routes", "routes", "")
	out.WriteString(`<div class="wide" tabindex="0"><table><thead><tr><th>Route</th><th>What it does</th></tr></thead><tbody>`)
	type route struct {
		method, path string
		op           *operation
	}
	var routes []route
	for _, at := range slices.Sorted(maps.Keys(api.Paths)) {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			if op := api.Paths[at][method]; op != nil {
				routes = append(routes, route{strings.ToUpper(method), at, op})
			}
		}
	}
	for _, r := range routes {
		fmt.Fprintf(&out, `<tr><td><a href="#%s">%s</a></td><td>%s</td></tr>`, slug(r.method+" "+r.path), routeName(r.method, r.path), escape(r.op.Summary))
	}
	out.WriteString("</tbody></table></div>\n")
	for _, r := range routes {
		d.head(&out, 3, r.method+" "+r.path, slug(r.method+" "+r.path), r.op.Summary+" "+r.op.Description)
		fmt.Fprintf(&out, "<p>%s. %s</p>\n", escape(strings.TrimSuffix(r.op.Summary, ".")), escape(r.op.Description))
		r.op.write(&out)
	}
	d.head(&out, 2, "Types", "types", "")
	for _, name := range slices.Sorted(maps.Keys(api.Components.Schemas)) {
		d.head(&out, 3, name, slug(name), "")
		api.Components.Schemas[name].write(&out, &d.sections[len(d.sections)-1])
	}
	d.body = template.HTML(out.String())
	for _, h := range wanted {
		if !slices.ContainsFunc(d.headings, func(have heading) bool { return have.ID == h.ID }) {
			s.wrong(d.file, "%s has nothing for its heading %q", openapiFile, h.Text)
		}
	}
	s.files["openapi.json"] = raw
	return nil
}

// escape returns a text as HTML that shows it.
func escape(s string) string { return template.HTMLEscapeString(s) }

func routeName(method, path string) string {
	return fmt.Sprintf(`<b class="method %s">%s</b> <code>%s</code>`, strings.ToLower(method), method, escape(path))
}

// head writes a heading, and records it for the menu. found is the text below it, for the search.
func (d *document) head(out *bytes.Buffer, level int, name, id, found string) {
	shown := escape(name)
	if method, path, isRoute := strings.Cut(name, " "); isRoute {
		shown = routeName(method, path)
	}
	fmt.Fprintf(out, "<h%d id=\"%s\">%s</h%d>\n", level, id, shown, level)
	d.headings = append(d.headings, heading{level, id, name})
	d.sections = append(d.sections, section{id: id, heading: name, text: found})
}

// write writes the parameters, the body and the answers of a route.
func (op *operation) write(out *bytes.Buffer) {
	var rows strings.Builder
	for _, p := range op.Parameters {
		if p.In != "path" {
			fmt.Fprintf(&rows, "<tr><td><code>%s</code></td><td>%s</td><td>%s</td></tr>", escape(p.Name), escape(p.In), escape(p.Description))
		}
	}
	if rows.Len() > 0 {
		fmt.Fprintf(out, `<div class="wide" tabindex="0"><table><thead><tr><th>Parameter</th><th>In</th><th>Meaning</th></tr></thead><tbody>%s</tbody></table></div>`, &rows)
	}
	out.WriteString("<ul>\n")
	if op.RequestBody != nil {
		fmt.Fprintf(out, "<li>Body: %s</li>\n", op.RequestBody.name())
	}
	for _, code := range slices.Sorted(maps.Keys(op.Responses)) {
		if code != "default" {
			fmt.Fprintf(out, "<li>Answer: %s, %s</li>\n", escape(code), op.Responses[code].name())
		}
	}
	out.WriteString("</ul>\n")
}

// name returns a body on one line: its types, or the media type where it is not JSON.
func (b *body) name() string {
	var all []string
	for _, media := range slices.Sorted(maps.Keys(b.Content)) {
		is := b.Content[media].Schema.name()
		if media != "application/json" {
			is = "<code>" + escape(media) + "</code>"
		}
		all = append(all, is)
	}
	if len(all) == 0 {
		return "no body"
	}
	return strings.Join(all, " or ")
}

// name returns a type on one line, with a link if it is a named one.
func (t *schema) name() string {
	if t == nil {
		return "anything"
	}
	if t.Ref != "" {
		name := t.Ref[strings.LastIndexByte(t.Ref, '/')+1:]
		return fmt.Sprintf(`<a href="#%s">%s</a>`, slug(name), escape(name))
	}
	kinds := []any{t.Type}
	if list, ok := t.Type.([]any); ok {
		kinds = list
	}
	var all []string
	for _, kind := range kinds {
		var of schema
		switch {
		case kind == "array":
			all = append(all, "list of "+t.Items.name())
		case kind == "object" && len(t.AdditionalProperties) > 0 && json.Unmarshal(t.AdditionalProperties, &of) == nil:
			all = append(all, "map of "+of.name())
		case kind == nil:
			all = append(all, "anything")
		case t.Format != "":
			all = append(all, escape(t.Format))
		default:
			all = append(all, escape(fmt.Sprint(kind)+strings.Repeat(" (base64)", min(1, len(t.ContentEncoding)))))
		}
	}
	if len(t.Enum) > 0 {
		var values []string
		for _, v := range t.Enum {
			values = append(values, "<code>"+escape(fmt.Sprint(v))+"</code>")
		}
		return strings.Join(values, ", ")
	}
	return strings.Join(all, " or ")
}

// write writes the members of a named type, and adds their texts to found, for the search.
func (t *schema) write(out *bytes.Buffer, found *section) {
	if len(t.Properties) == 0 {
		fmt.Fprintf(out, "<p>%s</p>\n", t.name())
		return
	}
	out.WriteString(`<div class="wide" tabindex="0"><table><thead><tr><th>Member</th><th>Type</th><th>Meaning</th></tr></thead><tbody>`)
	for _, name := range slices.Sorted(maps.Keys(t.Properties)) {
		p := t.Properties[name]
		optional := ""
		if len(t.Required) > 0 && !slices.Contains(t.Required, name) { // types that are only sent say nothing about required members
			optional = ", optional"
		}
		fmt.Fprintf(out, "<tr><td><code>%s</code></td><td>%s%s</td><td>%s</td></tr>", escape(name), p.name(), optional, escape(p.Description))
		found.text += " " + name + " " + p.Description
	}
	out.WriteString("</tbody></table></div>\n")
}
