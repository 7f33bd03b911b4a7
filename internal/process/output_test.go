package process_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"collie/internal/process"
)

// Output returns what a command prints, or an error if it fails, prints too much, hangs or does not exist.
func TestOutput(t *testing.T) {
	t.Parallel()
	run := func(ctx context.Context, limit int, script string) ([]byte, error) {
		return process.Output(ctx, process.Command{Name: "sh", Args: []string{"-c", script}, Env: os.Environ()}, limit, nil)
	}
	out, err := run(t.Context(), 100, "printf '{\"A\":\"新\"}'")
	if err != nil || string(out) != `{"A":"新"}` {
		t.Errorf("got %q, %v", out, err)
	}
	if _, err := run(t.Context(), 100, "echo no luck >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "exit code 3") || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("a failed command: %v", err)
	}
	if _, err := run(t.Context(), 10, "yes"); err == nil || !strings.Contains(err.Error(), "more than 10 bytes") {
		t.Errorf("too much: %v", err)
	}
	over := errors.New("over")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, over)
	defer cancel()
	if _, err := run(ctx, 10, "sleep 60"); !errors.Is(err, over) {
		t.Errorf("a command that hangs: %v", err)
	}
	if _, err := process.Output(t.Context(), process.Command{Name: "no-such-program-anywhere"}, 10, nil); err == nil {
		t.Error("a missing program gave no error")
	}
}
