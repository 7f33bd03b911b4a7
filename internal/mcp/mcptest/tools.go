package mcptest

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// builtin is one tool of the server.
type builtin struct {
	about      string // description
	properties string // of inputSchema, JSON members
	blocks     bool   // may wait; see server.blocks
	run        func(ctx context.Context, s *server, c *call, args gjson.Result)
}

func (b builtin) definition(name string) string {
	return `{"name":"` + name + `","description":` + quote(b.about) +
		`,"inputSchema":{"type":"object","properties":{` + b.properties + `}}}`
}

// builtins returns all tools by name.
func builtins() map[string]builtin {
	all := map[string]builtin{}
	for _, group := range []map[string]builtin{
		plainTools(), sizeTools(), timeTools(), askTools(), noticeTools(), faultTools(), wireTools(), vendorTools(),
	} {
		maps.Copy(all, group)
	}
	return all
}

// builtinNames returns the names of tools, sorted.
func builtinNames(tools map[string]builtin) []string {
	names := make([]string, 0, len(tools))
	for name := range tools {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// callTool answers tools/call: a built-in tool, an odd or listed name, or an error. After crashAfter calls the process ends.
func (s *server) callTool(ctx context.Context, c *call) {
	if n := s.opts.crashAfter; n >= 0 && s.calls.Add(1) > int64(n) {
		s.exitAndWait(ctx, exitFailed)
		return
	}
	if tool, ok := s.tools[c.name]; ok {
		tool.run(ctx, s, c, c.arguments)
		return
	}
	switch {
	case s.odd[c.name]:
		c.answerParts(OddResult(s.opts.seed, oddSize))
	case s.listed[c.name], c.name == "extra" && s.hasExtra("tools"):
		echo(ctx, s, c, c.arguments)
	default:
		c.refuse(codeInvalidParams, "Unknown tool: "+c.name, "")
	}
}

// The JSON Schemas of arguments that several tools share.
const (
	textProperty  = `"text":{"type":"string"}`
	bytesProperty = `"bytes":{"type":"integer","minimum":0}`
	msProperty    = `"ms":{"type":"integer","minimum":0}`
)

// rawArgument returns the JSON text of an argument, or def if it is missing.
func rawArgument(args gjson.Result, name, def string) string {
	if v := args.Get(name); v.Exists() {
		return strings.TrimSpace(v.Raw)
	}
	return def
}

// numberArgument returns an argument as a number, or def if it is missing.
func numberArgument(args gjson.Result, name string, def int) int {
	if v := args.Get(name); v.Exists() {
		return int(v.Int())
	}
	return def
}

// textArgument returns an argument as text, or def if it is missing.
func textArgument(args gjson.Result, name, def string) string {
	if v := args.Get(name); v.Exists() {
		return v.String()
	}
	return def
}
