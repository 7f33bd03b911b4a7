package cli

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/tool"
)

func (p *program) cacheClearCommand() *cobra.Command {
	return &cobra.Command{
		Use: "clear [NAME…]", Short: "Forget what is kept, of servers or of all", ValidArgsFunction: p.completeServers,
		Long: "Deletes entries from the cache. A running gateway forgets them as well; servers that run\n" +
			"write theirs back with their next list.",
		RunE: func(c *cobra.Command, args []string) error {
			return p.erase(c.Context(), "cache clear", args, func(cache app.ToolCache) []string { return cache.Clear(args...) })
		},
	}
}

func (p *program) cachePruneCommand() *cobra.Command {
	var older time.Duration
	c := &cobra.Command{
		Use: "prune", Short: "Forget servers that are no longer configured", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.erase(c.Context(), "cache prune", nil, func(cache app.ToolCache) []string { return cache.Prune(older) })
		},
	}
	c.Flags().DurationVar(&older, "older", 0, "only those removed longer than `TIME` ago, such as 720h")
	return c
}

// erase deletes entries and says whose.
func (p *program) erase(ctx context.Context, command string, names []string, do func(app.ToolCache) []string) error {
	cache, cfg, err := p.openCache(ctx)
	if err != nil {
		return err
	}
	defer closeCache(cache, slog.New(slog.DiscardHandler))
	entries := cache.Entries()
	var known []string
	for name := range entries {
		known = append(known, name)
	}
	slices.Sort(known)
	for _, name := range names {
		if entries[name] == nil {
			return &tool.Error{
				Op: command, Kind: tool.Unknown, Subject: name, Message: "nothing is kept of it",
				Hint: firstOf(didYouMeanHint(name, known), "collie cache show lists what is kept"),
			}
		}
	}
	gone := do(cache)
	if len(gone) > 0 {
		if err := p.flushed(ctx, cache, cfg, command, map[string]any{"servers": gone}); err != nil {
			return err
		}
	}
	if p.json {
		return p.printJSON(map[string]any{"removed": append([]string{}, gone...)})
	}
	line := "nothing to forget"
	if len(gone) > 0 {
		line = "forgot " + strings.Join(gone, ", ")
	}
	_, err = fmt.Fprintln(p.out, line)
	return err
}

func (p *program) cacheImportCommand() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Take the lists of another cache file over", Args: named("file"),
		Long: "Takes lists from another Collie's cache file, or from xiaozhi.cache.json, for servers that have\n" +
			"none here. They are marked as imported: until their server confirms them, they are shown only\n" +
			"with cache.trustImported.",
		RunE: func(c *cobra.Command, args []string) error { return p.cacheImport(c.Context(), args) },
	}
}

func (p *program) cacheImport(ctx context.Context, args []string) error {
	path, data, err := p.readCacheFile(args)
	if err != nil {
		return err
	}
	cache, cfg, err := p.openCache(ctx)
	if err != nil {
		return err
	}
	defer closeCache(cache, slog.New(slog.DiscardHandler))
	list, err := cache.Import(data)
	if err != nil {
		return err
	}
	taken := 0
	var rows [][]string
	for _, i := range list {
		if i.Skipped == "" {
			taken++
		}
		rows = append(rows, []string{i.Name, fmt.Sprint(i.Tools), first(i.Skipped, "imported")})
	}
	if taken > 0 {
		if err := p.flushed(ctx, cache, cfg, "cache import", map[string]any{"file": path, "servers": taken}); err != nil {
			return err
		}
	}
	if p.json {
		return p.printJSON(map[string]any{"imported": taken, "servers": list})
	}
	if len(rows) > 0 {
		if err := p.table([]string{"NAME", "TOOLS", "RESULT"}, rows); err != nil {
			return err
		}
	}
	if taken > 0 && !cfg.Cache.TrustImported {
		p.note("they are shown when their servers have confirmed them, or with: collie config set cache.trustImported true")
	}
	return nil
}
