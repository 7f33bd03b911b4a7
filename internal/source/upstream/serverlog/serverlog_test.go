package serverlog_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/upstream/serverlog"
	"collie/internal/tool"
	"collie/test/await"
)

// readTexts returns the lines at path that match f, each as "stream text".
func readTexts(t *testing.T, path string, f tool.LogFilter) []string {
	t.Helper()
	var out []string
	for line, err := range serverlog.Tail(t.Context(), path, f) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, line.Stream+" "+line.Text)
	}
	return out
}

// tailTexts returns the lines of l that match f, each as "stream text".
func tailTexts(t *testing.T, l *serverlog.Log, f tool.LogFilter) []string {
	t.Helper()
	var out []string
	for line, err := range l.Tail(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, line.Stream+" "+line.Text)
	}
	return out
}

// A text is split into lines, kept in memory and written to a private file. Readers can filter by stream, time and
// number.
func TestLinesAreInMemoryAndInTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "logs", "mcp", "地图.log")
	l := serverlog.New(serverlog.Options{Path: path})
	begin := time.Now()
	l.Add("stderr", "启动\r\nlistening on  8080 \n")
	l.Add("noise", "")
	l.Add(serverlog.Own, "a\xffb")
	want := []string{"stderr 启动", "stderr listening on  8080 ", "noise ", "collie a\uFFFDb"}
	if diff := cmp.Diff(want, tailTexts(t, l, tool.LogFilter{})); diff != "" {
		t.Error(diff)
	}
	l.Close()
	l.Close()
	if diff := cmp.Diff(want, readTexts(t, path, tool.LogFilter{})); diff != "" {
		t.Error(diff)
	}
	for file, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700, filepath.Dir(filepath.Dir(path)): 0o700} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: mode %v, %v, want %v", file, info.Mode().Perm(), err, mode)
		}
	}
	if got := readTexts(t, path, tool.LogFilter{Streams: []string{"noise", "rpc"}}); len(got) != 1 {
		t.Errorf("noise alone: %q", got)
	}
	if got := readTexts(t, path, tool.LogFilter{Last: 2}); len(got) != 2 || got[1] != want[3] {
		t.Errorf("the last two: %q", got)
	}
	if got := readTexts(t, path, tool.LogFilter{Since: begin.Add(time.Hour)}); len(got) != 0 {
		t.Errorf("of the future: %q", got)
	}
	if got := readTexts(t, path, tool.LogFilter{Since: begin.Add(-time.Second)}); len(got) != 4 {
		t.Errorf("since it began: %q", got)
	}
	l.Add("stderr", "late")
	if e := l.Entries(); e[len(e)-1].Text != "late" {
		t.Error("a closed Log forgets")
	}
}

// A reader gets lines from the files if memory no longer holds them.
func TestOlderLinesComeFromTheFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a.log")
		l := serverlog.New(serverlog.Options{Path: path, MaxSize: 20 << 10})
		defer l.Close()
		for i := range 1000 {
			l.Add("stderr", fmt.Sprint("line ", i))
			await.Sleep(time.Millisecond)
		}
		await.Sleep(time.Second)
		synctest.Wait()
		got := tailTexts(t, l, tool.LogFilter{})
		if len(got) != 1000 || got[0] != "stderr line 0" || got[999] != "stderr line 999" {
			t.Errorf("%d lines, %q to %q", len(got), got[0], got[len(got)-1])
		}
		if got := tailTexts(t, l, tool.LogFilter{Last: 700}); len(got) != 700 || got[0] != "stderr line 300" {
			t.Errorf("%d lines from %q", len(got), got[0])
		}
		since := time.Now().Add(-1300 * time.Millisecond)
		if got := tailTexts(t, l, tool.LogFilter{Since: since}); len(got) < 299 || len(got) > 301 {
			t.Errorf("%d lines of the last 300 ms", len(got))
		}
	})
}

// A reader that follows gets new lines until the log is closed, with and without a file.
func TestFollow(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", filepath.Join(t.TempDir(), "a.log")} {
		l := serverlog.New(serverlog.Options{Path: file})
		l.Add("stderr", "before")
		got := make(chan string, 10)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for line := range l.Tail(context.Background(), tool.LogFilter{Follow: true, Streams: []string{"stderr"}}) {
				got <- line.Text
			}
		}()
		if text := <-got; text != "before" {
			t.Errorf("got %q first", text)
		}
		l.Add("noise", "not wanted")
		l.Add("stderr", "after")
		if text := <-got; text != "after" {
			t.Errorf("got %q then", text)
		}
		l.Close()
		<-ended
	}
}

// A reader that is too slow loses lines, and gets a line that says how many.
func TestASlowReaderIsToldWhatItMissed(t *testing.T) {
	t.Parallel()
	l := serverlog.New(serverlog.Options{})
	defer l.Close()
	l.Add("stderr", "first")
	n, lost := 0, 0
	for line := range l.Tail(t.Context(), tool.LogFilter{Follow: true}) {
		n++
		switch {
		case line.Text == "first":
			for i := range 3000 {
				l.Add("stderr", fmt.Sprint(i))
			}
		case line.Stream == serverlog.Own:
			if _, err := fmt.Sscanf(line.Text, "%d lines came too fast", &lost); err != nil {
				t.Error(err)
			}
		}
		if line.Text == "2999" {
			break
		}
	}
	if lost == 0 || n+lost != 3000+1+1 {
		t.Errorf("%d lines seen, %d lost, of 3001 and a notice", n, lost)
	}
}

// If the file cannot be written, one warning says so, and lines stay in memory.
func TestAFileThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "logs"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		l := serverlog.New(serverlog.Options{
			Path: filepath.Join(dir, "logs", "a.log"), Logger: slog.New(slog.NewTextHandler(&out, nil)),
		})
		for range 10 {
			l.Add("stderr", "hello")
			await.Sleep(time.Second)
		}
		l.Close()
		if got := strings.Count(out.String(), "level=WARN"); got != 1 {
			t.Errorf("%d warnings, want 1:\n%s", got, out.String())
		}
		if got := len(l.Entries()); got != 10 {
			t.Errorf("%d lines in memory, want 10", got)
		}
	})
}
