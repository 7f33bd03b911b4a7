package process

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is where a line of stderr is cut.
const maxLine = 64 << 10

// eachLine calls line for every line of r until r ends: without its break, cut at
// maxLine. What follows the last break is a line too.
func eachLine(r io.Reader, line func([]byte)) {
	br := bufio.NewReaderSize(r, maxLine)
	rest := false // inside a line that was cut
	for {
		chunk, err := br.ReadSlice('\n')
		if !rest && (len(chunk) > 0) {
			line(bytes.TrimRight(chunk, "\r\n"))
		}
		rest = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !rest {
			return
		}
	}
}
