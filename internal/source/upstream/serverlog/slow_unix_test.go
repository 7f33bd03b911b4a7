//go:build unix

package serverlog_test

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"collie/internal/source/upstream/serverlog"
	"collie/test/await"
)

// missingLines matches the line that a log file has in place of lines that came too fast.
var missingLines = regexp.MustCompile(`(\d+) lines came too fast for the disk`)

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
	// The writer, which Close has given up, ends once somebody has read all it writes: each line, or that it is missing.
	// Whoever stops reading before leaves it blocked in its next write.
	if err := pipe.SetReadDeadline(time.Now().Add(await.Limit)); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(pipe)
	written, missing := 0, 0
	for written+missing < n && lines.Scan() {
		if m := missingLines.FindStringSubmatch(lines.Text()); m != nil {
			count, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			missing += count
		} else {
			written++
		}
	}
	if written+missing != n {
		t.Errorf("the file has %d lines and says that %d are missing, of %d: %v", written, missing, n, lines.Err())
	}
	l.Close() // now waits for the end of the writer
	if err := pipe.Close(); err != nil {
		t.Error(err)
	}
}
