package analytics

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"collie/internal/sorting"
)

// This file keeps the entries in one or more files per day, and removes old ones.

// folder is the folder with the files.
type folder struct {
	dir      string
	maxFile  int64
	maxFiles int
}

// dayFile is one file of a day; a day has several if one gets full.
type dayFile struct {
	day   string
	index int
}

const (
	dayForm   = "2006-01-02"
	extension = ".jsonl"
)

// dayOf returns the day (UTC) of a time in milliseconds.
func dayOf(ts int64) string { return time.UnixMilli(ts).UTC().Format(dayForm) }

func (p dayFile) name() string {
	if p.index == 0 {
		return p.day + extension
	}
	return p.day + extension + "." + strconv.Itoa(p.index)
}

// parsePart is the reverse of name; ok is false for other names.
func parsePart(name string) (dayFile, bool) {
	day, rest, ok := strings.Cut(name, extension)
	if _, err := time.Parse(dayForm, day); !ok || err != nil {
		return dayFile{}, false
	}
	p := dayFile{day: day}
	if rest != "" {
		p.index, _ = strconv.Atoi(strings.TrimPrefix(rest, "."))
	}
	return p, p.name() == name
}

// parts returns the existing files, oldest first; none if the folder does not exist.
func (f folder) parts() ([]dayFile, error) {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []dayFile
	for _, e := range entries {
		if p, ok := parsePart(e.Name()); ok && e.Type().IsRegular() {
			out = append(out, p)
		}
	}
	sorting.By(out, func(a, b dayFile) int {
		return cmp.Or(strings.Compare(a.day, b.day), a.index-b.index)
	})
	return out, err
}

// prune removes the files of all days before that of t.
func (f folder) prune(t time.Time) error {
	parts, err := f.parts()
	first := t.UTC().Format(dayForm)
	for _, p := range parts {
		if p.day >= first {
			break
		}
		if e := os.Remove(filepath.Join(f.dir, p.name())); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e) // another process may have removed it first
		}
	}
	return err
}

// append writes lines to the files of a day and returns how many bytes of them were written as whole lines. A
// line larger than the limit of a file gets a file of its own.
func (f folder) append(day string, lines []byte) (done int, err error) {
	for index := 0; done < len(lines); index++ {
		if index >= f.maxFiles {
			return done, fmt.Errorf("the %d files of %s are full", f.maxFiles, day)
		}
		n, err := f.appendFitting(dayFile{day, index}, lines[done:])
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// appendFitting appends as many whole lines as one file has room for. Since other processes append to the same file,
// it uses a single write.
func (f folder) appendFitting(p dayFile, lines []byte) (int, error) {
	path := filepath.Join(f.dir, p.name())
	size, torn, err := inspectFile(path)
	if err != nil {
		return 0, err
	}
	n := fittingLines(lines, f.maxFile-size)
	if n == 0 && size == 0 {
		n = bytes.IndexByte(lines, '\n') + 1
	}
	if n == 0 {
		return 0, nil
	}
	w, err := openAppend(path)
	if err != nil {
		return 0, err
	}
	piece := lines[:n]
	if torn {
		piece = append([]byte("\n"), piece...)
	}
	wrote, err := w.Write(piece)
	if err = errors.Join(err, w.Close()); err == nil {
		return n, nil
	}
	if torn {
		wrote--
	}
	return bytes.LastIndexByte(lines[:max(0, wrote)], '\n') + 1, err
}

// fittingLines returns how many bytes of lines, in whole lines, fit into room bytes.
func fittingLines(lines []byte, room int64) int {
	if int64(len(lines)) <= room {
		return len(lines)
	}
	return bytes.LastIndexByte(lines[:max(0, room)], '\n') + 1
}

// inspectFile returns the size of a file, and whether it ends in an incomplete line. A missing file has size 0.
func inspectFile(path string) (size int64, torn bool, err error) {
	r, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil || info.Size() == 0 {
		return 0, false, err
	}
	var end [1]byte
	_, err = r.ReadAt(end[:], info.Size()-1)
	return info.Size(), err == nil && end[0] != '\n', err
}

func openAppend(path string) (*os.File, error) {
	const flags = os.O_APPEND | os.O_CREATE | os.O_WRONLY
	w, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		w, err = os.OpenFile(path, flags, 0o600)
	}
	return w, err
}
