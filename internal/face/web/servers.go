package web

import (
	"context"
	"encoding/json"
	"net/http"

	"collie/internal/tool"
)

func (a *api) servers(w http.ResponseWriter, _ *http.Request) error {
	out := map[string]any{"servers": a.opts.Servers.List()}
	if a.opts.Wrong != nil {
		if wrong := a.opts.Wrong(); wrong != "" {
			out["configError"] = wrong
		}
	}
	return answer(w, out)
}

func (a *api) server(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	for _, s := range a.opts.Servers.List() {
		if s.Name == name {
			return answer(w, map[string]any{"server": s})
		}
	}
	_, err := a.opts.Servers.Changes(name) // its error says that the server is unknown, and names a similar one
	return err
}

// act returns the handler for an operation on a server; it answers with the server's state after it.
func serverOperation(what func(Servers, context.Context, string) (tool.ServerStatus, error)) func(*api, http.ResponseWriter, *http.Request) error {
	return func(a *api, w http.ResponseWriter, r *http.Request) error {
		st, err := what(a.opts.Servers, r.Context(), r.PathValue("name"))
		if err != nil {
			return err
		}
		return answer(w, map[string]any{"server": st})
	}
}

func (a *api) changes(w http.ResponseWriter, r *http.Request) error {
	found, err := a.opts.Servers.Changes(r.PathValue("name"))
	if err != nil {
		return err
	}
	return answer(w, map[string]any{"changes": found})
}

// approve accepts changed definitions of the tools in {"tools": […]}, or of all without a body.
func (a *api) approve(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Tools []string `json:"tools"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return &tool.Error{
			Op: "approve", Kind: tool.Invalid, Message: "the body is not what is expected", Err: err,
			Hint: `send {"tools": ["name"]}, or {} for all`,
		}
	}
	n, err := a.opts.Servers.Approve(r.Context(), r.PathValue("name"), body.Tools)
	if err != nil {
		return err
	}
	return answer(w, map[string]any{"approved": n})
}

func (a *api) cacheStats(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, a.opts.CacheStats())
}
