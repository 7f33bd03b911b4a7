package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/tool"
)

func (p *program) cacheWarmCommand() *cobra.Command {
	var parallel int
	var timeout time.Duration
	c := &cobra.Command{
		Use: "warm [NAME…]", Short: "Start servers once, to learn their tools", ValidArgsFunction: p.completeServers,
		Long: "Starts servers, all that are on without NAME, fetches their lists and keeps them, so that the\n" +
			"next start of a gateway lists every tool at once. Without a running gateway they are stopped\n" +
			"afterwards. The exit code is 6 if some failed, 1 if all did.",
		RunE: func(c *cobra.Command, args []string) error {
			return p.learn(c.Context(), "cache warm", args, parallel, timeout, backend.Start)
		},
	}
	c.Flags().IntVar(&parallel, "parallel", 0, "start so many at once (default: mcp.warmParallel)")
	c.Flags().DurationVar(&timeout, "timeout", 180*time.Second, "give a server at most `TIME`")
	return c
}

func (p *program) cacheRefreshCommand() *cobra.Command {
	return &cobra.Command{
		Use: "refresh [NAME…]", Short: "Fetch lists from the servers themselves, whatever is kept", ValidArgsFunction: p.completeServers,
		Long: "Asks servers for their lists, all that are on without NAME; servers that do not run are started.",
		RunE: func(c *cobra.Command, args []string) error {
			return p.learn(c.Context(), "cache refresh", args, 0, 180*time.Second, backend.Refresh)
		},
	}
}

// learned is what came of one server.
type learned struct {
	Name    string         `json:"name"`
	OK      bool           `json:"ok"`
	Tools   int            `json:"tools"`
	Seconds float64        `json:"seconds"`
	Type    tool.ErrorKind `json:"type,omitempty"`
	Error   string         `json:"error,omitempty"`
}

// learn does something to servers, some at once, that ends with their lists in the cache.
func (p *program) learn(ctx context.Context, command string, names []string, parallel int, timeout time.Duration, do func(backend, context.Context, string) (tool.ServerStatus, error)) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	if !cfg.Cache.Enabled {
		return &tool.Error{Op: command, Kind: tool.Disabled, Message: "the tool cache is switched off", Hint: "collie config set cache.enabled true switches it on"}
	}
	known := serverNames(cfg)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return unknownServer(command, name, known)
		}
	}
	if len(names) == 0 {
		for _, s := range app.ReadServers(ctx, cfg, p.env) {
			if st := s.Status.State; st != tool.StateDisabled && st != tool.StateConfigError {
				names = append(names, s.Status.Name)
			}
		}
	}
	if len(names) == 0 {
		p.note("no MCP server is configured and on")
		return nil
	}
	b, err := p.backend(ctx, []string{})
	if err != nil {
		return err
	}
	results := p.learnAll(ctx, b, names, cmp.Or(parallel, cfg.MCP.WarmParallel, 4), timeout, do)
	b.Close() // which writes the cache
	failed := 0
	var rows [][]string
	for _, r := range results {
		state := "ok"
		if !r.OK {
			failed++
			state = r.Error
		}
		rows = append(rows, []string{r.Name, strconv.Itoa(r.Tools), seconds(r.Seconds), state})
	}
	if p.json {
		err = p.printJSON(map[string]any{"servers": results, "failed": failed})
	} else {
		err = p.table([]string{"NAME", "TOOLS", "TIME", "RESULT"}, rows)
	}
	switch {
	case err != nil:
		return err
	case failed == len(results):
		return &exitError{exitFailed}
	case failed > 0:
		return &exitError{exitPartial}
	}
	return nil
}

// learnAll asks servers, parallel at once, and tells of each as it ends.
func (p *program) learnAll(ctx context.Context, b backend, names []string, parallel int, timeout time.Duration, do func(backend, context.Context, string) (tool.ServerStatus, error)) []learned {
	results := make([]learned, len(names))
	turns := make(chan struct{}, max(parallel, 1))
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			begun := time.Now()
			ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no list within %v", timeout))
			defer cancel()
			st, err := do(b, ctx, name)
			r := learned{Name: name, OK: err == nil, Tools: st.Tools, Seconds: time.Since(begun).Seconds()}
			if err != nil {
				r.Type, r.Error = tool.KindOf(err), err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			results[i] = r
			if len(names) > 1 && !p.json {
				word := count(r.Tools, "tool")
				if !r.OK {
					word = "failed"
				}
				p.note("%s: %s after %s", name, word, seconds(r.Seconds))
			}
		})
	}
	wg.Wait()
	return results
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String()
}
