package source

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/sjson"

	"collie/internal/tool"
)

// subscriptions counts who wants to hear of a resource, so that a source is asked once.
type subscriptions struct {
	mu    sync.Mutex
	count map[subscription]int
}

type subscription struct {
	source tool.Source
	uri    string // in the source's words
}

// Subscribe asks the owner of uri for its updates, which arrive by Watch. Each successful
// call wants one Unsubscribe.
func (c *Catalog) Subscribe(ctx context.Context, profile, uri string) error {
	key, reader, err := c.subscribed(profile, uri)
	if err != nil {
		return err
	}
	c.watched.mu.Lock()
	if c.watched.count == nil {
		c.watched.count = map[subscription]int{}
	}
	c.watched.count[key]++
	first := c.watched.count[key] == 1
	c.watched.mu.Unlock()
	if !first {
		return nil
	}
	if err := reader.Subscribe(ctx, key.uri); err != nil {
		c.watched.drop(key)
		return err
	}
	return nil
}

// Unsubscribe takes one Subscribe back.
func (c *Catalog) Unsubscribe(ctx context.Context, profile, uri string) error {
	key, reader, err := c.subscribed(profile, uri)
	if err != nil {
		return err
	}
	if !c.watched.drop(key) {
		return nil
	}
	return reader.Unsubscribe(ctx, key.uri)
}

// drop counts one subscriber less and reports whether it was the last.
func (s *subscriptions) drop(key subscription) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count[key] == 0 {
		return false
	}
	if s.count[key]--; s.count[key] > 0 {
		return false
	}
	delete(s.count, key)
	return true
}

// subscribed finds who tells of a resource: its owner, else the first that subscribes.
func (c *Catalog) subscribed(profile, uri string) (subscription, tool.Reader, error) {
	call := tool.Call{Kind: tool.KindRead, Name: uri, Profile: profile}
	s := c.snapshot()
	if err := c.resolveURI(s.view(profile), &call); err != nil {
		return subscription{}, nil, err
	}
	src := call.Source
	if a, ok := src.(aliased); ok {
		src = a.Source
	}
	if src == tool.Source(c) {
		for _, o := range s.offers {
			if o.offer.Subscribes && o.offer.ReadsAny {
				src = o.source
				break
			}
		}
	}
	reader, ok := src.(tool.Reader)
	if !ok {
		return subscription{}, nil, &tool.Error{Op: "subscribe", Kind: tool.Unknown, Subject: uri, Message: "this resource takes no subscriptions"}
	}
	return subscription{src, call.Target}, reader, nil
}

// exposed gives an update the URI that clients know.
func (c *Catalog) exposed(ch tool.Change) tool.Change {
	v := c.snapshot().view("")
	if t, ok := v.resources[ch.URI]; !ok || t.source.Name() == ch.Source {
		return ch
	}
	for uri, t := range v.resources {
		if t.original == ch.URI && t.source.Name() == ch.Source && strings.HasPrefix(uri, serverURI) {
			if params, err := sjson.SetBytes(ch.Params, "uri", uri); err == nil {
				ch.URI, ch.Params = uri, json.RawMessage(params)
			}
		}
	}
	return ch
}

// levels keeps how much each holder wants to be told, and tells sources the most of it.
type levels struct {
	mu      sync.Mutex
	holders map[any]int
	current int
}

// Levels are the log levels of MCP, falling in number of messages.
var Levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// SetLevel says how much holder wants to be told; an empty level takes it back. Sources
// are told the most that anybody wants.
func (c *Catalog) SetLevel(ctx context.Context, holder any, level string) error {
	n := slices.Index(Levels, level)
	if n < 0 && level != "" {
		return &tool.Error{Op: "set log level", Kind: tool.Invalid, Subject: level, Message: "unknown level", Hint: "levels: " + strings.Join(Levels, ", ")}
	}
	c.levels.mu.Lock()
	if c.levels.holders == nil {
		c.levels.holders, c.levels.current = map[any]int{}, len(Levels)
	}
	if level == "" {
		delete(c.levels.holders, holder)
	} else {
		c.levels.holders[holder] = n
	}
	most := len(Levels)
	for _, l := range c.levels.holders {
		most = min(most, l)
	}
	changed := most != c.levels.current && most < len(Levels)
	c.levels.current = most
	c.levels.mu.Unlock()
	if changed {
		c.tellLevel(ctx, Levels[most])
	}
	return nil
}

// tellLevel tells all sources at once; one that does not answer keeps its level.
func (c *Catalog) tellLevel(ctx context.Context, level string) {
	var wg sync.WaitGroup
	for _, o := range c.snapshot().offers {
		if l, ok := o.source.(tool.Logger); ok && o.offer.Logs {
			wg.Go(func() {
				if err := l.SetLevel(ctx, level); err != nil {
					c.log.Debug("log level not set", "source", o.source.Name(), "error", err)
				}
			})
		}
	}
	wg.Wait()
}
