package audit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"time"

	"collie/internal/sorting"
)

// This file follows the log as it is written.

// pollTime is how often Tail looks for new records.
const pollTime = 250 * time.Millisecond

// Tail yields the newest n records of all chains in dir, oldest first. With follow it goes on with new ones,
// also of new chains and segments, until ctx ends. An error ends the sequence; the end of ctx is not an
// error.
func Tail(ctx context.Context, dir string, n int, follow bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		found, read, err := newestEntries(ctx, dir, Filter{}.matcher(), max(n, 0))
		f := &follower{dir: dir, read: read, seen: map[string]time.Time{}}
		for err == nil {
			for _, e := range found {
				if !yield(e, nil) {
					return
				}
			}
			if !follow {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(pollTime):
			}
			found, err = f.readNew()
		}
		if ctx.Err() == nil {
			yield(Entry{}, fmt.Errorf("follow audit log: %w", err))
		}
	}
}

// follower remembers what was read of each chain.
type follower struct {
	dir  string
	read map[string]int64     // bytes read, by segment
	seen map[string]time.Time // when the folder last changed, by chain
}

// readNew returns the records that were written since the last call.
func (f *follower) readNew() ([]Entry, error) {
	ids, err := chainIDs(f.dir)
	if err != nil {
		return nil, err
	}
	var found []Entry
	for _, id := range ids {
		if !f.mayHaveChanged(id) {
			continue
		}
		files, err := appendSegments(nil, f.dir, id)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			more, err := f.readRest(file)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
	}
	sorting.By(found, compareEntries)
	return found, nil
}

// mayHaveChanged reports whether a chain may have new records. Each commit replaces the head and so changes the
// folder. That saves looking into thousands of chains that have ended.
func (f *follower) mayHaveChanged(id string) bool {
	info, err := os.Stat(filepath.Join(f.dir, id))
	if err != nil {
		return false // removed in the meantime
	}
	before := f.seen[id]
	f.seen[id] = info.ModTime()
	return !before.Equal(info.ModTime()) || time.Since(info.ModTime()) < clockSlack
}

// readRest returns the complete lines of a segment that were not read yet.
func (f *follower) readRest(file segmentInfo) ([]Entry, error) {
	from := f.read[file.path]
	if file.size <= from {
		return nil, nil
	}
	data, err := readFrom(file.path, from)
	if err != nil {
		return nil, err
	}
	f.read[file.path] = from + int64(bytes.LastIndexByte(data, '\n')+1)
	var found []Entry
	m := Filter{}.matcher()
	for _, raw := range wholeLines(data) {
		if l, ok := parseLine(raw); ok {
			if e, ok := m.decodeMatch(file.chain, &l); ok {
				found = append(found, e)
			}
		}
	}
	return found, nil
}

func readFrom(path string, offset int64) ([]byte, error) {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}
