package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"collie/internal/tool"
)

// This file is what a running gateway does to its servers when asked to.

func (r *remote) Restart(ctx context.Context, name string) (tool.ServerStatus, error) {
	return r.act(ctx, name, "restart")
}

func (r *remote) Refresh(ctx context.Context, name string) (tool.ServerStatus, error) {
	return r.act(ctx, name, "refresh")
}

func (r *remote) Start(ctx context.Context, name string) (tool.ServerStatus, error) {
	return r.act(ctx, name, "start")
}

func (r *remote) act(ctx context.Context, name, verb string) (tool.ServerStatus, error) {
	raw, err := r.do(ctx, http.MethodPost, serverPath(name)+"/"+verb, []byte("{}"))
	if err != nil {
		return tool.ServerStatus{}, err
	}
	var got struct{ Server tool.ServerStatus }
	err = r.decode(raw, &got)
	return got.Server, err
}

func (r *remote) Changes(ctx context.Context, name string) (map[string]tool.DefinitionChange, error) {
	raw, err := r.do(ctx, http.MethodGet, serverPath(name)+"/changes", nil)
	if err != nil {
		return nil, err
	}
	var got struct {
		Changes map[string]tool.DefinitionChange
	}
	err = r.decode(raw, &got)
	return got.Changes, err
}

func (r *remote) Approve(ctx context.Context, name string, tools []string) (int, error) {
	body, err := json.Marshal(map[string][]string{"tools": tools})
	if err != nil {
		return 0, err
	}
	raw, err := r.do(ctx, http.MethodPost, serverPath(name)+"/approve", body)
	if err != nil {
		return 0, err
	}
	var got struct{ Approved int }
	err = r.decode(raw, &got)
	return got.Approved, err
}

func serverPath(name string) string { return "/mcp/servers/" + url.PathEscape(name) }
