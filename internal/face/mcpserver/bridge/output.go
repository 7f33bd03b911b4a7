package bridge

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
)

// output writes messages as lines. A client that does not read holds its writers, and with
// them the exchanges that bring more.
type output struct {
	w   io.Writer
	log *slog.Logger

	mu     sync.Mutex
	buf    []byte
	broken bool
}

// joined is the size up to which a message is copied to be written with its line end at once.
const joined = 64 << 10

// line writes one message and does not keep or change raw.
func (o *output) line(raw []byte) {
	raw = oneLine(raw)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken {
		return
	}
	var err error
	if len(raw) < joined {
		o.buf = append(append(o.buf[:0], raw...), '\n')
		_, err = o.w.Write(o.buf)
	} else if _, err = o.w.Write(raw); err == nil {
		_, err = o.w.Write([]byte{'\n'})
	}
	if err != nil {
		o.broken = true
		o.log.Debug("message not written", "error", err)
	}
}

// oneLine returns raw without line breaks, which in JSON stand only between tokens.
func oneLine(raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	out := bytes.Clone(raw)
	for i, c := range out {
		if c == '\n' || c == '\r' {
			out[i] = ' '
		}
	}
	return out
}
