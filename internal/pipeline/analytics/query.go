package analytics

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"
)

// maxLine bounds a line that is read; longer ones are passed over.
const maxLine = 1 << 20

// Read yields the entries in r, in their order. Lines that are none, such as one that a crash
// has torn, are passed over; an error is about reading and ends the sequence.
func Read(r io.Reader) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		for {
			line, err := readLine(in)
			if e, ok := Parse(line); ok && !yield(e, nil) {
				return
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
		}
	}
}

// readLine returns the next line, nothing in place of one that is too long.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		piece, err := in.ReadSlice('\n')
		if long = long || len(line)+len(piece) > maxLine; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Query yields the entries in dir from a time on, and before another; a zero time is not a bound.
// They come by day and file, in the order in which they were written, and include those with
// Dropped, which are not calls. An error ends the sequence.
func Query(ctx context.Context, dir string, from, before time.Time) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		parts, err := folder{dir: dir}.parts()
		if err != nil {
			yield(Entry{}, fmt.Errorf("read analytics: %w", err))
			return
		}
		q := query{dir: dir, from: 0, before: most + 1}
		if !from.IsZero() {
			q.from = from.UnixMilli()
		}
		if !before.IsZero() {
			q.before = before.UnixMilli()
		}
		for _, p := range parts {
			if p.day >= dayOf(q.from) && p.day <= dayOf(q.before-1) && !q.part(ctx, p, yield) {
				return
			}
		}
	}
}

type query struct {
	dir          string
	from, before int64
}

// part yields what a file has; false ends the sequence.
func (q *query) part(ctx context.Context, p part, yield func(Entry, error) bool) bool {
	f, err := os.Open(filepath.Join(q.dir, p.name()))
	if errors.Is(err, fs.ErrNotExist) {
		return true // it was pruned just now
	}
	if err != nil {
		yield(Entry{}, fmt.Errorf("read analytics: %w", err))
		return false
	}
	defer f.Close() //nolint:errcheck // read only
	for e, err := range Read(f) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			yield(Entry{}, fmt.Errorf("read analytics: %w", err))
			return false
		}
		if e.TS >= q.from && e.TS < q.before && !yield(e, nil) {
			return false
		}
	}
	return true
}
