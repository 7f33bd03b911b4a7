//go:build unix

package serverlog_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"collie/internal/source/upstream/serverlog"
	"collie/test/await"
)

// A disk that does not take data must not block the reading of a server's stderr.
func TestAddDoesNotWaitForTheDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.log")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no named pipes on this file system: %v", err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	l := serverlog.New(serverlog.Options{Path: path, Collect: time.Millisecond})
	text := strings.Repeat("x", 1000)
	const n = 20000
	begin := time.Now()
	for range n {
		l.Add("stderr", text)
	}
	await.Within(t, "20 MB", time.Since(begin), 5*time.Second)
	if got := l.Dropped(); got == 0 || got > n {
		t.Errorf("%d lines dropped", got)
	}
	begin = time.Now()
	l.Close()
	await.Within(t, "Close", time.Since(begin), 10*time.Second)
	// The writer, which Close has given up, ends once somebody reads.
	if err := pipe.SetReadDeadline(time.Now().Add(await.Limit)); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(pipe)
	for lines.Scan() && !strings.Contains(lines.Text(), "lines came too fast for the disk") {
	}
	if err := lines.Err(); err != nil {
		t.Error("the file does not say that lines are missing:", err)
	}
	if err := pipe.Close(); err != nil {
		t.Error(err)
	}
}
