package admin

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"collie/internal/config"
	"collie/internal/mcp"
	"collie/internal/process"
	secretadmin "collie/internal/secret/admin"
	"collie/internal/source/upstream"
	"collie/internal/tool"
)

// Info returns the MCP Implementation object by which we introduce ourselves to servers.
func Info(version string) json.RawMessage {
	if version == "" {
		version = "0"
	}
	return mcp.Edit(nil,
		mcp.Field{Key: "name", Value: mcp.Quote("collie")},
		mcp.Field{Key: "title", Value: mcp.Quote("Collie")},
		mcp.Field{Key: "version", Value: mcp.Quote(version)})
}

// Briefly bounds how long a server that was started for one command may take to stop: it has answered, and a person
// waits. A server that ends when its input closes does so within CloseWait; one that has to clean up gets SIGTERM
// after it.
var Briefly = process.Ladder{CloseWait: 250 * time.Millisecond, TermWait: 750 * time.Millisecond}

// DiagnoseOptions are the inputs of Diagnose besides the settings. Self and ReaperArgs start this program as
// the reaper of its children; without Self there is no reaper.
type DiagnoseOptions struct {
	Version    string
	Self       string
	ReaperArgs []string
	Env        config.Env
}

// Diagnose tests the named server and calls tell as each step ends. ok is false if a step failed. It uses a
// connection of its own, even if a gateway runs.
func Diagnose(ctx context.Context, cfg *config.Config, o DiagnoseOptions, name string, tell func(tool.Step)) (ok bool, err error) {
	specs, _ := Specs(cfg, o.Env)
	var known []string
	for _, spec := range specs {
		known = append(known, spec.Entry.Name)
		if spec.Entry.Name != name {
			continue
		}
		spec.Entry.Disabled = false // a user may test a server before switching it on
		if spec.Off == mcpDisabled {
			spec.Off = ""
		}
		var reaper *process.Reaper
		if o.Self != "" {
			reaper = process.NewReaper(o.Self, o.ReaperArgs, nil)
			defer reaper.Close()
		}
		tokens, err := secretadmin.Open(cfg, nil)
		if err != nil {
			return false, err
		}
		return upstream.Diagnose(ctx, spec, upstream.Options{
			Info: Info(o.Version), Reaper: reaper, MaxFrame: int(cfg.MCP.Limits.MaxFrame), Tokens: tokens, LockDir: runDir(cfg),
			Environ: o.Env.List(), Deny: cfg.MCP.EnvDeny, Ladder: Briefly, Logger: slog.New(slog.DiscardHandler),
		}, tell), nil
	}
	return false, unknownServerError("mcp doctor", name, known)
}
