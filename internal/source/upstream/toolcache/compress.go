package toolcache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// This file compresses cache files, and expands them within limits.

// The compression settings; the reader recognizes gzip by its first two bytes.
const (
	compressAuto = "auto" // gzip above compressAbove; the default
	compressNone = "none"
	compressGzip = "gzip"
)

const (
	compressAbove = 1 << 20
	maxFile       = 64 << 20  // size on the disk
	maxExpanded   = 256 << 20 // after expansion
	maxRatio      = 200       // more than JSON ever gives, so it is a bomb
	likelyRatio   = 32        // the most that large lists of tools give
	likelySize    = 8 << 20   // up to this size a file's own claim of its length is believed
)

// compress compresses a file as the setting says.
func compress(data []byte, setting string) ([]byte, error) {
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

// Pack compresses data longer than above, if that makes it smaller. [Unpack] reverses it.
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

// Unpack returns what [Pack] was given. It fails if that would exceed limit.
func Unpack(data []byte, limit int) ([]byte, error) {
	if !isCompressed(data) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read gzip: %w", err)
	}
	var b bytes.Buffer
	b.Grow(min(claimedSize(data), max(likelyRatio*len(data), likelySize), limit) + bytes.MinRead) // bytes.MinRead more, which ReadFrom needs to notice the end
	if _, err := b.ReadFrom(io.LimitReader(r, int64(limit)+1)); err != nil {
		return nil, fmt.Errorf("read gzip: %w", err)
	}
	if b.Len() > limit {
		return nil, errExpands
	}
	return b.Bytes(), nil
}

// claimedSize returns the uncompressed length that a gzip file claims in its last four bytes. Nothing has checked it
// yet.
func claimedSize(data []byte) int {
	return int(binary.LittleEndian.Uint32(data[len(data)-4:]))
}
