package vault

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"collie/test/await"
	"collie/test/binary"
)

// followedFolder is a folder that a gateway keeps equal with a notebook of the vault.
type followedFolder struct {
	t                 *testing.T
	collie, home, dir string
	gateway           *exec.Cmd // the gateway, nil if none runs
}

// newFollowed makes a folder with files, has it followed, and starts the gateway.
func newFollowed(t *testing.T, files int) *followedFolder {
	t.Helper()
	f := &followedFolder{t: t, collie: binary.Build(t, binary.Collie), home: t.TempDir(), dir: filepath.Join(t.TempDir(), "notes")}
	for i := range files {
		f.write(fmt.Sprintf("d%d/Page %d.md", i%50, i), fmt.Sprintf("# Page %d\n\n-\titem\n\t-\t[[Page %d]]\n", i, (i+1)%files))
	}
	f.run("vault", "sync", f.dir)
	f.start()
	t.Cleanup(f.kill)
	return f
}

// start starts the gateway.
func (f *followedFolder) start() {
	f.t.Helper()
	f.gateway = exec.Command(f.collie, "--home", f.home, "serve", "--http", "127.0.0.1:0")
	if err := f.gateway.Start(); err != nil {
		f.t.Fatal(err)
	}
}

// kill kills the gateway, if one runs.
func (f *followedFolder) kill() {
	if f.gateway != nil {
		_ = f.gateway.Process.Kill()
		_ = f.gateway.Wait() // the error says that it was killed
		f.gateway = nil
	}
}

// run runs a command and returns its output. A partial success is fine.
func (f *followedFolder) run(args ...string) string {
	f.t.Helper()
	out, err := exec.CommandContext(f.t.Context(), f.collie, append([]string{"--home", f.home}, args...)...).Output()
	if exit, is := errors.AsType[*exec.ExitError](err); err != nil && !(is && exit.ExitCode() == exitPartial) {
		f.t.Fatalf("%v: %v\n%s", args, err, exit.Stderr)
	}
	return string(out)
}

// write writes a file of the folder.
func (f *followedFolder) write(name, text string) {
	f.t.Helper()
	at := filepath.Join(f.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
		f.t.Fatal(err)
	}
}

// read returns the text of a file of the folder, or the error.
func (f *followedFolder) read(name string) string {
	text, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// readNote returns the document at a path, as `collie fs read` prints it, or the error.
func (f *followedFolder) readNote(at string) string {
	out, err := exec.CommandContext(f.t.Context(), f.collie, "--home", f.home, "fs", "read", at).CombinedOutput()
	if err != nil {
		return err.Error() + ": " + string(out)
	}
	return string(out)
}

// TestSyncFollowed edits a folder that a gateway follows, and its notebook. Each edit arrives on the other side, also
// after the gateway was killed during a sync. If more files are deleted than the bound allows, the deletions wait for
// a person.
func TestSyncFollowed(t *testing.T) {
	t.Parallel()
	f := newFollowed(t, 40)
	f.write("d1/Page 1.md", "# Page 1\n\nfrom the folder\n")
	await.Until(t, "an edit of a file arrives", func() bool { return strings.Contains(f.readNote("/notes/d1/Page 1"), "from the folder") })
	f.run("fs", "write", "/notes/d2/Page 2", "--markdown", "from the notebook", "--overwrite")
	await.Until(t, "an edit of a note arrives", func() bool { return strings.Contains(f.read("d2/Page 2.md"), "from the notebook") })
	f.write("new/Fresh.md", "fresh\n")
	await.Until(t, "a file in a new folder arrives", func() bool { return strings.Contains(f.readNote("/notes/new/Fresh"), "fresh") })
	f.write("new/Fresh.md", "fresh, and changed\n")
	await.Until(t, "that folder is followed", func() bool { return strings.Contains(f.readNote("/notes/new/Fresh"), "changed") })

	for i := range 30 {
		f.write(fmt.Sprintf("d%d/Page %d.md", i, i), fmt.Sprintf("# Page %d\n\nagain\n", i))
	}
	await.Until(t, "a sync has begun", func() bool { return strings.Contains(f.readNote("/notes/d3/Page 3"), "again") })
	f.kill()
	f.start()
	await.Until(t, "the next gateway goes on", func() bool { return strings.Contains(f.readNote("/notes/d29/Page 29"), "again") })

	for i := range 20 {
		if err := os.Remove(filepath.Join(f.dir, fmt.Sprintf("d%d/Page %d.md", i, i))); err != nil {
			t.Fatal(err)
		}
	}
	await.Until(t, "many deletions wait", func() bool {
		return strings.Contains(f.run("vault", "sync", "list"), "deletions: waits for your yes")
	}, func() string { return f.run("vault", "sync", "list") })
	f.write("d30/Page 30.md", "# Page 30\n\nafter them\n")
	await.Until(t, "what else is done goes on", func() bool { return strings.Contains(f.readNote("/notes/d30/Page 30"), "after them") })
	if text := f.readNote("/notes/d5/Page 5"); !strings.Contains(text, "again") {
		t.Errorf("a note whose file was removed along with many is %q", text)
	}
	f.run("vault", "sync", f.dir, "--once", "--allow-deletions", "100")
	if text := f.readNote("/notes/d5/Page 5"); strings.Contains(text, "again") {
		t.Errorf("a note whose removal was allowed is still there: %q", text)
	}
}

// TestSyncIdleCost: a gateway that follows many files uses next to no processor time while nothing changes.
func TestSyncIdleCost(t *testing.T) {
	t.Parallel()
	f := newFollowed(t, await.Fewer(2000))
	f.write("d1/Page 1.md", "# Page 1\n\nfrom the folder\n")
	await.Until(t, "the folder is followed", func() bool { return strings.Contains(f.readNote("/notes/d1/Page 1"), "from the folder") })
	const idleTime, bound = 10 * time.Second, 0.05 // bound is a share of one core, five times what is promised for 10,000 files
	last := f.processorTime()
	await.Until(t, "the gateway comes to rest", func() bool {
		before := last
		await.Moment(time.Second)
		last = f.processorTime()
		return last-before < 50*time.Millisecond
	})
	await.Moment(idleTime)
	if took := f.processorTime() - last; took > time.Duration(bound*float64(idleTime)) {
		t.Errorf("%v of processor time in %v without a change", took, idleTime)
	} else {
		t.Logf("%v of processor time in %v without a change", took, idleTime)
	}
}

// processorTime returns the processor time that the gateway has used so far.
func (f *followedFolder) processorTime() time.Duration {
	f.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", f.gateway.Process.Pid))
	if err != nil {
		f.t.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var ticks time.Duration
	for _, field := range fields[11:13] { // in user mode and in the kernel, in hundredths of a second
		n, err := strconv.Atoi(field)
		if err != nil {
			f.t.Fatal(err)
		}
		ticks += time.Duration(n)
	}
	return ticks * time.Second / 100
}
