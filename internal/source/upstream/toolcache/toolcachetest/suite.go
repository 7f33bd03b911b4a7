// Package toolcachetest holds the contract suite that every backend of the tool cache passes.
//
// [RunBackend] is the entry point:
//
//	func TestBackend(t *testing.T) {
//		dir := t.TempDir()
//		toolcachetest.RunBackend(t, func(t *testing.T) toolcache.Backend { … open dir … })
//	}
//
// Each backend tests by itself what it does beyond the contract, and what a crash leaves behind.
package toolcachetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/upstream/toolcache"
)

// limit bounds what the contract promises at once or within 2 s, with a wide margin for a busy machine.
const limit = 3 * time.Minute

// RunBackend checks a backend against the contract of [toolcache.Backend]. Each call of open returns another handle
// on the same store, as a second process would have it; the store is empty at the start and used by nobody else. The
// suite closes the handles and runs its parts one after the other.
//
// It reads the contract of Watch strictly: commits by others after the handle's last Load are reported even if they
// came just before Watch began.
func RunBackend(t *testing.T, open func(t *testing.T) toolcache.Backend) {
	t.Helper()
	s := suite{open}
	for _, part := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"Empty", s.testEmpty},
		{"Conflict", s.testConflict},
		{"Deletes", s.testDeletes},
		{"Values", s.testValues},
		{"Large", s.testLarge},
		{"OwnCopies", s.testOwnCopies},
		{"Model", s.testAgainstMap},
		{"Writers", s.testManyWriters},
		{"Watch", s.testWatch},
		{"WatchTellsSerially", s.testSerialCalls},
		{"Cancelled", s.testCancelled},
		{"CloseTwice", s.testCloseTwice},
	} {
		t.Run(part.name, func(t *testing.T) {
			part.run(t)
			s.deleteAll(t)
		})
	}
}

// suite has the parts of the contract as methods. open opens another handle on the store under test.
type suite struct {
	open func(t *testing.T) toolcache.Backend
}

// handles opens n handles and closes them when the part ends.
func (s suite) handles(t *testing.T, n int) []toolcache.Backend {
	t.Helper()
	out := make([]toolcache.Backend, n)
	for i := range out {
		b := s.open(t)
		t.Cleanup(func() {
			if err := b.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
		out[i] = b
	}
	return out
}

func (s suite) pair(t *testing.T) (a, b toolcache.Backend) {
	t.Helper()
	h := s.handles(t, 2)
	return h[0], h[1]
}

// deleteAll deletes what a part has left behind.
func (s suite) deleteAll(t *testing.T) {
	t.Helper()
	b := s.handles(t, 1)[0]
	var removed []string
	for name := range mustLoad(t, b).Entries {
		removed = append(removed, name)
	}
	if len(removed) > 0 {
		mustCommit(t, b, nil, removed...)
	}
}

func mustLoad(t *testing.T, b toolcache.Backend) toolcache.Snapshot {
	t.Helper()
	s, err := b.Load(t.Context())
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return s
}

// newChange returns the change that replaces a stored entry; an empty entry deletes it.
func newChange(now toolcache.Snapshot, server, entry string) toolcache.Change {
	c := toolcache.Change{Server: server, Old: now.Entries[server]}
	if entry != "" {
		c.Entry = json.RawMessage(entry)
	}
	return c
}

// commitUntilDone stores and deletes entries, and repeats after each conflict.
func commitUntilDone(ctx context.Context, b toolcache.Backend, put map[string]string, removed ...string) error {
	now, err := b.Load(ctx)
	for try := 0; ; try++ {
		if err != nil {
			return fmt.Errorf("load: %w", err)
		}
		var changes []toolcache.Change
		for server, entry := range put {
			changes = append(changes, newChange(now, server, entry))
		}
		for _, server := range removed {
			changes = append(changes, newChange(now, server, ""))
		}
		if now, err = b.Commit(ctx, changes); !errors.Is(err, toolcache.ErrConflict) {
			return err
		}
		// A random wait, since writers in step would conflict again and again.
		if err = pause(ctx, rand.N(5*time.Millisecond<<min(try, 6))); err != nil {
			return err
		}
	}
}

func mustCommit(t *testing.T, b toolcache.Backend, put map[string]string, removed ...string) {
	t.Helper()
	if err := commitUntilDone(t.Context(), b, put, removed...); err != nil {
		t.Fatalf("commit: %v", err)
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// normalized returns JSON in a form in which equal values are equal strings. Numbers keep every digit; the end of a long
// text is replaced by its length and digest.
func normalized(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Errorf("entry %.60q is not JSON: %v", raw, err)
		return string(raw)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) > 500 {
		return fmt.Sprintf("%.500s… (%d bytes, SHA-256 %x)", out, len(out), sha256.Sum256(out))
	}
	return string(out)
}

// wantEntries compares the stored entries of servers whose names begin with prefix.
func wantEntries(t *testing.T, got toolcache.Snapshot, prefix string, want map[string]string) {
	t.Helper()
	have, expect := map[string]string{}, map[string]string{}
	for name, raw := range got.Entries {
		if strings.HasPrefix(name, prefix) {
			have[name] = normalized(t, raw)
		}
	}
	for name, raw := range want {
		expect[name] = normalized(t, json.RawMessage(raw))
	}
	if diff := cmp.Diff(expect, have); diff != "" {
		t.Errorf("entries (-want +got):\n%.2000s", diff)
	}
}
