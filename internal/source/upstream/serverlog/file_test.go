package serverlog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"collie/internal/source/upstream/serverlog"
	"collie/internal/tool"
	"collie/test/await"
)

// A log is kept in three files of limited size, which are read as one.
func TestRotation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.log")
	l := serverlog.New(serverlog.Options{Path: path, MaxSize: 10 << 10})
	const n = 2000
	for i := range n {
		l.Add("stderr", fmt.Sprintf("line %04d", i))
	}
	l.Close()
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 3 {
		t.Fatalf("files %q, %v; want three", files, err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil || info.Size() > 10<<10 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has %d bytes and mode %v, %v", f, info.Size(), info.Mode(), err)
		}
	}
	got := readTexts(t, path, tool.LogFilter{})
	if len(got) < 400 || got[len(got)-1] != "stderr line 1999" {
		t.Fatalf("%d lines to %q", len(got), got[len(got)-1])
	}
	for i, line := range got {
		if want := fmt.Sprintf("stderr line %04d", n-len(got)+i); line != want {
			t.Fatalf("line %d is %q, want %q", i, line, want)
		}
	}
}

// Several gateways may run the same server and write one log.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.log")
	const writers, lines = 6, 400
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			f := &serverlog.File{Path: path, MaxSize: 16 << 10, Files: 50} // each writer has its own, as another process would
			for i := range lines {
				stamp := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
				if _, err := fmt.Fprintf(f, "%s stderr %d %d %s\n", stamp, w, i, strings.Repeat("行", i%30)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got := readTexts(t, path, tool.LogFilter{})
	if len(got) != writers*lines {
		t.Fatalf("%d lines, want %d", len(got), writers*lines)
	}
	next := map[int]int{}
	for _, line := range got {
		var w, i int
		if _, err := fmt.Sscanf(line, "stderr %d %d", &w, &i); err != nil || !strings.HasSuffix(line, " "+strings.Repeat("行", i%30)) {
			t.Fatalf("torn line %q: %v", line, err)
		}
		next[w]++
	}
	if len(next) != writers {
		t.Errorf("lines of %d writers", len(next))
	}
}

// Lines that a crash has left incomplete are skipped, and do not spoil the line after them.
func TestTornLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.log")
	torn := "2026-07-28T10:00:00.000000Z stderr whole\n" +
		"garbage\n\n" + strings.Repeat("x", 3<<20) + "\n2026-07-28T10:00:00.000000Z\n2026-07-28T10:00:00.0000"
	if err := os.WriteFile(path, []byte(torn), 0o600); err != nil {
		t.Fatal(err)
	}
	l := serverlog.New(serverlog.Options{Path: path})
	l.Add("stderr", "after a crash")
	l.Close()
	if got := readTexts(t, path, tool.LogFilter{}); !slices.Equal(got, []string{"stderr whole", "stderr after a crash"}) {
		t.Errorf("got %.200q", got)
	}
}

// A reader that follows a file from before it exists gets each line once, across rotations.
func TestFollowAFileThroughRotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "later", "a.log")
		var got []string
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for line, err := range serverlog.Tail(t.Context(), path, tool.LogFilter{Follow: true, Last: 1}) {
				if err != nil {
					t.Error(err)
				}
				if got = append(got, line.Text); line.Text == "499" {
					return
				}
			}
		}()
		await.Sleep(time.Second) // there is no file yet
		l := serverlog.New(serverlog.Options{Path: path, MaxSize: 4 << 10})
		for i := range 500 {
			l.Add("stderr", fmt.Sprint(i))
			await.Sleep(10 * time.Millisecond)
		}
		<-ended
		l.Close()
		if len(got) != 500 || got[0] != "0" || got[250] != "250" {
			t.Errorf("followed %d lines, want all 500", len(got))
		}
	})
}

// Where no older file is kept, the file is emptied in place. A reader that follows it goes on with what is written then.
func TestFollowAFileThatIsEmptied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a.log")
		l := serverlog.New(serverlog.Options{Path: path, MaxSize: 4 << 10, Files: 1})
		var last string
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for line, err := range serverlog.Tail(t.Context(), path, tool.LogFilter{Follow: true}) {
				if err != nil {
					t.Error(err)
				}
				if last = line.Text; last == "499" {
					return
				}
			}
		}()
		for i := range 500 {
			l.Add("stderr", fmt.Sprint(i))
			await.Sleep(300 * time.Millisecond)
		}
		l.Close()
		await.Until(t, "the last line is read", func() bool {
			select {
			case <-ended:
				return true
			default:
				return false
			}
		})
	})
}

// A server's lines come back from the file as they are in memory, apart from line breaks.
func TestLinesComeBack(t *testing.T) {
	t.Parallel()
	dir, runs := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		path := filepath.Join(dir, fmt.Sprint(runs, ".log"))
		l := serverlog.New(serverlog.Options{Path: path})
		for range rapid.IntRange(1, 5).Draw(rt, "lines") {
			text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", " ", "\x00\x1b[31m", "a\nb", "中文 \u2028", "\xff\xfe"})).Draw(rt, "text")
			l.Add(rapid.SampledFrom([]string{"stderr", "noise", "rpc", "collie"}).Draw(rt, "stream"), text)
		}
		l.Close()
		var want []string
		for _, e := range l.Entries() {
			want = append(want, e.Stream+" "+e.Text)
		}
		if got := readTexts(t, path, tool.LogFilter{}); !slices.Equal(got, want) {
			rt.Fatalf("in the file %q, in memory %q", got, want)
		}
	})
}

// Any content of a file gives at most as many lines as it has, none of which holds a line break.
func FuzzTail(f *testing.F) {
	f.Add([]byte("2026-07-28T10:00:00.000000Z stderr text\n"))
	f.Add([]byte("2026-07-28T10:00:00.000000Z stderr \n2026-07-28T10:00:00.000000Z x"))
	f.Add([]byte("2026-13-28T10:00:00.000000Z stderr text\r\n\x00"))
	path := filepath.Join(f.TempDir(), "a.log")
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		got := readTexts(t, path, tool.LogFilter{})
		if most := strings.Count(string(raw), "\n"); len(got) > most {
			t.Fatalf("%d lines of %d", len(got), most)
		}
		for _, line := range got {
			if strings.ContainsAny(line, "\n") {
				t.Fatalf("a line with a break: %q", line)
			}
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	l := serverlog.New(serverlog.Options{Path: filepath.Join(b.TempDir(), "a.log")})
	defer l.Close()
	text := strings.Repeat("some words of a log line ", 5)
	b.ReportAllocs()
	for b.Loop() {
		l.Add("stderr", text)
	}
}
