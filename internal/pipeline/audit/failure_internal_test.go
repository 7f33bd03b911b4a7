package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/tool"
	"collie/test/await"
)

var errDisk = errors.New("no space left")

// failingFile is a segment on a disk that a test can make fail.
type failingFile struct {
	*os.File
	full, noSync *atomic.Bool
}

// Write writes half of p if the disk is full.
func (f failingFile) Write(p []byte) (int, error) {
	if !f.full.Load() {
		return f.File.Write(p)
	}
	n, err := f.File.Write(p[:len(p)/2])
	return n, errors.Join(err, errDisk)
}

func (f failingFile) Sync() error {
	if f.noSync.Load() {
		return errDisk
	}
	return f.File.Sync()
}

type failingDisk struct{ full, noSync atomic.Bool }

func (d *failingDisk) create(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	return failingFile{f, &d.full, &d.noSync}, err
}

func newRecordWithID(id string) tool.Record { return tool.Record{Kind: "call.start", CallID: id} }

func checkIntact(t *testing.T, dir string, records int) {
	t.Helper()
	r, err := Verify(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() || r.Records() != records {
		t.Errorf("report = %+v, want %d good records", r, records)
	}
}

// Nothing is lost while the disk is full, and the log warns once.
func TestDiskFullAndBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		for _, broken := range []string{"write", "sync"} {
			var d failingDisk
			var warned bytes.Buffer
			sub := filepath.Join(dir, broken)
			l, err := Open(sub, &Options{create: d.create, Logger: slog.New(slog.NewTextHandler(&warned, nil))})
			if err != nil {
				t.Fatal(err)
			}
			if err := l.AppendSync(t.Context(), newRecordWithID("before")); err != nil {
				t.Fatal(err)
			}
			(map[string]*atomic.Bool{"write": &d.full, "sync": &d.noSync})[broken].Store(true)
			if err := l.AppendSync(t.Context(), newRecordWithID("sync")); !errors.Is(err, errDisk) {
				t.Errorf("AppendSync = %v, want %v", err, errDisk)
			}
			for range 10 {
				if err := l.Append(newRecordWithID("during")); !errors.Is(err, errDisk) {
					t.Errorf("Append = %v, want %v", err, errDisk)
				}
				await.Sleep(3 * time.Second)
			}
			d.full.Store(false)
			d.noSync.Store(false)
			await.Sleep(2 * time.Second)
			if err := l.Append(newRecordWithID("after")); err != nil {
				t.Errorf("Append = %v, want that the log is back", err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			checkIntact(t, sub, 1+1+1+10+1+1)
			if n := strings.Count(warned.String(), "WARN"); n != 1 {
				t.Errorf("%d warnings, want 1:\n%s", n, warned.String())
			}
		}
	})
}

// After one record could not be written, the next one gets an error too: with onFailure "refuse" that decides
// whether a call may run.
func TestNoRecordPassesAfterOneFailed(t *testing.T) {
	t.Parallel()
	for range 60 {
		var d failingDisk
		l, err := Open(t.TempDir(), &Options{create: d.create})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.AppendSync(t.Context(), newRecordWithID("before")); err != nil {
			t.Fatal(err)
		}
		d.full.Store(true)
		if err := l.AppendSync(t.Context(), newRecordWithID("failed")); !errors.Is(err, errDisk) {
			t.Fatalf("AppendSync = %v, want %v", err, errDisk)
		}
		if err := l.Append(newRecordWithID("next")); !errors.Is(err, errDisk) {
			t.Fatalf("Append = %v, want %v", err, errDisk)
		}
		d.full.Store(false)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Records that do not fit in memory are counted.
func TestGap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var d failingDisk
	l, err := Open(dir, &Options{create: d.create})
	if err != nil {
		t.Fatal(err)
	}
	d.full.Store(true)
	const all = 3 * hardRecords
	for range all {
		_ = l.Append(newRecordWithID("x"))
	}
	d.full.Store(false)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	n, dropped := 0, 0
	for e, err := range Query(t.Context(), dir, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == kindGap {
			var gap struct{ Dropped int }
			if err := json.Unmarshal(e.Detail, &gap); err != nil {
				t.Fatal(err)
			}
			dropped += gap.Dropped
		}
		if e.CallID == "x" {
			n++
		}
	}
	// The queue holds hardRecords. Where appending takes longer than the writer waits before it tries again, it takes the queue, which has
	// room then, and the gap so far.
	if n < hardRecords || dropped == 0 || n+dropped != all {
		t.Errorf("%d records and gaps of %d, want at least %d and all others counted", n, dropped, hardRecords)
	}
	if r, _ := Verify(t.Context(), dir, ""); !r.OK() {
		t.Errorf("report = %+v", r)
	}
}

// If somebody removes the folder, the next commit notices.
func TestFolderRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.AppendSync(t.Context(), newRecordWithID("1")); err != nil {
		t.Fatal(err)
	}
	ids, err := chainIDs(dir)
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, ids[0])); err != nil {
		t.Fatal(err)
	}
	if err := l.AppendSync(t.Context(), newRecordWithID("2")); err == nil {
		t.Error("a record in a removed file counts as on disk")
	}
}

// Records reach the file within 10 ms and the disk within 200 ms.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l, err := Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_ = l.Append(newRecordWithID("1"))
		await.Sleep(200 * time.Millisecond)
		synctest.Wait()
		for i := range 3 {
			_ = l.Append(newRecordWithID("2"))
			await.Sleep(batchTime + time.Millisecond)
			synctest.Wait()
			r, err := Verify(t.Context(), dir, "")
			if err != nil || r.Records() != i+3 || r.Chains[0].Uncovered != 1 {
				t.Errorf("after %v: %+v, %v; want one record more that is not covered", batchTime, r, err)
			}
			await.Sleep(200*time.Millisecond - batchTime)
			synctest.Wait()
			if r, err = Verify(t.Context(), dir, ""); err != nil || r.Chains[0].Uncovered != 0 {
				t.Errorf("after 200 ms: %+v, %v; want all covered", r, err)
			}
		}
	})
}

func TestSegmentAge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l, err := Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			_ = l.Append(newRecordWithID("x"))
			await.Sleep(25 * time.Hour)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		ids, _ := chainIDs(dir)
		names, err := segments(filepath.Join(dir, ids[0]))
		if err != nil || len(names) != 4 { // the last one for chain.end
			t.Errorf("segments = %v, %v, want one a day", names, err)
		}
	})
	checkIntact(t, dir, 5)
}

// A caller waits while the queue is full, and goes on when it is not.
func TestFullQueueWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	const n = 3 * hardRecords
	for range n {
		if err := l.Append(newRecordWithID("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	checkIntact(t, dir, n+2)
}

// An incomplete line at the end of a segment does no harm if the next segment continues the chain.
func TestTornSegmentInTheMiddle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := Open(dir, &Options{SegmentBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	_ = l.AppendSync(t.Context(), newRecordWithID("1"))
	_ = l.AppendSync(t.Context(), newRecordWithID("2"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ids, _ := chainIDs(dir)
	f, err := os.OpenFile(filepath.Join(dir, ids[0], "000001.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, `{"v":1,"seq":2`); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	checkIntact(t, dir, 4)
}
