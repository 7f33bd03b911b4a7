package safety

import (
	"crypto/cipher"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/lazyregexp"
	"collie/internal/sorting"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file stores a record of each write, with what is needed to undo it.

// State is the state of a write.
type State string

// The states.
const (
	Executing State = "executing" // started; the outcome is unknown if its process died
	Committed State = "committed"
	Failed    State = "failed"  // nothing was written
	Unknown   State = "unknown" // it may have been written
	Undone    State = "undone"
	Sealed    State = "sealed" // its record was written with another key
)

// Entry is the record of one write.
type Entry struct {
	ID       string   `json:"requestId"`
	Tool     string   `json:"tool"`
	Action   string   `json:"action"`
	ArgsHash string   `json:"argsHash"`
	Targets  []string `json:"targets,omitempty"` // ids
	// Documents are the ids of the documents that the targets are in, or of the one that was added.
	Documents []string `json:"documents,omitempty"`
	// Notebooks are the ids of the notebooks that the targets are in.
	Notebooks []string `json:"notebooks,omitempty"`
	// Names describe the targets to people, by path where it is known.
	Names   []string        `json:"names,omitempty"`
	State   State           `json:"state"`
	Created time.Time       `json:"createdAt"`
	Updated time.Time       `json:"updatedAt"`
	Error   string          `json:"error,omitempty"`  // kind of the error
	Result  json.RawMessage `json:"result,omitempty"` // returned again if the request is repeated
	// Before is the former content of the targets; Added is the document that the write has made, and AddedBlocks are the
	// blocks, which are removed to undo it; Inverse is a call that undoes the write. If all are missing, the write cannot be undone, and NoUndo says why.
	Before      []Before        `json:"before,omitempty"`
	Added       kernel.ID       `json:"added,omitempty"`
	AddedBlocks []kernel.ID     `json:"addedBlocks,omitempty"`
	Inverse     *action.Inverse `json:"inverse,omitempty"`
	NoUndo      string          `json:"noUndo,omitempty"`
}

// CanUndo reports whether the entry has what is needed to undo the write.
func (e *Entry) CanUndo() bool {
	return (e.State == Committed || e.State == Unknown) && (e.HasText() || e.Inverse != nil)
}

// HasText reports whether the entry has texts to put back, or to remove.
func (e *Entry) HasText() bool { return len(e.Before) > 0 || e.Added != "" || len(e.AddedBlocks) > 0 }

// Before is the content and place of a block or document before a write.
type Before struct {
	content.Saved
	Document bool      `json:"document,omitempty"`
	Notebook kernel.ID `json:"notebook"`
	Root     kernel.ID `json:"root"`
	Path     string    `json:"path"`
	HPath    string    `json:"hpath,omitempty"` // of documents
	Parent   kernel.ID `json:"parent,omitempty"`
	Previous kernel.ID `json:"previous,omitempty"`
	Next     kernel.ID `json:"next,omitempty"`
	// Holder is the container of the block, if it contains nothing else. The kernel deletes such a container with the
	// block, such as a list with its only item.
	Holder *Before `json:"holder,omitempty"`
}

// isOnlyChild reports whether the block has no siblings.
func (b *Before) isOnlyChild() bool { return b.Previous == "" && b.Next == "" }

// maxEntries bounds the number of entries that are kept.
const maxEntries = 2048

// ledger stores entries, one file each.
type ledger struct {
	dir       string
	retention time.Duration
	cipher    cipher.AEAD // nil if records are not encrypted

	mu     sync.Mutex
	writes int
}

var idPattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{7,63}$`)

func (l *ledger) path(id string) string { return filepath.Join(l.dir, "writes", id+".json") }

// put writes an entry. From time to time it also removes old ones.
func (l *ledger) put(e *Entry) error {
	if e.State == Executing {
		l.mu.Lock()
		due := l.writes%100 == 0
		l.writes++
		l.mu.Unlock()
		if due {
			l.prune()
		}
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return atomicfile.WriteNoSync(l.path(e.ID), l.encrypt(e.ID, raw), 0o600)
}

// get returns an entry, or nil if it does not exist.
func (l *ledger) get(id string) (*Entry, error) {
	raw, err := os.ReadFile(l.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if raw, err = l.decrypt(id, raw); err != nil {
		return nil, err
	}
	var e Entry
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, fmt.Errorf("record of write %s: %w", id, err)
	}
	if time.Since(e.Created) > l.retention {
		return nil, nil
	}
	return &e, nil
}

// list returns the entries, newest first. Entries encrypted with another key appear with the state Sealed only.
// Unreadable files are left out.
func (l *ledger) list() ([]Entry, error) {
	files, err := os.ReadDir(filepath.Join(l.dir, "writes"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok || !idPattern.MatchString(id) {
			continue
		}
		switch e, err := l.get(id); {
		case err == nil && e != nil:
			out = append(out, *e)
		case errors.Is(err, errSealed):
			if info, err := f.Info(); err == nil { // else it was deleted just now
				at := info.ModTime().UTC()
				out = append(out, Entry{ID: id, State: Sealed, Created: at, Updated: at, NoUndo: errSealed.Error()})
			}
		}
	}
	sorting.By(out, func(a, b Entry) int { return b.Created.Compare(a.Created) })
	return out, nil
}

// prune removes entries that are too old, and the oldest if there are too many.
func (l *ledger) prune() {
	files, err := os.ReadDir(filepath.Join(l.dir, "writes"))
	if err != nil {
		return // the folder does not exist yet
	}
	type aged struct {
		name string
		at   time.Time
	}
	var all []aged
	for _, f := range files {
		if info, err := f.Info(); err == nil && strings.HasSuffix(f.Name(), ".json") {
			all = append(all, aged{f.Name(), info.ModTime()})
		}
	}
	sorting.By(all, func(a, b aged) int { return b.at.Compare(a.at) })
	for i, f := range all {
		if i >= maxEntries || time.Since(f.at) > l.retention {
			_ = os.Remove(filepath.Join(l.dir, "writes", f.name)) // if it fails, the next prune tries again
		}
	}
}

func asError(err error) (*tool.Error, bool) { return errors.AsType[*tool.Error](err) }
