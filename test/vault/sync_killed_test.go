package vault

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collie/test/binary"
)

// TestSyncKilled kills `collie vault sync` at different moments of its run, again and again, and changes files
// between the runs. No unchanged file is touched, none is doubled, and a link out of the folder stays a link. Once a
// run ends by itself, both sides are equal and the next run has nothing to do.
func TestSyncKilled(t *testing.T) {
	t.Parallel()
	collie, home := binary.Build(t, binary.Collie), t.TempDir()
	dir, outside := filepath.Join(t.TempDir(), "笔记"), filepath.Join(t.TempDir(), "secret.md")
	want := map[string]string{}
	writeFile := func(name, text string) {
		t.Helper()
		want[name] = text
		at := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(at), 0o700)
		if err == nil {
			err = os.WriteFile(at, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 60 {
		writeFile(fmt.Sprintf("folder %d/页 %d.md", i%5, i), fmt.Sprintf("# Tea %d\r\n\r\n*  green   \r\n*  [[页 %d]]\n\n\n", i, (i+1)%60))
	}
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.md")); err != nil {
		t.Skipf("symbolic links cannot be made here: %v", err)
	}
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), collie, append([]string{"--home", home}, args...)...)
		out, err := cmd.Output()
		return string(out), err
	}
	wantSameFiles := func(when string) {
		t.Helper()
		files := 0
		err := filepath.WalkDir(dir, func(at string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
				return err
			}
			name, _ := filepath.Rel(dir, at)
			if name == "link.md" {
				if d.Type()&os.ModeSymlink == 0 {
					t.Errorf("%s: the link is one no more", when)
				}
				return nil
			}
			files++
			raw, err := os.ReadFile(at)
			if text, there := want[filepath.ToSlash(name)]; err == nil && (!there || string(raw) != text) {
				t.Errorf("%s: %s has %q, want %q", when, name, raw, text)
			}
			return err
		})
		if err != nil || files != len(want) {
			t.Errorf("%s: %d files, want %d: %v", when, files, len(want), err)
		}
		if raw, err := os.ReadFile(outside); err != nil || string(raw) != "mine" {
			t.Errorf("%s: the file that the link leads to has %q: %v", when, raw, err)
		}
	}
	begin := time.Now()
	if _, err := run("vault", "sync", dir, "--dry-run"); err != nil && exitCode(err) != exitPartial {
		t.Fatal(err)
	}
	whole := time.Since(begin)
	died := 0
	for i := range *rounds {
		writeFile(fmt.Sprintf("folder %d/页 %d.md", i%5, i%60), fmt.Sprintf("# Round %d\n\nblack\n", i))
		cmd := exec.CommandContext(t.Context(), collie, "--home", home, "vault", "sync", dir, "--once")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		part := float64(i+1) / float64(*rounds+1) // grows from 0 to 1; its square puts more kills early in a run than late
		kill := time.AfterFunc(time.Duration(2*part*part*float64(whole)), func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil && exitCode(err) == -1 {
			died++
		}
		kill.Stop()
		wantSameFiles(fmt.Sprint("round ", i))
	}
	if _, err := run("vault", "sync", dir, "--once"); err != nil && exitCode(err) != exitPartial {
		t.Fatalf("a whole run: %v", err)
	}
	wantSameFiles("after a whole run")
	out, err := run("vault", "sync", dir, "--once", "--json")
	var report struct{ Idle bool }
	if jsonErr := json.Unmarshal([]byte(out), &report); jsonErr != nil || !report.Idle || err != nil && exitCode(err) != exitPartial {
		t.Errorf("the next run is not idle: %v\n%.600s", err, out)
	}
	wantSameFiles("after an idle run")
	t.Logf("%d of %d runs were killed", died, *rounds)
	if died == 0 {
		t.Error("no run was killed")
	}
}

// exitPartial is the exit code of a command that succeeded only in part, such as with a link that was left out.
const exitPartial = 6

// exitCode returns the exit code in err: -1 for a killed process, -2 if err is not about an exit.
func exitCode(err error) int {
	if exit, is := err.(*exec.ExitError); is { //nolint:errorlint // it is what exec returns
		return exit.ExitCode()
	}
	return -2
}
