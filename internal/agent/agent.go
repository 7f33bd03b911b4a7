// Package agent answers the turns of a conversation with one of four engines: chat asks a model once, react lets the
// model call tools until it has an answer, direct runs a command that a person typed without asking a model, and cli
// hands the turn to an agent of another program over the Agent Client Protocol.
//
// Tools are called through the pipeline only, and react reads the list of tools again for each step. A call has origin
// chat if a model asks for it, direct if a person typed it, and cli-agent if it comes from an agent of another program.
// Where the pipeline wants a person to confirm a call, it asks the person of the turn.
//
// The entry point is [New]. An engine writes to the conversation through a [chat.Sink].
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

// Models finds models by name.
type Models interface {
	// Model returns the model for ref, which is MODEL or PROVIDER/MODEL; empty means the first model of the settings.
	// fallbacks are models to use if it fails. The error is an [*llm.Error].
	Model(ref string, fallbacks []string) (llm.Model, Info, error)
}

// Info describes a model.
type Info struct {
	Provider, Name string
	Context        int  // length of the context in tokens
	Tools          bool // can call tools
	Images         bool // accepts pictures
	// Cost returns the price of u in millionths of a dollar, negative if it is unknown.
	Cost func(provider, model string, u llm.Usage) int64
}

// Options are the options of [New]. Pipeline, Models and Tools are required.
type Options struct {
	Pipeline *pipeline.Pipeline
	Models   Models
	// Tools returns the tools that a profile sees, to resolve commands and list them to people.
	Tools func(profile string) []tool.Tool
	// Library returns the files for agents, such as rules, skills and context entries; nil: there are none. It is
	// called at most twice a turn.
	Library func() *library.Library
	// Programs says how agents of other programs are started. With the zero value they get no environment.
	Programs Programs
	// Screening returns what to do with tool results that contain instructions to the model; nil means [ScreenEnforce].
	Screening func() Screening
	// Reader asks a second model about a text in which the rules named found matched, see [guardian.Stage.Read]; nil:
	// none. If it fails, the verdict of the rules stands.
	Reader func(ctx context.Context, text string, found []string) (promptguard.Verdict, error)
	Now    func() time.Time // nil: [time.Now]
	Logger *slog.Logger     // nil discards
}

// Agent holds the engines. It is safe for concurrent use and needs no closing.
type Agent struct {
	opts  Options
	tools atomic.Pointer[cachedList]
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

// Engine returns the engine for a message in a session with cfg, and its name. With auto, text that begins with one
// slash is a command and goes to direct; everything else goes to react. Errors that would end the turn at once are
// returned here: a [tool.Error] for an unknown engine, or for a picture that the model does not accept, and an
// [*llm.Error] if there is no model.
func (a *Agent) Engine(cfg *chat.Config, message []llm.Part) (string, chat.Engine, error) {
	var text string
	hasPictures := false
	for _, p := range message {
		if p.Kind == llm.PartText && text == "" {
			text = p.Text
		}
		hasPictures = hasPictures || p.File != nil && strings.HasPrefix(p.File.MIME, "image/")
	}
	name, engine, err := a.engine(cfg, text)
	if err != nil || name == engineDirect {
		return name, engine, err
	}
	if name == engineCLI {
		_, err := findProgram(a.opts.Library(), cfg)
		return name, engine, err
	}
	if _, err := namedAgent(a.opts.Library(), cfg); err != nil {
		return name, engine, err
	}
	_, info, err := a.opts.Models.Model(modelRef(cfg), cfg.FallbackModels)
	if err == nil && hasPictures && !info.Images {
		err = &tool.Error{
			Op: "turn", Kind: tool.Invalid, Subject: info.Name, Message: "this model takes no pictures",
			Hint: "choose one that does, or say in the settings that it does: models." + info.Name + ".images",
		}
	}
	return name, engine, err
}

// modelRef returns the reference to the model of cfg, for [Models].
func modelRef(cfg *chat.Config) string {
	if cfg.Provider == "" || strings.HasPrefix(cfg.Model, cfg.Provider+"/") {
		return cfg.Model
	}
	return cfg.Provider + "/" + cfg.Model
}

// engine returns the engine that cfg names, and its name. For auto, text decides.
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
