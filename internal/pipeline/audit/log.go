package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"collie/internal/tool"
)

// This file accepts records and hands them to the goroutine that writes.

// errClosed is returned for records after Close.
var errClosed = errors.New("audit log is closed")

// Defaults of [Options].
const (
	defaultSegmentBytes = 8 << 20
	defaultSegmentAge   = 24 * time.Hour
)

// Limits of what waits in memory. At the soft ones the writer starts at once; at the hard ones callers wait.
const (
	softRecords, hardRecords = 1 << 10, 8 << 10
	softBytes, hardBytes     = 1 << 20, 64 << 20
)

// Options of [Open]. The zero value works.
type Options struct {
	// Secrets are values that must not reach the disk, such as the configured tokens.
	Secrets []string
	// Content says how much of arguments and messages is kept; default ContentRedacted.
	Content Content
	// Version of the program, for the first record of the chain.
	Version string
	// SegmentBytes and SegmentAge bound one file; defaults 8 MiB and one day.
	SegmentBytes int64
	SegmentAge   time.Duration
	// Anchor is a file outside the folder to which signed heads are appended: with the first records of a chain, at
	// most every five minutes after that, and at its end. "" is none. A failure is logged and does not hold up records.
	Anchor string
	// Logger is told once when the log cannot be written, and once when it can again. Nil discards.
	Logger *slog.Logger

	create func(path string) (file, error) // replaced by tests
}

// file is the part of *os.File that the writer uses.
type file interface {
	Write([]byte) (int, error)
	Sync() error
	Truncate(size int64) error
	Close() error
}

// Log is the audit log of one process. It writes one chain into a folder that several processes share. It is
// safe for concurrent use. One goroutine writes; [Log.Append] says when callers wait.
type Log struct {
	dir  string
	wake chan struct{} // tells the writer to look at the fields below; capacity 1
	done chan struct{} // closed when the writer has ended

	redact    *Redactor
	mu        sync.Mutex
	cond      sync.Cond // signalled when the queue gets shorter or one of the fields below changes
	queue     []item
	bytes     int   // size of arguments and details in queue
	waiting   bool  // somebody waits until a record in queue is on disk
	readAhead bool  // read ahead for a first record
	lost      int   // records dropped since the last chain.gap
	opened    bool  // the chain exists
	err       error // why the log cannot be written now; nil if it can
	closed    bool
}

// item is a record in the queue.
type item struct {
	rec tool.Record
	// synced receives nil when the record is on disk, or the error. It is nil if nobody waits; otherwise its
	// capacity is at least 1.
	synced chan<- error
}

func (it *item) size() int { return len(it.rec.Args) + len(it.rec.Detail) }

// Open returns a Log that writes into dir. It does not touch the disk: folder and key are created with the
// first record. The caller closes the Log.
func Open(dir string, opts *Options) (*Log, error) {
	if opts == nil {
		opts = &Options{}
	}
	o := *opts
	switch o.Content {
	case "", ContentNone, ContentRedacted, ContentFull:
	default:
		return nil, fmt.Errorf("audit.content is %q, expected none, redacted or full", o.Content)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open audit log: %w", err)
	}
	o.SegmentBytes = cmp.Or(o.SegmentBytes, defaultSegmentBytes)
	o.SegmentAge = cmp.Or(o.SegmentAge, defaultSegmentAge)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.create == nil {
		o.create = createFile
	}
	l := &Log{dir: dir, wake: make(chan struct{}, 1), done: make(chan struct{})}
	l.cond.L = &l.mu
	l.redact = NewRedactor(o.Secrets, o.Content)
	go (&writer{log: l, opts: o, redact: l.redact}).run()
	return l, nil
}

// Hide adds secrets that are blanked in records from now on, because the settings have changed.
func (l *Log) Hide(secrets []string) { l.redact.Hide(secrets) }

func createFile(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
}

// Dir returns the folder of the log, an absolute path.
func (l *Log) Dir() string { return l.dir }

// Err returns why the log cannot be written now, nil if it can. The writer tries again every second.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Prepare makes the writer read in the background what it needs to begin its chain: the key, and the heads of
// other chains. The first record then has to wait less. Prepare writes nothing, and does nothing if the chain
// exists.
func (l *Log) Prepare() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readAhead = true
	l.wakeWriter()
}

// Append queues rec for the writer. It never waits for a sync, but it waits while the queue is full, and the
// first call waits until the chain exists. A zero Time becomes now. Args and Detail must not change
// afterwards.
//
// An error means that the log cannot be written now. As long as there is room, the record is kept in memory
// and written when the disk works again.
func (l *Log) Append(rec tool.Record) error { return l.enqueue(&rec, nil) }

// AppendSync is like [Log.Append], but waits until rec is on disk or ctx ends. The record is written even if ctx
// ends.
func (l *Log) AppendSync(ctx context.Context, rec tool.Record) error {
	synced := make(chan error, 1)
	if err := l.enqueue(&rec, synced); err != nil {
		return err
	}
	select {
	case err := <-synced:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Change records a change that a person made and waits until it is on disk: AppendSync with rec.Kind
// "change".
func (l *Log) Change(ctx context.Context, rec tool.Record) error {
	rec.Kind = kindChange
	return l.AppendSync(ctx, rec)
}

// enqueue appends to the queue. It wakes the writer if that is idle or much is waiting.
func (l *Log) enqueue(rec *tool.Record, synced chan<- error) error {
	stamp := orNow(rec.Time)
	l.mu.Lock()
	for !l.closed && l.err == nil && l.isFull() {
		l.cond.Wait()
	}
	defer l.mu.Unlock()
	if l.closed {
		return errClosed
	}
	if l.isFull() { // the queue is still full, since the disk fails
		l.lost++
		return l.err
	}
	l.queue = append(l.queue, item{*rec, synced})
	it := &l.queue[len(l.queue)-1]
	it.rec.Time = stamp
	l.bytes += it.size()
	l.waiting = l.waiting || synced != nil
	if len(l.queue) == 1 || l.isUrgent() {
		l.wakeWriter()
	}
	for !l.opened && l.err == nil && !l.closed {
		l.cond.Wait()
	}
	return l.err
}

// wakeWriter makes the writer look at the queue.
func (l *Log) wakeWriter() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *Log) isFull() bool { return len(l.queue) >= hardRecords || l.bytes >= hardBytes }

// isUrgent reports whether the writer must not wait for more records.
func (l *Log) isUrgent() bool {
	return l.closed || l.waiting || !l.opened || len(l.queue) >= softRecords || l.bytes >= softBytes
}

func (l *Log) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// Close writes all queued records, ends the chain, signs its head and waits for the writer. It returns an
// error if records could not be written. A second call returns the same.
func (l *Log) Close() error {
	l.mu.Lock()
	l.closed = true
	l.cond.Broadcast()
	l.wakeWriter()
	l.mu.Unlock()
	<-l.done
	return l.Err()
}
