package web

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/arguments"
	"collie/internal/tool"
)

// This file reads forms that servers want a person to fill in, and checks the answers.

// methodElicit is the request of a server that wants to know something from a person.
const methodElicit = "elicitation/create"

// ServerForm is what a server wants to know from a person in the middle of a call. Its texts are the server's.
type ServerForm struct {
	Message string `json:"message"`
	// URL is a page that the person is asked to open; empty where the form has fields.
	URL string `json:"url,omitempty"`
	// Schema describes the fields: a JSON schema of an object whose properties are plain values.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// formOf reads the parameters of a server's request.
func formOf(params json.RawMessage) (*ServerForm, error) {
	p := gjson.ParseBytes(params)
	f := &ServerForm{Message: p.Get("message").String()}
	if p.Get("mode").String() == "url" {
		f.URL = p.Get("url").String()
		if !strings.HasPrefix(f.URL, "https://") && !strings.HasPrefix(f.URL, "http://") {
			return nil, &tool.Error{Op: "ask", Kind: tool.Invalid, Subject: "url", Message: "expected an address that begins with https:// or http://"}
		}
		return f, nil
	}
	if f.Schema = json.RawMessage(p.Get("requestedSchema").Raw); len(f.Schema) == 0 {
		f.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return f, nil
}

// result returns the answer to the server's request.
func (f *ServerForm) result(given givenAnswer) (json.RawMessage, error) {
	switch {
	case !given.Yes:
		return json.RawMessage(`{"action":"decline"}`), nil
	case f.URL != "":
		return json.RawMessage(`{"action":"accept"}`), nil
	}
	content := given.Content
	if len(content) == 0 {
		content = json.RawMessage("{}")
	}
	return json.Marshal(map[string]any{"action": "accept", "content": content})
}

// check returns why a yes cannot be given to the server: a value that it asks for is missing, or of another type. It knows only
// the few types that forms have; the server checks the rest.
func (f *ServerForm) check(id string, given givenAnswer) error {
	if !given.Yes || f.URL != "" {
		return nil
	}
	wrong := func(field, message string) error {
		return &tool.Error{
			Op: "answer", Kind: tool.Invalid, Code: "wrong_form", Subject: id, Message: message + "; nothing was answered", Facts: map[string]any{"field": field},
			Hint: `answer with {"yes":true,"content":{…}}, as "form" of GET /api/v1/questions describes it, or with no`,
		}
	}
	content := gjson.ParseBytes(given.Content)
	if len(given.Content) > 0 && !content.IsObject() {
		return wrong("content", "content is not an object")
	}
	fields := slices.DeleteFunc(arguments.Parameters(f.Schema), func(p arguments.Parameter) bool { return p.Parent != "" })
	for _, p := range fields {
		value, there := content.Map()[p.Name]
		switch {
		case !there && p.Required:
			return wrong("content."+p.Name, "the server wants "+p.Name)
		case there && !fits(&p, value):
			return wrong("content."+p.Name, p.Name+" is not of the type "+p.TypeName()+", or not one of the choices")
		}
	}
	for name := range content.Map() {
		if !slices.ContainsFunc(fields, func(p arguments.Parameter) bool { return p.Name == name }) {
			return wrong("content."+name, "the form has no field "+name)
		}
	}
	return nil
}

// fits reports whether value has a type of p and is one of its choices, if p has any. Of a list, each item must fit.
func fits(p *arguments.Parameter, value gjson.Result) bool {
	if p.Is("array") {
		item := arguments.Parameter{Types: p.Items, Enum: p.Enum}
		return value.IsArray() && !slices.ContainsFunc(value.Array(), func(one gjson.Result) bool { return !fits(&item, one) })
	}
	if len(p.Enum) > 0 && !slices.ContainsFunc(p.Enum, func(one gjson.Result) bool {
		return one.Raw == value.Raw || one.String() == value.String() && one.Type == value.Type
	}) {
		return false
	}
	return len(p.Types) == 0 || slices.ContainsFunc(p.Types, func(name string) bool {
		switch name {
		case "string":
			return value.Type == gjson.String
		case "boolean":
			return value.IsBool()
		case "integer":
			return value.Type == gjson.Number && value.Num == float64(int64(value.Num))
		case "number":
			return value.Type == gjson.Number
		}
		return true
	})
}
