// Package learn starts servers, fetches their tools and stores them in the cache. The commands that add
// servers and those of `collie cache` use it.
package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/process"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// commands holds the methods behind this package's functions. They share one program.
type commands struct{ *root.Program }

// Result is the outcome for one server.
type Result struct {
	Name    string         `json:"name"`
	OK      bool           `json:"ok"`
	Tools   int            `json:"tools"`
	Seconds float64        `json:"seconds"`
	Note    string         `json:"note,omitempty"` // for people, only if OK
	Type    tool.ErrorKind `json:"type,omitempty"`
	Error   string         `json:"error,omitempty"`
	hint    string
}

// All asks servers for their lists, at most parallel of them at the same time, and shows its progress. The results are
// in the order of names.
func All(ctx context.Context, shared *root.Program, b Learner, names []string, parallel int, timeout time.Duration) []Result {
	p := commands{shared}

	results := make([]Result, len(names))
	slots := make(chan struct{}, max(parallel, 1)) // a slot for each server that is asked at present
	show := p.NewProgress(len(names))
	uncached := p.serversWithoutCache()
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			show.Begin(name)
			r := learnOne(ctx, b, name, timeout)
			if r.OK && slices.Contains(uncached, name) {
				r.Note = locale.T("not cached: its settings switch the cache off")
			} else if r.OK && r.Tools == 0 {
				r.Note = locale.T("it has no tools")
			}
			results[i] = r
			word := locale.Count(r.Tools, "tool")
			if !r.OK {
				word = "failed"
			}
			show.End(name, locale.Sprintf("%s after %s", word, Seconds(r.Seconds)))
		})
	}
	wg.Wait()
	show.Close()
	return results
}

// Learner fetches the lists of servers. If it starts servers for that, it is also a rester.
type Learner interface {
	Refresh(ctx context.Context, name string) (tool.ServerStatus, error)
}

// rester stops a server that was started to learn its tools.
type rester interface {
	Rest(ctx context.Context, name string)
}

// learnOne fetches the lists of one server. If b started the server for that, the server is stopped again. Servers of a
// running gateway go on, because they may have other clients.
func learnOne(ctx context.Context, b Learner, name string, timeout time.Duration) Result {
	begun := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, &tool.Error{
		Op: "list the tools of", Kind: tool.Timeout, Subject: name, Message: fmt.Sprintf("no list within --timeout %v", timeout),
	})
	defer cancel()
	st, err := b.Refresh(ctx, name)
	r := Result{Name: name, OK: err == nil, Tools: st.Tools, Seconds: time.Since(begun).Seconds()}
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

// serversWithoutCache returns the servers whose entries disable the cache.
func (p commands) serversWithoutCache() []string {
	cfg, _, err := p.Settings()
	if err != nil {
		return nil
	}
	var out []string
	specs, _ := serveradmin.Specs(cfg, p.Env)
	for _, s := range specs {
		if !s.Entry.Cache.Enabled {
			out = append(out, s.Entry.Name)
		}
	}
	return out
}

// Seconds writes a number of seconds as a duration, to the millisecond.
func Seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String()
}

// learnLimit is how long Unseen may take; packages may have to be downloaded.
const learnLimit = 90 * time.Second

// NoWarmFlag adds the flag --no-warm, which sets *to.
func NoWarmFlag(c *cobra.Command, to *bool) {
	c.Flags().BoolVar(to, "no-warm", false, "do not start servers to fetch their tools now")
}

// Unseen learns the tools of all servers that have no list yet, through the running gateway if it has these
// settings, else in this process. Commands that add servers or clients call it at their end, so that a client's first
// session does not have to wait. Failures are printed but are not an error of the command, whose own work is done.
func Unseen(ctx context.Context, shared *root.Program) {
	p := commands{shared}

	cfg, err := p.Load()
	if err != nil || !cfg.Cache.Enabled {
		return // the command itself has read the settings and reported their errors
	}
	names := p.serversWithoutLists(ctx, cfg)
	if len(names) == 0 {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, learnLimit, &tool.Error{Op: "learn the tools", Kind: tool.Timeout, Message: "not within " + learnLimit.String()})
	defer cancel()
	l, end, err := p.learnerFor(ctx, cfg)
	if err != nil {
		p.Warn("the tools of %s could not be fetched yet: %v", strings.Join(names, ", "), err)
		return
	}
	if !p.JSON {
		p.Note("learning the tools of %s; Ctrl-C or --no-warm leaves that to the first use", strings.Join(names, ", "))
	}
	results := All(ctx, p.Program, l, names, cmp.Or(cfg.MCP.WarmParallel, 4), learnLimit)
	end()
	for _, r := range results {
		switch {
		case r.OK && p.JSON:
		case r.OK:
			p.Note("%s: %s", r.Name, locale.Count(r.Tools, "tool"))
		case ctx.Err() != nil && r.Type != tool.NeedsAuth:
			p.Warn("%s: its tools are not known yet; run collie cache warm %s, or use it once", r.Name, r.Name)
		default:
			p.Warn("%s: its tools could not be fetched: %s; %s", r.Name, output.OneLine(locale.Sentence(r.Error)),
				output.FirstNonEmpty(locale.Sentence(r.hint), locale.Sprintf("collie mcp doctor %s tries it step by step", r.Name)))
		}
	}
}

// serversWithoutLists returns the enabled servers that have no list in the cache.
func (p commands) serversWithoutLists(ctx context.Context, cfg *config.Config) []string {
	uncached := p.serversWithoutCache()
	var out []string
	for _, s := range serveradmin.ReadServers(ctx, cfg, p.Env) {
		st := s.Status
		on := st.State != tool.StateDisabled && st.State != tool.StateConfigError
		if on && st.Freshness == tool.FreshNone && !slices.Contains(uncached, st.Name) {
			out = append(out, st.Name)
		}
	}
	return out
}

// learnerFor returns the running gateway, or servers opened in this process. The caller calls end.
func (p commands) learnerFor(ctx context.Context, cfg *config.Config) (l Learner, end func(), err error) {
	if r, sameSettings, err := p.Gateway(ctx, cfg); err == nil {
		r.Await = []string{} // do not wait for servers
		if sameSettings {
			return r, r.Close, nil
		}
		r.Close()
	}
	local, err := app.OpenLearner(ctx, cfg, app.Options{
		Version: p.Version, Self: root.Self(), ReaperArgs: []string{process.ReaperCommand}, Brief: true, Env: p.Env, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, nil, err
	}
	return local, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), root.StopTime)
		defer cancel()
		if err := local.Close(ctx); err != nil {
			p.Warn("stop: %v", err)
		}
	}, nil
}
