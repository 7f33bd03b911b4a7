package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"collie/internal/pipeline/audit"
	"collie/test/await"
)

// wantFault checks that the first problem in dir is of kind f and returns it.
func wantFault(t *testing.T, dir string, f audit.Fault) audit.Problem {
	t.Helper()
	r := verify(t, dir)
	for _, c := range r.Chains {
		if len(c.Problems) > 0 {
			if got := c.Problems[0]; got.Fault != f {
				t.Errorf("problem = %v, want one of %q", got, f)
			}
			return c.Problems[0]
		}
	}
	t.Errorf("nothing was found, want %q", f)
	return audit.Problem{}
}

// writeTampered makes a chain of 1,200 records and rewrites its segment.
func writeTampered(t *testing.T, change func(all [][]byte) [][]byte) string {
	t.Helper()
	dir := t.TempDir()
	chain := writeChain(t, dir, 1200, nil)
	all := append(readLines(t, chain), nil)
	all[len(all)-2] = append(bytes.Clone(all[len(all)-2]), '\n')
	data := bytes.Join(change(all[:len(all)-1]), nil)
	if err := os.WriteFile(filepath.Join(chain, "000001.jsonl"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTampering(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func([][]byte) [][]byte
		want   audit.Fault
		line   int
		seq    uint64
	}{
		"edit a byte": {func(all [][]byte) [][]byte {
			all[500] = bytes.Replace(all[500], []byte("notebook"), []byte("notabook"), 1)
			return all
		}, audit.Edited, 501, 501},
		"edit a hash": {func(all [][]byte) [][]byte {
			i := len(all[500]) - 10
			all[500] = slices.Concat(all[500][:i], []byte{all[500][i] ^ 1}, all[500][i+1:])
			return all
		}, audit.Edited, 501, 501},
		"garbage in the middle": {func(all [][]byte) [][]byte {
			all[500] = []byte("garbage\n")
			return all
		}, audit.Edited, 501, 501},
		"delete a line": {func(all [][]byte) [][]byte {
			return slices.Delete(all, 500, 501)
		}, audit.Deleted, 501, 501},
		"delete the first line": {func(all [][]byte) [][]byte { return all[1:] }, audit.Deleted, 1, 1},
		"swap two lines": {func(all [][]byte) [][]byte {
			all[500], all[501] = all[501], all[500]
			return all
		}, audit.Swapped, 501, 501},
		"swap the last two": {func(all [][]byte) [][]byte {
			n := len(all)
			all[n-1], all[n-2] = all[n-2], all[n-1]
			return all
		}, audit.Swapped, 1201, 1201},
		"move a line": {func(all [][]byte) [][]byte {
			moved := all[500]
			return slices.Insert(slices.Delete(all, 500, 501), 700, moved)
		}, audit.Swapped, 501, 501},
		"repeat a line": {func(all [][]byte) [][]byte {
			return slices.Insert(all, 501, all[500])
		}, audit.Swapped, 502, 501},
		"cut 1":    {func(all [][]byte) [][]byte { return all[:len(all)-1] }, audit.Cut, 1201, 1202},
		"cut 10":   {func(all [][]byte) [][]byte { return all[:len(all)-10] }, audit.Cut, 1192, 1193},
		"cut 1000": {func(all [][]byte) [][]byte { return all[:len(all)-1000] }, audit.Cut, 202, 203},
		"cut all":  {func([][]byte) [][]byte { return nil }, audit.Cut, 0, 1},
		"cut in a covered line": {func(all [][]byte) [][]byte {
			n := len(all) - 1
			all[n] = all[n][:len(all[n])-20]
			return all
		}, audit.Cut, 1201, 1202},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := writeTampered(t, tt.change)
			got := wantFault(t, dir, tt.want)
			if got.Line != tt.line || got.Seq != tt.seq {
				t.Errorf("found at line %d, record %d; want line %d, record %d", got.Line, got.Seq, tt.line, tt.seq)
			}
			r := verify(t, dir)
			if n := len(r.Chains[0].Problems); n != 1 {
				t.Errorf("%d problems, want 1: %v", n, r.Chains[0].Problems)
			}
		})
	}
}

func TestTornLastLineIsHarmless(t *testing.T) {
	t.Parallel()
	dir := writeTampered(t, func(all [][]byte) [][]byte {
		return append(all, []byte(`{"v":1,"seq":1203,"ts":"20`))
	})
	r := verify(t, dir)
	if !r.OK() || !r.Chains[0].Torn || r.Records() != 1202 {
		t.Errorf("report = %+v, want a torn last line and no problem", r)
	}
	if got := queryAll(t, dir, audit.Filter{Kind: "call"}); len(got) != 1200 {
		t.Errorf("query found %d records, want 1200", len(got))
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	edit := func(old, new string) func(*testing.T, string) {
		return func(t *testing.T, chain string) {
			path := filepath.Join(chain, "head.json")
			data, err := os.ReadFile(path)
			if err != nil || !bytes.Contains(data, []byte(old)) {
				t.Fatalf("%s, %v", data, err)
			}
			if err := os.WriteFile(path, bytes.Replace(data, []byte(old), []byte(new), 1), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := map[string]struct {
		change func(*testing.T, string)
		want   audit.Fault
	}{
		"other seq":  {edit(`"seq":12`, `"seq":11`), audit.HeadForged},
		"other time": {edit(`"time":"2`, `"time":"1`), audit.HeadForged},
		"no JSON":    {edit(`{`, `[`), audit.HeadForged},
		"removed": {func(t *testing.T, chain string) {
			if err := os.Remove(filepath.Join(chain, "head.json")); err != nil {
				t.Fatal(err)
			}
		}, audit.HeadMissing},
		"key removed": {func(t *testing.T, chain string) {
			if err := os.Remove(filepath.Join(filepath.Dir(chain), "key")); err != nil {
				t.Fatal(err)
			}
		}, audit.HeadForged},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tt.change(t, writeChain(t, dir, 10, nil))
			wantFault(t, dir, tt.want)
		})
	}
}

func TestHeadOfAnotherHome(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	writeChain(t, dir, 10, nil)
	writeChain(t, other, 1, nil)
	key, err := os.ReadFile(filepath.Join(other, "key"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "key"), key, 0o600); err != nil {
		t.Fatal(err)
	}
	wantFault(t, dir, audit.HeadForged)
}

// A chain whose records were all rewritten without the key does not match its head.
func TestForgedChain(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	chain, forged := writeChain(t, dir, 10, nil), writeChain(t, other, 10, nil)
	data, err := os.ReadFile(filepath.Join(forged, "000001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(chain, "000001.jsonl"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	wantFault(t, dir, audit.Edited)
}

func TestOtherChainsAreWitnesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeChain(t, dir, 10, nil)
	second := writeChain(t, dir, 10, nil)
	writeChain(t, dir, 10, nil)
	if r := verify(t, dir); !r.OK() || len(r.Chains) != 3 {
		t.Fatalf("report = %+v, want three good chains", r)
	}
	if err := os.RemoveAll(second); err != nil {
		t.Fatal(err)
	}
	got := wantFault(t, dir, audit.ChainMissing)
	if got.File != filepath.Base(second) {
		t.Errorf("missing chain = %s, want %s", got.File, filepath.Base(second))
	}
	// An old head is genuine if it comes with the segments of its time. Later chains reveal that records are
	// missing.
	dir = t.TempDir()
	first := writeWithEarlyCopy(t, dir)
	writeChain(t, dir, 1, nil)
	if r := verify(t, dir); !r.OK() {
		t.Fatalf("report = %+v", r)
	}
	restoreEarlyCopy(t, first)
	wantFault(t, dir, audit.Cut)
}

// writeWithEarlyCopy makes a chain and keeps a copy of its state half way.
func writeWithEarlyCopy(t *testing.T, dir string) string {
	t.Helper()
	l := openLog(t, dir, nil)
	if err := l.AppendSync(t.Context(), newRecord(1)); err != nil {
		t.Fatal(err)
	}
	chain := chainFolders(t, dir)[0]
	for {
		data, err := os.ReadFile(filepath.Join(chain, "head.json"))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(`"seq":2`)) {
			break
		}
		runtime.Gosched() // the head is written after the record
	}
	for _, name := range []string{"head.json", "000001.jsonl"} {
		data, err := os.ReadFile(filepath.Join(chain, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(chain, name+".early"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_ = l.Append(newRecord(2))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return chain
}

func restoreEarlyCopy(t *testing.T, chain string) {
	t.Helper()
	for _, name := range []string{"head.json", "000001.jsonl"} {
		if err := os.Rename(filepath.Join(chain, name+".early"), filepath.Join(chain, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// A chain is created with its head, so a chain without anything was emptied. That is noticed even if no later
// chain names it.
func TestEmptiedChain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeChain(t, dir, 3, nil)
	newest := writeChain(t, dir, 3, nil)
	for _, name := range []string{"head.json", "000001.jsonl"} {
		if err := os.Remove(filepath.Join(newest, name)); err != nil {
			t.Fatal(err)
		}
	}
	if got := wantFault(t, dir, audit.HeadMissing); filepath.Dir(got.File) != filepath.Base(newest) {
		t.Errorf("found in %s, want %s", got.File, filepath.Base(newest))
	}
}

// A chain names only the newest 64 chains, but counts all.
func TestCountOfChains(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	newest := ""
	for range 67 {
		newest = writeChain(t, dir, 1, nil)
	}
	if r := verify(t, dir); !r.OK() || len(r.Chains) != 67 {
		t.Fatalf("report = %+v, want 67 good chains", r)
	}
	// Remove all other chains: 64 that the newest one names, and two that it only counts.
	for _, chain := range chainFolders(t, dir) {
		if chain == newest {
			continue
		}
		if err := os.RemoveAll(chain); err != nil {
			t.Fatal(err)
		}
	}
	r := verify(t, dir)
	missing := 0
	for _, c := range r.Chains {
		for _, p := range c.Problems {
			if p.Fault != audit.ChainMissing {
				t.Errorf("problem %v", p)
			}
			missing++
		}
	}
	if last := r.Chains[0].Problems; missing != 65 || len(last) != 1 {
		t.Errorf("%d problems, want 64 named chains and one count: %v", missing, last)
	}
}

func TestFirstRecordNamesHeads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := writeChain(t, dir, 3, &audit.Options{Version: "1.2.3"})
	second := writeChain(t, dir, 3, nil)
	var start struct {
		Detail struct {
			PID    int
			Chains int
			Heads  []struct {
				Chain string
				Seq   int
			}
		}
	}
	if err := json.Unmarshal(readLines(t, second)[0], &start); err != nil {
		t.Fatal(err)
	}
	d := start.Detail
	if d.PID != os.Getpid() || d.Chains != 1 || len(d.Heads) != 1 || d.Heads[0].Chain != filepath.Base(first) || d.Heads[0].Seq != 5 {
		t.Errorf("detail = %+v, want it to name %s", d, first)
	}
}

func TestVerifyIsFast(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100,000 records")
	}
	dir := t.TempDir()
	writeChain(t, dir, 100_000, nil)
	begin := time.Now()
	if r := verify(t, dir); !r.OK() || r.Records() != 100_002 {
		t.Errorf("report = %+v", r)
	}
	await.Within(t, "to verify 100,000 records", time.Since(begin), 5*2*time.Second)
}

func TestVerifyStopsWithContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeChain(t, dir, 1, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := audit.Verify(ctx, dir, ""); err == nil {
		t.Error("no error from a cancelled context")
	}
}
