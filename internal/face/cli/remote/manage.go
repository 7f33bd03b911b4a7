package remote

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"collie/internal/tool"
)

// This file asks a running gateway to manage servers and the cache.

// Reread makes the gateway read its settings again. Its gateway.json then shows the result.
func (r *Client) Reread(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, aliveTime)
	defer cancel()
	_, _ = r.Do(ctx, http.MethodPost, "/settings/reread", []byte("{}")) // if it fails, gateway.json shows that the settings differ
}

// ClearCache deletes the entries of servers, or all if none is named, and returns the names of
// those that had entries.
func (r *Client) ClearCache(ctx context.Context, names []string) ([]string, error) {
	body, err := json.Marshal(map[string][]string{"servers": append([]string{}, names...)})
	if err != nil {
		return nil, err
	}
	raw, err := r.Do(ctx, http.MethodPost, "/toolcache/clear", body)
	if err != nil {
		return nil, err
	}
	var got struct{ Removed []string }
	err = r.decode(raw, &got)
	return got.Removed, err
}

// FlushCache makes the gateway write pending changes of the cache.
func (r *Client) FlushCache(ctx context.Context) error {
	_, err := r.Do(ctx, http.MethodPost, "/toolcache/flush", []byte("{}"))
	return err
}

// Restart stops a server and starts it again.
func (r *Client) Restart(ctx context.Context, name string) (tool.ServerStatus, error) {
	return r.postAction(ctx, name, "restart")
}

// Refresh makes a server send its lists.
func (r *Client) Refresh(ctx context.Context, name string) (tool.ServerStatus, error) {
	return r.postAction(ctx, name, "refresh")
}

// Start starts a server that is not running.
func (r *Client) Start(ctx context.Context, name string) (tool.ServerStatus, error) {
	return r.postAction(ctx, name, "start")
}

func (r *Client) postAction(ctx context.Context, name, verb string) (tool.ServerStatus, error) {
	raw, err := r.Do(ctx, http.MethodPost, serverPath(name)+"/"+verb, []byte("{}"))
	if err != nil {
		return tool.ServerStatus{}, err
	}
	var got struct{ Server tool.ServerStatus }
	err = r.decode(raw, &got)
	return got.Server, err
}

// Changes returns the definitions that differ from the approved ones, by tool.
func (r *Client) Changes(ctx context.Context, name string) (map[string]tool.DefinitionChange, error) {
	raw, err := r.Do(ctx, http.MethodGet, serverPath(name)+"/changes", nil)
	if err != nil {
		return nil, err
	}
	var got struct {
		Changes map[string]tool.DefinitionChange
	}
	err = r.decode(raw, &got)
	return got.Changes, err
}

// Approve approves the definitions in shown, which has their hashes by tool, and returns how many there were.
func (r *Client) Approve(ctx context.Context, name string, shown map[string]string) (int, error) {
	body, err := json.Marshal(map[string]any{"hashes": shown})
	if err != nil {
		return 0, err
	}
	raw, err := r.Do(ctx, http.MethodPost, serverPath(name)+"/approve", body)
	if err != nil {
		return 0, err
	}
	var got struct{ Approved int }
	err = r.decode(raw, &got)
	return got.Approved, err
}

func serverPath(name string) string { return "/mcp/servers/" + url.PathEscape(name) }
