package chat

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"

	"collie/internal/llm"
	"collie/internal/store"
	"collie/internal/tool"
)

// This file has the service itself: opening, closing, and the checks that all operations share.

//go:embed schema/*.sql
var schemaFiles embed.FS

// Schema returns the tables of conversations, for [store.Open].
func Schema() store.Schema {
	schema := store.Schema{Name: "chat"}
	for _, name := range []string{"001", "002"} {
		script, err := schemaFiles.ReadFile("schema/" + name + ".sql")
		if err != nil {
			panic(err) // the file is embedded
		}
		schema.Migrations = append(schema.Migrations, string(script))
	}
	return schema
}

// Options of a [Service]. Engine is required.
type Options struct {
	// Engine chooses the engine for a message under a config, and returns its name. It fails if none can answer, for
	// example if no model is configured or the model takes no pictures. It is called before anything is written.
	Engine func(ctx context.Context, c Config, message []llm.Part) (name string, e Engine, err error)
	// Defaults returns the settings' defaults for an agent; the name is empty for none.
	Defaults func(agent string) Config
	// Redact removes secrets from the arguments of a call of name; nil changes nothing.
	Redact func(name string, args json.RawMessage) json.RawMessage
	// nil discards
	Logger *slog.Logger
}

// Service stores conversations and runs their turns. It is safe for concurrent use.
type Service struct {
	store *store.Store
	o     Options
	log   *slog.Logger
	hub   *hub

	ctx     context.Context // context of background work; ends after the turns
	stop    context.CancelFunc
	work    sync.WaitGroup
	closing chan struct{} // closed when no more turns begin
	close   sync.Once
}

// errClosed is the error of a service that accepts no more turns.
var errClosed = &tool.Error{Op: "chat", Kind: tool.Unavailable, Message: "it is shutting down", Hint: "try again in a moment"}

// Open returns a service that uses s, which must have been opened with [Schema]. Turns of processes that have ended
// become interrupted. The caller closes the service, and then s.
func Open(ctx context.Context, s *store.Store, o Options) (*Service, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Defaults == nil {
		o.Defaults = func(string) Config { return Config{} }
	}
	if o.Redact == nil {
		o.Redact = func(_ string, args json.RawMessage) json.RawMessage { return args }
	}
	service := &Service{store: s, o: o, log: o.Logger, hub: newHub(), closing: make(chan struct{})}
	service.ctx, service.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := service.recover(ctx); err != nil {
		service.stop()
		return nil, err
	}
	return service, nil
}

// Close stops accepting turns and waits for running ones until ctx ends, then cancels the rest. Queued turns become
// interrupted, and streams end. Close may be called twice.
func (s *Service) Close(ctx context.Context) error {
	s.close.Do(func() {
		close(s.closing)
		s.drain(ctx)
		s.stop()
		s.work.Wait()
		s.hub.mu.Lock()
		s.hub.closed = true
		if s.hub.forget != nil {
			s.hub.forget.Stop()
		}
		for _, of := range s.hub.subs {
			for sub := range of {
				sub.end()
			}
		}
		s.hub.mu.Unlock()
	})
	return nil
}

// drain cancels the queued turns of this process and waits for the running ones. When ctx ends, it cancels those too.
func (s *Service) drain(ctx context.Context) {
	s.hub.mu.Lock()
	var running []*liveTurn
	for _, l := range s.hub.turns {
		if l.state == TurnQueued {
			l.cancel(errShutdown)
		}
		running = append(running, l)
	}
	s.hub.mu.Unlock()
	for _, l := range running {
		select {
		case <-l.ended:
			continue
		case <-ctx.Done():
		}
		l.cancel(errShutdown)
		<-l.ended
	}
}

var (
	errShutdown = errors.New("shutdown")
	errGone     = errors.New("the turn has ended")
)

func invalidError(op, field, message, hint string) error {
	return &tool.Error{Op: op, Kind: tool.Invalid, Message: message, Hint: hint, Fields: []tool.Field{{Path: "/" + field, Message: message}}}
}

func notFoundError(op, what, id string) error {
	return &tool.Error{Op: op, Kind: tool.NotFound, Subject: id, Message: "there is no such " + what}
}

func conflictError(op, subject, message, hint string) error {
	return &tool.Error{Op: op, Kind: tool.Conflict, Subject: subject, Message: message, Hint: hint}
}

// checkID returns an error unless id, chosen by a client, has 1 to 64 letters, digits, - and _.
func checkID(op, field, id string) error {
	ok := id != "" && len(id) <= 64
	for _, r := range id {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}
	if !ok {
		return invalidError(op, field, "an id has 1 to 64 letters, digits, - and _", "send a UUID, or leave it out")
	}
	return nil
}
