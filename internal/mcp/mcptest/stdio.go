package mcptest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

// This file serves over stdio.

// smallFrame is the size, in bytes, up to which the parts of a message are copied together and written at
// once.
const smallFrame = 64 << 10

// pipe is the outlet for stdio: one message per line, a small one in a single write.
type pipe struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
}

func (p *pipe) sendResponse(_ int, parts ...[]byte) {
	if len(parts) > 0 {
		p.sendEvent(parts...)
	}
}

func (p *pipe) sendEvent(parts ...[]byte) {
	n := 1
	for _, part := range parts {
		n += len(part)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n <= smallFrame {
		p.buf = p.buf[:0]
		for _, part := range parts {
			p.buf = append(p.buf, part...)
		}
		p.buf = append(p.buf, '\n')
		p.write(p.buf)
		return
	}
	for _, part := range parts {
		p.write(part)
	}
	p.write([]byte("\n"))
}

func (p *pipe) sendRaw(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.write(b)
}

// write ignores errors: if the client went away, stdin ends too.
func (p *pipe) write(b []byte) { _, _ = p.w.Write(b) }

// serveStdio serves one client until in ends.
func (s *server) serveStdio(ctx context.Context, in io.Reader, out *pipe) error {
	p := newPeer(out)
	s.addPeer(p)
	defer s.removePeer(p)
	r := bufio.NewReaderSize(in, smallFrame)
	var long []byte
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, line...)
			continue
		}
		if len(long) > 0 {
			line = append(long, line...)
			long = long[:0]
		}
		if len(line) > 0 {
			s.recordInput(line)
			s.serveLine(ctx, p, out, line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *server) serveLine(ctx context.Context, p *peer, out *pipe, line []byte) {
	if s.opts.neverAnswer || len(bytes.TrimSpace(line)) == 0 {
		return
	}
	m, ok := parseMessage(line)
	switch {
	case !ok:
		s.logf("not a JSON object: %.200q", line)
		out.sendEvent([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`))
	case m.method == "":
		if !p.deliver(m) {
			s.logf("unasked response %s", m.id)
		}
	case m.id == "":
		s.handleNotification(p, m)
	default:
		s.serveRequest(ctx, &call{message: m, peer: p, out: out})
	}
}

// serveRequest answers a request; if that may block, it does so on its own goroutine.
func (s *server) serveRequest(ctx context.Context, c *call) {
	s.decideEra(c)
	h := s.admit(c)
	if h == nil {
		return
	}
	if !s.mayBlock(c) {
		h(s, ctx, c)
		return
	}
	ctx, done := c.peer.track(ctx, c.id)
	if c.method == "subscriptions/listen" {
		// Opened before the next line is read, because that line may change the lists it listens to.
		l := s.openListen(c)
		h = func(s *server, ctx context.Context, _ *call) { s.keepListen(ctx, l) }
	}
	go func() {
		defer done()
		h(s, ctx, c)
	}()
}
