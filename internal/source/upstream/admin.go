package upstream

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"collie/internal/process"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/pins"
	"collie/internal/source/upstream/supervise"
	"collie/internal/tool"
)

// This file has what people do to a server: see its status and logs, start and stop it, and approve changed
// definitions of its tools.

// Status returns the state of the server and the reason for it.
func (s *Server) Status() tool.ServerStatus {
	conf, now := s.settings(), s.supervisor.Condition()
	st := tool.ServerStatus{
		Name: s.name, Transport: string(conf.Transport), Command: maskedTarget(conf), Lifecycle: string(conf.Lifecycle),
		State: now.State, Since: now.Since, Reason: now.Reason, Detail: now.Detail,
		Attempt: now.Failures, Starts: now.Starts, Restarts: now.Restarts, StartSeconds: now.LastStart.Seconds(),
		NoiseLines: s.dialer.NoiseLines(), AutoApprove: conf.AutoApprove.Names,
	}
	if conf.AutoApprove.All {
		st.AutoApprove = []string{"*"}
	}
	if !now.NextRetry.IsZero() {
		st.NextRetry = &now.NextRetry
	}
	s.listing.Status(&st)
	p := s.pool.lock()
	if c := p.primary; c != nil && c.Process != nil && c.Alive() {
		st.PID = c.Process.Pid()
	}
	st.Dropped = s.dialer.Dropped()
	for _, c := range p.conns() {
		st.Dropped += c.Unclaimed()
	}
	s.pool.unlock()
	if st.Freshness == tool.FreshLive && st.PID == 0 && !s.listing.Live() {
		st.Freshness = tool.FreshHit // the lists were confirmed a moment ago, and the cache has them
	}
	if st.State == tool.StateNeedsAuth {
		st.Hint = s.authHint()
	}
	return st
}

// logs returns the last lines that the server wrote to stderr, and those on stdout that are not MCP messages.
func (s *Server) logs() []process.Entry { return s.output.Entries() }

// Tail yields the logged lines that match f, of this run and earlier ones. With f.Follow it goes on with new lines
// until ctx ends.
func (s *Server) Tail(ctx context.Context, f tool.LogFilter) iter.Seq2[tool.LogLine, error] {
	return s.output.Tail(ctx, f)
}

// Changes returns the tools whose changed definitions wait for approval.
func (s *Server) Changes() map[string]pins.Change { return s.listing.Changes() }

// Approve accepts the changed definitions in shown, which has their hashes by tool, and returns how many it accepted.
func (s *Server) Approve(ctx context.Context, shown map[string]string) (int, error) {
	return s.listing.Approve(ctx, shown)
}

// Start starts the server at a person's request: earlier failures are forgotten, and no backoff delays it. It returns
// when the server is ready or has failed.
func (s *Server) Start(ctx context.Context) error {
	s.supervisor.Tell((*supervise.Machine).Forgive)
	_, err := s.connection(ctx)
	return err
}

// Restart stops the server if it runs, and starts it, with the sign-in that is stored now.
func (s *Server) Restart(ctx context.Context) error {
	s.supervisor.Tell((*supervise.Machine).Forgive)
	s.giveUp(ctx, s.set.opts.Drain, reasonStopped)
	s.login.forget()
	return s.Start(ctx)
}

// Refresh fetches all lists from the live server, which is started if need be.
func (s *Server) Refresh(ctx context.Context) error {
	f := s.listing.Feed()
	if f == nil || !f.Alive() {
		s.supervisor.Tell((*supervise.Machine).Forgive)
		c, err := s.connection(ctx) // connecting fetches the lists
		if err != nil {
			return err
		}
		return c.feed.Await(ctx)
	}
	if !s.listing.Refresh(ctx, f, map[tool.ChangeKind]bool{tool.ToolsChanged: true, tool.ResourcesChanged: true, tool.PromptsChanged: true}) {
		return &tool.Error{
			Op: "refresh", Kind: tool.Upstream, Subject: s.name, Message: "it does not return its lists; the old ones stay",
			Hint: "collie mcp logs " + s.name + " shows why",
		}
	}
	return nil
}

// Stop stops the server until it is called again. It also cancels a start in progress and any planned retry.
func (s *Server) Stop(ctx context.Context) {
	p := s.pool.lock()
	begun := slices.Collect(maps.Values(p.opening))
	for _, o := range begun {
		o.cancel(errStopped)
	}
	s.supervisor.Tell((*supervise.Machine).CancelRetry)
	s.pool.unlock()
	for _, o := range begun {
		<-o.done // a canceled start stops its process in the same steps as Stop
	}
	s.giveUp(ctx, s.set.opts.Drain, reasonStopped)
}

// maskedTarget returns the command or URL of an entry for display, with secrets masked.
func maskedTarget(e *entry.Entry) string {
	if e.Transport != entry.Stdio {
		return e.URL.String()
	}
	words := []string{e.Command.String()}
	for _, a := range e.Args {
		words = append(words, a.String())
	}
	return strings.Join(words, " ")
}
