package web

import (
	"context"
	"encoding/json"
	"net/http"

	"collie/internal/tool"
)

// Cache is what this face needs of the tool cache.
type Cache interface {
	// Clear deletes what is kept of the named servers, of all if none is named, and returns whose
	// there was.
	Clear(names ...string) []string
	// Flush writes what is pending and returns why that failed.
	Flush(ctx context.Context) error
}

// clearCache forgets the servers in {"servers": […]}, all of them with {"servers": []}, and
// answers when that is on disk.
func (a *api) clearCache(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Servers *[]string `json:"servers"`
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	if err != nil || body.Servers == nil {
		return &tool.Error{
			Op: "clear tool cache", Kind: tool.Invalid, Message: "the body is not what is expected", Err: err,
			Hint: `send {"servers": ["name"]}, or {"servers": []} for all`,
		}
	}
	cleared := a.opts.Cache.Clear(*body.Servers...)
	if err := a.opts.Cache.Flush(r.Context()); err != nil {
		return err
	}
	return answer(w, map[string]any{"removed": append([]string{}, cleared...)})
}

// flushCache writes what the cache has not yet written.
func (a *api) flushCache(w http.ResponseWriter, r *http.Request) error {
	if err := a.opts.Cache.Flush(r.Context()); err != nil {
		return err
	}
	return answer(w, map[string]any{})
}

// notShared answers gateways of earlier versions, which shared their lists through this one.
func (a *api) notShared(w http.ResponseWriter, _ *http.Request) error {
	e := &tool.Error{
		Op: "share tool cache", Kind: tool.Disabled, Message: "gateways do not share lists over HTTP any more",
		Hint: `share through NATS: "cache": {"shared": "nats://nats.example.org:4222"}, or take lists over once with collie cache import FILE`,
	}
	Refuse(w, http.StatusGone, e.Payload())
	return nil
}
