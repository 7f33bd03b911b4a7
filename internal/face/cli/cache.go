package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/tool"
)

func (p *program) cacheCommand() *cobra.Command {
	return group("cache", "The tool cache: what servers offer, kept on disk",
		p.cacheShowCommand(),
		p.cacheStatsCommand(),
		p.cacheVerifyCommand(),
		p.cacheWarmCommand(),
		p.cacheRefreshCommand(),
		p.cacheClearCommand(),
		p.cachePruneCommand(),
		p.cacheImportCommand(),
		p.cacheMigrateCommand(),
		p.cachePathCommand(),
		p.cacheSchemaCommand(),
	)
}

// openCache opens the cache of the settings. What is wrong with the file is told on stderr.
func (p *program) openCache(ctx context.Context) (app.ToolCache, *config.Config, error) {
	cfg, err := p.load()
	if err != nil {
		return app.ToolCache{}, nil, err
	}
	log, err := p.logger()
	if err != nil {
		return app.ToolCache{}, nil, err
	}
	c, err := app.OpenToolCache(ctx, cfg, log)
	return c, cfg, err
}

// readCacheFile reads the file of the settings, or another one if it is named.
func (p *program) readCacheFile(args []string) (path string, data []byte, err error) {
	if len(args) > 0 {
		path = args[0]
	} else {
		cfg, err := p.load()
		if err != nil {
			return "", nil, err
		}
		path, _ = app.CacheFile(cfg)
	}
	if path == "-" {
		data, err = io.ReadAll(p.in)
		return path, data, err
	}
	data, err = os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil, &tool.Error{
			Op: "read tool cache", Kind: tool.Unknown, Subject: path, Message: "there is no such file",
			Hint: "it is made when a server has told its tools: collie cache warm",
		}
	}
	return path, data, err
}

// flushed writes what a command has changed and puts it on record.
func (p *program) flushed(ctx context.Context, c app.ToolCache, cfg *config.Config, command string, detail map[string]any) error {
	if err := c.Flush(ctx); err != nil {
		return &tool.Error{Op: command, Kind: tool.Unavailable, Message: "the file was not written", Err: err, Hint: "collie cache path shows where it is, and whether it may be written"}
	}
	p.onRecord(ctx, cfg, command, detail)
	return nil
}

// closeCache ends a cache that was opened for a command.
func closeCache(c app.ToolCache, log *slog.Logger) {
	if err := c.Close(); err != nil {
		log.Warn("tool cache not closed", "error", err)
	}
}

func (p *program) cachePathCommand() *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Where the tool cache lies, and whether it can be written", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cache, cfg, err := p.openCache(c.Context())
			if err != nil {
				return err
			}
			defer closeCache(cache, slog.New(slog.DiscardHandler))
			info := cache.Stats().FileInfo
			chosen, fellBack := app.CacheFile(cfg)
			if p.json {
				return p.printJSON(map[string]any{
					"path": chosen, "missing": info.Missing, "writable": info.Writable, "fellBack": fellBack,
					"size": info.Size, "key": app.CacheKey(cfg), "shared": cfg.Cache.Shared != "",
				})
			}
			state := fmt.Sprintf("%s, %s", sizeOf(info.Size), count(info.Servers, "server"))
			if info.Missing {
				state = "not made yet"
			}
			writable := "yes"
			if !info.Writable {
				writable = "no: lists are served from it and nothing is kept"
			}
			rows := [][]string{{"file", chosen}, {"state", state}, {"writable", writable}, {"key", app.CacheKey(cfg)}}
			if fellBack {
				rows = append(rows, []string{"instead of", cfg.Cache.File + ", whose folder cannot be written"})
			}
			return p.table(nil, rows)
		},
	}
}

func (p *program) cacheSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the file", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := p.out.Write(app.CacheSchema())
			return err
		},
	}
}

// sizeOf is a number of bytes as people read it.
func sizeOf(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
