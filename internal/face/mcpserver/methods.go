package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/tidwall/gjson"

	"collie/internal/mcp"
	"collie/internal/tool"
)

// This file lists the MCP methods that clients may use, and answers those that need no call.

// class says how a method relates to the pipeline.
type class string

// The classes of methods.
const (
	classCall class = "call" // makes a call through the pipeline
	classRead class = "read" // returns lists or subscribes to changes; runs nothing
)

type method struct {
	class class
	era   mcp.Era // the only one that has it, or bothEras
	run   func(*Server, context.Context, *mcp.Incoming) (json.RawMessage, error)
}

// bothEras marks a method that both eras of MCP have.
const bothEras mcp.Era = 0

// methods are all requests this face answers, except initialize, ping and server/discover, which package mcp
// answers.
var methods = map[string]method{
	"tools/list":               {classRead, bothEras, listHandler(tool.ListTools)},
	"resources/list":           {classRead, bothEras, listHandler(tool.ListResources)},
	"resources/templates/list": {classRead, bothEras, listHandler(tool.ListTemplates)},
	"prompts/list":             {classRead, bothEras, listHandler(tool.ListPrompts)},
	"tools/call":               {classCall, bothEras, (*Server).callTool},
	"resources/read":           {classCall, bothEras, (*Server).readResource},
	"prompts/get":              {classCall, bothEras, (*Server).getPrompt},
	"completion/complete":      {classCall, bothEras, (*Server).complete},
	"resources/subscribe":      {classRead, mcp.Legacy, (*Server).subscribe},
	"resources/unsubscribe":    {classRead, mcp.Legacy, (*Server).unsubscribe},
	"logging/setLevel":         {classRead, mcp.Legacy, (*Server).setLevel},
	"subscriptions/listen":     {classRead, mcp.Modern, (*Server).listen},
}

// anyOther is the entry for methods that this program does not know but a server may.
const anyOther = "*"

// Methods returns the class of every method, by name.
func Methods() map[string]class {
	out := make(map[string]class, len(methods))
	for name, m := range methods {
		out[name] = m.class
	}
	out[anyOther] = classCall
	return out
}

// Handle answers one request.
func (s *Server) Handle(ctx context.Context, in *mcp.Incoming) (json.RawMessage, error) {
	m, ok := methods[in.Method]
	switch {
	case !ok:
		return s.forward(ctx, in)
	case m.era != bothEras && m.era != in.Peer.Era:
		return nil, methodNotFound(in.Method)
	}
	return m.run(s, ctx, in)
}

func methodNotFound(method string) *mcp.Error {
	return &mcp.Error{Code: mcp.CodeMethodNotFound, Message: "method not found: " + method}
}

// listHandler returns the handler of a list request. It answers with the prepared bytes, all on one page.
func listHandler(kind tool.ListKind) func(*Server, context.Context, *mcp.Incoming) (json.RawMessage, error) {
	return func(s *Server, ctx context.Context, in *mcp.Incoming) (json.RawMessage, error) {
		if cursor := mcp.Get(in.Params, "cursor"); cursor != nil && string(cursor) != "null" && string(cursor) != `""` {
			return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: "params.cursor is none of ours: lists here have one page"}
		}
		s.awaitFirstLists(ctx, in.Peer, kind)
		who := client(in.Peer)
		raw, _ := s.pipeline.List(ctx, kind, who.Profile)
		if who.Shows != nil && kind == tool.ListTools {
			raw = filterTools(raw, who.Shows)
		}
		if in.Peer.Era != mcp.Modern {
			return raw, nil
		}
		return s.addModernFields(raw, true), nil
	}
}

// filterTools returns a list of tools with only those for which shows returns true.
func filterTools(raw json.RawMessage, shows func(name string) bool) json.RawMessage {
	out := []byte(`{"tools":[`)
	gjson.GetBytes(raw, "tools").ForEach(func(_, t gjson.Result) bool {
		if shows(t.Get("name").String()) {
			if out[len(out)-1] != '[' {
				out = append(out, ',')
			}
			out = append(out, t.Raw...)
		}
		return true
	})
	return append(out, "]}"...)
}

// addModernFields adds to a result the fields that 2026-07-28 requires. A cacheable result is marked as one that may
// change at any time.
func (s *Server) addModernFields(raw json.RawMessage, cacheable bool) json.RawMessage {
	fields := []mcp.Field{{Key: "resultType", Value: json.RawMessage(`"complete"`)}}
	if cacheable {
		fields = append(fields,
			mcp.Field{Key: "ttlMs", Value: json.RawMessage("0")}, mcp.Field{Key: "cacheScope", Value: json.RawMessage(`"private"`)})
	}
	return mcp.WithFields(raw, fields...)
}
