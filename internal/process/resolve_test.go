//go:build unix

package process_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/process"
)

// writeProgram writes a file into dir and returns its path.
func writeProgram(t *testing.T, dir, name, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	syscall.ForkLock.RLock() // a child forked meanwhile would hold the file open for writing, and it could not be executed
	err := os.WriteFile(path, []byte(content), mode)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A name is looked up in the absolute folders of the child's PATH. Errors say why and where nothing was found.
func TestResolve(t *testing.T) {
	t.Parallel()
	first, second := t.TempDir(), t.TempDir()
	env := []string{"PATH=/nowhere", "PATH=" + strings.Join([]string{"", "rel", first, second}, ":")}
	writeProgram(t, first, "tool", "", 0o600) // not executable: the next one counts
	want := writeProgram(t, second, "tool", "", 0o700)
	if got, err := process.Resolve("tool", env, ""); err != nil || got != want {
		t.Errorf("tool = %q, %v, want %q", got, err, want)
	}
	if got, err := process.Resolve("./tool", env, second); err != nil || got != want {
		t.Errorf("./tool in its folder = %q, %v, want %q", got, err, want)
	}
	if err := os.Mkdir(filepath.Join(second, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}

	for _, tt := range []struct {
		name     string
		env      []string
		want     process.Reason
		searched []string
	}{
		{"absent", env, process.CommandNotFound, []string{first, second}},
		{"sh", env, process.CommandNotFound, []string{first, second}}, // in our PATH, not in the child's
		{"sh", nil, process.CommandNotFound, nil},
		{"", env, process.CommandNotFound, nil},
		{"tool", []string{"PATH=" + first}, process.PermissionDenied, []string{first}},
		{"folder", env, process.PermissionDenied, []string{first, second}},
		{filepath.Join(first, "tool"), env, process.PermissionDenied, nil},
		{filepath.Join(first, "absent"), env, process.CommandNotFound, nil},
	} {
		_, err := process.Resolve(tt.name, tt.env, "")
		var e *process.StartError
		if !errors.As(err, &e) {
			t.Errorf("%q: error = %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(process.StartError{Reason: tt.want, Name: tt.name, Searched: tt.searched, Err: e.Err}, *e, cmp.Comparer(sameError)); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", tt.name, diff)
		}
		for _, dir := range tt.searched {
			if !strings.Contains(err.Error(), dir) {
				t.Errorf("%q: %q does not name %s", tt.name, err, dir)
			}
		}
	}
}

func sameError(a, b error) bool { return errors.Is(a, b) }

// A command that cannot be started is a StartError with its reason.
func TestStartRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := writeProgram(t, dir, "script", "#!/no/such/interpreter\n", 0o700)
	plain := writeProgram(t, dir, "plain", "\x00\x01 no program", 0o700)
	for _, tt := range []struct {
		command process.Command
		want    process.Reason
	}{
		{process.Command{Name: "absent", Env: []string{"PATH=" + dir}}, process.CommandNotFound},
		{process.Command{Name: script}, process.CommandNotFound},
		{process.Command{Name: plain}, process.SpawnFailed},
		{process.Command{Name: os.Args[0], Dir: filepath.Join(dir, "missing")}, process.BadDir},
		{process.Command{Name: os.Args[0], Dir: script}, process.BadDir},
	} {
		p, err := process.Start(tt.command, nil)
		if p != nil {
			t.Errorf("%s: started", tt.command.Name)
			_ = p.Stop(t.Context())
		}
		var e *process.StartError
		if !errors.As(err, &e) || e.Reason != tt.want {
			t.Errorf("%s in %q: error = %v, want reason %s", tt.command.Name, tt.command.Dir, err, tt.want)
		}
	}
}

func TestRelativeCommandBelongsToDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(dir, "me")); err != nil {
		t.Fatal(err)
	}
	c := roleCommand("environment")
	c.Name, c.Dir = "./me", dir
	if out, err := io.ReadAll(mustStart(t, c, nil).Stdout()); err != nil || len(out) == 0 {
		t.Errorf("output = %q, %v", out, err)
	}
}

func TestMissingCommandBehindAWrapper(t *testing.T) {
	t.Parallel()
	p := mustStart(t, process.Command{Name: "sh", Args: []string{"-c", "no-such-tool"}, Env: []string{"PATH=/usr/bin:/bin"}}, nil)
	awaitClosed(t, p.Done(), "Done")
	if got := p.Exit(); !got.MissingCommand() {
		t.Errorf("exit = %+v, want a missing command", got)
	}
	q := mustStart(t, roleCommand("exit3"), nil)
	awaitClosed(t, q.Done(), "Done")
	if q.Exit().MissingCommand() {
		t.Error("exit code 3 is not a missing command")
	}
}
