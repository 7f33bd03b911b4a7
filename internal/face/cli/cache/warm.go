package cache

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/learn"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	serveradmin "collie/internal/source/upstream/admin"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
	"collie/internal/tool"
)

// This file has the commands `collie cache warm` and `collie cache refresh`, which fetch the lists of servers into the
// cache.

// defaultTimeout is how long one server may take to send its lists; its package may have to be downloaded first.
const defaultTimeout = 180 * time.Second

func (p commands) warmCommand() *cobra.Command {
	var parallel int
	var timeout time.Duration
	c := &cobra.Command{
		Use: "warm [NAME…]", Short: "Start servers once, to fetch their tools", ValidArgsFunction: p.completeCached(0),
		Long: "Starts or connects to the named servers, or all that are enabled, and caches their lists, so that\n" +
			"the next gateway to start lists every tool at once. A running gateway does this itself and stops\n" +
			"the servers once they are idle; otherwise each is stopped as soon as it has answered. The exit\n" +
			"code is 6 if some failed, 1 if all did, 3 if the lists could not be written.",
		RunE: func(c *cobra.Command, args []string) error {
			if parallel < 0 || timeout <= 0 {
				return root.Usage("--parallel and --timeout must be above 0")
			}
			return p.fetchLists(c.Context(), "cache warm", args, parallel, timeout)
		},
	}
	c.Flags().IntVar(&parallel, "parallel", 0, "start this many at once (default: mcp.warmParallel)")
	c.Flags().DurationVar(&timeout, "timeout", defaultTimeout, "give a server at most `TIME`")
	return c
}

func (p commands) refreshCommand() *cobra.Command {
	return &cobra.Command{
		Use: "refresh [NAME…]", Short: "Fetch lists from the servers themselves, whatever is cached", ValidArgsFunction: p.completeCached(0),
		Long: "Fetches the lists of the named servers, or of all that are enabled, and starts those that do not run.",
		RunE: func(c *cobra.Command, args []string) error {
			return p.fetchLists(c.Context(), "cache refresh", args, 0, defaultTimeout)
		},
	}
}

// fetchLists fetches the lists of servers and stores them in the cache: up to parallel servers at the same time, or as many
// as the settings say if parallel is 0. It prints a row for each server.
func (p commands) fetchLists(ctx context.Context, command string, names []string, parallel int, timeout time.Duration) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	if names, err = p.serversToAsk(ctx, cfg, command, names); err != nil || len(names) == 0 {
		return err
	}
	b, err := p.Backend(ctx, []string{}) // an empty list: it starts no server itself
	if err != nil {
		return err
	}
	defer b.Close()
	results := learn.All(ctx, p.Program, b, names, cmp.Or(parallel, cfg.MCP.WarmParallel, 4), timeout)
	unwritten := b.FlushCache(ctx)
	failed := 0
	var rows [][]string
	for _, r := range results {
		state := output.FirstNonEmpty(r.Note, "ok")
		if !r.OK {
			failed++
			state = r.Error
		}
		rows = append(rows, []string{r.Name, strconv.Itoa(r.Tools), learn.Seconds(r.Seconds), state})
	}
	if p.JSON {
		out := map[string]any{"servers": results, "failed": failed, "written": unwritten == nil}
		if unwritten != nil {
			out["error"] = unwritten.Error()
		}
		err = p.PrintJSON(out)
	} else {
		err = p.Table([]string{"NAME", "TOOLS", "TIME", "RESULT"}, rows)
	}
	switch {
	case err != nil:
		return err
	case failed == len(results):
		return root.Exit(root.ExitFailed)
	case unwritten != nil && p.JSON:
		return root.Exit(root.ExitUnreachable)
	case unwritten != nil:
		return cacheadmin.NotKeptError(command, unwritten)
	case failed > 0:
		return root.Exit(root.ExitPartial)
	}
	return nil
}

// serversToAsk returns the servers to ask: the named ones, or all that are enabled.
func (p commands) serversToAsk(ctx context.Context, cfg *config.Config, command string, names []string) ([]string, error) {
	if !cfg.Cache.Enabled {
		return nil, cacheadmin.OffError(command)
	}
	known := root.ServerNames(cfg)
	var out []string
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, root.UnknownServerError(command, name, known)
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if len(names) > 0 {
		return out, nil
	}
	for _, s := range serveradmin.ReadServers(ctx, cfg, p.Env) {
		if st := s.Status.State; st != tool.StateDisabled && st != tool.StateConfigError {
			out = append(out, s.Status.Name)
		}
	}
	if len(out) == 0 {
		p.Note("no MCP server is configured and on")
	}
	return out, nil
}
