// Package cache has the commands about the tool cache.
package cache

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/root"
)

// commands are the commands of this folder, all of one program.
type commands struct{ *root.Program }

func Command(shared *root.Program) *cobra.Command {
	p := commands{shared}

	return root.Group("cache", "The tool cache: what servers offer, kept on disk",
		p.showCommand(),
		p.statsCommand(),
		p.verifyCommand(),
		p.warmCommand(),
		p.refreshCommand(),
		p.clearCommand(),
		p.pruneCommand(),
		p.importCommand(),
		p.migrateCommand(),
		p.pathCommand(),
		p.schemaCommand(),
	)
}

// openCache opens the cache of the settings. What is wrong with the file is told on stderr.
func (p commands) openCache(ctx context.Context) (app.ToolCache, *config.Config, error) {
	cfg, err := p.Load()
	if err != nil {
		return app.ToolCache{}, nil, err
	}
	log, err := p.Logger()
	if err != nil {
		return app.ToolCache{}, nil, err
	}
	c, err := app.OpenToolCache(ctx, cfg, log)
	return c, cfg, err
}

// readCacheFile reads the file of the settings, or another one if it is named; - is stdin.
func (p commands) readCacheFile(args []string) (path string, data []byte, err error) {
	if len(args) > 0 {
		path = args[0]
	} else {
		cfg, err := p.Load()
		if err != nil {
			return "", nil, err
		}
		path, _ = app.CacheFile(cfg)
	}
	if path == "-" {
		data, err = io.ReadAll(p.In)
		return path, data, err
	}
	data, err = app.ReadCacheFile(path)
	return path, data, err
}

// readCache reads what the cache of the settings has, and changes nothing.
func (p commands) readCache(ctx context.Context) (app.CacheContents, *config.Config, error) {
	cfg, err := p.Load()
	if err != nil {
		return app.CacheContents{}, nil, err
	}
	log, err := p.Logger()
	if err != nil {
		return app.CacheContents{}, nil, err
	}
	c, err := app.ReadToolCache(ctx, cfg, app.Options{Version: p.Version, Env: p.Env, Logger: log})
	return c, cfg, err
}

// flushed writes what a command has changed and puts it on record.
func (p commands) flushed(ctx context.Context, c app.ToolCache, cfg *config.Config, command string, detail map[string]any) error {
	if err := c.Flush(ctx); err != nil {
		return notKept(command, err)
	}
	p.OnRecord(ctx, cfg, command, detail)
	return nil
}

// closeCache ends a cache that was opened for a command.
func closeCache(c app.ToolCache, log *slog.Logger) {
	if err := c.Close(); err != nil {
		log.Warn("tool cache not closed", "error", err)
	}
}

func (p commands) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the file", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := p.Out.Write(app.CacheSchema())
			return err
		},
	}
}

// completeCached completes up to most arguments, 0 for any number, with the servers of the
// settings and those that the cache knows, each once.
func (p commands) completeCached(most int) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		const done = cobra.ShellCompDirectiveNoFileComp
		if most > 0 && len(args) >= most {
			return nil, done
		}
		kept, _, err := p.readCache(c.Context())
		if err != nil {
			return nil, done
		}
		var out []string
		for i := range kept.Servers {
			if name := kept.Servers[i].Name; strings.HasPrefix(name, typed) && !slices.Contains(args, name) {
				out = append(out, name)
			}
		}
		return out, done
	}
}
