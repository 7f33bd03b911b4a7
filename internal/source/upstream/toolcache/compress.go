package toolcache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// The ways to compress a file; the reader tells them by the first two bytes.
const (
	compressAuto = "auto" // gzip above compressAbove; the default
	compressNone = "none"
	compressGzip = "gzip"
)

const (
	compressAbove = 1 << 20
	maxFile       = 64 << 20  // as it lies on the disk
	maxExpanded   = 256 << 20 // after expansion
	maxRatio      = 200       // more than JSON ever gives: a bomb
	likelyRatio   = 32        // most that lists of tools give, where a file is large
	likelySize    = 8 << 20   // what a file may say of its length before it has shown anything
)

// compressed packs a file as the setting says.
func compressed(data []byte, setting string) ([]byte, error) {
	above := compressAbove
	switch setting {
	case compressNone:
		return data, nil
	case compressGzip:
		above = 0
	}
	packed, err := Pack(data, above)
	if len(data) > maxRatio*len(packed) { // the reader would take it for a bomb
		return data, err
	}
	return packed, err
}

// Pack compresses what is longer than above, where that helps. [Unpack] undoes it.
func Pack(data []byte, above int) ([]byte, error) {
	if len(data) <= above {
		return data, nil
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if b.Len() >= len(data) {
		return data, nil
	}
	return b.Bytes(), nil
}

func isCompressed(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) }

var errExpands = errors.New("it expands to more than a cache file can hold")

// Plain returns a cache file as text, whether it is compressed or not.
func Plain(data []byte) ([]byte, error) { return Unpack(data, min(maxExpanded, maxRatio*len(data))) }

// Unpack returns what [Pack] was given. What expands to more than limit is an error.
func Unpack(data []byte, limit int) ([]byte, error) {
	if !isCompressed(data) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read gzip: %w", err)
	}
	var b bytes.Buffer
	b.Grow(min(expanded(data), max(likelyRatio*len(data), likelySize), limit) + bytes.MinRead) // ReadFrom wants so much room at the end, to see that it is one
	if _, err := b.ReadFrom(io.LimitReader(r, int64(limit)+1)); err != nil {
		return nil, fmt.Errorf("read gzip: %w", err)
	}
	if b.Len() > limit {
		return nil, errExpands
	}
	return b.Bytes(), nil
}

// expanded is how much a file says that it expands to, in its last four bytes, which nothing has checked yet.
func expanded(data []byte) int {
	return int(binary.LittleEndian.Uint32(data[len(data)-4:]))
}
