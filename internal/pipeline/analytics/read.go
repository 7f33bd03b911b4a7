package analytics

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"
)

// maxNumber is the largest number that is accepted from a file, so that sums do not overflow. As a time it is in
// the year 2527.
const maxNumber = 1 << 44

// parse parses a line. ok is false for a line that this package cannot have written: not a JSON object, no
// time, or a number out of range.
func parse(raw []byte) (e Entry, ok bool) {
	var line struct {
		Entry
		Note    string `json:"note"`
		Dropped int64  `json:"dropped"`
	}
	if json.Unmarshal(raw, &line) != nil || line.TS <= 0 {
		return Entry{}, false
	}
	e = line.Entry
	if line.Note == noteDropped {
		e.Dropped = line.Dropped
	}
	for _, n := range []float64{float64(e.TS), e.DurationMs, float64(e.RequestApproxTokens), float64(e.ResponseApproxTokens), float64(e.Dropped)} {
		if n < 0 || n > maxNumber {
			return Entry{}, false
		}
	}
	return e, true
}

// entries yields the entries in dir in [from, before); a zero time means no bound. They come by day and file,
// in the order of writing. Notes about dropped calls are included, with Dropped set. An error ends the
// sequence.
func entries(ctx context.Context, dir string, from, before time.Time) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		parts, err := folder{dir: dir}.parts()
		for _, p := range parts {
			if err != nil || !from.IsZero() && p.day < dayOf(from.UnixMilli()) || !before.IsZero() && p.day > dayOf(before.UnixMilli()-1) {
				continue
			}
			err = eachLine(filepath.Join(dir, p.name()), func(line []byte) error {
				e, ok := parse(line)
				if !ok || !from.IsZero() && e.TS < from.UnixMilli() || !before.IsZero() && e.TS >= before.UnixMilli() {
					return ctx.Err()
				}
				if !yield(e, nil) {
					return errEnough
				}
				return ctx.Err()
			})
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(Entry{}, fmt.Errorf("read analytics: %w", err))
		}
	}
}

var errEnough = errors.New("enough")

// eachLine calls f with each line of a file until f returns an error. A file that was just pruned counts as
// empty.
func eachLine(path string, f func([]byte) error) error {
	file, err := os.Open(filepath.Clean(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	for in := bufio.NewReaderSize(file, 64<<10); ; {
		line, err := in.ReadBytes('\n')
		if wrong := f(line); wrong != nil {
			return wrong
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
