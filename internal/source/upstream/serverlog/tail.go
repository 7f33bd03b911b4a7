package serverlog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"

	"collie/internal/tool"
)

// This file reads log files and follows them, also across a rotation.

// poll is how often a file is checked for new lines.
const poll = 250 * time.Millisecond

// Tail yields the lines that match f from the log file at path and its rotated files, oldest first. With f.Follow it
// goes on with new lines until ctx ends. Lines in another format are skipped, and missing files count as empty. An
// error ends the sequence.
func Tail(ctx context.Context, path string, f tool.LogFilter) iter.Seq2[tool.LogLine, error] {
	return func(yield func(tool.LogLine, error) bool) {
		file := &File{Path: path}
		opened, err := file.openAll()
		defer closeAll(opened)
		if err != nil {
			yield(tool.LogLine{}, err)
			return
		}
		lines, rest, err := readAll(opened, f)
		for _, line := range last(lines, f.Last) {
			if !yield(line, nil) {
				return
			}
		}
		if err != nil {
			yield(tool.LogLine{}, err)
			return
		}
		if f.Follow {
			t := &follower{path: path, filter: f, rest: rest}
			if len(opened) > 0 {
				t.file = opened[len(opened)-1]
			}
			defer t.close()
			t.run(ctx, yield)
		}
	}
}

// read returns the lines of all files that match filter, oldest first. It ignores filter.Last.
func (f *File) read(filter tool.LogFilter) ([]tool.LogLine, error) {
	opened, err := f.openAll()
	defer closeAll(opened)
	if err != nil {
		return nil, err
	}
	lines, _, err := readAll(opened, filter)
	return lines, err
}

// openAll returns the files opened, oldest first. It opens them newest first and skips one that it has already opened
// under another name, so that a rotation in between makes no line appear twice or be missed.
func (f *File) openAll() ([]*os.File, error) {
	var out []*os.File
	var known []fs.FileInfo
	for i := range max(f.files(), 100) { // another process may have kept more files
		r, err := os.Open(f.name(i))
		if errors.Is(err, fs.ErrNotExist) {
			if i == 0 {
				continue // perhaps being rotated right now
			}
			break
		}
		if err != nil {
			return out, err
		}
		info, err := r.Stat()
		isOpen := func(k fs.FileInfo) bool { return os.SameFile(k, info) }
		if err != nil || slices.ContainsFunc(known, isOpen) {
			_ = r.Close() // nothing was written to it
			if err != nil {
				return out, err
			}
			continue
		}
		out, known = append(out, r), append(known, info)
	}
	slices.Reverse(out)
	return out, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // nothing was written to them
	}
}

// readAll reads files to their ends. rest is the unfinished line at the end of the last one.
func readAll(files []*os.File, f tool.LogFilter) (lines []tool.LogLine, rest []byte, err error) {
	for _, r := range files {
		if info, err := r.Stat(); err == nil && info.ModTime().Before(f.Since) {
			if _, err := r.Seek(0, io.SeekEnd); err == nil {
				continue // all its lines are too old
			}
		}
		rest, err = eachLine(r, nil, func(line tool.LogLine) bool {
			if matchesFilter(f, line) {
				lines = append(lines, line)
			}
			if f.Last > 0 && len(lines) > 2*f.Last+1024 {
				lines = slices.Clone(last(lines, f.Last)) // a copy, to free the other lines
			}
			return true
		})
		if err != nil {
			return lines, nil, err
		}
	}
	return lines, rest, nil
}

// eachLine calls f for each line of r until f returns false; rest is the beginning of the first line. It returns the
// unfinished line at the end.
func eachLine(r io.Reader, rest []byte, f func(tool.LogLine) bool) ([]byte, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		part, err := br.ReadSlice('\n')
		if len(rest) <= maxBytes { // anything longer is not a line of ours
			rest = append(rest, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return rest, nil
		case err != nil:
			return rest, err
		}
		if line, ok := parseLine(string(bytes.TrimRight(rest, "\r\n"))); ok && !f(line) {
			return nil, nil
		}
		rest = rest[:0]
	}
}

// follower reads what is appended to a file, and continues with the next file after a rotation.
type follower struct {
	path   string
	filter tool.LogFilter
	file   *os.File // nil until the file exists
	own    bool     // file was opened by the follower
	rest   []byte   // beginning of an unfinished line
}

func (t *follower) run(ctx context.Context, yield func(tool.LogLine, error) bool) {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		more := true
		err := t.look(func(line tool.LogLine) bool {
			more = !matchesFilter(t.filter, line) || yield(line, nil)
			return more
		})
		if err != nil && more {
			yield(tool.LogLine{}, err)
		}
		if err != nil || !more {
			return
		}
	}
}

// look reads what is new. It first reads a rotated file to its end.
func (t *follower) look(f func(tool.LogLine) bool) error {
	stopped := false
	each := func(line tool.LogLine) bool {
		stopped = !f(line)
		return !stopped
	}
	for !stopped {
		current, err := os.Stat(t.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if t.file != nil {
			if t.rest, err = eachLine(t.file, t.rest, each); err != nil || stopped {
				return err
			}
			mine, err := t.file.Stat()
			if err != nil || current == nil {
				return err
			}
			if os.SameFile(mine, current) {
				if begun, err := t.beginAnew(mine.Size()); err != nil || !begun {
					return err
				}
				continue
			}
		}
		if current == nil {
			return nil
		}
		t.close()
		next, err := os.Open(t.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // being rotated again
		}
		if err != nil {
			return err
		}
		t.file, t.own, t.rest = next, true, nil
	}
	return nil
}

// beginAnew goes to the beginning of the file if it has been emptied since, as it is where no older file is kept. size is what it has
// now.
func (t *follower) beginAnew(size int64) (begun bool, err error) {
	at, err := t.file.Seek(0, io.SeekCurrent)
	if err != nil || at <= size {
		return false, err
	}
	_, err = t.file.Seek(0, io.SeekStart)
	t.rest = nil
	return err == nil, err
}

func (t *follower) close() {
	if t.own && t.file != nil {
		_ = t.file.Close() // nothing was written to it
	}
	t.file = nil
}
