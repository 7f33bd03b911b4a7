package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"collie/internal/mcp"
	"collie/internal/tool"
)

// This file turns requests of MCP clients into calls through the pipeline, and results and errors into answers.

func (s *Server) callTool(ctx context.Context, in *mcp.Incoming) (json.RawMessage, error) {
	name, err := requiredParam(in, "name", "a tool's name")
	if err != nil {
		return nil, err
	}
	args := mcp.Get(in.Params, "arguments")
	if args == nil || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	return s.run(ctx, in, tool.Request{Kind: tool.KindCall, Name: name, Args: args})
}

func (s *Server) readResource(ctx context.Context, in *mcp.Incoming) (json.RawMessage, error) {
	uri, err := requiredParam(in, "uri", "a resource's URI")
	if err != nil {
		return nil, err
	}
	return s.run(ctx, in, tool.Request{Kind: tool.KindRead, Name: uri, Args: json.RawMessage("{}")})
}

func (s *Server) getPrompt(ctx context.Context, in *mcp.Incoming) (json.RawMessage, error) {
	name, err := requiredParam(in, "name", "a prompt's name")
	if err != nil {
		return nil, err
	}
	args := mcp.Get(in.Params, "arguments")
	if args == nil {
		args = json.RawMessage("{}")
	}
	return s.run(ctx, in, tool.Request{Kind: tool.KindPrompt, Name: name, Args: args})
}

func (s *Server) complete(ctx context.Context, in *mcp.Incoming) (json.RawMessage, error) {
	name := mcp.GetString(in.Params, "ref", "name")
	if name == "" {
		name = mcp.GetString(in.Params, "ref", "uri")
	}
	if name == "" {
		return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: `params.ref needs "name" for a prompt, or "uri" for a resource template`}
	}
	return s.run(ctx, in, tool.Request{Kind: tool.KindComplete, Name: name, Args: in.Params})
}

// requiredParam returns a string parameter, or an error if it is missing.
func requiredParam(in *mcp.Incoming, field, example string) (string, error) {
	v, ok := mcp.Text(mcp.Get(in.Params, field))
	if !ok || v == "" {
		return "", &mcp.Error{Code: mcp.CodeInvalidParams, Message: "params." + field + " is missing or no string: expected " + example}
	}
	return v, nil
}

// run sends a call through the pipeline and returns the result in the form for the client's era.
func (s *Server) run(ctx context.Context, in *mcp.Incoming, c tool.Request) (json.RawMessage, error) {
	principal := client(in.Peer)
	c.Params, c.Origin, c.Principal, c.Profile = in.Params, principal.Origin, principal.Principal, principal.Profile
	c.Client, c.Session, c.RequestID = s.nameOf(in.Peer), in.Peer.Session, string(in.ID)
	c.Caller, c.Cancel = &caller{server: s, in: in}, in.Cancel
	modern := in.Peer.Era == mcp.Modern
	c.Retry = modern && mcp.Get(in.Params, "inputResponses") != nil
	do := s.pipeline.Do
	if principal.Do != nil {
		do = principal.Do
	}
	r, err := do(ctx, c)
	if err != nil {
		if r, err = clientError(c.Kind, c.Name, err, modern); err != nil {
			return nil, err
		}
	}
	if modern && r.Type == "" {
		// Hints that the server itself has set stay.
		hints := c.Kind == tool.KindRead && mcp.Get(r.Raw, "ttlMs") == nil && mcp.Get(r.Raw, "cacheScope") == nil
		return s.addModernFields(r.Raw, hints), nil
	}
	return r.Raw, nil
}

// clientError converts an error for MCP clients. An error from a server is passed on unchanged. If a known tool
// was refused or failed, the error becomes a result with isError, which models can read (MCP 2025-11-25,
// Tools, Error Handling). Everything else is a protocol error.
func clientError(kind tool.Kind, name string, err error, modern bool) (tool.Result, error) {
	if e, ok := errors.AsType[*tool.ProtocolError](err); ok {
		return tool.Result{}, &mcp.RPCError{Raw: e.Raw}
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		e = &tool.Error{Op: "call", Kind: tool.Internal, Subject: name, Err: err}
	}
	if kind == tool.KindRequest && e.Kind == tool.NotFound {
		return tool.Result{}, methodNotFound(name)
	}
	if kind == tool.KindCall && !e.Unresolved {
		return e.ErrorResult(), nil
	}
	out := &mcp.Error{Code: codeOf(e.Kind, kind, modern), Message: e.Error(), Data: e.Payload()}
	if e.Hint != "" {
		out.Message += "; " + e.Hint
	}
	if kind == tool.KindRead && e.Kind == tool.NotFound {
		out.Data = mcp.Edit(nil, mcp.Field{Key: "uri", Value: mcp.Quote(name)})
	}
	return tool.Result{}, out
}

// codeOf maps kinds of error to JSON-RPC codes.
func codeOf(kind tool.ErrorKind, call tool.Kind, modern bool) int {
	switch kind.Class() {
	case tool.NotFound:
		if call == tool.KindRead && !modern {
			return mcp.CodeResourceNotFound
		}
		return mcp.CodeInvalidParams
	case tool.Invalid, tool.Disabled, tool.Denied, tool.Unconfirmed, tool.Declined, tool.Removed,
		tool.Conflicting, tool.Ambiguous, tool.Exists, tool.Conflict, tool.StateChanged:
		return mcp.CodeInvalidParams
	case tool.Busy, tool.Upstream, tool.Crashed, tool.Unavailable, tool.TooLarge, tool.Timeout,
		tool.Canceled, tool.NeedsAuth, tool.Unaudited, tool.Internal, tool.Unauthorized, tool.LevelsUnknown:
	}
	return mcp.CodeInternal
}
