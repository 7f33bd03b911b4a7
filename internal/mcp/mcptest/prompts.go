package mcptest

import (
	"context"
	"strings"
)

// This file serves prompts, and completes their arguments and those of the resource template.

func (s *server) listPrompts(_ context.Context, c *call) {
	entries := []string{
		`{"name":"greet","description":"Greets somebody.","arguments":[{"name":"name","description":"Who.","required":true},{"name":"style"}],"x-vendor":1.0}`,
		`{"name":"plain","description":"Takes no arguments."}`,
	}
	if s.hasExtra("prompts") {
		entries = append(entries, `{"name":"extra"}`)
	}
	s.answerPage(c, "prompts", entries)
}

func (s *server) getPrompt(_ context.Context, c *call) {
	switch name := c.arguments.Get("name"); {
	case c.name == "plain", c.name == "extra" && s.hasExtra("prompts"):
		c.promptText("Say something.")
	case c.name == "greet" && !name.Exists():
		c.refuse(codeInvalidParams, "Missing required argument: name", "")
	case c.name == "greet":
		c.promptText("Greet " + name.String() + " in a " + textArgument(c.arguments, "style", "plain") + " style.")
	default:
		c.refuse(codeInvalidParams, "Unknown prompt: "+c.name, "")
	}
}

func (c *call) promptText(text string) {
	c.answer(c.resultStart() + `"messages":[{"role":"user","content":{"type":"text","text":` + quote(text) + `}}]}`)
}

// completions maps each argument that can be completed to its values.
var completions = map[string][]string{
	"name":  {"Ada", "Alan", "Barbara", "Grace"},
	"style": {"casual", "formal", "plain"},
	"id":    {"1", "10", "11", "2", "20"},
}

func (s *server) complete(_ context.Context, c *call) {
	ref := c.params.Get("ref")
	known := ref.Get("type").Str == "ref/prompt" && ref.Get("name").Str == "greet" ||
		ref.Get("type").Str == "ref/resource" && ref.Get("uri").Str == s.opts.scheme+itemPath+"{id}"
	if !known {
		c.refuse(codeInvalidParams, "Unknown reference", "")
		return
	}
	values := []string{}
	for _, v := range completions[c.params.Get("argument.name").Str] {
		if strings.HasPrefix(v, c.params.Get("argument.value").Str) {
			values = append(values, v)
		}
	}
	c.answer(c.resultStart() + `"completion":{"values":` + stringsJSON(values) + `,"hasMore":false}}`)
}
