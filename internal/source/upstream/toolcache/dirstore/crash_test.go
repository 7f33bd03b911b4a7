package dirstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/dirstore"
)

// A crash between two steps of a commit leaves one of these folders. Nothing that was
// committed is lost in any, a commit goes through, and what the crash left is cleaned away.
func TestCrashBetweenSteps(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(t *testing.T, generations string){
		"folder made":    func(t *testing.T, g string) { t.Helper(); write(t, g, ".new-1", "", "") },
		"half of a file": func(t *testing.T, g string) { t.Helper(); write(t, g, ".new-1", "a-1.json", `{"v":`) },
		"head torn": func(t *testing.T, g string) {
			t.Helper()
			write(t, g, ".new-1", "head.json", `{"format":1,"id":"x","entr`)
		},
		"all but a rename": func(t *testing.T, g string) {
			t.Helper()
			write(t, g, ".new-1", "head.json", `{"format":1,"id":"x","entries":{}}`)
		},
		"removal begun":   func(t *testing.T, g string) { t.Helper(); write(t, g, ".old-1", "a-1.json", `{}`) },
		"head removed":    func(t *testing.T, g string) { t.Helper(); remove(t, g, "000000000001", "head.json") },
		"generation gone": func(t *testing.T, g string) { t.Helper(); remove(t, g, "000000000002", "") },
		"foreign files": func(t *testing.T, g string) {
			t.Helper()
			write(t, g, "README", "x", "")
			write(t, g, "7", "head.json", `{"format":1}`)
			write(t, g, "-3", "head.json", `{"format":1}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			generations := filepath.Join(dir, "generations")
			s := open(t, dir, dirstore.Options{Keep: time.Nanosecond})
			writer := open(t, dir, dirstore.Options{Keep: time.Hour}) // cleans nothing away meanwhile
			commit(t, writer, 0, put("a", 1), put("b", 1))
			commit(t, writer, 1, put("c", 1), put("d", 1))
			commit(t, writer, 2, put("c", 2), put("d", 2))
			leave(t, generations)
			got := load(t, s)
			if string(got.Entries["a"]) != `{"v":1}` || string(got.Entries["d"]) != `{"v":2}` || got.Generation != 3 {
				t.Errorf("loaded %+v", got)
			}
			commit(t, s, 3, put("a", 3), put("b", 3))
			if got := load(t, s); len(got.Entries) != 4 || string(got.Entries["a"]) != `{"v":3}` || got.TotalWrites != 8 {
				t.Errorf("after a commit: %+v", got)
			}
			gone := func() bool {
				for _, left := range []string{".new-1", ".old-1", "000000000001", "000000000002"} {
					if _, err := os.Stat(filepath.Join(generations, left)); !errors.Is(err, os.ErrNotExist) {
						return false
					}
				}
				return true
			}
			// The clock of a file system may tick every few milliseconds only.
			for g, start := uint64(4), time.Now(); !gone(); g++ {
				if time.Since(start) > 10*time.Second {
					list, _ := os.ReadDir(generations)
					t.Fatalf("not cleaned away: %v", list)
				}
				commit(t, s, g, put("a", 4))
			}
		})
	}
}

// A power cut may keep the name of the newest generation and lose what is in it.
func TestNewestGenerationDamaged(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, generations string){
		"no head":    func(t *testing.T, g string) { t.Helper(); remove(t, g, "000000000002", "head.json") },
		"empty head": func(t *testing.T, g string) { t.Helper(); write(t, g, "000000000002", "head.json", "") },
		"zeros":      func(t *testing.T, g string) { t.Helper(); write(t, g, "000000000002", "head.json", "\x00\x00\x00\x00") },
		"not ours":   func(t *testing.T, g string) { t.Helper(); write(t, g, "000000000002", "head.json", "[]") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := open(t, dir, dirstore.Options{})
			commit(t, s, 0, put("a", 1))
			commit(t, s, 1, put("a", 2))
			damage(t, filepath.Join(dir, "generations"))
			got := load(t, s)
			if got.Generation != 2 || string(got.Entries["a"]) != `{"v":1}` {
				t.Errorf("loaded %+v, want the entries of generation 1 as 2", got)
			}
			if g := commit(t, s, 2, put("b", 1)); g != 3 {
				t.Errorf("generation %d, want 3", g)
			}
			if got := load(t, s); len(got.Entries) != 2 {
				t.Errorf("after a commit: %+v", got)
			}
		})
	}
}

func TestDamagedEntryIsLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, dirstore.Options{})
	commit(t, s, 0, put("a", 1), put("b", 1))
	files, err := filepath.Glob(filepath.Join(dir, "generations", "*", "a-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for _, content := range []string{`{"v":1}x`, "", `{"v":7}`} {
		if err := os.WriteFile(files[0], []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := load(t, open(t, dir, dirstore.Options{})); len(got.Entries) != 1 || got.Entries["b"] == nil {
			t.Errorf("with %q in its file: %v", content, got.Entries)
		}
	}
}

// A head of another's making must not make us read files elsewhere.
func TestHeadThatNamesForeignFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "", "secret.json", `{}`)
	s := open(t, dir, dirstore.Options{})
	const empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" // SHA-256 of {}
	for _, file := range []string{"../secret.json", filepath.Join(dir, "secret.json"), "1/../../secret.json", "secret.json", "", "../../x"} {
		head, err := json.Marshal(map[string]any{"format": 1, "entries": map[string]any{"a": map[string]string{"file": file, "sha256": empty}}})
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "generations"), "000000000001", "head.json", string(head))
		if got := load(t, s); len(got.Entries) != 0 {
			t.Errorf("%q was read: %v", file, got.Entries)
		}
	}
}

const writerDir = "DIRSTORE_TEST_WRITER"

// writeForever is the process that TestKilledWriters kills: each commit sets all entries to
// one number, which it prints.
func writeForever(dir string) {
	s, err := dirstore.Open(dir, dirstore.Options{Keep: 20 * time.Millisecond})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	for {
		snap, err := s.Load(ctx)
		if err != nil {
			panic(err)
		}
		var changes []toolcache.Change
		for i := range 5 {
			changes = append(changes, put(fmt.Sprintf("s%d", i), int(snap.Generation+1)))
		}
		if _, err := s.Commit(ctx, snap.Generation, changes); err != nil && !errors.Is(err, toolcache.ErrConflict) {
			panic(err)
		}
	}
}

// Two writers at a time are killed at random moments; every moment in between shows one
// whole commit, and generations never go back.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	kills := 30
	if testing.Short() {
		kills = 6
	}
	dir := t.TempDir()
	reader := open(t, dir, dirstore.Options{})
	var last uint64
	check := func() {
		t.Helper()
		got := load(t, reader)
		if got.Generation < last {
			t.Fatalf("generation %d after %d", got.Generation, last)
		}
		last = got.Generation
		want := fmt.Sprintf(`{"v":%d}`, got.Generation)
		for server, e := range got.Entries {
			if string(e) != want {
				t.Fatalf("generation %d has %s of %s", got.Generation, e, server)
			}
		}
		if got.Generation > 0 && (len(got.Entries) != 5 || got.TotalWrites != 5*got.Generation) {
			t.Fatalf("generation %d has %d entries after %d writes", got.Generation, len(got.Entries), got.TotalWrites)
		}
	}
	for range kills {
		var writers []*exec.Cmd
		for range 2 {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env, cmd.Stderr = append(os.Environ(), writerDir+"="+dir), t.Output()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			writers = append(writers, cmd)
		}
		before := last
		for deadline := time.Now().Add(30 * time.Second); last == before; check() {
			if time.Now().After(deadline) {
				t.Fatal("the writers write nothing")
			}
		}
		<-time.After(rand.N(10 * time.Millisecond)) // any moment will do
		for _, cmd := range writers {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait()
			check()
		}
	}
	cleaner := open(t, dir, dirstore.Options{Keep: time.Nanosecond})
	for start := time.Now(); ; {
		last = commit(t, cleaner, last, put("done", 1))
		left, err := os.ReadDir(filepath.Join(dir, "generations"))
		if err != nil {
			t.Fatal(err)
		}
		if len(left) <= 3 { // this one, the one before, and the one with the entries of the writers
			break
		}
		if time.Since(start) > 10*time.Second {
			t.Fatalf("not cleaned away: %v", left)
		}
	}
}

func write(t *testing.T, dir, folder, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
		t.Fatal(err)
	}
	if name == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, folder, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir, folder, name string) {
	t.Helper()
	path := filepath.Join(dir, folder, name)
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	if name == "" && folder == "000000000002" {
		// Its entries have been replaced: it may be gone, whoever removed it.
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
