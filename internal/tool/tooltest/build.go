package tooltest

import (
	"encoding/json"
	"fmt"
	"strings"

	"collie/internal/tool"
)

// This file has short constructors of tools, actions, resources and results for tests.

// Tool makes a Tool with these actions and the prefix that an upstream server would have.
func Tool(name string, actions ...tool.Action) tool.Tool {
	return tool.Tool{Name: name, Prefix: name + "__", Actions: actions}
}

// Offer makes an offer of one Tool with that name.
func Offer(name string, actions ...tool.Action) tool.Offer {
	return tool.Offer{Tools: []tool.Tool{Tool(name, actions...)}}
}

// Action makes an action whose input schema is {"type":"object"} with these JSON members.
func Action(name string, members ...string) tool.Action {
	var schema strings.Builder
	schema.WriteString(`{"type":"object"`)
	for _, m := range members {
		schema.WriteString("," + m)
	}
	schema.WriteString("}")
	about := "Does " + name + "."
	return tool.Action{
		Name: name, Description: about, InputSchema: json.RawMessage(schema.String()),
		Definition: json.RawMessage(`{"name":` + quote(name) + `,"description":` + quote(about) + `,"inputSchema":` + schema.String() + `}`),
	}
}

// Resource makes the entry of a URI.
func Resource(uri string) tool.Resource {
	return tool.Resource{URI: uri, Definition: json.RawMessage(`{"uri":` + quote(uri) + `,"name":"r"}`)}
}

// Template makes the entry of a URI template.
func Template(pattern string) tool.Template {
	return tool.Template{Pattern: pattern, Definition: json.RawMessage(`{"uriTemplate":` + quote(pattern) + `,"name":"t"}`)}
}

// Prompt makes the entry of a prompt.
func Prompt(name string) tool.Prompt {
	return tool.Prompt{Name: name, Definition: json.RawMessage(`{"name":` + quote(name) + `}`)}
}

// Text returns a tool result with one text.
func Text(text string) tool.Result {
	return raw(`{"content":[{"type":"text","text":%s}]}`, quote(text))
}

// Failed returns a tool result that reports a failure of the action.
func Failed(text string) tool.Result {
	r := raw(`{"content":[{"type":"text","text":%s}],"isError":true}`, quote(text))
	r.IsError = true
	return r
}

// Contents returns the result of reading a resource of one text.
func Contents(uri, text string) tool.Result {
	return raw(`{"contents":[{"uri":%s,"text":%s}]}`, quote(uri), quote(text))
}

func raw(format string, args ...any) tool.Result {
	return tool.Result{Raw: json.RawMessage(fmt.Sprintf(format, args...))}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("tooltest: a string does not encode: " + err.Error())
	}
	return string(b)
}
