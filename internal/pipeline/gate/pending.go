package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/tool"
	"collie/internal/units"
)

// This file keeps the calls that wait for a person under a code, in a file that several processes share.

const (
	// approvalLifetime is how long a call waits for an answer, and how long an approval is valid.
	approvalLifetime = 5 * time.Minute
	// maxWaiting is the maximum number of waiting calls; one more replaces the oldest.
	maxWaiting = 64
	// clockSkew is the tolerated difference between the clocks of two processes.
	clockSkew = time.Minute
	// lockWait is the maximum wait for the lock, which other processes hold only briefly.
	lockWait = 10 * time.Second
)

// State is the state of a waiting call.
type State string

// The states of a [Waiting].
const (
	StateWaiting  State = "waiting"
	StateApproved State = "approved" // will run when it is made again
	StateDenied   State = "denied"   // will be refused when it is made again
)

// Waiting is a call that waits for a person, with what is needed to decide and without the contents of notes.
// All its texts are single lines of visible characters.
type Waiting struct {
	Code      string        `json:"code"`
	State     State         `json:"state"`
	Question  tool.Question `json:"question"`
	Origin    tool.Origin   `json:"origin"`
	Principal string        `json:"principal"`
	Client    string        `json:"client,omitempty"`
	Asked     time.Time     `json:"asked"`
	Expires   time.Time     `json:"expires"`
}

// entry is a Waiting as stored in the file.
type entry struct {
	Waiting
	Binding string `json:"binding"`
}

// Pending is the file of waiting calls. All processes of a home share it: the one that asks and the one in
// which a person answers. Only its owner can read it. The value holds no state, so copies are equivalent. All
// methods are safe for concurrent use. It needs no closing.
type Pending struct{ file atomicfile.File }

// OpenPending returns the Pending in dir, which need not exist.
func OpenPending(dir string) Pending {
	return Pending{atomicfile.File{Path: filepath.Join(dir, "requests.json"), Perm: 0o600}}
}

// List returns the waiting calls, answered or not, oldest first.
func (p Pending) List() ([]Waiting, error) {
	raw, err := os.ReadFile(p.file.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &tool.Error{Op: "read", Kind: tool.Internal, Subject: p.file.Path, Err: err}
	}
	out := []Waiting{}
	for _, e := range unexpiredEntries(raw) {
		out = append(out, e.Waiting)
	}
	return out, nil
}

// Find returns the call with this code, in any spelling. If the code is unknown or has expired, the error is
// of kind NotFound.
func (p Pending) Find(code string) (Waiting, error) {
	list, err := p.List()
	if err != nil {
		return Waiting{}, err
	}
	i := slices.IndexFunc(list, func(w Waiting) bool { return w.Code == readCode(code) })
	if i < 0 {
		return Waiting{}, nothingWaitsError(code)
	}
	return list[i], nil
}

// Answer approves or denies the call with this code and returns its new state. Only a person may answer,
// never whoever made the call; the caller of Answer makes sure of that, and that the person has typed the name
// of a Question with one. The first answer counts: for a later one the error is of kind Conflict. Other errors
// are those of Find.
func (p Pending) Answer(ctx context.Context, code string, yes bool) (w Waiting, err error) {
	found, first := false, false
	failed := p.update(ctx, func(list []entry) []entry {
		i := slices.IndexFunc(list, func(e entry) bool { return e.Code == readCode(code) })
		if found = i >= 0; !found {
			return list
		}
		if first = list[i].State == StateWaiting; first && yes {
			list[i].State = StateApproved
		} else if first {
			list[i].State = StateDenied
		}
		w = list[i].Waiting
		return list
	})
	switch {
	case failed != nil:
		return w, failed
	case !found:
		return w, nothingWaitsError(code)
	case !first:
		return w, alreadyAnsweredError(&w)
	}
	return w, nil
}

func nothingWaitsError(code string) error {
	return &tool.Error{
		Op: "confirm", Kind: tool.NotFound, Subject: line(code, maxTarget),
		Message: fmt.Sprintf("no call waits under this code; a code is valid for %s and for one call", units.DurationText(approvalLifetime)),
		Hint:    "collie confirm lists what waits; make the call again for a new code",
	}
}

func alreadyAnsweredError(w *Waiting) error {
	e := &tool.Error{Op: "confirm", Kind: tool.Conflict, Code: "already_answered", Subject: w.Code, Message: "this call has already been confirmed"}
	if w.State == StateDenied {
		e.Message = "this call has already been refused"
		e.Hint = "the client can ask again once this code has expired"
	}
	return e
}

// findOrAdd returns the state of the call with w's binding. If the call is not in the file, it is added as w,
// which isNew reports. If it was approved, it is removed: an approval is used up by that.
func (p Pending) findOrAdd(ctx context.Context, w entry) (got Waiting, isNew bool, err *tool.Error) {
	err = p.update(ctx, func(list []entry) []entry {
		i := slices.IndexFunc(list, func(e entry) bool { return e.Binding == w.Binding })
		if i >= 0 {
			got = list[i].Waiting
			if got.State == StateApproved {
				list = slices.Delete(list, i, i+1)
			}
			return list
		}
		for w.Code == "" || slices.ContainsFunc(list, func(e entry) bool { return e.Code == w.Code }) {
			w.Code = newCode()
		}
		w.State, w.Asked = StateWaiting, time.Now().UTC().Truncate(time.Second)
		w.Expires = w.Asked.Add(approvalLifetime)
		got, isNew = w.Waiting, true
		return append(dropOldest(list, maxWaiting-1), w)
	})
	return got, isNew, err
}

// dropOldest removes entries until there are at most limit: the oldest first, approved ones last.
func dropOldest(list []entry, limit int) []entry {
	for len(list) > limit {
		i := slices.IndexFunc(list, func(e entry) bool { return e.State != StateApproved })
		list = slices.Delete(list, max(i, 0), max(i, 0)+1)
	}
	return list
}

// update replaces the unexpired entries with what edit returns for them, while holding the lock.
func (p Pending) update(ctx context.Context, edit func([]entry) []entry) *tool.Error {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	err := p.file.Update(ctx, func(old []byte) ([]byte, error) {
		list := edit(unexpiredEntries(old))
		if len(list) == 0 && len(old) == 0 {
			return old, nil
		}
		raw, err := json.MarshalIndent(map[string]any{"version": 1, "requests": list}, "", "  ")
		return append(raw, '\n'), err
	})
	if err != nil {
		return &tool.Error{Op: "write", Kind: tool.Internal, Subject: p.file.Path, Message: "what waits for a person cannot be changed", Err: err}
	}
	return nil
}

// unexpiredEntries returns the unexpired entries. An unreadable file counts as empty: approvals in it have to be given
// again.
func unexpiredEntries(raw []byte) []entry {
	var got struct {
		Version  int     `json:"version"`
		Requests []entry `json:"requests"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &got) != nil || got.Version != 1 {
		return nil
	}
	now := time.Now()
	return slices.DeleteFunc(got.Requests, func(e entry) bool {
		return !now.Before(e.Asked.Add(approvalLifetime)) || e.Asked.After(now.Add(clockSkew))
	})
}
