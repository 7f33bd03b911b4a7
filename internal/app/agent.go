package app

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/agent"
	"collie/internal/agent/library"
	"collie/internal/app/feed"
	"collie/internal/chat"
	"collie/internal/config"
	"collie/internal/llm"
	llmadmin "collie/internal/llm/admin"
	"collie/internal/llm/keypool/keydb"
	"collie/internal/pipeline/guardian"
	"collie/internal/process"
	"collie/internal/store"
	"collie/internal/tool"
)

// This file joins the agent host to the rest of the program: conversations, engines, models, and what the guardian
// asks.

// shutdownGrace is how long running turns may continue when the program ends.
const shutdownGrace = 10 * time.Second

// agentHost is the agent host: conversations, the models that answer them, and the database that holds both. It is
// safe for concurrent use, and its [App] closes it.
type agentHost struct {
	Chat   *chat.Service
	Models *Models
	Store  *store.Store
}

// lazyHost opens the agent host at its first use.
type lazyHost struct {
	mu     sync.Mutex
	opened *agentHost
	events *feed.Feed // publishes events outside of turns
	closed bool

	now atomic.Pointer[agentHost] // opened, for callers that must not wait for mu
}

// openHost returns the agent host and opens it at the first call. After an error the next call tries again.
func (a *App) openHost(ctx context.Context) (*agentHost, error) {
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
	ctx = context.WithoutCancel(ctx) // the host outlives the request that opens it
	s, err := store.Open(ctx, cfg.Paths.Data, schemas()...)
	if err != nil {
		path, _ := StoreFile(cfg)
		return nil, storeError(ctx, "chat", path, err)
	}
	models, err := openModels(ctx, cfg, Options{Env: a.env, Logger: a.log}, keydb.New(s), a.hide)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	h := &agentHost{Models: models, Store: s}
	engines := agent.New(agent.Options{
		Pipeline: a.Pipeline, Models: agentModels{models}, Tools: a.Tools, Library: func() *library.Library { return Library(a.settings(), a.env) },
		Programs: agent.Programs{
			Environ: a.env.List(), Process: process.Options{Reaper: a.reaper, Ledger: a.ledger, Logger: a.log},
			Work: filepath.Join(cfg.Paths.Data, "work"), Version: a.version, Open: a.Endpoints,
		},
		Screening: func() agent.Screening { return agent.Screening(a.settings().Guard.Prompts) },
		Reader:    a.readText,
		Logger:    a.log,
	})
	h.Chat, err = chat.Open(ctx, s, chat.Options{
		Engine: func(_ context.Context, c chat.Config, message []llm.Part) (string, chat.Engine, error) {
			name, engine, err := engines.Engine(&c, message)
			return name, engine, llmadmin.Explain("turn", err)
		},
		Defaults: func(name string) chat.Config {
			c := chatDefaults(&a.settings().Agent)
			if name != "" {
				agent.ApplyAgentDefaults(&c, Library(a.settings(), a.env), name)
			}
			return c
		},
		Redact: func(_ string, args json.RawMessage) json.RawMessage { return a.hidden.chats.AppendJSON(nil, args) },
		Logger: a.log,
	})
	if err != nil {
		return nil, errors.Join(err, models.Close(ctx), s.Close())
	}
	a.host.now.Store(h)
	a.host.opened, a.host.events = h, feed.Start(h.Chat, feed.Sources{
		Started: &a.started, Done: a.Events, Asked: &a.asked, States: &a.states, Watch: a.catalog.Watch,
	})
	return h, nil
}

// settings returns the settings in effect.
func (a *App) settings() *config.Config {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	return a.cfg
}

// reviewer returns the model that the guardian asks. If the host is open, it does not take host.mu: while the host is being
// closed, close holds the lock and waits for turns whose calls are still reviewed.
func (a *App) reviewer(ctx context.Context, model string) (guardian.Reviewer, error) {
	h := a.host.now.Load()
	if h == nil {
		var err error
		if h, err = a.openHost(ctx); err != nil {
			return guardian.Reviewer{}, err
		}
	}
	m, info, err := h.Models.Model(model, nil)
	return guardian.Reviewer{Model: m, Name: info.Model, Store: h.Store}, err
}

// Library reads the agents, context entries and skills of the user and, if it is trusted, of the project that cfg was
// read for.
func Library(cfg *config.Config, env config.Env) *library.Library {
	at := library.Places{Config: cfg.Paths.Config}
	if cfg.Project != nil && cfg.Project.State == config.Trusted {
		at.Project = cfg.Project.Dir
	}
	l := library.Read(at)
	l.AddInstalled(func(command string) bool {
		_, err := process.Resolve(command, env.List(), "")
		return err == nil
	})
	return l
}

// Conversations returns the conversations of the agent host.
func (a *App) Conversations(ctx context.Context) (*chat.Service, error) {
	h, err := a.openHost(ctx)
	if err != nil {
		return nil, err
	}
	return h.Chat, nil
}

// apply applies changed settings.
func (h *lazyHost) apply(cfg *config.Config) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.opened == nil {
		return nil
	}
	return h.opened.Models.use(cfg)
}

// close waits for running turns, at most shutdownGrace, and then closes the host.
func (h *lazyHost) close(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	if h.opened == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, shutdownGrace)
	defer cancel()
	defer h.events.Close()
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

// agentModels provides models in the form that package agent uses.
type agentModels struct{ models *Models }

// Model implements [agent.Models].
func (h agentModels) Model(ref string, fallbacks []string) (llm.Model, agent.Info, error) {
	m, i, err := h.models.Model(ref, fallbacks)
	return m, agent.Info{Provider: i.Provider, Name: i.Model, Context: i.Context, Tools: i.Tools, Images: i.Images, Cost: h.models.Cost}, err
}
