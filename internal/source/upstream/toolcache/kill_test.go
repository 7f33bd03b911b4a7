package toolcache_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/source/upstream/toolcache"
)

// writerFile passes the file to the child that [TestKilledInTheMiddleOfAWrite] starts.
const writerFile = "COLLIE_TEST_CACHE_WRITER"

// writeForever commits one generation after another until the process is killed. In each generation all entries
// contain the same number, which it prints to stdout.
func writeForever(t *testing.T, path string) {
	t.Helper()
	f := toolcache.NewFile(path, toolcache.Options{})
	s, err := f.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pad := strings.Repeat("x", 2000)
	for {
		g := s.Generation
		var changes []toolcache.Change
		for i := range 50 {
			raw := fmt.Sprintf(`{"n":%d,"pad":%q}`, g+1, pad[:(int(g)*37+i)%len(pad)])
			name := "s" + strconv.Itoa(i)
			changes = append(changes, toolcache.Change{Server: name, Old: s.Entries[name], Entry: json.RawMessage(raw)})
		}
		if s, err = f.Commit(t.Context(), changes); err != nil {
			t.Fatal(err)
		}
		fmt.Println("committed", s.Generation)
	}
}

// TestWriterChild is the child process of the test below: it writes until it is killed.
func TestWriterChild(t *testing.T) {
	t.Parallel()
	path := os.Getenv(writerFile)
	if path == "" {
		t.Skip("it is the child of the test below")
	}
	writeForever(t, path)
}

// A writer is killed at random moments. The file always holds one whole generation, the last that was reported or a
// later one.
func TestKilledInTheMiddleOfAWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "collie.cache.json")
	rng := rand.New(rand.NewPCG(3, 5))
	var last uint64
	for round := range kills {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWriterChild$", "-test.count=1")
		cmd.Env = append(os.Environ(), writerFile+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		said := last
		read := func() bool {
			if !lines.Scan() {
				return false
			}
			if n, ok := strings.CutPrefix(lines.Text(), "committed "); ok {
				said, _ = strconv.ParseUint(n, 10, 64)
			}
			return true
		}
		for said == last && read() {
		}
		kill := time.AfterFunc(time.Duration(rng.IntN(20_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		for read() {
		}
		kill.Stop()
		_ = cmd.Wait() // it was killed
		last = wantOneGeneration(t, path, said)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	old := time.Now().Add(-2 * time.Minute)
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".collie.cache.json.*.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := atomicfile.RemoveLeftovers(path, time.Minute); n != len(left) || err != nil {
		t.Errorf("%d leftover files removed, %v, want %d", n, err, len(left))
	}
	t.Logf("%d generations, %d leftover files", last, len(left))
}

// wantOneGeneration checks that the file is whole, and is the generation said or a later one.
func wantOneGeneration(t *testing.T, path string, said uint64) uint64 {
	t.Helper()
	f := toolcache.NewFile(path, toolcache.Options{})
	defer func() { _ = f.Close() }()
	s, err := f.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Generation < said || len(s.Entries) != 50 || f.Info().Total != 50*s.Generation {
		t.Errorf("generation %d after %d was committed, %d entries, %d writes", s.Generation, said, len(s.Entries), f.Info().Total)
	}
	for name, raw := range s.Entries {
		var e struct{ N uint64 }
		if err := json.Unmarshal(raw, &e); err != nil || e.N != s.Generation {
			t.Errorf("%s says %d in generation %d, %v", name, e.N, s.Generation, err)
		}
	}
	if aside, _ := filepath.Glob(path + ".corrupt-*"); len(aside) > 0 {
		t.Errorf("kept aside: %v", aside)
	}
	return s.Generation
}
