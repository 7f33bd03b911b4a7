package process

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is where a line of stderr is cut.
const maxLine = 64 << 10

// usualLine is what a reader keeps room for: there is one for each child, and lines are short.
const usualLine = 4 << 10

// eachLine calls line for every line of r until r ends: without its break, cut at
// maxLine. What follows the last break is a line too.
func eachLine(r io.Reader, line func([]byte)) {
	br := bufio.NewReaderSize(r, usualLine)
	var long []byte // the beginning of a line that is longer than usual
	for {
		chunk, err := br.ReadSlice('\n')
		more := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case more:
			long = append(long, chunk[:min(len(chunk), maxLine-len(long))]...)
		case len(long) > 0:
			line(bytes.TrimRight(append(long, chunk[:min(len(chunk), maxLine-len(long))]...), "\r\n"))
			long = nil // not to keep the room
		case len(chunk) > 0:
			line(bytes.TrimRight(chunk, "\r\n"))
		}
		if err != nil && !more {
			return
		}
	}
}
