// Package guardian is the stage that has a second model look at a call before it runs, between the fixed rules and the
// gate. It is off unless settings name a model. With [Monitor] the call does not wait for the model, and what it says is
// on record and nothing else; with [Enforce] it counts in the decision table of the gate, also where it says nothing that can be read (no answer in time, no
// JSON, no provider). It never lowers a risk, and what it writes reaches the person alone, never the model that made the
// call.
//
// The same model, or another one, can judge texts that package promptguard finds suspicious: [Stage.Read].
//
// Verdicts are kept for a day, by all that they depend on. The entry point is [New].
package guardian

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/llm"
	"collie/internal/store"
	"collie/internal/tool"
)

// Mode is what verdicts count for.
type Mode string

// The modes. The empty one is Off.
const (
	Off     Mode = "off"     // no model is asked
	Monitor Mode = "monitor" // what it says is on record, and the call does not wait for it
	Enforce Mode = "enforce" // what it says counts
)

// Settings of a [Stage].
type Settings struct {
	Mode  Mode
	Model string // as [Options.Open] understands it
	// Threshold is the verdict from which a person is asked: tool.RiskHigh, or tool.RiskMedium.
	Threshold tool.Risk
	// Clients has calls of MCP clients reviewed too.
	Clients bool
	// Reader is the model that [Stage.Read] asks, whatever the Mode; empty means that it asks none.
	Reader string
}

// Reviewer is the model that looks at calls.
type Reviewer struct {
	Model llm.Model
	Name  string       // as its provider calls it
	Store *store.Store // opened with [Schema]; keeps verdicts
}

// Options of a [Stage]. Open is required once a mode other than Off is set.
type Options struct {
	// Open returns the model that a setting names. It is called once for each review that is not in the cache.
	Open   func(ctx context.Context, model string) (Reviewer, error)
	Now    func() time.Time // nil: [time.Now]
	Logger *slog.Logger     // nil discards
}

const (
	answerLimit = 15 * time.Second // for an answer
	maxAtOnce   = 4                // reviews
	maxFailures = 5                // in a row, until no model is asked for a while
	rest        = time.Minute      // that while
	maxWatched  = 64               // reviews beside calls, under way or waiting; calls beyond that get none
)

// Stage reviews calls. It is safe for concurrent use. The caller calls Close.
type Stage struct {
	opts     Options
	decided  func(*tool.Call, tool.Decision)
	settings atomic.Pointer[Settings]
	places   chan struct{}
	closing  context.Context // ends reviews beside calls
	cut      context.CancelCauseFunc
	watches  sync.WaitGroup

	calls, texts breaker

	mu      sync.Mutex
	flights map[key]*flight
	watched int // calls that are reviewed beside; negative once closed
}

// flight is a review that several calls wait for.
type flight struct {
	done    chan struct{}
	verdict verdict
	err     error
}

// New returns a Stage with mode Off.
func New(opts Options) *Stage {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Stage{opts: opts, places: make(chan struct{}, maxAtOnce), flights: map[key]*flight{}, decided: func(*tool.Call, tool.Decision) {}}
	s.closing, s.cut = context.WithCancelCause(context.Background())
	s.settings.Store(&Settings{})
	return s
}

// Use replaces the settings, for the calls that come from now on.
func (s *Stage) Use(settings Settings) { s.settings.Store(&settings) }

// Tell has f told what the model said of calls that did not wait for it. It is called before the first Check.
func (s *Stage) Tell(f func(*tool.Call, tool.Decision)) { s.decided = f }

// Close waits for the reviews beside calls until ctx ends, and breaks off the others. Later calls get none.
func (s *Stage) Close(ctx context.Context) {
	s.mu.Lock()
	s.watched = min(s.watched, -1)
	s.mu.Unlock()
	defer context.AfterFunc(ctx, func() { s.cut(context.Cause(ctx)) })()
	s.watches.Wait()
}

// Check is a [tool.Check]. It refuses nothing: what the model says is the [tool.Review] of the call, for the gate, with
// the rule guardian.CATEGORY, or guardian.unavailable where there is no verdict. With [Monitor] it returns at once.
func (s *Stage) Check(ctx context.Context, c *tool.Call) (*tool.Call, error) {
	settings := s.settings.Load()
	if settings.Mode != Monitor && settings.Mode != Enforce || !settings.concerns(c) {
		return c, nil
	}
	if settings.Mode == Monitor {
		s.watch(ctx, settings, c)
		return c, nil
	}
	v := s.verdict(ctx, settings, c)
	out := *c
	out.Review = &tool.Review{Rule: ruleOf(&v), Reason: v.Reason, Verdict: v.Risk, Threshold: settings.Threshold}
	return &out, nil
}

// watch reviews c beside its run.
func (s *Stage) watch(ctx context.Context, settings *Settings, c *tool.Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watched < 0 || s.watched >= maxWatched {
		s.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "the guardian did not look at a call", slog.String("tool", c.Subject()), slog.Int("under_way", s.watched))
		return
	}
	s.watched++
	s.watches.Go(func() { // ends with its time limit or with Close
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx)) // the call may end first
		defer cancel(nil)
		defer context.AfterFunc(s.closing, func() { cancel(context.Cause(s.closing)) })()
		v := s.verdict(ctx, settings, c)
		s.decided(c, tool.Decision{Stage: "guardian", Rule: ruleOf(&v), Risk: v.Risk, Verdict: tool.Noted})
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.watched > 0 {
			s.watched--
		}
	})
}

// verdict returns and logs the verdict on c; the risk is [tool.ReviewFailed] if there is none.
func (s *Stage) verdict(ctx context.Context, settings *Settings, c *tool.Call) verdict {
	begun := s.opts.Now()
	v, err := s.review(ctx, settings, c)
	attrs := []slog.Attr{slog.String("tool", c.Subject()), slog.String("origin", string(c.Origin)), slog.Duration("took", s.opts.Now().Sub(begun))}
	if err != nil {
		s.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "the guardian gave no verdict on a call", append(attrs, slog.Any("error", err))...)
		return verdict{Risk: tool.ReviewFailed, Categories: []string{"unavailable"}, Reason: "the guardian gave no verdict"}
	}
	s.opts.Logger.LogAttrs(ctx, slog.LevelInfo, "the guardian looked at a call", append(attrs, slog.String("risk", string(v.Risk)), slog.Any("categories", v.Categories), slog.Bool("cached", v.cached))...)
	return v
}

// ruleOf names what v is about.
func ruleOf(v *verdict) string {
	if len(v.Categories) > 0 {
		return "guardian." + v.Categories[0]
	}
	return "guardian.risk"
}

// concerns reports whether c is of a kind that is reviewed: one of a model, which does more than read.
func (s *Settings) concerns(c *tool.Call) bool {
	if c.Kind != tool.KindCall || c.Action == nil || c.Origin == tool.Direct {
		return false
	}
	if !s.Clients && (c.Origin == tool.MCPLocal || c.Origin == tool.MCPRemote) {
		return false
	}
	_, effects := c.Action.Rated()
	return riskOf(c) != tool.RiskNone && effects&^(tool.EffectRead|tool.EffectUI) != 0
}

// riskOf is the risk of c as far as is known without a review.
func riskOf(c *tool.Call) tool.Risk {
	if c.Finding != nil && c.Finding.Risk != "" {
		return c.Finding.Risk
	}
	risk, _ := c.Action.Rated()
	return risk
}

// review returns the verdict on c: one that is kept, the one that somebody is waiting for, or a new one.
func (s *Stage) review(ctx context.Context, settings *Settings, c *tool.Call) (verdict, error) {
	q := newQuestion(ctx, settings.Model, c)
	k := q.key()
	s.mu.Lock()
	if f := s.flights[k]; f != nil {
		s.mu.Unlock()
		select {
		case <-f.done:
			return f.verdict, f.err
		case <-ctx.Done():
			return verdict{}, context.Cause(ctx)
		}
	}
	f := &flight{done: make(chan struct{})}
	s.flights[k] = f
	s.mu.Unlock()
	f.verdict, f.err = s.look(ctx, settings.Model, k, func(ctx context.Context, r *Reviewer) (verdict, error) { return ask(ctx, r, q) }, &s.calls)
	s.mu.Lock()
	delete(s.flights, k)
	s.mu.Unlock()
	close(f.done)
	return f.verdict, f.err
}

// look returns the verdict that is kept, or what ask says, unless it has failed too often.
func (s *Stage) look(ctx context.Context, model string, k key, ask func(context.Context, *Reviewer) (verdict, error), b *breaker) (verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	case <-ctx.Done():
		return verdict{}, context.Cause(ctx)
	}
	r, err := s.opts.Open(ctx, model)
	if err != nil {
		return verdict{}, err
	}
	if v, ok := s.kept(ctx, r.Store, k); ok {
		return v, nil
	}
	if b.resting(s.opts.Now()) {
		return verdict{}, errResting{}
	}
	v, err := ask(ctx, &r)
	if !errors.Is(context.Cause(ctx), context.Canceled) { // nobody waits for it any more, which says nothing of the model
		b.ended(err, s.opts.Now())
	}
	if err == nil {
		s.keep(ctx, r.Store, k, &v)
	}
	return v, err
}

// errResting says that no model is asked.
type errResting struct{}

func (errResting) Error() string { return "the last reviews failed, so none is made for a minute" }

// breaker has a model rest that failed several times in a row.
type breaker struct {
	mu       sync.Mutex
	failures int       // in a row
	until    time.Time // no model is asked before
}

func (b *breaker) resting(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return now.Before(b.until)
}

// ended counts how a review ended.
func (b *breaker) ended(err error, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.failures = 0
		return
	}
	if b.failures++; b.failures >= maxFailures {
		b.until = now.Add(rest)
	}
}

// oneLine is text on one line of at most most characters.
func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
