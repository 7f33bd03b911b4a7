package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"sync/atomic"
	"time"

	"collie/internal/tool"
)

// OnFailure says what becomes of calls with effects while the log cannot be written.
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

// Stage puts every call on record: a start when it arrives and a result when it is over,
// one pair for each call, however it ends. The start of an action of declared high or
// critical risk is on disk before the action runs.
//
// While the log cannot be written, calls with effects are refused with kind
// [tool.Unaudited]. Reads, and actions that claim to be read-only, go on; the Log has
// warned.
type Stage struct {
	log  *Log
	opts StageOptions
	// digests are those of the sessions that called last, by a hash of their ids.
	digests [64]atomic.Pointer[digest]
	seed    maphash.Seed
}

// digest is the digest of a session.
type digest struct{ id, text string }

// digestOf is [SessionDigest], which most sessions need again and again.
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

// started is the context of a call whose start is on record.
type started struct {
	context.Context
	session string // its digest
	begin   time.Time
}

// Enter records that c begins.
func (s *Stage) Enter(ctx context.Context, c *tool.Call) (context.Context, error) {
	at := &started{ctx, s.digestOf(c.Session), time.Now()}
	err := s.start(ctx, c, startRecord(c, at.session, at.begin))
	if err != nil {
		_, err = s.Leave(at, c, tool.Result{}, err)
	}
	return at, err
}

// Leave records how c ended. A failure of the log is no reason to take back what has happened: the
// Log warns of it and refuses the next call.
func (s *Stage) Leave(ctx context.Context, c *tool.Call, r tool.Result, err error) (tool.Result, error) {
	at := ctx.(*started)
	_ = s.log.Append(resultRecord(c, at.session, at.begin, r, err))
	return r, err
}

// start writes the start record and decides whether the call may go on.
func (s *Stage) start(ctx context.Context, c *tool.Call, rec tool.Record) error {
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
		return gaveUp(c, err)
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

// gaveUp is the end of a call whose caller left before the start was on disk.
func gaveUp(c *tool.Call, err error) error {
	e := &tool.Error{Op: string(c.Kind), Kind: tool.Canceled, Subject: c.Name, Message: "nothing has run", Err: err}
	if errors.Is(err, context.DeadlineExceeded) {
		e.Kind = tool.Timeout
	}
	return e
}

func startRecord(c *tool.Call, session string, begin time.Time) tool.Record {
	rec := identify(c, session)
	rec.Time = begin
	rec.Kind = startKinds[c.Kind]
	rec.Args = c.Args
	rec.BytesIn = len(c.Args)
	return rec
}

func resultRecord(c *tool.Call, session string, begin time.Time, res tool.Result, err error) tool.Record {
	rec := identify(c, session)
	rec.Time = time.Now()
	rec.Kind = resultKinds[c.Kind]
	rec.Outcome = tool.OutcomeOf(res, err)
	rec.Duration = rec.Time.Sub(begin)
	rec.BytesIn = len(c.Args)
	rec.BytesOut = len(res.Raw)
	if err != nil {
		rec.ErrorType = tool.KindOf(err).Type()
		rec.Message = err.Error()
	}
	return rec
}

// identify fills in what both records of a pair have.
func identify(c *tool.Call, session string) tool.Record {
	rec := tool.Record{
		CallID: c.ID, Origin: c.Origin, Principal: c.Principal,
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

// startKinds and resultKinds spare each call a concatenation.
var startKinds, resultKinds = kinds(".start"), kinds(".result")

func kinds(end string) map[tool.Kind]string {
	out := map[tool.Kind]string{}
	for _, k := range []tool.Kind{tool.KindCall, tool.KindRead, tool.KindPrompt, tool.KindComplete, tool.KindRequest} {
		out[k] = string(k) + end
	}
	return out
}

// SessionDigest is what the audit keeps of a session id: enough to find its records by,
// not enough to use it. The empty id stays empty.
func SessionDigest(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}
