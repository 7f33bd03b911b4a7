// Package safety makes writes to notes safe and reversible. Each write has an id and runs only once, is refused if its
// targets have changed since the caller read them, and stores what is needed to undo it.
//
// Each write is recorded in a file named after its request id. The file has the request (its arguments only as a hash),
// the outcome, and the former content of the targets. All processes with the same home share the folder, and take turns
// writing to a document. A hash given by the caller is compared with the targets at the moment of the write. Nothing is
// kept in memory for that, so it also works after restarts and between processes.
//
// This package decides what can be undone. Asking a person first is up to the command. The entry point is [Open].
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

// writeSafety is the kind of errors that refuse a write because it is not safe.
const writeSafety = tool.Conflict + "/write_safety_error"

// Mode is how strictly writes are checked.
type Mode string

// The modes.
const (
	Off    Mode = "off"    // writes just run
	Auto   Mode = "auto"   // ids, ifMatch and undo, without anything extra from the caller
	Strict Mode = "strict" // a write needs a hash that an earlier call returned
)

// Options of a [Coordinator]. Dir is required.
type Options struct {
	Dir  string // folder for the records, shared by all processes of a home
	Mode Mode   // empty means Auto
	// Keep is how long a write can be undone and its id is remembered; default 7 days.
	Keep time.Duration
	// Key encrypts the records, which contain texts of notes. With an empty key they stay readable. Records from before
	// there was a key can still be read; records encrypted with another key cannot.
	Key string
	// MaxSaved bounds the former content that is kept of one write, in bytes; default 1 MB.
	MaxSaved int
	Logger   *slog.Logger // nil discards
}

// Coordinator applies the rules of safe writing to one workspace. A nil Coordinator applies none and just runs requests.
// It is safe for concurrent use.
type Coordinator struct {
	opts   Options
	log    *slog.Logger
	ledger ledger
	locks  locks
}

// Open returns the coordinator for a folder. The folder is created by the first write.
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

// Mode returns the mode for a workspace. strict is the workspace's own setting, nil if it has none.
func (c *Coordinator) Mode(strict *bool) Mode {
	switch {
	case c == nil:
		return Off
	case strict != nil && *strict:
		return Strict
	}
	return c.opts.Mode
}

// Do runs a request whose targets were resolved and checked.
func (c *Coordinator) Do(ctx context.Context, r *action.Request) (json.RawMessage, error) {
	mode := c.Mode(r.Config.Strict)
	if !r.Action.Class.Writes() && mode == Strict && len(r.WritableTargets()) > 0 {
		// It would write, as av.render does when it makes a database, and takes no requestId by which that is undone.
		w := &guardedWrite{Coordinator: c, r: r, mode: mode}
		return nil, w.refusalError("precondition_required", "id", "with strict writing this call only reads, and what it would show does not exist; a person makes it in SiYuan")
	}
	if !r.Action.Class.Writes() || mode == Off && r.Meta == (action.Meta{Verbose: r.Meta.Verbose}) {
		raw, _, err := runAction(ctx, r)
		return raw, err
	}
	w := &guardedWrite{Coordinator: c, r: r, mode: mode}
	return w.perform(ctx)
}

// runAction runs a request, and reports whether the kernel accepted a write of it. If the request fails after that, as when
// a read-back gets no answer or a second write is refused, the error says that the outcome is unknown: else the call would
// count as one that wrote nothing, and be made twice.
func runAction(ctx context.Context, r *action.Request) (raw json.RawMessage, wrote bool, err error) {
	ctx, writes := kernel.WatchWrites(ctx)
	raw, err = r.Run(ctx)
	if e, ok := asError(err); ok && writes.Accepted() {
		err = afterWriteError(r, e, err)
	}
	return raw, writes.Accepted(), err
}

// afterWriteError returns the error of an action that failed after a write was accepted. cause has e in its chain.
func afterWriteError(r *action.Request, e *tool.Error, cause error) error {
	if e.OutcomeUnknown || e.Kind == kernel.OutcomeUnknown {
		return cause
	}
	if kernel.IsRequestError(e) && e.Kind != tool.Canceled {
		return &tool.Error{
			Op: "write", Kind: kernel.OutcomeUnknown, OutcomeUnknown: true, Subject: r.Action.Tool + "." + r.Action.Name, Err: cause,
			Message: "the kernel accepted a write of this call, and a later request failed",
			Hint:    "read the target again before you repeat the write", Facts: e.Facts,
		}
	}
	switch e.Kind {
	case tool.Unavailable, tool.Timeout, tool.Canceled, tool.Busy, tool.Unauthorized, tool.TooLarge: // the action says itself what it did
		unknown := *e
		unknown.OutcomeUnknown = true
		return &unknown
	}
	return cause
}

// guardedWrite is a write that runs under the rules of this package.
type guardedWrite struct {
	*Coordinator
	r           *action.Request
	mode        Mode
	entry       Entry
	hash        string          // hash of the targets before the write; empty if it is not needed
	descendants []action.Target // documents below the targets
}

func (w *guardedWrite) perform(ctx context.Context) (json.RawMessage, error) {
	if err := w.createEntry(); err != nil {
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
	raw, wrote, err := runAction(ctx, w.r)
	return w.finish(ctx, raw, wrote, err)
}

// finish records how the write ended and adds its id to the result. A call that failed after the kernel accepted a write of it
// is recorded as one of unknown outcome, whatever its error says: it can be undone, and its id does not run again.
func (w *guardedWrite) finish(ctx context.Context, raw json.RawMessage, wrote bool, err error) (json.RawMessage, error) {
	if err != nil {
		state := Failed
		e, ok := asError(err)
		if wrote || ok && (e.OutcomeUnknown || e.Kind == kernel.OutcomeUnknown) || ctx.Err() != nil {
			state = Unknown
		} else {
			w.entry.NoUndo = nothingWrittenReason
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
	w.entry.AddedBlocks = w.addedBlocks(raw)
	switch id := w.addedDocument(raw); {
	case id != "":
		w.entry.Added, w.entry.NoUndo, w.entry.Documents = id, "", []string{string(id)}
	case len(w.entry.AddedBlocks) > 0 && w.r.Action.Class == action.Creates:
		w.entry.NoUndo = ""
	case w.r.Action.Saves != "" && len(w.entry.Before) == 0 && w.entry.NoUndo == "":
		w.entry.NoUndo = "it overwrote nothing; delete what it added"
	}
	w.entry.Result = replayResult(raw)
	_ = w.saveState(Committed) // the write has happened
	return w.addReceipt(ctx, raw)
}

// saveState writes the entry. If that fails, strict mode refuses the write. Other modes only log it, because a full disk
// must not lock people out of their notes.
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

// maxReplayResult bounds the result that is stored for repeated requests, in bytes.
const maxReplayResult = 16 << 10

// replayResult returns the result that a repeated request gets.
func replayResult(raw json.RawMessage) json.RawMessage {
	if len(raw) <= maxReplayResult {
		return raw
	}
	return json.RawMessage(fmt.Sprintf(`{"success":true,"note":%q}`, "the result was too long to keep"))
}
