// Package firewall is the stage that judges calls by fixed rules, without asking a model or a person. The rules are
// about paths, shell commands, URLs, SQL, sizes, rates and changed definitions. [Policy.Judge] is a pure function of a
// policy, a call and the visible file system, so the same call always gets the same verdict. The entry point is [New].
//
// The kind of an argument follows from the tool's schema ("x-collie-kind": path, command, url, sql, text), else from
// its name. A string that can only be an absolute path or a URL is judged as such whatever the argument is called. Our
// own tools declare their effects and are judged by those: the paths among their arguments are paths of notes.
//
// A call that a rule denies is refused before its targets are resolved. A call that a rule wants a person to see is
// passed on with a [tool.Finding], for the gate. A person at a terminal is asked about denied calls only. Verdicts on
// calls of MCP clients are only logged unless [Settings.Clients] is set.
package firewall

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"collie/internal/tool"
)

// Settings are the policy and where it is enforced. The zero value enforces it for all callers but MCP clients.
type Settings struct {
	Policy
	// LogOnly logs every verdict and enforces none.
	LogOnly bool
	// Clients enforces verdicts on calls of MCP clients too.
	Clients bool
}

// Outcome is the effect of a verdict on a call.
type Outcome string

// The outcomes.
const (
	Passed  Outcome = "pass"
	Logged  Outcome = "log" // it passes, and the verdict is logged
	Asked   Outcome = "ask"
	Refused Outcome = "refuse"
)

func (s *Settings) isEnforced(origin tool.Origin) bool {
	return !s.LogOnly && (s.Clients || origin != tool.MCPLocal && origin != tool.MCPRemote)
}

// Outcome returns what happens to a call from origin with verdict v.
func (s *Settings) Outcome(origin tool.Origin, v *Verdict) Outcome {
	switch {
	case v.Decision == Allow:
		return Passed
	case !s.isEnforced(origin):
		return Logged
	case v.Decision == Deny && origin != tool.Direct:
		return Refused
	case v.Decision == Ask && origin == tool.Direct:
		return Passed
	}
	return Asked
}

// Options of a [Stage]. The zero value works.
type Options struct {
	Settings *Settings    // nil: the zero value
	Files    Files        // the file system that rules see
	Logger   *slog.Logger // nil discards
}

// Stage judges calls. It is safe for concurrent use.
type Stage struct {
	settings    atomic.Pointer[Settings]
	files       Files
	log         *slog.Logger
	rates       rates
	logged      sync.Map // verdicts that were logged, by tool and rule
	loggedCount atomic.Int32
}

// New returns a Stage.
func New(opts Options) *Stage {
	s := &Stage{files: opts.Files, log: opts.Logger}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if opts.Settings == nil {
		opts.Settings = &Settings{}
	}
	s.settings.Store(opts.Settings)
	return s
}

// Use replaces the settings for later calls.
func (s *Stage) Use(settings *Settings) { s.settings.Store(settings) }

// Clients reports whether verdicts on calls of MCP clients are enforced.
func (s *Stage) Clients() bool { return s.settings.Load().isEnforced(tool.MCPRemote) }

// Check is a [tool.Check]. It refuses a call that a rule denies with a [tool.Error] of kind Denied, and a call above the
// rate limit with kind Busy. Both carry a [tool.Decision].
func (s *Stage) Check(ctx context.Context, c *tool.Call) (*tool.Call, error) {
	if c.Kind != tool.KindCall || c.Action == nil {
		return c, nil
	}
	settings := s.settings.Load()
	if settings.isEnforced(c.Origin) && c.Origin != tool.Direct {
		if wait := s.rates.take(c.Principal + "\x00" + c.Session); wait > 0 {
			return c, &tool.Error{
				Op: "call", Kind: tool.Busy, Subject: c.Subject(), RetryAfter: wait,
				Message: "this session makes more calls than guard allows", Hint: "wait before the next call",
				Decision: decision(c, &Verdict{Rule: "rate.session"}),
			}
		}
	}
	v := settings.Judge(c, &s.files, nil)
	switch settings.Outcome(c.Origin, &v) {
	case Logged:
		s.logOnce(ctx, c, &v)
		return c, nil
	case Refused:
		return c, refusalError(c, &v)
	case Passed:
		if c.Origin == tool.Direct || !settings.isEnforced(c.Origin) || v.Rule == "" && !isTainted(c) {
			return c, nil
		}
	case Asked:
	}
	if isTainted(c) && c.Origin != tool.Direct && (v.Rule == "" || v.Decision != Allow) { // a call that is known to only read stays allowed
		v = raiseTainted(c, &v)
	}
	out := *c
	out.Finding = &tool.Finding{Stage: "firewall", Rule: v.Rule, Reason: v.Reason, Risk: v.Risk, Ask: v.Decision != Allow}
	return &out, nil
}

// isTainted reports whether c does more than read, and comes from a model that has read a text with orders to it.
func isTainted(c *tool.Call) bool {
	_, effects := c.Action.Rated()
	return c.Taint != "" && effects.Has(tool.EffectWrite|tool.EffectDelete|tool.EffectEgress|tool.EffectExecute)
}

// raiseTainted returns v for a tainted call: one risk higher, and if no rule said anything, because of the taint.
func raiseTainted(c *tool.Call, v *Verdict) Verdict {
	out := *v
	if out.Risk == tool.RiskUnknown {
		out.Risk, _ = c.Action.Rated()
	}
	out.Risk = out.Risk.Raised()
	if out.Decision == Allow {
		out.Rule, out.Reason = "text.orders", "the model has read a text that tries to give it orders ("+c.Taint+")"
	}
	return out
}

// refusalError returns the error for a call that a rule denies.
func refusalError(c *tool.Call, v *Verdict) *tool.Error {
	e := &tool.Error{
		Op: "call", Kind: tool.Denied, Code: "denied_by_rule", Subject: c.Subject(), Message: v.Reason,
		Hint:     "a rule of the person who runs this gateway forbids it; do not repeat it in another form, tell them what you wanted to do",
		Decision: decision(c, v),
	}
	if v.At != "" {
		e.Facts = map[string]any{"at": v.At}
	}
	return e
}

// decision returns the decision that the audit records for a call that v refuses.
func decision(c *tool.Call, v *Verdict) *tool.Decision {
	d := &tool.Decision{Stage: "firewall", Rule: v.Rule, Risk: v.Risk, Verdict: tool.Forbade}
	if d.Risk == tool.RiskUnknown {
		d.Risk, _ = c.Action.Rated()
	}
	return d
}

// maxLogged limits how many logged verdicts are remembered.
const maxLogged = 1000

// logOnce logs a verdict that is not enforced, once for each tool and rule.
func (s *Stage) logOnce(ctx context.Context, c *tool.Call, v *Verdict) {
	if v.Decision == Allow || s.loggedCount.Load() >= maxLogged {
		return
	}
	if _, known := s.logged.LoadOrStore(c.Subject()+"\x00"+v.Rule, true); known {
		return
	}
	s.loggedCount.Add(1)
	s.log.LogAttrs(ctx, slog.LevelInfo, "guard would refuse this call or ask about it; it is only logged, see guard.clients",
		slog.String("tool", c.Subject()), slog.String("origin", string(c.Origin)), slog.String("decision", v.Decision.String()), slog.String("rule", v.Rule))
}
