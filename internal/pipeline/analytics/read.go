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

// most bounds what is believed of a number in a file, so that sums stay numbers. As a time it is in the year 2527.
const most = 1 << 44

// parse reads a line. ok is false for what this package has not written: no JSON object, one without a time, or one with
// a number that cannot be.
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
		if n < 0 || n > most {
			return Entry{}, false
		}
	}
	return e, true
}

// entries yields what is kept in dir from a time on, and before another; a zero time is not a bound. It comes by day and
// file, in the order in which it was written, with lines that are not calls but have Dropped. An error ends the sequence.
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

// eachLine calls f with the lines of a file until f returns an error. One that was pruned just now has none.
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
