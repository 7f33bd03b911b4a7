package safety

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/tidwall/sjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file runs a write at most once for each request id.

// Bounds for the age of a caller's request id in strict mode.
const (
	oldestID = 7 * 24 * time.Hour
	aheadID  = 5 * time.Minute
)

// createEntry creates the entry of a write, with its id and a hash of the request.
func (w *guardedWrite) createEntry() error {
	id := w.r.Meta.RequestID
	switch {
	case id == "" && w.mode == Strict && !w.r.Meta.ValidateOnly:
		return w.refusalError("precondition_required", "requestId", "strict writing needs requestId, a UUIDv7 that you make for this write")
	case id == "":
		id = newID()
	case !idPattern.MatchString(id):
		return w.refusalError("invalid_request_id", "requestId", fmt.Sprintf("requestId is %q, expected 8 to 64 letters, digits and dashes, such as a UUIDv7", id))
	case w.mode == Strict:
		if err := w.checkID(id); err != nil {
			return err
		}
	}
	a := w.r.Action
	now := time.Now().UTC()
	w.entry = Entry{ID: id, Tool: a.Tool, Action: a.Name, ArgsHash: argsHash(w.r.Args()), Created: now, Updated: now}
	for _, t := range w.r.AllTargets() {
		if t.ID != "" {
			w.entry.Targets = append(w.entry.Targets, string(t.ID))
		}
		if t.ID != "" && t.Root != "" && t.What != access.Notebook && !slices.Contains(w.entry.Documents, string(t.Root)) {
			w.entry.Documents = append(w.entry.Documents, string(t.Root))
		}
		for _, id := range append([]kernel.ID{t.Notebook}, t.Also...) {
			if id != "" && !slices.Contains(w.entry.Notebooks, string(id)) {
				w.entry.Notebooks = append(w.entry.Notebooks, string(id))
			}
		}
		if name := describeTarget(&t); name != "" && !slices.Contains(w.entry.Names, name) {
			w.entry.Names = append(w.entry.Names, name)
		}
	}
	return nil
}

// describeTarget describes a target to people: by the path the caller gave, else by the path of its document, else by its title.
func describeTarget(t *action.Target) string {
	switch {
	case strings.HasPrefix(t.Subject, "/") && !strings.HasSuffix(t.Subject, ".sy"):
		return t.Subject
	case t.HPath != "" && t.HPath != "/":
		return t.HPath
	case t.Title != "":
		return t.Title
	}
	return string(t.ID)
}

// newID returns a new request id, a UUIDv7.
func newID() string {
	id, err := uuid.NewV7()
	if err != nil {
		panic("safety: no random numbers: " + err.Error()) // crypto/rand does not fail
	}
	return id.String()
}

func (w *guardedWrite) checkID(id string) error {
	parsed, err := uuid.Parse(id)
	if err != nil || parsed.Version() != 7 {
		return w.refusalError("invalid_request_id", "requestId", fmt.Sprintf("requestId is %q, expected a UUIDv7", id))
	}
	sec, nsec := parsed.Time().UnixTime()
	if age := time.Since(time.Unix(sec, nsec)); age > oldestID || age < -aheadID {
		return w.refusalError("request_id_expired", "requestId", "requestId is from "+time.Unix(sec, nsec).UTC().Format(time.RFC3339)+", expected one made now")
	}
	return nil
}

func (w *guardedWrite) refusalError(code, field, message string) error {
	return &tool.Error{
		Op: "write", Kind: writeSafety, Code: code, Subject: w.r.Action.Tool + "." + w.r.Action.Name, Message: message,
		Hint:   "siyuan://help/write-safety explains guarded writes",
		Fields: []tool.Field{{Path: "/" + field, Message: message}}, Facts: map[string]any{"requestId": w.r.Meta.RequestID},
	}
}

// argsHash returns a hash of the arguments, without those of safe writing. It does not depend on their order or spacing.
func argsHash(args json.RawMessage) string {
	for _, name := range []string{"requestId", "validateOnly", "expectedHash", "ifMatch", "verbose"} {
		if out, err := sjson.DeleteBytes(args, name); err == nil {
			args = out
		}
	}
	v := jsontext.Value(append([]byte{}, args...))
	if err := v.Canonicalize(); err != nil {
		v = jsontext.Value(args) // the pipeline has checked that it is JSON
	}
	sum := sha256.Sum256(v)
	return hex.EncodeToString(sum[:])
}

// Replay answers a request that was sent before, without its targets, which may be gone: with the stored result, or with an
// error that says why there is none. It returns nil for a request that has to be checked and run, such as a new one, or
// one whose notebooks may not all be read by now.
func (c *Coordinator) Replay(r *action.Request) (json.RawMessage, error) {
	id := r.Meta.RequestID
	if c == nil || !r.Action.Class.Writes() || !idPattern.MatchString(id) {
		return nil, nil
	}
	e, err := c.ledger.get(id)
	if err != nil || e == nil || len(e.Notebooks) == 0 || e.ArgsHash != argsHash(r.Args()) {
		return nil, nil //nolint:nilerr // the write itself says so
	}
	if slices.ContainsFunc(e.Notebooks, func(n string) bool { return !r.Levels.Readable(kernel.ID(n)) }) {
		return nil, nil
	}
	w := guardedWrite{Coordinator: c, r: r, entry: Entry{ID: id, Tool: r.Action.Tool, Action: r.Action.Name, ArgsHash: e.ArgsHash}}
	return w.replay()
}

// replay answers a request whose id was used before: with the stored result, or with an error that says why not. It
// returns nil for a new id.
func (w *guardedWrite) replay() (json.RawMessage, error) {
	if w.r.Meta.RequestID == "" || w.r.Meta.ValidateOnly {
		return nil, nil
	}
	e, err := w.ledger.get(w.entry.ID)
	if err != nil {
		return nil, &tool.Error{Op: "write", Kind: writeSafety, Code: "write_ledger_unavailable", Err: err}
	}
	switch {
	case e == nil || e.State == Failed && e.ArgsHash == w.entry.ArgsHash:
		return nil, nil
	case e.ArgsHash != w.entry.ArgsHash || e.Tool != w.entry.Tool || e.Action != w.entry.Action:
		return nil, &tool.Error{
			Op: "write", Kind: tool.StateChanged, Code: "idempotency_conflict", Subject: w.entry.ID,
			Message: fmt.Sprintf("this requestId was used for another write, %s.%s", e.Tool, e.Action), Hint: "make a new requestId for each write",
		}
	case e.State == Committed && e.Result != nil:
		out, err := sjson.SetBytes(e.Result, "replayed", true)
		if err != nil {
			return e.Result, nil //nolint:nilerr // only an object takes a member
		}
		return withID(out, e.ID), nil
	case e.State == Undone:
		return nil, &tool.Error{Op: "write", Kind: tool.StateChanged, Code: "idempotency_conflict", Subject: w.entry.ID, Message: "this write was made, and a person has undone it"}
	}
	return nil, &tool.Error{
		Op: "write", Kind: kernel.OutcomeUnknown, OutcomeUnknown: true, Subject: w.entry.ID,
		Message: "this request was started before, and its outcome is unknown; it is not run again",
		Hint:    "read the target; if the write is missing, send it with a new requestId",
	}
}

func withID(raw json.RawMessage, id string) json.RawMessage {
	if out, err := sjson.SetBytes(raw, "requestId", id); err == nil && len(raw) > 0 && raw[0] == '{' {
		return out
	}
	return raw
}
