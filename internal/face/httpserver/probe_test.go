package httpserver_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"collie/internal/face/httpserver"
	"collie/internal/tool"
	"collie/test/port"
)

// Probe accepts a free address and refuses a busy one with a hint.
func TestProbe(t *testing.T) {
	t.Parallel()
	addr := port.Address(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	err = httpserver.Probe(t.Context(), addr)
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || !strings.Contains(e.Message, "in use") || !strings.Contains(e.Hint, "--http") {
		t.Errorf("a busy address: %v", err)
	}
	_ = l.Close()
	if err := httpserver.Probe(t.Context(), addr); err != nil {
		t.Errorf("a free address: %v", err)
	}
	if err := httpserver.Probe(t.Context(), "nonsense"); tool.KindOf(err) != tool.Invalid {
		t.Errorf("no address: %v", err)
	}
}

func TestCheckToken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	if err := httpserver.CheckToken(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, _, err := httpserver.LoadOrCreateToken(path); err != nil {
		t.Fatal(err)
	}
	if err := httpserver.CheckToken(path); err != nil {
		t.Errorf("a good file: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := httpserver.CheckToken(path); tool.KindOf(err) != tool.Denied {
		t.Errorf("a file that others may read: %v", err)
	}
}
