package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync/atomic"
	"time"

	"collie/internal/tool"
)

// This file has the stage that records each call: once before it runs, and once when it has ended.

// OnFailure says what happens to calls with effects while the log cannot be written.
type OnFailure string

// The values of the setting audit.onFailure.
const (
	Refuse   OnFailure = "refuse" // the default
	Continue OnFailure = "continue"
)

// StageOptions of [NewStage]. The zero value works.
type StageOptions struct {
	// OnFailure defaults to Refuse.
	OnFailure OnFailure
}

// Stage records every call: a start record when it arrives and a result record when it ends, however it ends.
// For an action with a declared risk of high or critical, the start record is on disk before the action runs.
//
// While the log cannot be written, calls with effects are refused with kind [tool.Unaudited]. Reads, and
// actions that claim to be read-only, go on; the Log has logged a warning.
type Stage struct {
	log  *Log
	opts StageOptions
	// digests caches the digests of recent sessions, by a hash of their ids.
	digests [64]atomic.Pointer[digest]
	seed    maphash.Seed
}

// digest is a session id and its digest.
type digest struct{ id, text string }

// digestOf is like [SessionDigest], with a cache.
func (s *Stage) digestOf(id string) string {
	if id == "" {
		return ""
	}
	place := &s.digests[maphash.String(s.seed, id)%uint64(len(s.digests))]
	d := place.Load()
	if d == nil || d.id != id {
		d = &digest{id, SessionDigest(id)}
		place.Store(d)
	}
	return d.text
}

var _ tool.Stage = (*Stage)(nil)

// NewStage returns a Stage that writes to log. It panics on an unknown OnFailure.
func NewStage(log *Log, opts *StageOptions) *Stage {
	s := &Stage{log: log, seed: maphash.MakeSeed()}
	if opts != nil {
		s.opts = *opts
	}
	switch s.opts.OnFailure {
	case "":
		s.opts.OnFailure = Refuse
	case Refuse, Continue:
	default:
		panic(fmt.Sprintf("audit: OnFailure is %q, expected refuse or continue", s.opts.OnFailure))
	}
	return s
}

// startedCall is the context of a call whose start was recorded.
type startedCall struct {
	context.Context
	session string // the digest of the session
	begin   time.Time
}

// Enter writes the start record of c.
func (s *Stage) Enter(ctx context.Context, c *tool.Call) (context.Context, error) {
	at := &startedCall{ctx, s.digestOf(c.Session), time.Now()}
	err := s.recordStart(ctx, c, startRecord(c, at.session, at.begin))
	if err != nil {
		_, err = s.Leave(at, c, tool.Result{}, err)
	}
	return at, err
}

// Decided writes a record of the decision about c. If that fails, the Log warns.
func (s *Stage) Decided(c *tool.Call, d tool.Decision) {
	rec := newRecord(c, s.digestOf(c.Session))
	rec.Time, rec.Kind, rec.Risk = time.Now(), "decision", d.Risk
	rec.Detail, _ = json.Marshal(d) // texts always encode
	_ = s.log.Append(rec)
}

// KindGrant is the kind of records about grants that people give and take back.
const KindGrant = "grant"

// Granted writes a record of a grant that a person gave when asked about c; grant is JSON. If that fails, the Log
// warns.
func (s *Stage) Granted(c *tool.Call, risk tool.Risk, grant json.RawMessage) {
	rec := newRecord(c, s.digestOf(c.Session))
	rec.Time, rec.Kind, rec.Risk, rec.Detail = time.Now(), KindGrant, risk, grant
	_ = s.log.Append(rec)
}

// Leave writes the result record of c, behind one of the decision if its error carries that. If that fails, the result
// is returned all the same, because the call has happened; the Log warns, and the next call is refused.
func (s *Stage) Leave(ctx context.Context, c *tool.Call, r tool.Result, err error) (tool.Result, error) {
	at := ctx.(*startedCall)
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Decision != nil {
		s.Decided(c, *e.Decision)
	}
	_ = s.log.Append(resultRecord(c, at.session, at.begin, r, err))
	return r, err
}

// recordStart writes the start record and decides whether the call may go on.
func (s *Stage) recordStart(ctx context.Context, c *tool.Call, rec tool.Record) error {
	var err error
	if c.Action != nil && c.Action.Risk.WaitsForDisk() {
		err = s.log.AppendSync(ctx, rec)
	} else {
		err = s.log.Append(rec)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return gaveUpError(c, err)
	case !c.HasEffects() || s.opts.OnFailure == Continue:
		return nil
	}
	return &tool.Error{
		Op: string(c.Kind), Kind: tool.Unaudited, Subject: c.Name,
		Message: fmt.Sprintf("the audit log in %s cannot be written, and what changes something must be on record", s.log.Dir()),
		Hint:    `make room or give write access to that folder; reads still work; "audit": {"onFailure": "continue"} lets calls pass without a record`,
		Err:     err,
	}
}

// gaveUpError returns the error for a call whose caller left before the start record was on disk.
func gaveUpError(c *tool.Call, err error) error {
	e := &tool.Error{Op: string(c.Kind), Kind: tool.Canceled, Subject: c.Name, Message: "nothing has run", Err: err}
	if errors.Is(err, context.DeadlineExceeded) {
		e.Kind = tool.Timeout
	}
	return e
}

func startRecord(c *tool.Call, session string, begin time.Time) tool.Record {
	rec := newRecord(c, session)
	rec.Time = begin
	rec.Kind = startKinds[c.Kind]
	rec.Args = c.Args
	rec.BytesIn = len(c.Args)
	return rec
}

func resultRecord(c *tool.Call, session string, begin time.Time, res tool.Result, err error) tool.Record {
	rec := newRecord(c, session)
	rec.Time = time.Now()
	rec.Kind = resultKinds[c.Kind]
	rec.Outcome = tool.OutcomeOf(res, err)
	rec.Duration = rec.Time.Sub(begin)
	rec.BytesIn = len(c.Args)
	rec.BytesOut = len(res.Raw)
	if err != nil {
		rec.ErrorType = tool.KindOf(err).Type()
		rec.Message = err.Error()
		if e, ok := errors.AsType[*tool.Error](err); ok && namesThing(e.Kind) {
			rec.Subject = e.Subject
		}
	}
	return rec
}

// namesThing reports whether errors of a kind have the name of a thing as their subject, and no argument whose value may follow.
func namesThing(k tool.ErrorKind) bool {
	return slices.Contains([]tool.ErrorKind{tool.NotFound, tool.Denied, tool.Exists, tool.Disabled}, k.Class())
}

// newRecord fills in the fields that both records of a pair have.
func newRecord(c *tool.Call, session string) tool.Record {
	rec := tool.Record{
		CallID: c.ID, Parent: c.Parent, Origin: c.Origin, Principal: c.Principal,
		Client: c.Client, Session: session, Tool: c.Tool, Name: c.Name,
	}
	if c.Source != nil {
		rec.Source = c.Source.Name()
	}
	if c.Action != nil {
		rec.Action, rec.Risk = c.Action.Name, c.Action.Risk
	}
	return rec
}

// startKinds and resultKinds are precomputed to save a concatenation per call.
var startKinds, resultKinds = kinds(".start"), kinds(".result")

func kinds(end string) map[tool.Kind]string {
	out := map[tool.Kind]string{}
	for _, k := range []tool.Kind{tool.KindCall, tool.KindRead, tool.KindPrompt, tool.KindComplete, tool.KindRequest} {
		out[k] = string(k) + end
	}
	return out
}

// SessionDigest returns the form in which the audit keeps a session id: it is enough to find the records of a
// session, but not to use it. The empty id stays empty.
func SessionDigest(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}
