package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// This file reads lines of the log without decoding them as a whole.

// A line starts and ends with fields at known places, so that a verifier or a filter by time need not decode
// the rest.
const (
	linePrefix = `{"v":1,"seq":`
	timeMark   = `,"ts":"`
	prevMark   = `,"prev":"`
	hexLen     = 2 * sha256.Size
	tailLen    = len(prevMark) + hexLen + 1 + len(hashMark) + hexLen + len(`"}`)
)

// line is a record in a segment. Its slices point into the segment.
type line struct {
	raw        []byte // without the line feed
	seq        uint64
	time       []byte // in timeLayout, so that times can be compared as bytes
	prev, hash [sha256.Size]byte
}

// parseLine reads the fields at known places. It does not check the hash.
func parseLine(raw []byte) (line, bool) {
	l := line{raw: raw}
	rest, ok := bytes.CutPrefix(raw, []byte(linePrefix))
	if !ok || len(rest) < tailLen {
		return l, false
	}
	digits, rest, ok := bytes.Cut(rest, []byte(timeMark))
	if !ok || len(rest) < len(timeLayout)+tailLen {
		return l, false
	}
	var err error
	if l.seq, err = strconv.ParseUint(string(digits), 10, 64); err != nil {
		return l, false
	}
	l.time = rest[:len(timeLayout)]
	tail := rest[len(rest)-tailLen:]
	if !cutHash(&l.prev, &tail, prevMark) || !bytes.HasPrefix(tail, []byte(`"`)) {
		return l, false
	}
	tail = tail[1:]
	if !cutHash(&l.hash, &tail, hashMark) {
		return l, false
	}
	return l, string(tail) == `"}`
}

// cutHash removes mark and the hash behind it from the start of s, and decodes the hash into sum. It returns false, and
// leaves s as it is, if s does not begin so.
func cutHash(sum *[sha256.Size]byte, s *[]byte, mark string) bool {
	rest, ok := bytes.CutPrefix(*s, []byte(mark))
	if !ok {
		return false
	}
	if _, err := hex.Decode(sum[:], rest[:hexLen]); err != nil {
		return false
	}
	*s = rest[hexLen:]
	return true
}

// body returns the part of the line that the hash covers.
func (l *line) body() []byte {
	return l.raw[:len(l.raw)-len(hashMark)-hexLen-len(`"}`)]
}

// isIntact reports whether the line's hash is correct.
func (l *line) isIntact() bool { return chainHash(l.prev, l.body()) == l.hash }

func (l *line) when() time.Time {
	t, err := time.Parse(timeLayout, string(l.time))
	if err != nil {
		return time.Time{}
	}
	return t
}

// wholeLines yields the complete lines of data with their numbers from 1, without the line feed.
func wholeLines(data []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for n := 1; ; n++ {
			raw, rest, ok := bytes.Cut(data, []byte{'\n'})
			if !ok || !yield(n, raw) {
				return
			}
			data = rest
		}
	}
}

// readStart reads the first record of the chain in folder.
func readStart(folder string) ([]byte, bool) {
	names, err := segments(folder)
	if err != nil || len(names) == 0 {
		return nil, false
	}
	f, err := os.Open(filepath.Join(folder, names[0]))
	if err != nil {
		return nil, false
	}
	defer f.Close()
	// The first record names at most namedHeads chains, about 150 bytes each.
	data := make([]byte, 64<<10)
	n, _ := f.Read(data)
	raw, _, ok := bytes.Cut(data[:n], []byte{'\n'})
	return raw, ok
}

// hasKind reports whether raw, a valid line, is a record of that kind.
func hasKind(raw []byte, kind string) bool {
	i := len(linePrefix)
	for i < len(raw) && raw[i] != ',' {
		i++
	}
	i += len(timeMark) + len(timeLayout)
	return i < len(raw) && bytes.HasPrefix(raw[i:], []byte(`","kind":"`+kind+`"`))
}

// isNewer reports whether raw was written in a later format.
func isNewer(raw []byte) bool {
	rest, ok := bytes.CutPrefix(raw, []byte(`{"v":`))
	n, _, found := bytes.Cut(rest, []byte{','})
	v, err := strconv.Atoi(string(n))
	return ok && found && err == nil && v > format
}
