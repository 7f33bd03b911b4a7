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

// This file shares subscriptions and log levels of several clients at one source.

// subscriptions counts the subscribers of each resource, so that its source is asked once for all of them.
type subscriptions struct {
	mu  sync.Mutex
	all map[string]*subscription // by the URI that clients use
}

// subscription is a resource with its subscribers. It exists from the first request to subscribe on.
type subscription struct {
	users int // how many hold this value; guarded by subscriptions.mu

	mu     sync.Mutex // held during a request to the source, so that requests arrive in order
	count  int        // subscribers
	reader tool.Peer
	uri    string // the source's own URI
}

// acquire returns the subscription of a URI, made if needed. The caller must release it.
func (s *subscriptions) acquire(uri string) *subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*subscription{}
	}
	sub := s.all[uri]
	if sub == nil {
		sub = &subscription{}
		s.all[uri] = sub
	}
	sub.users++
	return sub
}

func (s *subscriptions) release(uri string, sub *subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sub.users--; sub.users == 0 && sub.count == 0 {
		delete(s.all, uri)
	}
}

// Subscribe asks the owner of uri for its updates, which then arrive by Watch. Each successful call needs one
// Unsubscribe.
func (c *Catalog) Subscribe(ctx context.Context, profile, uri string) error {
	sub := c.subscriptions.acquire(uri)
	defer c.subscriptions.release(uri, sub)
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if sub.count == 0 {
		var err error
		if sub.reader, sub.uri, err = c.subscribedSource(profile, uri); err != nil {
			return err
		}
		if err := sub.reader.Subscribe(ctx, sub.uri); err != nil {
			return err
		}
	} else if _, p := c.profile(profile); !p.showsSource(sub.reader) { // a profile that sees more has subscribed to it
		return unknownNameError("subscribe", "resource", uri, nil)
	}
	sub.count++
	return nil
}

// Unsubscribe undoes one Subscribe, at the source to which that went. The profile is ignored: URIs mean the same in
// all of them.
func (c *Catalog) Unsubscribe(ctx context.Context, _, uri string) error {
	sub := c.subscriptions.acquire(uri)
	defer c.subscriptions.release(uri, sub)
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if sub.count == 0 {
		return nil
	}
	if sub.count--; sub.count > 0 {
		return nil
	}
	reader := c.currentPeer(sub.reader) // a replaced source has handed its subscriptions to this one
	if reader == nil {
		return nil
	}
	return reader.Unsubscribe(ctx, sub.uri)
}

// subscribedSource returns the source that sends updates of a resource, and its own URI for it: the owner of the URI,
// else the first source of the profile that takes subscriptions and may know URIs that it does not list.
func (c *Catalog) subscribedSource(profile, uri string) (tool.Peer, string, error) {
	call := tool.Call{Request: tool.Request{Kind: tool.KindRead, Name: uri, Profile: profile}}
	s := c.snapshot()
	if err := c.resolveURI(s.view(profile), &call); err != nil {
		return nil, "", err
	}
	src := call.Source
	if a, ok := src.(aliasedSource); ok {
		src = a.Source
	}
	if src == tool.Source(c) && !strings.HasPrefix(uri, ownScheme) {
		_, p := c.profile(profile)
		for _, o := range s.offers {
			if o.offer.Subscribes && o.offer.ReadsAny && p.showsSource(o.source) {
				src = o.source
				break
			}
		}
	}
	reader, ok := src.(tool.Peer)
	if !ok {
		return nil, "", &tool.Error{Op: "subscribe", Kind: tool.NotFound, Subject: uri, Message: "this resource takes no subscriptions"}
	}
	return reader, call.Target, nil
}

// withExposedURI replaces the source's URI in an update by the one that clients know.
func (c *Catalog) withExposedURI(ch tool.Change) tool.Change {
	v := c.snapshot().view("")
	if t, ok := v.uris[ch.URI]; !ok || t.source.Name() == ch.Source {
		return ch
	}
	for uri, t := range v.uris {
		if t.original == ch.URI && t.source.Name() == ch.Source && strings.HasPrefix(uri, serverURI) {
			if params, err := sjson.SetBytes(ch.Params, "uri", uri); err == nil {
				ch.URI, ch.Params = uri, json.RawMessage(params)
			}
		}
	}
	return ch
}

// levels keeps the log level that each holder wants; sources are told the most verbose of them.
type levels struct {
	mu        sync.Mutex
	bySession map[any]int
	current   int
}

// logLevels are the levels of MCP, the most verbose first.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// SetLevel sets the log level that holder, such as a session, wants; an empty level withdraws it. If the most verbose
// level that any holder wants changes by that, sources are told the new one.
func (c *Catalog) SetLevel(ctx context.Context, holder any, level string) error {
	n := slices.Index(logLevels, level)
	if n < 0 && level != "" {
		return &tool.Error{Op: "set log level", Kind: tool.Invalid, Subject: level, Message: "unknown level", Hint: "levels: " + strings.Join(logLevels, ", ")}
	}
	c.levels.mu.Lock()
	if c.levels.bySession == nil {
		c.levels.bySession, c.levels.current = map[any]int{}, len(logLevels)
	}
	if level == "" {
		delete(c.levels.bySession, holder)
	} else {
		c.levels.bySession[holder] = n
	}
	verbosest := len(logLevels)
	for _, l := range c.levels.bySession {
		verbosest = min(verbosest, l)
	}
	changed := verbosest != c.levels.current && verbosest < len(logLevels)
	c.levels.current = verbosest
	c.levels.mu.Unlock()
	for changed {
		c.tellLevel(ctx, logLevels[verbosest])
		c.levels.mu.Lock()
		now := c.levels.current
		c.levels.mu.Unlock()
		// If it changed meanwhile, sources may have been told the new level before this one.
		changed, verbosest = now != verbosest && now < len(logLevels), now
	}
	return nil
}

// tellLevel sends the level to all sources in parallel, including those that have not started yet. A source that does
// not answer keeps its level.
func (c *Catalog) tellLevel(ctx context.Context, level string) {
	var wg sync.WaitGroup
	for _, o := range c.snapshot().offers {
		if l, ok := o.source.(tool.Peer); ok {
			wg.Go(func() {
				if err := l.SetLevel(ctx, level); err != nil {
					c.log.Debug("log level not set", "source", o.source.Name(), "error", err)
				}
			})
		}
	}
	wg.Wait()
}
