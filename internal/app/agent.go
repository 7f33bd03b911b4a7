package app

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"collie/internal/agent"
	"collie/internal/chat"
	"collie/internal/config"
	"collie/internal/llm"
	"collie/internal/llm/keypool/keydb"
	"collie/internal/pipeline/audit"
	"collie/internal/store"
	"collie/internal/tool"
)

// shutdownGrace is how long running turns may continue when the program ends.
const shutdownGrace = 10 * time.Second

// Host is the agent host: conversations, the models that answer them, and the database that holds both. It is safe for
// concurrent use, and its [App] closes it.
type Host struct {
	Chat   *chat.Service
	Models *Models
	Store  *store.Store
}

// host opens the agent host at its first use.
type host struct {
	mu     sync.Mutex
	opened *Host
	told   *eventForwarder // passes on what happens outside of turns
	closed bool
}

// Host returns the agent host and opens it at the first call. After an error the next call tries again.
func (a *App) Host(ctx context.Context) (*Host, error) {
	a.reloading.Lock() // locked before host.mu, in the order of Reload
	defer a.reloading.Unlock()
	a.host.mu.Lock()
	defer a.host.mu.Unlock()
	switch {
	case a.host.opened != nil:
		return a.host.opened, nil
	case a.host.closed:
		return nil, &tool.Error{Op: "chat", Kind: tool.Unavailable, Message: "it is shutting down", Hint: "try again in a moment"}
	}
	cfg := a.cfg
	ctx = context.WithoutCancel(ctx) // it outlives who opens it
	s, err := store.Open(ctx, cfg.Paths.Data, chat.Schema(), keydb.Schema)
	if err != nil {
		return nil, err
	}
	models, err := openModels(ctx, cfg, Options{Env: a.env, Logger: a.log}, keydb.New(s))
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	h := &Host{Models: models, Store: s}
	engines := agent.New(agent.Options{Pipeline: a.Pipeline, Models: agentModels{models}, Tools: a.Tools, Logger: a.log})
	redact := audit.NewRedactor(nil, audit.ContentRedacted)
	h.Chat, err = chat.Open(ctx, s, chat.Options{
		Engine: func(_ context.Context, c chat.Config, message []llm.Part) (string, chat.Engine, error) {
			name, engine, err := engines.Engine(&c, message)
			return name, engine, ModelError("turn", err)
		},
		Defaults: func() chat.Config {
			a.reloading.Lock()
			defer a.reloading.Unlock()
			return chatDefaults(&a.cfg.Agent)
		},
		Redact: func(_ string, args json.RawMessage) json.RawMessage { return redact.AppendJSON(nil, args) },
		Logger: a.log,
	})
	if err != nil {
		return nil, errors.Join(err, models.Close(ctx), s.Close())
	}
	a.host.opened, a.host.told = h, a.tell(h.Chat)
	return h, nil
}

// Conversations are those of [App.Host].
func (a *App) Conversations(ctx context.Context) (*chat.Service, error) {
	h, err := a.Host(ctx)
	if err != nil {
		return nil, err
	}
	return h.Chat, nil
}

// use takes up settings that have changed.
func (h *host) apply(cfg *config.Config) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.opened == nil {
		return nil
	}
	return h.opened.Models.Use(cfg)
}

// close lets turns end, then closes what was opened.
func (h *host) close(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	if h.opened == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, shutdownGrace)
	defer cancel()
	defer h.told.close()
	err := errors.Join(h.opened.Chat.Close(ctx), h.opened.Models.Close(context.WithoutCancel(ctx)), h.opened.Store.Close())
	h.opened = nil
	return err
}

// chatDefaults converts the settings section agent.
func chatDefaults(s *config.Agent) chat.Config {
	return chat.Config{
		Engine: s.Engine, Provider: s.Provider, Model: s.Model, FallbackModels: s.FallbackModels, SystemPrompt: s.SystemPrompt,
		Temperature: s.Temperature, MaxOutput: s.MaxOutput, Reasoning: s.Reasoning, Tools: s.Tools, Deny: s.DenyTools, Profile: s.Profile,
		MaxSteps: s.MaxSteps, MaxTurnSeconds: s.MaxTurnSeconds, ContextPolicy: s.ContextPolicy, ResultLimit: int(s.ResultLimit),
		BusyPolicy: s.BusyPolicy, Language: s.Language,
	}
}

// hosted are models as the agent wants them.
type agentModels struct{ models *Models }

// Model is the model that a name means.
func (h agentModels) Model(ref string, fallbacks []string) (llm.Model, agent.Info, error) {
	m, i, err := h.models.Model(ref, fallbacks)
	return m, agent.Info{Provider: i.Provider, Name: i.Model, Context: i.Context, Tools: i.Tools, Images: i.Images, Cost: h.models.Cost}, err
}
