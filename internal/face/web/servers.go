package web

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"collie/internal/tool"
)

// This file answers requests about the MCP servers: their states, operations on them, and the approval of changed
// definitions.

func (a *api) servers(w http.ResponseWriter, _ *http.Request) error {
	out := serverList{Servers: a.opts.Servers.List()}
	if a.opts.SettingsProblem != nil {
		out.Wrong = a.opts.SettingsProblem()
	}
	return answer(w, out)
}

type serverList struct {
	Wrong   string              `json:"configError,omitempty"` // what is wrong with the settings, so that older ones are in effect
	Servers []tool.ServerStatus `json:"servers"`
}

type oneServer struct {
	Server tool.ServerStatus `json:"server"`
}

type changedTools struct {
	Changes map[string]tool.DefinitionChange `json:"changes"`
}

type approval struct {
	// Tools are those whose changed definitions are accepted; all in Hashes if there are none.
	Tools []string `json:"tools,omitempty"`
	// Hashes has the hash of each definition that the person was shown, by tool. A definition that has changed since is not
	// accepted.
	Hashes map[string]string `json:"hashes"`
}

// shown returns the hashes of the definitions that are accepted. server is for the error.
func (a *approval) shown(server string) (map[string]string, error) {
	names := a.Tools
	if len(names) == 0 {
		names = slices.Collect(maps.Keys(a.Hashes))
	}
	out := map[string]string{}
	for _, name := range names {
		out[name] = a.Hashes[name]
	}
	if len(out) == 0 || slices.Contains(slices.Collect(maps.Values(out)), "") {
		return nil, &tool.Error{
			Op: "approve", Kind: tool.Invalid, Subject: "hashes",
			Message: "expected the hash of each definition to accept, as GET /api/v1/mcp/servers/" + server + "/changes shows it",
			Hint:    `send {"hashes": {"name": "hash"}}`,
		}
	}
	return out, nil
}

type approved struct {
	Approved int `json:"approved"` // how many there were
}

func (a *api) server(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	for _, s := range a.opts.Servers.List() {
		if s.Name == name {
			return answer(w, oneServer{s})
		}
	}
	_, err := a.opts.Servers.Changes(name) // its error says that the server is unknown, and names a similar one
	return err
}

// serverOperation returns the handler for an operation on a server; it answers with the server's state after it.
func serverOperation(what func(Servers, context.Context, string) (tool.ServerStatus, error)) func(*api, http.ResponseWriter, *http.Request) error {
	return func(a *api, w http.ResponseWriter, r *http.Request) error {
		st, err := what(a.opts.Servers, r.Context(), r.PathValue("name"))
		if err != nil {
			return err
		}
		return answer(w, oneServer{st})
	}
}

func (a *api) changes(w http.ResponseWriter, r *http.Request) error {
	found, err := a.opts.Servers.Changes(r.PathValue("name"))
	if err != nil {
		return err
	}
	return answer(w, changedTools{found})
}

// approve accepts changed definitions that a person was shown.
func (a *api) approve(w http.ResponseWriter, r *http.Request) error {
	var body approval
	if err := decodeStrict(r, &body); err != nil {
		return &tool.Error{
			Op: "approve", Kind: tool.Invalid, Message: "the body is not what is expected", Err: err,
			Hint: `send {"hashes": {"name": "hash"}}`,
		}
	}
	shown, err := body.shown(r.PathValue("name"))
	if err != nil {
		return err
	}
	n, err := a.opts.Servers.Approve(r.Context(), r.PathValue("name"), shown)
	if err != nil {
		return err
	}
	a.record(r, "mcp approve", map[string]any{"server": r.PathValue("name"), "tools": slices.Sorted(maps.Keys(shown))})
	return answer(w, approved{n})
}

func (a *api) cacheStats(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, a.opts.CacheStats())
}
