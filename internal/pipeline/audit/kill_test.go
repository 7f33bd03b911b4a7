package audit_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"collie/internal/pipeline/audit"
	"collie/test/await"
)

// childEnv tells a child process of the tests which folder to write into.
const childEnv = "COLLIE_TEST_AUDIT_CHILD"

// appendForever is the main function of the child process: it writes until it is killed.
func appendForever(dir string) {
	l, err := audit.Open(dir, nil)
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		if err := l.Append(newRecord(i)); err != nil {
			panic(err)
		}
	}
}

// startChild starts a writer and returns a function that kills it.
func startChild(t *testing.T, dir string) (kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// awaitCovered waits until there are n chains in dir and the head of each covers at least want records.
func awaitCovered(t *testing.T, dir string, n int, want uint64) audit.Report {
	t.Helper()
	var r audit.Report
	await.Until(t, fmt.Sprintf("there are %d chains of %d records", n, want), func() bool {
		r = verify(t, dir)
		good := len(r.Chains) == n
		for _, c := range r.Chains {
			good = good && c.Covered >= want
		}
		return good
	}, func() string { return fmt.Sprintf("%+v", r) })
	return r
}

func TestKilledWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kill := startChild(t, dir)
	t.Cleanup(kill)
	awaitCovered(t, dir, 1, 3000)
	kill()

	r := verify(t, dir)
	if !r.OK() {
		t.Fatalf("after a kill: %v", r.Chains[0].Problems)
	}
	c := r.Chains[0]
	t.Logf("records %d, covered %d, torn %v", c.Records, c.Covered, c.Torn)
	if c.Ended {
		t.Error("a killed writer has ended its chain")
	}
	// Remove 1, 10 and 1,000 records that the head covers.
	for _, n := range []uint64{1, 10, 1000} {
		t.Run(fmt.Sprintf("cut %d", n), func(t *testing.T) {
			keep := c.Covered - n
			cutAfter(t, filepath.Join(dir, c.Chain), keep)
			got := wantFault(t, dir, audit.Cut)
			if got.Seq != keep+1 {
				t.Errorf("cut found after record %d, want %d", got.Seq-1, keep)
			}
		})
	}
}

// cutAfter removes all records of a chain after number keep.
func cutAfter(t *testing.T, chain string, keep uint64) {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(chain, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range segments {
		data, err := os.ReadFile(s)
		if err != nil {
			t.Fatal(err)
		}
		var kept []byte
		for _, l := range bytes.SplitAfter(data, []byte("\n")) {
			if keep == 0 || len(l) == 0 {
				break
			}
			kept = append(kept, l...)
			keep--
		}
		if err := os.WriteFile(s, kept, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTwoProcessesAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "audit") // both processes create the folder and the key
	first, second := startChild(t, dir), startChild(t, dir)
	t.Cleanup(first)
	t.Cleanup(second)
	each := await.Fewer(200)
	awaitCovered(t, dir, 2, uint64(each))
	first()
	second()
	if r := verify(t, dir); !r.OK() {
		for _, c := range r.Chains {
			t.Errorf("%s: %v", c.Chain, c.Problems)
		}
	}
	n := 0
	var last time.Time
	for e, err := range audit.Query(t.Context(), dir, audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Time.Before(last) {
			t.Fatalf("record %d of %s comes after one of %v", e.Seq, e.Chain, last)
		}
		last = e.Time
		n++
	}
	if n < 2*each {
		t.Errorf("query found %d records, want those of both", n)
	}
}
