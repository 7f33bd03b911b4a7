package upstream

import (
	"context"
	"errors"
	"iter"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"collie/internal/mcp"
	"collie/internal/process"
	"collie/internal/source/upstream/listing"
	"collie/internal/source/upstream/pins"
	"collie/internal/source/upstream/serverlog"
	"collie/internal/source/upstream/signin"
	"collie/internal/source/upstream/supervise"
	"collie/internal/tool"
)

// enter moves the server to a state that no event of its life leads to.
func (s *Server) enter(state tool.State, reason, detail string) {
	s.supervisor.Tell(func(m *supervise.Machine, now time.Time) { m.Enter(now, state, reason, s.redact(detail)) })
}

// enterFor is enter, unless c is not the primary connection any more: another one has been
// asked for, and the state is about that.
func (s *Server) enterFor(c *conn, state tool.State, reason, detail string) {
	p := s.pool.lock()
	defer s.pool.unlock()
	if p.primary == c {
		s.enter(state, reason, detail)
	}
}

// logState puts a change of state into the logs.
func (s *Server) logState(c supervise.Condition) {
	if line := string(c.State); c.State != tool.StateIdle || c.Reason != "" {
		s.said.Add(serverlog.Own, strings.TrimRight(line+" "+c.Reason+": "+c.Detail, ": "))
	}
	s.log.Debug("server state", "state", string(c.State), "reason", c.Reason, "detail", c.Detail)
}

// Status says what the server is doing, and why.
func (s *Server) Status() tool.ServerStatus {
	conf, now := s.settings(), s.supervisor.Condition()
	st := tool.ServerStatus{
		Name: s.name, Transport: string(conf.Transport), Command: shown(conf), Lifecycle: string(conf.Lifecycle),
		State: now.State, Since: now.Since, Reason: now.Reason, Detail: now.Detail,
		Attempt: now.Failures, Starts: now.Starts, Restarts: now.Restarts, StartSeconds: now.LastStart.Seconds(),
		NoiseLines: s.noise.total(), AutoApprove: conf.AutoApprove.Names,
	}
	if conf.AutoApprove.All {
		st.AutoApprove = []string{"*"}
	}
	if !now.NextRetry.IsZero() {
		st.NextRetry = &now.NextRetry
	}
	s.listing.Status(&st)
	p := s.pool.lock()
	if c := p.primary; c != nil && c.proc != nil && c.alive() {
		st.PID = c.proc.Pid()
	}
	st.Dropped = p.dropped
	for _, c := range p.conns() {
		st.Dropped += c.droppedResponses()
	}
	s.pool.unlock()
	if st.Freshness == tool.FreshLive && st.PID == 0 && !s.listing.Live() {
		st.Freshness = tool.FreshHit // it was live a moment ago, and the cache has it
	}
	if st.State == tool.StateNeedsAuth {
		st.Hint = s.authHint()
	}
	return st
}

// Logs returns// Logs returns the last lines the server has written to stderr, and what else came out of
// it that was no message.
func (s *Server) Logs() []process.Entry { return s.said.Entries() }

// Tail yields what f wants of what the server has said, in this run and in earlier ones, and
// with f.Follow what comes, until ctx ends.
func (s *Server) Tail(ctx context.Context, f tool.LogFilter) iter.Seq2[tool.LogLine, error] {
	return s.said.Tail(ctx, f)
}

// Changes are the tools whose definitions wait for approval.
func (s *Server) Changes() map[string]pins.Change { return s.listing.Changes() }

// Approve accepts changed definitions, all of them if no tool is named, and returns how many.
func (s *Server) Approve(ctx context.Context, tools ...string) (int, error) {
	return s.listing.Approve(ctx, tools...)
}

// reasonOf classes a failed start: its stable code, and what a person
// can do about it.
func reasonOf(err error) (reason, hint string) {
	if e, ok := errors.AsType[*entryError](err); ok {
		return e.reason, "collie mcp validate shows the place"
	}
	if e, ok := errors.AsType[*process.StartError](err); ok {
		if e.Reason == process.BadDir {
			return "config_invalid", "make that folder, or change cwd"
		}
		return string(e.Reason), InstallHint(e.Name)
	}
	if needsAuth(err) {
		return "auth_required", "" // the hint depends on the server
	}
	if _, ok := errors.AsType[*mcp.VersionError](err); ok {
		return "unsupported_protocol", "update the server"
	}
	if _, ok := errors.AsType[*mcp.HandshakeError](err); ok {
		return "bad_handshake", ""
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		if e.exit.MissingCommand() {
			return "command_not_found", ""
		}
		return "exited_early", ""
	}
	if _, ok := errors.AsType[*listing.Error](err); ok && statusOf(err) == 0 {
		return "list_failed", ""
	}
	if closedPipe(err) {
		return "bad_handshake", "the server closed its input at once: is it one that speaks MCP over stdio, and are its arguments right?"
	}
	if e, ok := errors.AsType[*mcp.LinkError](err); ok {
		return linkReason(e)
	}
	if errors.Is(err, errStartTimeout) {
		return "handshake_timeout", "raise startTimeout if it only needs longer"
	}
	return "bad_handshake", ""
}

// closedPipe reports whether a program has closed the pipe that we write to. The same happens to
// network connections.
func closedPipe(err error) bool {
	_, network := errors.AsType[*net.OpError](err)
	return !network && errors.Is(err, syscall.EPIPE)
}

// statusOf is the HTTP status of a refused start, 0 if it is not about one.
func statusOf(err error) int {
	if e, ok := errors.AsType[*mcp.LinkError](err); ok {
		return e.Status
	}
	return 0
}

// needsAuth reports whether an error says that a person has to sign in.
func needsAuth(err error) bool {
	if _, ok := errors.AsType[*signin.NeedsAuthError](err); ok {
		return true
	}
	return statusOf(err) == http.StatusUnauthorized
}

func linkReason(e *mcp.LinkError) (reason, hint string) {
	switch {
	case e.Status >= 500:
		return "http_5xx", ""
	case e.Status >= 400:
		return "http_4xx", "check the url"
	}
	return networkReason(e), "is it running, and is the url right?"
}

// InstallHint is one line of help for a program that is not there, by its name.
func InstallHint(command string) string {
	switch command {
	case "npx", "npm", "node":
		return "install Node.js, or give the full path of " + command
	case "uvx", "uv":
		return "install uv (https://docs.astral.sh/uv/), or give the full path of " + command
	case "docker", "podman":
		return "install " + command + " and start it"
	case "bunx", "bun":
		return "install Bun, or give the full path of " + command
	}
	return "install it, or give its full path"
}

// redact hides the secrets of the server's entry in a text.
func (s *Server) redact(text string) string {
	for _, secret := range s.settings().Secrets {
		if len(secret) >= 4 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
