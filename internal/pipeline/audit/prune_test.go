package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/pipeline/audit"
	"collie/internal/tool"
	"collie/test/await"
)

// oldAge is the age of records that the tests want pruned. Records younger than keptAge stay.
const (
	oldAge  = 100 * 24 * time.Hour
	keptAge = 30 * 24 * time.Hour
)

// writeAgedChain makes a chain with n records of each of the ages, in small segments, and returns its folder. The chain looks as if its
// process had been killed: it has no chain.end, because that record would have today's date.
func writeAgedChain(t *testing.T, dir string, n int, o audit.Options, ages ...time.Duration) string {
	t.Helper()
	o.SegmentBytes = 2000
	before := chainFolders(t, dir)
	l := openLog(t, dir, &o)
	for _, age := range ages {
		for i := range n {
			rec := newRecord(i)
			rec.Time = time.Now().Add(-age)
			if err := l.Append(rec); err != nil {
				t.Fatal(err)
			}
		}
	}
	chain := slices.DeleteFunc(chainFolders(t, dir), func(f string) bool { return slices.Contains(before, f) })[0]
	want := fmt.Sprintf(`"seq":%d,`, n*len(ages)+1)
	await.Until(t, "a head over all records", func() bool {
		head, err := os.ReadFile(filepath.Join(chain, "head.json"))
		return err == nil && bytes.Contains(head, []byte(want))
	})
	killed := t.TempDir()
	if err := os.CopyFS(killed, os.DirFS(chain)); err != nil {
		t.Fatal(err)
	}
	anchor, _ := os.ReadFile(o.Anchor)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	removeAll(t, chain)
	if err := os.CopyFS(chain, os.DirFS(killed)); err != nil {
		t.Fatal(err)
	}
	if o.Anchor != "" {
		if err := os.WriteFile(o.Anchor, anchor, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return chain
}

func prune(t *testing.T, dir string, o audit.PruneOptions) audit.PruneReport {
	t.Helper()
	if o.Before.IsZero() {
		o.Before = time.Now().Add(-keptAge)
	}
	if o.Alive == nil {
		o.Alive = func(int) bool { return false }
	}
	o.Origin = tool.Direct
	r, err := audit.Prune(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// After a prune, verification reports no missing chain or segment, with and without an anchor.
func TestPrune(t *testing.T) {
	t.Parallel()
	for _, anchored := range []bool{false, true} {
		t.Run(fmt.Sprintf("anchored %t", anchored), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "audit")
			o := audit.Options{}
			if anchored {
				o.Anchor = filepath.Join(t.TempDir(), "anchor")
			}
			var gone []string
			for range 3 {
				gone = append(gone, writeAgedChain(t, dir, 20, o, oldAge))
			}
			both := writeAgedChain(t, dir, 20, o, oldAge, time.Hour)
			young := writeAgedChain(t, dir, 20, o, time.Hour)

			plan := prune(t, dir, audit.PruneOptions{DryRun: true, Log: o})
			if got := len(chainFolders(t, dir)); got != 5 {
				t.Errorf("%d chains after a dry run, want all 5", got)
			}
			done := prune(t, dir, audit.PruneOptions{Log: o})
			if fmt.Sprint(plan) != fmt.Sprint(done) || done.Chains != 3 || done.Records < 60 {
				t.Errorf("planned %+v, did %+v, want 3 chains with at least 60 records", plan, done)
			}
			for _, f := range gone {
				if _, err := os.Stat(f); !os.IsNotExist(err) {
					t.Errorf("%s is still there: %v", f, err)
				}
			}
			if _, err := os.Stat(filepath.Join(both, "000001.jsonl")); !os.IsNotExist(err) {
				t.Errorf("the first segment of a chain that goes on is still there: %v", err)
			}
			if _, err := os.Stat(young); err != nil {
				t.Error(err)
			}
			r := verifyAnchored(t, dir, o.Anchor)
			if !r.OK() {
				t.Errorf("report = %+v, want no problem", r)
			}
			for _, c := range r.Chains {
				if c.Chain == filepath.Base(both) && c.Pruned == 0 {
					t.Errorf("chain = %+v, want the number of the last record that was removed", c)
				}
			}
			if again := prune(t, dir, audit.PruneOptions{Log: o}); again.Segments != 0 {
				t.Errorf("pruned again: %+v, want nothing", again)
			}
			found := queryAll(t, dir, audit.Filter{Kind: "prune"})
			if len(found) != 1 || found[0].Origin != string(tool.Direct) {
				t.Fatalf("%d records of the removal, want 1", len(found))
			}
			removed, err := time.Parse(time.RFC3339Nano, gjson.GetBytes(found[0].Detail, "time").String())
			began := slices.IndexFunc(r.Chains, func(c audit.ChainReport) bool { return c.Chain == found[0].Chain })
			if err != nil || began < 0 || removed.Before(r.Chains[began].First) {
				t.Errorf("the removal is dated %v (%v), before the chain that counted what is removed: %+v", removed, err, r.Chains)
			}
			writeChain(t, dir, 3, &o)
			if r := verifyAnchored(t, dir, o.Anchor); !r.OK() {
				t.Errorf("report of a later chain = %+v, want no problem", r)
			}
		})
	}
}

// If the chain with the record of a removal is pruned too, the new record of removal repeats what the old one said.
func TestPruneTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeAgedChain(t, dir, 20, audit.Options{}, oldAge)
	writeAgedChain(t, dir, 2, audit.Options{}, -2*time.Hour) // its first record names the other chain
	if r := prune(t, dir, audit.PruneOptions{}); r.Chains != 1 {
		t.Fatalf("pruned %+v, want one chain", r)
	}
	if r := prune(t, dir, audit.PruneOptions{Before: time.Now().Add(time.Hour)}); r.Chains != 1 {
		t.Fatalf("pruned %+v, want the chain that recorded the first removal", r)
	}
	if r := verify(t, dir); !r.OK() {
		t.Errorf("report = %+v, want no problem", r)
	}
	if found := queryAll(t, dir, audit.Filter{Kind: "prune"}); len(found) != 2 {
		t.Errorf("%d records of removals, want that of the first one carried over", len(found))
	}
}

// Verification finds files that are missing without a valid record of their removal.
func TestRemovalWithoutRecord(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		remove func(t *testing.T, dir, first, both string)
		want   audit.Fault
	}{
		"first segment": {func(t *testing.T, _, _, both string) {
			t.Helper()
			removeAll(t, filepath.Join(both, "000001.jsonl"))
		}, audit.Deleted},
		"chain": {func(t *testing.T, _, first, _ string) {
			t.Helper()
			removeAll(t, first)
		}, audit.ChainMissing},
		"more than was pruned": {func(t *testing.T, dir, _, both string) {
			t.Helper()
			prune(t, dir, audit.PruneOptions{})
			left, err := filepath.Glob(filepath.Join(both, "*.jsonl"))
			if err != nil || len(left) < 2 {
				t.Fatalf("left: %v, %v", left, err)
			}
			removeAll(t, left[0])
		}, audit.Deleted},
		"a record that no head covers": {func(t *testing.T, dir, first, _ string) {
			t.Helper()
			known := chainFolders(t, dir)
			l := openLog(t, dir, nil)
			if err := l.AppendSync(t.Context(), newRecord(1)); err != nil {
				t.Fatal(err)
			}
			chain := slices.DeleteFunc(chainFolders(t, dir), func(f string) bool { return slices.Contains(known, f) })[0]
			head, err := os.ReadFile(filepath.Join(chain, "head.json"))
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf(`{"time":"%s","before":"","chains":[{"chain":"%s","seq":1000,"hash":"","whole":true}]}`,
				time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"), filepath.Base(first))
			if err := errors.Join(l.AppendSync(t.Context(), tool.Record{Kind: "prune", Detail: []byte(text)}), l.Close()); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(chain, "head.json"), head, 0o600); err != nil {
				t.Fatal(err)
			}
			removeAll(t, first)
		}, audit.ChainMissing},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first := writeAgedChain(t, dir, 20, audit.Options{}, oldAge)
			both := writeAgedChain(t, dir, 40, audit.Options{}, oldAge, time.Hour)
			writeChain(t, dir, 2, nil)
			tt.remove(t, dir, first, both)
			var found []audit.Problem
			for _, c := range verify(t, dir).Chains {
				found = append(found, c.Problems...)
			}
			if len(found) == 0 || !bytes.Contains(fmt.Append(nil, found), []byte(tt.want)) {
				t.Errorf("found %v, want %q", found, tt.want)
			}
		})
	}
}

// A chain that may still be written keeps its newest segment, and a chain with problems keeps all segments.
func TestPruneKeeps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLog(t, dir, &audit.Options{SegmentBytes: 2000})
	for i := range 30 {
		rec := newRecord(i)
		rec.Time = time.Now().Add(-oldAge)
		if err := l.AppendSync(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	running := chainFolders(t, dir)[0]
	asked := 0
	r := prune(t, dir, audit.PruneOptions{Alive: func(pid int) bool { asked++; return pid == os.Getpid() }})
	if r.Chains != 0 || r.Segments == 0 || asked == 0 {
		t.Errorf("pruned %+v, want some segments of the chain that is being written", r)
	}
	if err := l.AppendSync(t.Context(), newRecord(1)); err != nil {
		t.Errorf("the chain cannot go on: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(running, "*.jsonl")); len(left) == 0 {
		t.Error("no segment is left of the chain that is being written")
	}
	if v := verify(t, dir); !v.OK() {
		t.Errorf("report = %+v", v)
	}

	spoilt := writeAgedChain(t, dir, 5, audit.Options{}, oldAge)
	replaceInFile(t, filepath.Join(spoilt, "000001.jsonl"), "notebook", "notabook")
	if r := prune(t, dir, audit.PruneOptions{}); len(r.Kept) != 1 || r.Kept[0] != filepath.Base(spoilt) {
		t.Errorf("pruned %+v, want the edited chain kept", r)
	}
}

// If a process dies between recording a removal and deleting the files, verification reports no problem and the next prune
// deletes them.
func TestPruneInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := writeAgedChain(t, dir, 20, audit.Options{}, oldAge)
	both := writeAgedChain(t, dir, 40, audit.Options{}, oldAge, time.Hour)
	saved := t.TempDir()
	if err := os.CopyFS(saved, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	prune(t, dir, audit.PruneOptions{})
	for _, f := range []string{first, both} {
		removeAll(t, f)
		if err := os.CopyFS(f, os.DirFS(filepath.Join(saved, filepath.Base(f)))); err != nil {
			t.Fatal(err)
		}
	}
	if v := verify(t, dir); !v.OK() {
		t.Errorf("all is still there: %+v", v)
	}
	removeAll(t, filepath.Join(both, "000001.jsonl"))
	if v := verify(t, dir); !v.OK() {
		t.Errorf("one segment is gone: %+v", v)
	}
	prune(t, dir, audit.PruneOptions{})
	if v := verify(t, dir); !v.OK() || len(chainFolders(t, dir)) >= 4 {
		t.Errorf("after another round: %+v", v)
	}
}
