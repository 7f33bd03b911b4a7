package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/tool"
)

func (p *program) cacheWarmCommand() *cobra.Command {
	var parallel int
	var timeout time.Duration
	c := &cobra.Command{
		Use: "warm [NAME…]", Short: "Start servers once, to learn their tools", ValidArgsFunction: p.completeCached(0),
		Long: "Starts or reaches servers, all that are on without NAME, fetches their lists and keeps them, so\n" +
			"that the next start of a gateway lists every tool at once. A running gateway does it itself and\n" +
			"stops them when they have been idle, as always; else each is stopped again when it has told. The\n" +
			"exit code is 6 if some failed, 1 if all did, 3 if the lists could not be written.",
		RunE: func(c *cobra.Command, args []string) error {
			if parallel < 0 || timeout <= 0 {
				return usage("--parallel and --timeout must be above 0")
			}
			return p.learn(c.Context(), "cache warm", args, parallel, timeout)
		},
	}
	c.Flags().IntVar(&parallel, "parallel", 0, "start so many at once (default: mcp.warmParallel)")
	c.Flags().DurationVar(&timeout, "timeout", 180*time.Second, "give a server at most `TIME`")
	return c
}

func (p *program) cacheRefreshCommand() *cobra.Command {
	return &cobra.Command{
		Use: "refresh [NAME…]", Short: "Fetch lists from the servers themselves, whatever is kept", ValidArgsFunction: p.completeCached(0),
		Long: "Asks servers for their lists, all that are on without NAME; servers that do not run are started.",
		RunE: func(c *cobra.Command, args []string) error {
			return p.learn(c.Context(), "cache refresh", args, 0, 180*time.Second)
		},
	}
}

// learned is what came of one server.
type learned struct {
	Name    string         `json:"name"`
	OK      bool           `json:"ok"`
	Tools   int            `json:"tools"`
	Seconds float64        `json:"seconds"`
	Note    string         `json:"note,omitempty"` // for people, where it worked
	Type    tool.ErrorKind `json:"type,omitempty"`
	Error   string         `json:"error,omitempty"`
	hint    string
}

// learn fetches the lists of servers, some at once, and keeps them.
func (p *program) learn(ctx context.Context, command string, names []string, parallel int, timeout time.Duration) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	if names, err = p.learners(ctx, cfg, command, names); err != nil || len(names) == 0 {
		return err
	}
	b, err := p.backend(ctx, []string{})
	if err != nil {
		return err
	}
	defer b.Close()
	results := p.learnAll(ctx, b, names, cmp.Or(parallel, cfg.MCP.WarmParallel, 4), timeout)
	unwritten := b.FlushCache(ctx)
	failed := 0
	var rows [][]string
	for _, r := range results {
		state := first(r.Note, "ok")
		if !r.OK {
			failed++
			state = r.Error
		}
		rows = append(rows, []string{r.Name, strconv.Itoa(r.Tools), seconds(r.Seconds), state})
	}
	if p.json {
		out := map[string]any{"servers": results, "failed": failed, "written": unwritten == nil}
		if unwritten != nil {
			out["error"] = unwritten.Error()
		}
		err = p.printJSON(out)
	} else {
		err = p.table([]string{"NAME", "TOOLS", "TIME", "RESULT"}, rows)
	}
	switch {
	case err != nil:
		return err
	case failed == len(results):
		return exit(exitFailed)
	case unwritten != nil && p.json:
		return exit(exitUnreachable)
	case unwritten != nil:
		return notKept(command, unwritten)
	case failed > 0:
		return exit(exitPartial)
	}
	return nil
}

// learners are the servers to ask: those that are named, or all that are on.
func (p *program) learners(ctx context.Context, cfg *config.Config, command string, names []string) ([]string, error) {
	if !cfg.Cache.Enabled {
		return nil, &tool.Error{Op: command, Kind: tool.Disabled, Message: "the tool cache is switched off", Hint: "collie config set cache.enabled true switches it on"}
	}
	known := serverNames(cfg)
	var out []string
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, unknownServer(command, name, known)
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if len(names) > 0 {
		return out, nil
	}
	for _, s := range app.ReadServers(ctx, cfg, p.env) {
		if st := s.Status.State; st != tool.StateDisabled && st != tool.StateConfigError {
			out = append(out, s.Status.Name)
		}
	}
	if len(out) == 0 {
		p.note("no MCP server is configured and on")
	}
	return out, nil
}

// learnAll asks servers, parallel at once, and tells of each as it ends.
func (p *program) learnAll(ctx context.Context, b learner, names []string, parallel int, timeout time.Duration) []learned {
	results := make([]learned, len(names))
	turns := make(chan struct{}, max(parallel, 1))
	show := p.newProgress(len(names))
	uncached := p.uncached()
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			show.begin(name)
			r := learnOne(ctx, b, name, timeout)
			if r.OK && slices.Contains(uncached, name) {
				r.Note = "not kept: its settings switch the cache off"
			} else if r.OK && r.Tools == 0 {
				r.Note = "it has no tools"
			}
			results[i] = r
			word := count(r.Tools, "tool")
			if !r.OK {
				word = "failed"
			}
			show.end(name, fmt.Sprintf("%s after %s", word, seconds(r.Seconds)))
		})
	}
	wg.Wait()
	show.close()
	return results
}

// learner fetches the lists of servers. One that starts them here is a rester too.
type learner interface {
	Refresh(ctx context.Context, name string) (tool.ServerStatus, error)
}

type rester interface {
	Rest(ctx context.Context, name string)
}

// learnOne fetches the lists of one server. One that was started here ends again; those of a
// running gateway have other clients.
func learnOne(ctx context.Context, b learner, name string, timeout time.Duration) learned {
	begun := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, &tool.Error{
		Op: "list the tools of", Kind: tool.Timeout, Subject: name, Message: fmt.Sprintf("no list within --timeout %v", timeout),
	})
	defer cancel()
	st, err := b.Refresh(ctx, name)
	r := learned{Name: name, OK: err == nil, Tools: st.Tools, Seconds: time.Since(begun).Seconds()}
	if err != nil {
		r.Type, r.Error = tool.KindOf(err), err.Error()
		if e, ok := errors.AsType[*tool.Error](err); ok {
			r.hint = e.Hint
		}
	}
	if l, ok := b.(rester); ok {
		l.Rest(context.WithoutCancel(ctx), name)
	}
	return r
}

// uncached are the servers whose own settings switch the cache off.
func (p *program) uncached() []string {
	cfg, _, err := p.settings()
	if err != nil {
		return nil
	}
	var out []string
	specs, _ := app.Specs(cfg, p.env)
	for _, s := range specs {
		if !s.Entry.Cache.Enabled {
			out = append(out, s.Entry.Name)
		}
	}
	return out
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String()
}
