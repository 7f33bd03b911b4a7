// Package agent answers turns of a conversation: engine chat asks a model once, engine react lets it
// call tools until it has an answer, engine direct runs what a person typed without any model, engine
// cli hands the turn to the agent of another program. Tools are those of the pipeline, listed anew for
// each step, and there is no other way to one: a call of a model has origin chat, and asks the person
// of the turn before it changes anything.
//
// The entry point is [New]. What an engine does reaches the conversation through a [chat.Sink].
package agent

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"collie/internal/agent/library"
	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/pipeline"
	"collie/internal/pipeline/promptguard"
	"collie/internal/tool"
)

// Models gives the model that a name means.
type Models interface {
	// Model returns the model of ref, MODEL or PROVIDER/MODEL, empty for the only or first one there is,
	// with others to fall back to. An error is an [*llm.Error].
	Model(ref string, fallbacks []string) (llm.Model, Info, error)
}

// Info is what is known of a model.
type Info struct {
	Provider, Name string
	Context        int  // tokens that fit
	Tools          bool // it can call tools
	Images         bool // it takes pictures
	// Cost is what usage of a model costs in millionths of a dollar, less than 0 where no price is known.
	Cost func(provider, model string, u llm.Usage) int64
}

// Options of an [Agent]. Pipeline, Models and Tools are required.
type Options struct {
	Pipeline *pipeline.Pipeline
	Models   Models
	// Tools lists what a profile sees, for people.
	Tools func(profile string) []tool.Tool
	// Library reads the files that a person wrote for agents; nil for none. It is called once or twice a turn.
	Library func() *library.Library
	// Programs is how agents of others are started; the zero value starts them without an environment.
	Programs Programs
	// Screening says what becomes of results that try to give orders to a model; nil for [ScreenEnforce].
	Screening func() Screening
	// Reader is a second model that judges a text in which rules found something, see [guardian.Stage.Read]; nil for none.
	// With an error what the rules say stands.
	Reader func(ctx context.Context, text string, found []string) (promptguard.Verdict, error)
	Now    func() time.Time // nil: [time.Now]
	Logger *slog.Logger     // nil discards
}

// Agent has the engines. It is safe for concurrent use and needs no closing.
type Agent struct {
	opts  Options
	tools atomic.Pointer[listed]
}

// New returns an Agent.
func New(opts Options) *Agent {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Library == nil {
		opts.Library = func() *library.Library { return &library.Library{} }
	}
	if opts.Screening == nil {
		opts.Screening = func() Screening { return ScreenEnforce }
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return &Agent{opts: opts}
}

// The names of the engines.
const (
	engineChat   = "chat"
	engineReact  = "react"
	engineDirect = "direct"
	engineCLI    = chat.EngineCLI
	engineAuto   = "auto"
)

// Engine returns the engine that answers a message in a session with cfg, and its name. With auto, text
// that begins with one slash is a command, which is direct; all else is react, which is one request
// to the model where there are no tools. What would fail at once is an error here: an engine that does
// not exist or a picture for a model that takes none is a [tool.Error], no model an [*llm.Error].
func (a *Agent) Engine(cfg *chat.Config, message []llm.Part) (string, chat.Engine, error) {
	var text string
	pictures := false
	for _, p := range message {
		if p.Kind == llm.PartText && text == "" {
			text = p.Text
		}
		pictures = pictures || p.File != nil && strings.HasPrefix(p.File.MIME, "image/")
	}
	name, engine, err := a.engine(cfg, text)
	if err != nil || name == engineDirect {
		return name, engine, err
	}
	if name == engineCLI {
		_, err := program(a.opts.Library(), cfg)
		return name, engine, err
	}
	if _, err := named(a.opts.Library(), cfg); err != nil {
		return name, engine, err
	}
	_, info, err := a.opts.Models.Model(ref(cfg), cfg.FallbackModels)
	if err == nil && pictures && !info.Images {
		err = &tool.Error{
			Op: "turn", Kind: tool.Invalid, Subject: info.Name, Message: "this model takes no pictures",
			Hint: "choose one that does, or say in the settings that it does: models." + info.Name + ".images",
		}
	}
	return name, engine, err
}

// ref is the model that cfg names.
func ref(cfg *chat.Config) string {
	if cfg.Provider == "" || strings.HasPrefix(cfg.Model, cfg.Provider+"/") {
		return cfg.Model
	}
	return cfg.Provider + "/" + cfg.Model
}

func (a *Agent) engine(cfg *chat.Config, text string) (string, chat.Engine, error) {
	switch cfg.Engine {
	case engineAuto, "":
		if strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") {
			return engineDirect, (*direct)(a), nil
		}
		return engineReact, (*react)(a), nil
	case engineChat, engineReact:
		return cfg.Engine, (*react)(a), nil
	case engineDirect:
		return engineDirect, (*direct)(a), nil
	case engineCLI:
		return engineCLI, (*cli)(a), nil
	}
	return "", nil, &tool.Error{
		Op: "turn", Kind: tool.Invalid, Subject: "engine", Message: "there is no engine " + strings.ToValidUTF8(cfg.Engine, "?"),
		Hint: "use chat, react, direct, cli or auto",
	}
}
