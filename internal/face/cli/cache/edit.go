package cache

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	serveradmin "collie/internal/source/upstream/admin"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
	"collie/internal/tool"
)

// This file has the commands that change the cache: clear, prune and import.

func (p commands) clearCommand() *cobra.Command {
	var kind string
	c := &cobra.Command{
		Use: "clear [NAME…]", Short: "Forget cached lists, of some servers or of all", ValidArgsFunction: p.completeCached(0),
		Long: "Deletes entries from the cache, and at once from that of a running gateway. The gateway goes on\n" +
			"offering what its servers offer: those that run write their entries back with their next list,\n" +
			"and collie cache refresh asks the others. With --kind, what a running gateway keeps of models.",
		RunE: func(c *cobra.Command, args []string) error {
			switch err := checkKind(kind); {
			case err != nil:
				return err
			case kind == kindTools:
				return p.clear(c.Context(), args)
			case len(args) > 0:
				return root.Usage("%s names a server, which only the cache of tools has; leave out --kind", args[0])
			}
			return p.clearMemory(c.Context(), kind)
		},
	}
	addKindFlag(c, &kind)
	return c
}

func (p commands) pruneCommand() *cobra.Command {
	var older string
	c := &cobra.Command{
		Use: "prune", Short: "Forget servers that are no longer configured", Args: cobra.NoArgs,
		Long: "Deletes the cache entries of servers that are no longer in the settings; a gateway does so by\n" +
			"itself after 30 days.",
		Example: "  collie cache prune\n  collie cache prune --older 30d",
		RunE: func(c *cobra.Command, _ []string) error {
			age, err := parseLongTime(older)
			if err != nil {
				return root.Usage("--older %v", err)
			}
			return p.prune(c.Context(), age)
		},
	}
	c.Flags().StringVar(&older, "older", "0", "only those that a gateway has missed for longer than `TIME`, such as 30d or 12h")
	return c
}

// parseLongTime parses a duration, in which d means days.
func parseLongTime(text string) (time.Duration, error) {
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

// clear deletes the entries of servers, or all of them if none is named, in the running gateway or in the file.
func (p commands) clear(ctx context.Context, names []string) error {
	contents, cfg, err := p.readCache(ctx)
	if tool.KindOf(err) == tool.Invalid && len(names) == 0 { // a damaged file can be cleared too; a copy of it is kept
		err = nil
	}
	if err != nil {
		return err
	}
	known := contents.Names()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return &tool.Error{
				Op: "cache clear", Kind: tool.NotFound, Subject: name, Message: "nothing is cached for it",
				Hint: output.FirstNonEmpty(root.DidYouMeanHint(name, known), "collie cache show lists what is kept"),
			}
		}
	}
	const command = "cache clear"
	if r, sameSettings, err := p.Gateway(ctx, cfg); err == nil {
		defer r.Close()
		if sameSettings {
			removed, err := r.ClearCache(ctx, names)
			if err != nil {
				return cacheadmin.NotKeptError(command, err)
			}
			if len(removed) > 0 {
				p.OnRecord(ctx, cfg, command, map[string]any{"servers": removed})
			}
			return p.printRemoved(removed)
		}
	}
	return p.editCache(ctx, cfg, &contents, command, func(c cacheadmin.Cache) []string { return c.Clear(names...) })
}

// prune deletes the entries of servers that a gateway has missed in the settings for longer than age, or with age 0 of all
// servers that are not in the settings.
func (p commands) prune(ctx context.Context, age time.Duration) error {
	contents, cfg, err := p.readCache(ctx)
	if err != nil {
		return err
	}
	return p.editCache(ctx, cfg, &contents, "cache prune", func(c cacheadmin.Cache) []string {
		removed := c.Prune(age)
		if age > 0 {
			return removed
		}
		// Prune knows only the servers that a gateway has missed already. Others may have left the settings since.
		var strangers []string
		for i := range contents.Servers {
			if s := &contents.Servers[i]; !s.Configured {
				strangers = append(strangers, s.Name)
			}
		}
		if len(strangers) > 0 {
			removed = append(removed, c.Clear(strangers...)...)
		}
		slices.Sort(removed)
		return removed
	})
}

// editCache has do delete entries from the file, and prints the servers whose entries they were. A running gateway reads
// the file again.
func (p commands) editCache(
	ctx context.Context, cfg *config.Config, contents *serveradmin.CacheContents, command string, do func(cacheadmin.Cache) []string,
) error {
	if contents.File.Missing {
		return p.printRemoved(nil)
	}
	o, err := p.options(cfg)
	if err != nil {
		return err
	}
	removed, err := cacheadmin.DeleteEntries(ctx, cfg, o, command, do)
	if err != nil {
		return err
	}
	return p.printRemoved(removed)
}

// printRemoved prints the servers whose entries were deleted.
func (p commands) printRemoved(removed []string) error {
	if p.JSON {
		return p.PrintJSON(map[string]any{"removed": append([]string{}, removed...)})
	}
	line := locale.T("nothing to forget")
	if len(removed) > 0 {
		line = locale.Sprintf("forgot %s", strings.Join(removed, ", "))
	}
	_, err := fmt.Fprintln(p.Out, line)
	return err
}

func (p commands) importCommand() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Import the lists of another cache file", Args: root.NamedArgs("file"),
		Long: "Imports lists from another Collie's cache file, or from xiaozhi.cache.json, for servers that have\n" +
			"none here. They are marked as imported: until their server confirms them, they are shown only\n" +
			"with cache.trustImported.",
		RunE: func(c *cobra.Command, args []string) error { return p.importFile(c.Context(), args) },
	}
}

// importFile imports the lists of another cache file and prints a row for each server in it.
func (p commands) importFile(ctx context.Context, args []string) error {
	path, data, err := p.readCacheFile(args)
	if err != nil {
		return err
	}
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	o, err := p.options(cfg)
	if err != nil {
		return err
	}
	list, err := cacheadmin.Import(ctx, cfg, o, path, data)
	if err != nil {
		return err
	}
	imported := 0
	var rows [][]string
	for _, i := range list {
		if i.Skipped == "" {
			imported++
		}
		rows = append(rows, []string{i.Name, fmt.Sprint(i.Tools), output.FirstNonEmpty(i.Skipped, "imported")})
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"imported": imported, "servers": list})
	}
	if len(rows) > 0 {
		if err := p.Table([]string{"NAME", "TOOLS", "RESULT"}, rows); err != nil {
			return err
		}
	}
	if imported > 0 && !cfg.Cache.TrustImported {
		p.Note("they are shown when their servers have confirmed them, or with: collie config set cache.trustImported true")
	}
	return nil
}
