// Package guardian is the stage in which a second model reviews a call before it runs. It comes after the fixed rules
// and before the gate, and is off unless the settings name a model. With [Monitor] the call does not wait for the
// review, which is only recorded. With [Enforce] the verdict counts in the decision table of the gate; a review that
// fails (timeout, invalid answer, no provider) counts as a verdict too. A review can raise the risk of a call but never
// lower it, and its text is shown to the person, never to the model that made the call.
//
// The same model, or another one, can judge texts that package promptguard finds suspicious: [Stage.Read].
//
// Verdicts are cached for a day, by everything that they depend on. The entry point is [New].
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

// Mode says what verdicts are used for.
type Mode string

// The modes. The empty one is Off.
const (
	Off     Mode = "off"     // no model is asked
	Monitor Mode = "monitor" // verdicts are recorded, and calls do not wait for them
	Enforce Mode = "enforce" // verdicts count in the decision
)

// Settings of a [Stage].
type Settings struct {
	Mode  Mode
	Model string // as [Options.Open] understands it
	// Threshold is the verdict from which a person is asked: tool.RiskHigh, or tool.RiskMedium.
	Threshold tool.Risk
	// Clients says that calls of MCP clients are reviewed too.
	Clients bool
	// Reader is the model for [Stage.Read], whatever the Mode; empty means none.
	Reader string
}

// Reviewer is the model that reviews calls.
type Reviewer struct {
	Model llm.Model
	Name  string       // as the provider names it
	Store *store.Store // cache of verdicts, opened with [Schema]; may be nil
}

// Options of a [Stage]. Open is required once a mode other than Off is set.
type Options struct {
	// Open returns the model that a setting names, with the cache of its verdicts. It is called for each review.
	Open   func(ctx context.Context, model string) (Reviewer, error)
	Now    func() time.Time // nil: [time.Now]
	Logger *slog.Logger     // nil discards
}

const (
	reviewTimeout  = 15 * time.Second
	maxConcurrent  = 4           // reviews
	maxFailures    = 5           // consecutive failures that open the breaker
	breakerTimeout = time.Minute // for which it stays open
	maxMonitored   = 64          // monitored calls whose review has not ended; calls beyond that get no review
)

// Stage reviews calls. It is safe for concurrent use. The caller must call Close.
type Stage struct {
	opts     Options
	decided  func(*tool.Call, tool.Decision)
	settings atomic.Pointer[Settings]
	slots    chan struct{}           // semaphore of maxConcurrent
	closing  context.Context         // ends the reviews of monitored calls
	abort    context.CancelCauseFunc // cancels closing
	monitors sync.WaitGroup

	calls, texts breaker

	mu        sync.Mutex
	pending   map[key]*pendingReview
	monitored int // monitored calls whose review has not ended; negative after Close
}

// pendingReview is a review that several calls may wait for.
type pendingReview struct {
	done    chan struct{}
	verdict verdict
	err     error
	// abandoned means that the call which made the review ended meanwhile, so another that waits for it has to make its
	// own.
	abandoned bool
}

// New returns a Stage with mode Off.
func New(opts Options) *Stage {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Stage{opts: opts, slots: make(chan struct{}, maxConcurrent), pending: map[key]*pendingReview{}, decided: func(*tool.Call, tool.Decision) {}}
	s.closing, s.abort = context.WithCancelCause(context.Background())
	s.settings.Store(&Settings{})
	return s
}

// Use replaces the settings for later calls.
func (s *Stage) Use(settings Settings) { s.settings.Store(&settings) }

// OnMonitored sets f, which is called with the verdict on each monitored call. It must be set before the first Check.
func (s *Stage) OnMonitored(f func(*tool.Call, tool.Decision)) { s.decided = f }

// Close waits for the reviews of monitored calls until ctx ends, then aborts the rest. Later calls are not monitored.
func (s *Stage) Close(ctx context.Context) {
	s.mu.Lock()
	s.monitored = min(s.monitored, -1)
	s.mu.Unlock()
	defer context.AfterFunc(ctx, func() { s.abort(context.Cause(ctx)) })()
	s.monitors.Wait()
}

// Check is a [tool.Check]. It refuses nothing: it adds the verdict to the call as a [tool.Review], for the gate. Its
// rule is guardian.CATEGORY with the first category that the model names, guardian.risk if it names none, and
// guardian.unavailable if the review failed. With [Monitor] Check returns at once.
func (s *Stage) Check(ctx context.Context, c *tool.Call) (*tool.Call, error) {
	settings := s.settings.Load()
	if settings.Mode != Monitor && settings.Mode != Enforce || !settings.mustReview(c) {
		return c, nil
	}
	if settings.Mode == Monitor {
		s.monitor(ctx, settings, c)
		return c, nil
	}
	v := s.verdictOrFailed(ctx, settings, c)
	out := *c
	out.Review = &tool.Review{Rule: ruleOf(&v), Reason: v.Reason, Verdict: v.Risk, Threshold: settings.Threshold}
	return &out, nil
}

// monitor reviews c in a goroutine, while c runs.
func (s *Stage) monitor(ctx context.Context, settings *Settings, c *tool.Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.monitored < 0 || s.monitored >= maxMonitored {
		s.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "the guardian did not look at a call", slog.String("tool", c.Subject()), slog.Int("under_way", s.monitored))
		return
	}
	s.monitored++
	s.monitors.Go(func() { // ends after reviewTimeout or with Close
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx)) // the call may end first
		defer cancel(nil)
		defer context.AfterFunc(s.closing, func() { cancel(context.Cause(s.closing)) })()
		v := s.verdictOrFailed(ctx, settings, c)
		s.decided(c, tool.Decision{Stage: "guardian", Rule: ruleOf(&v), Risk: v.Risk, Verdict: tool.Noted})
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.monitored > 0 {
			s.monitored--
		}
	})
}

// verdictOrFailed reviews c, and returns and logs the verdict on c. If the review failed, the risk is [tool.ReviewFailed].
func (s *Stage) verdictOrFailed(ctx context.Context, settings *Settings, c *tool.Call) verdict {
	start := s.opts.Now()
	v, err := s.review(ctx, settings, c)
	attrs := []slog.Attr{slog.String("tool", c.Subject()), slog.String("origin", string(c.Origin)), slog.Duration("took", s.opts.Now().Sub(start))}
	if err != nil {
		s.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "the guardian gave no verdict on a call", append(attrs, slog.Any("error", err))...)
		return verdict{Risk: tool.ReviewFailed, Categories: []string{"unavailable"}, Reason: "the guardian gave no verdict"}
	}
	s.opts.Logger.LogAttrs(ctx, slog.LevelInfo, "the guardian looked at a call", append(attrs, slog.String("risk", string(v.Risk)), slog.Any("categories", v.Categories), slog.Bool("cached", v.cached))...)
	return v
}

// ruleOf returns the rule of v for the record.
func ruleOf(v *verdict) string {
	if len(v.Categories) > 0 {
		return "guardian." + v.Categories[0]
	}
	return "guardian.risk"
}

// mustReview reports whether c is to be reviewed: it comes from a model and does more than read.
func (s *Settings) mustReview(c *tool.Call) bool {
	if c.Kind != tool.KindCall || c.Action == nil || c.Origin == tool.Direct {
		return false
	}
	if !s.Clients && (c.Origin == tool.MCPLocal || c.Origin == tool.MCPRemote) {
		return false
	}
	_, effects := c.Action.Rated()
	return riskOf(c) != tool.RiskNone && effects&^(tool.EffectRead|tool.EffectUI) != 0
}

// riskOf returns the risk of c before the review.
func riskOf(c *tool.Call) tool.Risk {
	if c.Finding != nil && c.Finding.Risk != "" {
		return c.Finding.Risk
	}
	risk, _ := c.Action.Rated()
	return risk
}

// review returns the verdict on c: from the cache, from a review of the same call that is running, or from a new one.
func (s *Stage) review(ctx context.Context, settings *Settings, c *tool.Call) (verdict, error) {
	q := newQuestion(ctx, settings.Model, c)
	k := q.key()
	s.mu.Lock()
	for p := s.pending[k]; p != nil; p = s.pending[k] {
		s.mu.Unlock()
		select {
		case <-p.done:
		case <-ctx.Done():
			return verdict{}, context.Cause(ctx)
		}
		if p.err == nil || !p.abandoned {
			return p.verdict, p.err
		}
		s.mu.Lock()
	}
	p := &pendingReview{done: make(chan struct{})}
	s.pending[k] = p
	s.mu.Unlock()
	p.verdict, p.err = s.cachedOrAsk(ctx, settings.Model, k, func(ctx context.Context, r *Reviewer) (verdict, error) { return askVerdict(ctx, r, q) }, &s.calls)
	p.abandoned = ctx.Err() != nil
	s.mu.Lock()
	delete(s.pending, k)
	s.mu.Unlock()
	close(p.done)
	return p.verdict, p.err
}

// cachedOrAsk returns the verdict in the cache, or calls ask unless b is open.
func (s *Stage) cachedOrAsk(ctx context.Context, model string, k key, ask func(context.Context, *Reviewer) (verdict, error), b *breaker) (verdict, error) {
	call := ctx
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return verdict{}, context.Cause(ctx)
	}
	r, err := s.opts.Open(ctx, model)
	if err != nil {
		return verdict{}, err
	}
	if v, ok := s.findCached(ctx, r.Store, k); ok {
		return v, nil
	}
	if b.isOpen(s.opts.Now()) {
		return verdict{}, errBreakerOpen{}
	}
	v, err := ask(ctx, &r)
	if call.Err() == nil || errors.Is(context.Cause(call), context.DeadlineExceeded) { // if the caller gave up, the model did not fail
		b.record(err, s.opts.Now())
	}
	if err == nil {
		s.storeVerdict(ctx, r.Store, k, &v)
	}
	return v, err
}

// errBreakerOpen is the error if no model is asked because the last reviews failed.
type errBreakerOpen struct{}

func (errBreakerOpen) Error() string { return "the last reviews failed, so none is made for a minute" }

// breaker is a circuit breaker for a model that failed several times in a row.
type breaker struct {
	mu       sync.Mutex
	failures int       // in a row
	until    time.Time // open until then
}

func (b *breaker) isOpen(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return now.Before(b.until)
}

// record counts the outcome of a review.
func (b *breaker) record(err error, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.failures = 0
		return
	}
	if b.failures++; b.failures >= maxFailures {
		b.until = now.Add(breakerTimeout)
	}
}

// oneLine returns text on one line of at most limit characters.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if r := []rune(text); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return text
}
