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

// overwriteFile writes a file in place, as most programs do.
func overwriteFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// replaceFile writes a file as editors do: it replaces the file by a new one.
func replaceFile(t *testing.T, file, text string) {
	t.Helper()
	overwriteFile(t, file+"~new", text)
	if err := os.Rename(file+"~new", file); err != nil {
		t.Fatal(err)
	}
}

// settingsWithServers returns a settings file with servers of these names.
func settingsWithServers(names ...string) string {
	var list []string
	for _, n := range names {
		list = append(list, `"`+n+`": {"command": "x"}`)
	}
	return `{"mcpServers": {` + strings.Join(list, ", ") + `}}`
}

// describeReport describes what Watch reported, on one line: the names of the servers, or "wrong: " and the error.
func describeReport(c *config.Config, err error) string {
	if err != nil {
		return "wrong: " + err.Error()
	}
	var names []string
	for _, s := range c.Servers {
		names = append(names, s.Name)
	}
	return strings.Join(names, " ")
}

// startWatch runs a Watch until the test ends and returns a channel with what it reports.
func startWatch(t *testing.T, o config.Options, w config.WatchOptions) <-chan string {
	t.Helper()
	cfg, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return startWatchFrom(t, cfg, o, w)
}

// startWatchFrom is startWatch for settings that were read earlier.
func startWatchFrom(t *testing.T, cfg *config.Config, o config.Options, w config.WatchOptions) <-chan string {
	t.Helper()
	out := make(chan string, 100)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		config.Watch(ctx, cfg, o, w, func(c *config.Config, err error) { out <- describeReport(c, err) })
	}()
	t.Cleanup(func() { cancel(); <-done })
	return out
}

// awaitReport waits for the next report and requires that it begins with want.
func awaitReport(t *testing.T, out <-chan string, want string) {
	t.Helper()
	select {
	case got := <-out:
		if strings.HasSuffix(got, " is empty") && !strings.HasSuffix(want, " is empty") {
			// A file written in place is empty for a moment, which a busy machine makes long enough to be told.
			awaitReport(t, out, want)
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
	overwriteFile(t, file, settingsWithServers("a"))
	// Polling is so slow that only notices can report changes.
	out := startWatch(t, config.Options{Home: home}, config.WatchOptions{Poll: time.Hour})
	overwriteFile(t, file, settingsWithServers("a", "b"))
	awaitReport(t, out, "a b")
	replaceFile(t, file, settingsWithServers("c"))
	awaitReport(t, out, "c")
	replaceFile(t, file, settingsWithServers("d")) // the watched file is replaced by another one
	awaitReport(t, out, "d")
	overwriteFile(t, file, "{\"mcpServers\": {\n")
	awaitReport(t, out, "wrong: "+file+":2:")
	overwriteFile(t, file, "// the same, with a note\n"+settingsWithServers("d"))
	awaitReport(t, out, "d") // shows that the error is over
	overwriteFile(t, file, "// and another\n"+settingsWithServers("d"))
	overwriteFile(t, file, settingsWithServers("e"))
	awaitReport(t, out, "e")
}

func TestWatchFollowsLinks(t *testing.T) {
	t.Parallel()
	home, elsewhere := t.TempDir(), t.TempDir()
	target := filepath.Join(elsewhere, "mine.json")
	overwriteFile(t, target, settingsWithServers("a"))
	link := filepath.Join(home, "collie.json")
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no symbolic links here")
	}
	out := startWatch(t, config.Options{Home: home}, config.WatchOptions{Poll: time.Hour})
	replaceFile(t, target, settingsWithServers("b"))
	awaitReport(t, out, "b")
	other := filepath.Join(elsewhere, "other.json")
	overwriteFile(t, other, settingsWithServers("c"))
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	awaitReport(t, out, "c")
	replaceFile(t, other, settingsWithServers("d"))
	awaitReport(t, out, "d")
}

// The folder of the settings need not exist: polling finds it when it appears.
func TestWatchFindsANewFile(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "not", "yet")
	out := startWatch(t, config.Options{Home: home}, config.WatchOptions{})
	overwriteFile(t, filepath.Join(home, "collie.json"), settingsWithServers("a"))
	awaitReport(t, out, "a")
}

// withPolling runs f beside a Watch that only polls, with a fake clock.
func withPolling(t *testing.T, o func(home string) config.Options, w config.WatchOptions, f func(t *testing.T, home string, out <-chan string)) {
	t.Helper()
	home := t.TempDir()
	overwriteFile(t, filepath.Join(home, "collie.json"), settingsWithServers("a"))
	synctest.Test(t, func(t *testing.T) {
		w.PollOnly = true
		out := startWatch(t, o(home), w)
		synctest.Wait() // the Watch has looked at the files once
		f(t, home, out)
	})
}

func homeOptions(home string) config.Options { return config.Options{Home: home} }

// expectNoReport lets time pass and fails if anything is reported meanwhile.
func expectNoReport(t *testing.T, out <-chan string, d time.Duration) {
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
	withPolling(t, homeOptions, config.WatchOptions{}, func(t *testing.T, home string, out <-chan string) {
		file := filepath.Join(home, "collie.json")
		expectNoReport(t, out, time.Hour)
		start := time.Now()
		replaceFile(t, file, settingsWithServers("b"))
		awaitReport(t, out, "b")
		if took := time.Since(start); took > 2300*time.Millisecond {
			t.Errorf("it took %v, want 2 s and 300 ms at most", took)
		}
		replaceFile(t, file, "// only a note\n"+settingsWithServers("b"))
		expectNoReport(t, out, time.Minute)
	})
}

func TestWatchKeepsSettingsWhoseFileIsGone(t *testing.T) {
	t.Parallel()
	withPolling(t, homeOptions, config.WatchOptions{}, func(t *testing.T, home string, out <-chan string) {
		file := filepath.Join(home, "collie.json")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		awaitReport(t, out, "wrong: the settings file "+file+" has gone")
		expectNoReport(t, out, time.Hour)
		overwriteFile(t, file, "")
		awaitReport(t, out, "wrong: the settings file "+file+" is empty")
		overwriteFile(t, file, settingsWithServers("a"))
		awaitReport(t, out, "a")
		if err := os.Chmod(file, 0); err != nil {
			t.Fatal(err)
		}
		overwriteFile(t, filepath.Join(home, "other"), "")
		expectNoReport(t, out, time.Hour) // the content is the same, whatever the mode
	})
}

// A file that is written in many small steps is read when it is complete, or at the latest after a fixed
// time.
func TestWatchWaitsForQuiet(t *testing.T) {
	t.Parallel()
	withPolling(t, homeOptions, config.WatchOptions{Poll: 10 * time.Millisecond}, func(t *testing.T, home string, out <-chan string) {
		file := filepath.Join(home, "collie.json")
		whole := settingsWithServers("a", "b")
		for i := 1; i <= 5; i++ {
			overwriteFile(t, file, whole[:i*len(whole)/5])
			expectNoReport(t, out, 250*time.Millisecond)
		}
		awaitReport(t, out, "a b")
		start := time.Now()
		for i := 0; len(out) == 0; i++ {
			if time.Since(start) > 4*time.Second {
				t.Fatal("a file that is never quiet is never read")
			}
			overwriteFile(t, file, settingsWithServers("c")+strings.Repeat(" ", i))
			await.Sleep(97 * time.Millisecond) // fake time; chosen so that it never coincides with a reading
		}
		awaitReport(t, out, "c")
	})
}

func TestWatchExtraFiles(t *testing.T) {
	t.Parallel()
	var vars string
	w := config.WatchOptions{Extra: func(*config.Config) []string { return []string{vars} }}
	withPolling(t, func(home string) config.Options {
		vars = filepath.Join(home, "vars.env")
		overwriteFile(t, vars, "A=1\n")
		return config.Options{Home: home}
	}, w, func(t *testing.T, _ string, out <-chan string) {
		replaceFile(t, vars, "A=2\n")
		awaitReport(t, out, "a")
		if err := os.Remove(vars); err != nil {
			t.Fatal(err)
		}
		awaitReport(t, out, "a")
		expectNoReport(t, out, time.Minute)
	})
}

func TestWatchSeesTrust(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	file := filepath.Join(project, config.ProjectFile)
	withPolling(t, func(home string) config.Options {
		return config.Options{Home: home, Project: project}
	}, config.WatchOptions{}, func(t *testing.T, home string, out <-chan string) {
		overwriteFile(t, file, settingsWithServers("p"))
		awaitReport(t, out, "a p")
		paths, err := config.FindPaths(home, config.Env{})
		if err != nil {
			t.Fatal(err)
		}
		trustProject(t, paths, project)
		awaitReport(t, out, "a p")
		replaceFile(t, file, settingsWithServers("q"))
		awaitReport(t, out, "a q")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		awaitReport(t, out, "a")
	})
}

// A change between the first reading and the start of Watch is not lost.
func TestWatchCatchesUp(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "collie.json")
	overwriteFile(t, file, settingsWithServers("a"))
	o := config.Options{Home: home}
	cfg, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	overwriteFile(t, file, settingsWithServers("b"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	config.Watch(ctx, cfg, o, config.WatchOptions{}, func(c *config.Config, err error) {
		if got := describeReport(c, err); got != "b" {
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
	overwriteFile(t, file, settingsWithServers("a"))
	overwriteFile(t, elsewhere, "A=1\n")
	o := config.Options{Home: home}
	cfg, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	overwriteFile(t, file, settingsWithServers("a", "b"))
	w := config.WatchOptions{Poll: time.Hour, Extra: func(c *config.Config) []string {
		if len(c.Servers) < 2 {
			return nil
		}
		return []string{elsewhere}
	}}
	out := startWatchFrom(t, cfg, o, w)
	awaitReport(t, out, "a b")
	replaceFile(t, elsewhere, "A=2\n")
	awaitReport(t, out, "a b")
}
