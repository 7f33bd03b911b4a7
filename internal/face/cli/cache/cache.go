// Package cache has the commands under collie cache, about the file in which Collie remembers what MCP servers offer.
package cache

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/root"
	serveradmin "collie/internal/source/upstream/admin"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
)

// commands holds the commands of this folder, which share one program.
type commands struct{ *root.Program }

// Command returns the command `collie cache`.
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

// options returns the options for package cacheadmin. Problems of the cache file are logged on stderr.
func (p commands) options(cfg *config.Config) (cacheadmin.Options, error) {
	log, err := p.Logger()
	return cacheadmin.Options{Version: p.Version, Logger: log, Record: p.Recorder(cfg)}, err
}

// readCacheFile reads the cache file of the settings, or the file named by args; - is stdin.
func (p commands) readCacheFile(args []string) (path string, data []byte, err error) {
	if len(args) > 0 {
		path = args[0]
	} else {
		cfg, err := p.Load()
		if err != nil {
			return "", nil, err
		}
		path, _ = cacheadmin.CachePath(cfg)
	}
	if path == "-" {
		data, err = io.ReadAll(p.In)
		return path, data, err
	}
	data, err = cacheadmin.ReadFile(path)
	return path, data, err
}

// readCache reads the cache of the settings without changing it.
func (p commands) readCache(ctx context.Context) (serveradmin.CacheContents, *config.Config, error) {
	cfg, err := p.Load()
	if err != nil {
		return serveradmin.CacheContents{}, nil, err
	}
	o, err := p.options(cfg)
	if err != nil {
		return serveradmin.CacheContents{}, nil, err
	}
	c, err := serveradmin.ReadCache(ctx, cfg, p.Env, o)
	return c, cfg, err
}

func (p commands) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the file", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := p.Out.Write(cacheadmin.Schema())
			return err
		},
	}
}

// completeCached completes up to maxArgs arguments (0: any number) with the names of servers in the settings or
// in the cache, each only once.
func (p commands) completeCached(maxArgs int) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		const done = cobra.ShellCompDirectiveNoFileComp
		if maxArgs > 0 && len(args) >= maxArgs {
			return nil, done
		}
		contents, _, err := p.readCache(c.Context())
		if err != nil {
			return nil, done
		}
		return slices.DeleteFunc(contents.Names(), func(name string) bool {
			return !strings.HasPrefix(name, typed) || slices.Contains(args, name)
		}), done
	}
}
