package cache

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

func (p commands) clearCommand() *cobra.Command {
	return &cobra.Command{
		Use: "clear [NAME…]", Short: "Forget what is kept, of servers or of all", ValidArgsFunction: p.completeCached(0),
		Long: "Deletes entries from the cache, at once in a running gateway too. What servers offer there stays\n" +
			"on offer: those that run write theirs back with their next list, and collie cache refresh asks\n" +
			"the others.",
		RunE: func(c *cobra.Command, args []string) error { return p.clear(c.Context(), args) },
	}
}

func (p commands) pruneCommand() *cobra.Command {
	var older string
	c := &cobra.Command{
		Use: "prune", Short: "Forget servers that are no longer configured", Args: cobra.NoArgs,
		Long: "Deletes what is kept of servers that have gone from the settings; a gateway does so by itself\n" +
			"after 30 days.",
		Example: "  collie cache prune\n  collie cache prune --older 30d",
		RunE: func(c *cobra.Command, _ []string) error {
			age, err := longTime(older)
			if err != nil {
				return root.Usage("--older %v", err)
			}
			return p.prune(c.Context(), age)
		},
	}
	c.Flags().StringVar(&older, "older", "0", "only those that a gateway has missed for longer than `TIME`, such as 30d or 12h")
	return c
}

// longTime reads a duration in which d stands for days.
func longTime(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("is %q, expected a time such as 30d or 12h", text)
	}
	return d, nil
}

func (p commands) clear(ctx context.Context, names []string) error {
	kept, cfg, err := p.readCache(ctx)
	if tool.KindOf(err) == tool.Invalid && len(names) == 0 { // a file that is broken is kept aside
		err = nil
	}
	if err != nil {
		return err
	}
	var known []string
	for i := range kept.Servers {
		known = append(known, kept.Servers[i].Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return &tool.Error{
				Op: "cache clear", Kind: tool.Unknown, Subject: name, Message: "nothing is kept of it",
				Hint: output.First(root.DidYouMeanHint(name, known), "collie cache show lists what is kept"),
			}
		}
	}
	if r, same, err := p.Gateway(ctx, cfg); err == nil {
		defer r.Close()
		if same {
			gone, err := r.ClearCache(ctx, names)
			return p.erased(ctx, cfg, "cache clear", gone, err)
		}
	}
	return p.editCache(ctx, kept.File.Missing, "cache clear", func(c app.ToolCache) []string { return c.Clear(names...) })
}

func (p commands) prune(ctx context.Context, age time.Duration) error {
	kept, _, err := p.readCache(ctx)
	if err != nil {
		return err
	}
	return p.editCache(ctx, kept.File.Missing, "cache prune", func(c app.ToolCache) []string {
		gone := c.Prune(age)
		if age > 0 {
			return gone
		}
		// No gateway need have noticed yet that they are gone.
		var strangers []string
		for i := range kept.Servers {
			if s := &kept.Servers[i]; !s.Configured {
				strangers = append(strangers, s.Name)
			}
		}
		if len(strangers) > 0 {
			gone = append(gone, c.Clear(strangers...)...)
		}
		slices.Sort(gone)
		return gone
	})
}

// editCache deletes entries in the file, which a running gateway reads again, and says whose.
func (p commands) editCache(ctx context.Context, missing bool, command string, do func(app.ToolCache) []string) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	if missing {
		return p.erased(ctx, cfg, command, nil, nil)
	}
	cache, cfg, err := p.openCache(ctx)
	if err != nil {
		return err
	}
	defer closeCache(cache, slog.New(slog.DiscardHandler))
	gone := do(cache)
	return p.erased(ctx, cfg, command, gone, cache.Flush(ctx))
}

// erased says whose entries have gone, and puts that on record; err is why they have not.
func (p commands) erased(ctx context.Context, cfg *config.Config, command string, gone []string, err error) error {
	if err != nil {
		return notKept(command, err)
	}
	if len(gone) > 0 {
		p.OnRecord(ctx, cfg, command, map[string]any{"servers": gone})
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"removed": append([]string{}, gone...)})
	}
	line := "nothing to forget"
	if len(gone) > 0 {
		line = "forgot " + strings.Join(gone, ", ")
	}
	_, err = fmt.Fprintln(p.Out, line)
	return err
}

// notKept is the error of a cache that was not written.
func notKept(command string, err error) error {
	out := &tool.Error{
		Op: command, Kind: tool.Unavailable, Message: "the cache file was not written", Err: err,
		Hint: "collie cache path shows where it is, and whether it may be written",
	}
	if e, ok := errors.AsType[*tool.Error](err); ok { // it says the same of the file
		out.Subject, out.Message, out.Err = e.Subject, out.Message+": "+output.First(e.Message, e.Error()), nil
		out.Hint = output.First(e.Hint, out.Hint)
	}
	return out
}

func (p commands) importCommand() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Take the lists of another cache file over", Args: root.Named("file"),
		Long: "Takes lists from another Collie's cache file, or from xiaozhi.cache.json, for servers that have\n" +
			"none here. They are marked as imported: until their server confirms them, they are shown only\n" +
			"with cache.trustImported.",
		RunE: func(c *cobra.Command, args []string) error { return p.importFile(c.Context(), args) },
	}
}

func (p commands) importFile(ctx context.Context, args []string) error {
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
		rows = append(rows, []string{i.Name, fmt.Sprint(i.Tools), output.First(i.Skipped, "imported")})
	}
	if taken > 0 {
		if err := p.flushed(ctx, cache, cfg, "cache import", map[string]any{"file": path, "servers": taken}); err != nil {
			return err
		}
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"imported": taken, "servers": list})
	}
	if len(rows) > 0 {
		if err := p.Table([]string{"NAME", "TOOLS", "RESULT"}, rows); err != nil {
			return err
		}
	}
	if taken > 0 && !cfg.Cache.TrustImported {
		p.Note("they are shown when their servers have confirmed them, or with: collie config set cache.trustImported true")
	}
	return nil
}
