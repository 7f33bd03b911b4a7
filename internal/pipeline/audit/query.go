package audit

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"collie/internal/sorting"
)

// This file reads records of all chains in the order of time.

// clockSlack is how far the clock of a file system may be behind the clock of the records.
const clockSlack = 2 * time.Second

// Query yields the records in dir that match f, all chains merged by time, oldest first. It skips lines that
// are not records, such as the incomplete last line of a chain that is being written; [Verify] checks those.
// An error ends the sequence.
func Query(ctx context.Context, dir string, f Filter) iter.Seq2[Entry, error] {
	m := f.matcher()
	return func(yield func(Entry, error) bool) {
		if f.Limit <= 0 {
			merge(ctx, dir, m, yield)
			return
		}
		found, _, err := newestEntries(ctx, dir, m, f.Limit)
		for _, e := range found {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

// merge yields all matching records. It opens a chain only when its time has come, so that ten thousand short
// chains do not need ten thousand open files.
func merge(ctx context.Context, dir string, m *matcher, yield func(Entry, error) bool) {
	ids, err := chainIDs(dir)
	if err != nil {
		yield(Entry{}, fmt.Errorf("query audit log: %w", err))
		return
	}
	var cursors cursorHeap
	for _, id := range ids {
		cursors = append(cursors, &cursor{chain: id, folder: filepath.Join(dir, id), at: startTime(id).Format(timeLayout)})
	}
	heap.Init(&cursors)
	for len(cursors) > 0 {
		c := cursors[0]
		if c.current != nil {
			if e, ok := m.decodeMatch(c.chain, c.current); ok && !yield(e, nil) {
				return
			}
		}
		ok, err := c.advance(ctx, m)
		if err != nil {
			yield(Entry{}, fmt.Errorf("query audit log: %w", err))
			return
		}
		if ok {
			heap.Fix(&cursors, 0)
		} else {
			heap.Pop(&cursors)
		}
	}
}

// cursor reads the records of one chain.
type cursor struct {
	chain, folder string
	at            string // time of current; before the first record, that of the chain's start
	opened        bool
	segments      []string // not read yet
	data          []byte   // not read yet, of the current segment
	current       *line
}

// startTime returns when a chain began, to the second below. No record of the chain is older.
func startTime(id string) time.Time {
	t, _ := time.Parse("20060102T150405Z", id[:len("20060102T150405Z")]) // zero if it is not a time, such as a 13th month
	return t
}

// advance moves to the next record; false means the end.
func (c *cursor) advance(ctx context.Context, m *matcher) (bool, error) {
	if !c.opened {
		var err error
		if c.segments, err = segments(c.folder); ignoreMissing(err) != nil {
			return false, err
		}
		c.opened = true
	}
	for !c.nextLine() {
		if len(c.segments) == 0 {
			return false, nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if err := c.nextSegment(m.Since); err != nil {
			return false, err
		}
	}
	return true, nil
}

// nextLine moves to the next record of the segment; false means its end.
func (c *cursor) nextLine() bool {
	for {
		raw, rest, ok := bytes.Cut(c.data, []byte{'\n'})
		if !ok {
			return false
		}
		c.data = rest
		if l, ok := parseLine(raw); ok {
			c.current, c.at = &l, string(l.time)
			return true
		}
	}
}

// nextSegment reads the next segment, unless all its records are older than since.
func (c *cursor) nextSegment(since time.Time) error {
	path := filepath.Join(c.folder, c.segments[0])
	c.segments, c.data = c.segments[1:], nil
	old, err := isOlderThan(path, since)
	if err != nil || old {
		return ignoreMissing(err)
	}
	c.data, err = os.ReadFile(path)
	return ignoreMissing(err) // it has been pruned meanwhile
}

// isOlderThan reports whether the file at path was last modified before t.
func isOlderThan(path string, t time.Time) (bool, error) {
	if t.IsZero() {
		return false, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	return info.ModTime().Add(clockSlack).Before(t), nil
}

// cursorHeap is a heap with the oldest record first.
type cursorHeap []*cursor

func (h cursorHeap) Len() int      { return len(h) }
func (h cursorHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h cursorHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].at, h[j].at), cmp.Compare(h[i].chain, h[j].chain)) < 0
}
func (h *cursorHeap) Push(x any) { *h = append(*h, x.(*cursor)) }
func (h *cursorHeap) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	*h = (*h)[:last]
	return c
}

// compareEntries orders entries by time, then by chain and number.
func compareEntries(a, b Entry) int { return compareMarks(a.Mark(), b.Mark()) }

// newestEntries returns the newest limit records that match m, oldest first, and up to which byte each file is done with: what
// comes later is newer. It reads the most recently written files first and stops when no other file can have newer records.
func newestEntries(ctx context.Context, dir string, m *matcher, limit int) ([]Entry, map[string]int64, error) {
	files, err := segmentFiles(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("query audit log: %w", err)
	}
	var found []Entry
	read := map[string]int64{}
	for _, f := range files {
		read[f.path] = f.size
		if len(found) == limit && (limit == 0 || f.written.Add(clockSlack).Before(found[0].Time)) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		data, err := os.ReadFile(f.path)
		if err = ignoreMissing(err); err != nil {
			return nil, nil, fmt.Errorf("query audit log: %w", err)
		}
		read[f.path] = int64(bytes.LastIndexByte(data, '\n') + 1)
		found = append(found, lastMatches(data, f.chain, m, limit)...)
		sorting.By(found, compareEntries)
		found = slices.Clone(found[max(0, len(found)-limit):])
	}
	return found, read, nil
}

// lastMatches returns the last limit records of a segment that match m, newest first.
func lastMatches(data []byte, chain string, m *matcher, limit int) []Entry {
	var found []Entry
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	for len(data) > 0 && len(found) < limit {
		data = data[:len(data)-1]
		start := bytes.LastIndexByte(data, '\n') + 1
		if l, ok := parseLine(data[start:]); ok {
			if e, ok := m.decodeMatch(chain, &l); ok {
				found = append(found, e)
			}
		}
		data = data[:start]
	}
	return found
}

// segmentInfo describes a segment file.
type segmentInfo struct {
	chain, path string
	written     time.Time
	size        int64
}

// segmentFiles returns the segments of all chains, the most recently written first.
func segmentFiles(dir string) ([]segmentInfo, error) {
	ids, err := chainIDs(dir)
	if err != nil {
		return nil, err
	}
	var files []segmentInfo
	for _, id := range ids {
		if files, err = appendSegments(files, dir, id); err != nil {
			return nil, err
		}
	}
	sorting.Stable(files, func(a, b segmentInfo) int { return b.written.Compare(a.written) })
	return files, nil
}

// appendSegments appends the segments of one chain, oldest first.
func appendSegments(files []segmentInfo, dir, id string) ([]segmentInfo, error) {
	names, err := segments(filepath.Join(dir, id))
	if err = ignoreMissing(err); err != nil {
		return nil, err
	}
	for _, name := range names {
		path := filepath.Join(dir, id, name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, segmentInfo{id, path, info.ModTime(), info.Size()})
	}
	return files, nil
}
