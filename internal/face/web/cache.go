package web

import (
	"context"
	"net/http"

	"collie/internal/tool"
)

// Cache is the part of the tool cache that this face needs.
type Cache interface {
	// Clear deletes the entries of the named servers, or of all if none is named. It returns whose entries
	// there were.
	Clear(names ...string) []string
	// Flush writes pending changes.
	Flush(ctx context.Context) error
}

type clearing struct {
	Servers *[]string `json:"servers"`
}

type cleared struct {
	Removed []string `json:"removed"`
}

// clearCache deletes the entries of the servers in {"servers": […]}, or all with {"servers": []}. It answers
// when that is on disk.
func (a *api) clearCache(w http.ResponseWriter, r *http.Request) error {
	var body clearing
	err := decodeStrict(r, &body)
	if err != nil || body.Servers == nil {
		return &tool.Error{
			Op: "clear tool cache", Kind: tool.Invalid, Message: "the body is not what is expected", Err: err,
			Hint: `send {"servers": ["name"]}, or {"servers": []} for all`,
		}
	}
	names := a.opts.Cache.Clear(*body.Servers...)
	if err := a.opts.Cache.Flush(r.Context()); err != nil {
		return err
	}
	a.record(r, "cache clear", map[string]any{"servers": names})
	return answer(w, cleared{append([]string{}, names...)})
}

// flushCache writes pending changes of the cache.
func (a *api) flushCache(w http.ResponseWriter, r *http.Request) error {
	if err := a.opts.Cache.Flush(r.Context()); err != nil {
		return err
	}
	return answer(w, none{})
}

// sharingGone answers gateways of earlier versions, which shared their lists through this API.
func (a *api) sharingGone(w http.ResponseWriter, _ *http.Request) error {
	e := &tool.Error{
		Op: "share tool cache", Kind: tool.Disabled, Message: "gateways do not share lists over HTTP any more",
		Hint: `share through NATS: "cache": {"shared": "nats://nats.example.org:4222"}, or take lists over once with collie cache import FILE`,
	}
	Refuse(w, http.StatusGone, e.Payload())
	return nil
}
