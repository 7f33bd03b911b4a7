// Package safety makes writes safe: each has an id and runs once, runs against the state that
// its caller saw, and leaves behind what is needed to take it back.
//
// A write leaves one file, named by its request id: what was asked, of which the arguments only
// as a hash, how it ended, and what the targets were before. Processes that share a home share
// the folder, and writes to one document wait for each other in all of them. A hash that a
// caller gives is held against the state at the moment of the write; nothing is kept in memory
// for it, so that it holds over restarts and between processes.
//
// What can be undone is decided here; asking a person before is the command's. The entry point
// is [Open].
package safety

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// writeSafety is the kind of an error where the rules of safe writing stand against a write.
const writeSafety = tool.Conflict + "/write_safety_error"

// Mode is how much a write is guarded.
type Mode string

// The modes.
const (
	Off    Mode = "off"    // writes just run
	Auto   Mode = "auto"   // ids, ifMatch and undo, without anything extra from the caller
	Strict Mode = "strict" // a write needs a hash that an earlier call of it gave
)

// Options of a [Coordinator]. Dir is required.
type Options struct {
	Dir  string // of the ledger and of what undo needs; shared by all processes of a home
	Mode Mode   // empty means Auto
	// Keep is how long a write can be taken back, and its id is known; default 7 days.
	Keep time.Duration
	// Key encrypts the records, which hold texts of notes; empty leaves them readable. Records that were made without it
	// can still be read, those made with another key cannot.
	Key string
	// MaxSaved bounds what is kept of one write, in bytes; default 1 MB.
	MaxSaved int
	Logger   *slog.Logger // nil discards
}

// Coordinator is the rules of safe writing for one workspace. A nil one has none: it runs what
// it is given. It is safe for concurrent use.
type Coordinator struct {
	opts   Options
	log    *slog.Logger
	ledger ledger
	locks  locks
}

// Open returns the coordinator of a folder, which is made at the first write.
func Open(opts Options) *Coordinator {
	if opts.Mode == "" {
		opts.Mode = Auto
	}
	if opts.Keep <= 0 {
		opts.Keep = 7 * 24 * time.Hour
	}
	if opts.MaxSaved <= 0 {
		opts.MaxSaved = 1 << 20
	}
	c := &Coordinator{opts: opts, log: opts.Logger}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.ledger = ledger{dir: opts.Dir, retention: opts.Keep, cipher: newSeal(opts.Key)}
	c.locks.dir = opts.Dir
	return c
}

// Mode returns the mode that holds for a workspace whose own config may ask for strict.
func (c *Coordinator) Mode(strict *bool) Mode {
	switch {
	case c == nil:
		return Off
	case strict != nil && *strict:
		return Strict
	}
	return c.opts.Mode
}

// Do runs a request whose targets have been checked.
func (c *Coordinator) Do(ctx context.Context, r *action.Request) (json.RawMessage, error) {
	mode := c.Mode(r.Config.Strict)
	if !r.Action.Class.Writes() || mode == Off && r.Meta == (action.Meta{Verbose: r.Meta.Verbose}) {
		return r.Run(ctx)
	}
	w := &guardedWrite{Coordinator: c, r: r, mode: mode}
	return w.perform(ctx)
}

// guardedWrite is one guarded write.
type guardedWrite struct {
	*Coordinator
	r           *action.Request
	mode        Mode
	entry       Entry
	hash        string          // of the targets as they are before the write; empty where nobody needs it
	descendants []action.Target // documents below the targets
}

func (w *guardedWrite) perform(ctx context.Context) (json.RawMessage, error) {
	if err := w.begin(); err != nil {
		return nil, err
	}
	if done, err := w.replay(); done != nil || err != nil {
		return done, err
	}
	unlock, waited, err := w.locks.lock(ctx, w.r)
	if err != nil {
		return nil, &tool.Error{Op: "write", Kind: writeSafety, Code: "write_coordinator_unavailable", Err: err}
	}
	defer unlock()
	if done, err := w.replay(); done != nil || err != nil { // it may have run while we waited
		return done, err
	}
	if waited {
		if err := w.r.CheckAgain(ctx); err != nil {
			return nil, err
		}
	}
	if err := w.readTargets(ctx); err != nil {
		return nil, err
	}
	if w.r.Meta.ValidateOnly {
		return w.preview(), nil
	}
	if err := w.checkExpectedHashes(); err != nil {
		return nil, err
	}
	if err := w.saveState(Executing); err != nil {
		return nil, err
	}
	raw, err := w.r.Run(ctx)
	return w.finish(ctx, raw, err)
}

// finish notes how the write ended and adds its id to the result.
func (w *guardedWrite) finish(ctx context.Context, raw json.RawMessage, err error) (json.RawMessage, error) {
	if err != nil {
		state := Failed
		e, ok := asError(err)
		if ok && (e.OutcomeUnknown || e.Kind == kernel.OutcomeUnknown) || ctx.Err() != nil {
			state = Unknown
		}
		if ok {
			w.entry.Error = e.Kind.Type()
			if e.Facts == nil {
				e.Facts = map[string]any{}
			}
			e.Facts["requestId"] = w.entry.ID
		}
		_ = w.saveState(state) // the error itself is what matters now
		return nil, err
	}
	if w.r.Action.Saves != "" && len(w.entry.Before) == 0 && w.entry.NoUndo == "" {
		w.entry.NoUndo = "there was nothing before: it only added something, which can be removed"
	}
	w.entry.Result = replayResult(raw)
	_ = w.saveState(Committed) // the write has happened
	return w.addReceipt(ctx, raw)
}

// saveState writes the entry. If that fails, strict mode refuses the write, and the other modes only log it: a full disk
// must not keep anybody from their notes.
func (w *guardedWrite) saveState(state State) error {
	w.entry.State, w.entry.Updated = state, time.Now().UTC()
	err := w.ledger.put(&w.entry)
	switch {
	case err == nil:
		return nil
	case w.mode == Strict && state == Executing:
		return &tool.Error{Op: "write", Kind: writeSafety, Code: "write_ledger_unavailable", Err: err, Message: "the write could not be put on record, so it was not made"}
	}
	w.log.Warn("write not on record", "request", w.entry.ID, "error", err)
	return nil
}

// maxReplayResult bounds the result that is kept for a repetition, in bytes.
const maxReplayResult = 16 << 10

// replayResult returns what a repetition of the request gets as its result.
func replayResult(raw json.RawMessage) json.RawMessage {
	if len(raw) <= maxReplayResult {
		return raw
	}
	return json.RawMessage(fmt.Sprintf(`{"success":true,"note":%q}`, "the result was too long to keep"))
}
