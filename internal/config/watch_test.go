package config_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/config"
	"collie/test/await"
)

// put writes a file in place, as most programs do.
func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// rename writes a file as editors do: it replaces the file by a new one.
func rename(t *testing.T, file, text string) {
	t.Helper()
	put(t, file+"~new", text)
	if err := os.Rename(file+"~new", file); err != nil {
		t.Fatal(err)
	}
}

// servers returns a settings file with servers of these names.
func servers(names ...string) string {
	var list []string
	for _, n := range names {
		list = append(list, `"`+n+`": {"command": "x"}`)
	}
	return `{"mcpServers": {` + strings.Join(list, ", ") + `}}`
}

// told describes a call of f: the names of the servers, or "wrong: " and the error.
func told(c *config.Config, err error) string {
	if err != nil {
		return "wrong: " + err.Error()
	}
	var names []string
	for _, s := range c.Servers {
		names = append(names, s.Name)
	}
	return strings.Join(names, " ")
}

// watch runs a Watch until the test ends and returns a channel with what it reports.
func watch(t *testing.T, o config.Options, w config.WatchOptions) <-chan string {
	t.Helper()
	cfg, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return watchFrom(t, cfg, o, w)
}

// watchFrom is watch for settings that were read earlier.
func watchFrom(t *testing.T, cfg *config.Config, o config.Options, w config.WatchOptions) <-chan string {
	t.Helper()
	out := make(chan string, 100)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		config.Watch(ctx, cfg, o, w, func(c *config.Config, err error) { out <- told(c, err) })
	}()
	t.Cleanup(func() { cancel(); <-done })
	return out
}

// next waits for the next report and requires that it begins with want.
func next(t *testing.T, out <-chan string, want string) {
	t.Helper()
	select {
	case got := <-out:
		if strings.HasSuffix(got, " is empty") && !strings.HasSuffix(want, " is empty") {
			// A file written in place is empty for a moment, which a busy machine makes long enough to be told.
			next(t, out, want)
			return
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Fatalf("told %q, want %q", got, want)
		}
	case <-time.After(await.Limit):
		t.Fatalf("nothing told, want %q", want)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "collie.json")
	put(t, file, servers("a"))
	// Polling is so slow that only notices can report changes.
	out := watch(t, config.Options{Home: home}, config.WatchOptions{Poll: time.Hour})
	put(t, file, servers("a", "b"))
	next(t, out, "a b")
	rename(t, file, servers("c"))
	next(t, out, "c")
	rename(t, file, servers("d")) // the watched file is replaced by another one
	next(t, out, "d")
	put(t, file, "{\"mcpServers\": {\n")
	next(t, out, "wrong: "+file+":2:")
	put(t, file, "// the same, with a note\n"+servers("d"))
	next(t, out, "d") // shows that the error is over
	put(t, file, "// and another\n"+servers("d"))
	put(t, file, servers("e"))
	next(t, out, "e")
}

func TestWatchFollowsLinks(t *testing.T) {
	t.Parallel()
	home, elsewhere := t.TempDir(), t.TempDir()
	target := filepath.Join(elsewhere, "mine.json")
	put(t, target, servers("a"))
	link := filepath.Join(home, "collie.json")
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no symbolic links here")
	}
	out := watch(t, config.Options{Home: home}, config.WatchOptions{Poll: time.Hour})
	rename(t, target, servers("b"))
	next(t, out, "b")
	other := filepath.Join(elsewhere, "other.json")
	put(t, other, servers("c"))
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	next(t, out, "c")
	rename(t, other, servers("d"))
	next(t, out, "d")
}

// The folder of the settings need not exist: polling finds it when it appears.
func TestWatchFindsANewFile(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "not", "yet")
	out := watch(t, config.Options{Home: home}, config.WatchOptions{})
	put(t, filepath.Join(home, "collie.json"), servers("a"))
	next(t, out, "a")
}

// polled runs f beside a Watch that only polls, with a fake clock.
func polled(t *testing.T, o func(home string) config.Options, w config.WatchOptions, f func(t *testing.T, home string, out <-chan string)) {
	t.Helper()
	home := t.TempDir()
	put(t, filepath.Join(home, "collie.json"), servers("a"))
	synctest.Test(t, func(t *testing.T) {
		w.PollOnly = true
		out := watch(t, o(home), w)
		synctest.Wait() // the Watch has looked at the files once
		f(t, home, out)
	})
}

func atHome(home string) config.Options { return config.Options{Home: home} }

// silent lets time pass and fails if anything is reported meanwhile.
func silent(t *testing.T, out <-chan string, d time.Duration) {
	t.Helper()
	await.Sleep(d) // fake time
	synctest.Wait()
	select {
	case got := <-out:
		t.Fatalf("told %q, want nothing", got)
	default:
	}
}

func TestWatchPolls(t *testing.T) {
	t.Parallel()
	polled(t, atHome, config.WatchOptions{}, func(t *testing.T, home string, out <-chan string) {
		file := filepath.Join(home, "collie.json")
		silent(t, out, time.Hour)
		start := time.Now()
		rename(t, file, servers("b"))
		next(t, out, "b")
		if took := time.Since(start); took > 2300*time.Millisecond {
			t.Errorf("it took %v, want 2 s and 300 ms at most", took)
		}
		rename(t, file, "// only a note\n"+servers("b"))
		silent(t, out, time.Minute)
	})
}

func TestWatchKeepsSettingsWhoseFileIsGone(t *testing.T) {
	t.Parallel()
	polled(t, atHome, config.WatchOptions{}, func(t *testing.T, home string, out <-chan string) {
		file := filepath.Join(home, "collie.json")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		next(t, out, "wrong: the settings file "+file+" has gone")
		silent(t, out, time.Hour)
		put(t, file, "")
		next(t, out, "wrong: the settings file "+file+" is empty")
		put(t, file, servers("a"))
		next(t, out, "a")
		if err := os.Chmod(file, 0); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(home, "other"), "")
		silent(t, out, time.Hour) // the content is the same, whatever the mode
	})
}

// A file that is written in many small steps is read when it is complete, or at the latest after a fixed
// time.
func TestWatchWaitsForQuiet(t *testing.T) {
	t.Parallel()
	polled(t, atHome, config.WatchOptions{Poll: 10 * time.Millisecond}, func(t *testing.T, home string, out <-chan string) {
		file := filepath.Join(home, "collie.json")
		whole := servers("a", "b")
		for i := 1; i <= 5; i++ {
			put(t, file, whole[:i*len(whole)/5])
			silent(t, out, 250*time.Millisecond)
		}
		next(t, out, "a b")
		start := time.Now()
		for i := 0; len(out) == 0; i++ {
			if time.Since(start) > 4*time.Second {
				t.Fatal("a file that is never quiet is never read")
			}
			put(t, file, servers("c")+strings.Repeat(" ", i))
			await.Sleep(97 * time.Millisecond) // fake time; chosen so that it never coincides with a reading
		}
		next(t, out, "c")
	})
}

func TestWatchExtraFiles(t *testing.T) {
	t.Parallel()
	var vars string
	w := config.WatchOptions{Extra: func(*config.Config) []string { return []string{vars} }}
	polled(t, func(home string) config.Options {
		vars = filepath.Join(home, "vars.env")
		put(t, vars, "A=1\n")
		return config.Options{Home: home}
	}, w, func(t *testing.T, _ string, out <-chan string) {
		rename(t, vars, "A=2\n")
		next(t, out, "a")
		if err := os.Remove(vars); err != nil {
			t.Fatal(err)
		}
		next(t, out, "a")
		silent(t, out, time.Minute)
	})
}

func TestWatchSeesTrust(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	file := filepath.Join(project, config.ProjectFile)
	polled(t, func(home string) config.Options {
		return config.Options{Home: home, Project: project}
	}, config.WatchOptions{}, func(t *testing.T, home string, out <-chan string) {
		put(t, file, servers("p"))
		next(t, out, "a p")
		paths, err := config.FindPaths(home, config.Env{})
		if err != nil {
			t.Fatal(err)
		}
		trust(t, paths, project)
		next(t, out, "a p")
		rename(t, file, servers("q"))
		next(t, out, "a q")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		next(t, out, "a")
	})
}

// A change between the first reading and the start of Watch is not lost.
func TestWatchCatchesUp(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "collie.json")
	put(t, file, servers("a"))
	o := config.Options{Home: home}
	cfg, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	put(t, file, servers("b"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	config.Watch(ctx, cfg, o, config.WatchOptions{}, func(c *config.Config, err error) {
		if got := told(c, err); got != "b" {
			t.Errorf("told %q, want b", got)
		}
		cancel()
	})
}

// A file that is named only in the changed settings is followed too.
func TestWatchFollowsWhatItCaughtUpWith(t *testing.T) {
	t.Parallel()
	home, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "vars.env")
	file := filepath.Join(home, "collie.json")
	put(t, file, servers("a"))
	put(t, elsewhere, "A=1\n")
	o := config.Options{Home: home}
	cfg, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	put(t, file, servers("a", "b"))
	w := config.WatchOptions{Poll: time.Hour, Extra: func(c *config.Config) []string {
		if len(c.Servers) < 2 {
			return nil
		}
		return []string{elsewhere}
	}}
	out := watchFrom(t, cfg, o, w)
	next(t, out, "a b")
	rename(t, elsewhere, "A=2\n")
	next(t, out, "a b")
}
