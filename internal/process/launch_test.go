//go:build unix

package process_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collie/internal/process"
	"collie/test/await"
)

// shell returns the command that runs a shell script.
func shell(script string) process.Command {
	return process.Command{Name: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}}
}

// Launch reports a program that fails while it waits, and one that cannot be started.
func TestLaunch(t *testing.T) {
	t.Parallel()
	if err := process.Launch(shell("exit 0"), time.Minute); err != nil {
		t.Errorf("a program that ends well: %v", err)
	}
	if err := process.Launch(shell("exit 3"), time.Minute); err == nil || !strings.Contains(err.Error(), "3") {
		t.Errorf("a program that fails: %v, want its exit code", err)
	}
	err := process.Launch(process.Command{Name: "no-such-program-of-ours"}, time.Minute)
	if e, ok := errors.AsType[*process.StartError](err); !ok || e.Reason != process.CommandNotFound {
		t.Errorf("a program that is not there: %v", err)
	}
}

// A program that runs on is left alone, in a session of its own.
func TestLaunchDetaches(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "done")
	if err := process.Launch(shell("sleep 0.3; echo $$ > "+file), time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("Launch waited for the end")
	}
	await.Until(t, "the program goes on", func() bool {
		_, err := os.Stat(file)
		return err == nil
	})
}
