package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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
}

var _ tool.Stage = (*Stage)(nil)

// NewStage returns a Stage that writes to log. It panics on an unknown OnFailure.
func NewStage(log *Log, opts *StageOptions) *Stage {
	s := &Stage{log: log}
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

// Do records c and runs next in between.
func (s *Stage) Do(ctx context.Context, c *tool.Call, next tool.Runner) (res tool.Result, err error) {
	begin := time.Now()
	session := SessionDigest(c.Session)
	returned := false
	defer func() {
		cause := recover()
		if !returned {
			err = stopped(c, cause)
		}
		// A failure of the log is no reason to take back what has happened: the Log
		// warns of it and refuses the next call.
		_ = s.log.Append(resultRecord(c, session, begin, res, err))
		if cause != nil {
			panic(cause)
		}
	}()
	if err = s.start(ctx, c, startRecord(c, session, begin)); err == nil {
		res, err = next(ctx, c)
	}
	returned = true
	return res, err
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
	case !hasEffects(c) || s.opts.OnFailure == Continue:
		return nil
	}
	return &tool.Error{
		Op: string(c.Kind), Kind: tool.Unaudited, Subject: c.Name,
		Message: fmt.Sprintf("the audit log in %s cannot be written, and what changes something must be on record", s.log.Dir()),
		Hint:    `make room or give write access to that folder; reads still work; "audit": {"onFailure": "continue"} lets calls pass without a record`,
		Err:     err,
	}
}

// hasEffects reports whether c may change something, as far as anybody declared.
func hasEffects(c *tool.Call) bool {
	return c.Kind == tool.KindRequest || c.Kind == tool.KindCall && (c.Action == nil || !c.Action.ReadOnly)
}

// gaveUp is the end of a call whose caller left before the start was on disk.
func gaveUp(c *tool.Call, err error) error {
	e := &tool.Error{Op: string(c.Kind), Kind: tool.Canceled, Subject: c.Name, Message: "nothing has run", Err: err}
	if errors.Is(err, context.DeadlineExceeded) {
		e.Kind = tool.Timeout
	}
	return e
}

// stopped is the end of a call whose goroutine panicked or exited.
func stopped(c *tool.Call, cause any) error {
	e := &tool.Error{Op: string(c.Kind), Kind: tool.Internal, Subject: c.Name, Message: "the goroutine of the call exited"}
	if cause != nil {
		e.Message = fmt.Sprintf("panic: %v", cause)
	}
	return e
}

func startRecord(c *tool.Call, session string, begin time.Time) tool.Record {
	rec := identify(c, session)
	rec.Time = begin
	rec.Kind = startKind(c.Kind)
	rec.Args = c.Args
	rec.BytesIn = len(c.Args)
	return rec
}

func resultRecord(c *tool.Call, session string, begin time.Time, res tool.Result, err error) tool.Record {
	rec := identify(c, session) // again: the call may have been resolved in between
	rec.Time = time.Now()
	rec.Kind = resultKind(c.Kind)
	rec.Outcome = tool.OutcomeOf(res, err)
	rec.Duration = rec.Time.Sub(begin)
	rec.BytesIn = len(c.Args)
	rec.BytesOut = len(res.Raw)
	if err != nil {
		rec.ErrorType = string(tool.KindOf(err))
		rec.Message = err.Error()
	}
	return rec
}

// identify fills in what both records of a pair have.
func identify(c *tool.Call, session string) tool.Record {
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

// startKind and resultKind spare the usual kinds a concatenation.
func startKind(k tool.Kind) string {
	if k == tool.KindCall {
		return "call.start"
	}
	return string(k) + ".start"
}

func resultKind(k tool.Kind) string {
	if k == tool.KindCall {
		return "call.result"
	}
	return string(k) + ".result"
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
