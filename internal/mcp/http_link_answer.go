package mcp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// This file reads a successful answer of a server over HTTP.

// readAnswerTo reads the 2xx answer to a request.
func (x *roundTrip) readAnswerTo(resp *http.Response) (Response, error) {
	if err := x.adoptSession(resp); err != nil {
		_ = resp.Body.Close()
		return Response{}, &LinkError{Sent: true, Err: err}
	}
	kind := mediaType(resp)
	if kind == mediaEvents {
		return x.followStream(resp)
	}
	defer resp.Body.Close()
	raw, err := readAnswer(resp, x.link.opts.MaxAnswer)
	if err != nil {
		return Response{}, x.cutAnswerError(err)
	}
	raw = tidy(raw)
	switch {
	case len(raw) == 0:
		err = fmt.Errorf("http status %d without the response that a request expects", resp.StatusCode)
	case kind != mediaJSON && raw[0] != '{':
		err = fmt.Errorf("answer of type %q: expected %s or %s", kind, mediaJSON, mediaEvents)
	default:
		return x.answerJSON(raw)
	}
	return Response{}, &LinkError{Sent: true, Body: excerpt(raw), Err: err}
}

// adoptSession stores the session that the answer to initialize opens. The session's id is a secret.
func (x *roundTrip) adoptSession(resp *http.Response) error {
	if x.req.Method != "initialize" {
		return nil
	}
	id := resp.Header.Get(headerSession)
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return errors.New("the session id of the server has characters other than visible ASCII")
		}
	}
	x.link.setSession(id)
	return nil
}

func (x *roundTrip) answerJSON(raw []byte) (Response, error) {
	msgs, err := x.parseMessages(raw)
	if err != nil {
		return Response{}, &LinkError{Sent: true, Body: excerpt(raw), Err: unreadableError(raw, err)}
	}
	r, ok := x.pickResponse(msgs)
	if !ok {
		err := &invalidError{Message: "expected a response with the request's id " + strconv.FormatUint(x.id, 10)}
		return Response{}, &LinkError{Sent: true, Body: excerpt(raw), Err: unreadableError(raw, err)}
	}
	return r, nil
}

// parseMessages parses one message, or a batch, which 2025-03-26 allows.
func (x *roundTrip) parseMessages(raw []byte) ([]Message, error) {
	if raw[0] != '[' {
		m, err := Parse(raw)
		return []Message{m}, err
	}
	msgs, bad, err := parseBatch(raw)
	if bad > 0 {
		x.link.opts.Logger.Debug("members of a batch are not messages", "count", bad)
	}
	return msgs, err
}

// pickResponse picks the response out of msgs and passes the others on.
func (x *roundTrip) pickResponse(msgs []Message) (r Response, ok bool) {
	for i := range msgs {
		m := &msgs[i]
		if !ok && m.IsResponse() && x.isMine(m) {
			r, ok = Response{Result: m.Result, Error: m.Error, IsError: m.IsError, ResultType: m.ResultType}, true
			continue
		}
		x.link.receive(m, x.req.Owner)
	}
	return r, ok
}

// isMine reports whether m answers this request. An error without an id counts, because no other request
// shares this HTTP exchange.
func (x *roundTrip) isMine(m *Message) bool {
	if m.ID == "" || m.ID == "null" {
		return m.Error != nil
	}
	n, ok := parseID(m.ID)
	if ok && n == x.id && m.ID[0] == '"' {
		x.link.warnTextID()
	}
	return ok && n == x.id
}

func (l *httpLink) warnTextID() {
	l.mu.Lock()
	first := !l.warned
	l.warned = true
	l.mu.Unlock()
	if first {
		l.opts.Logger.Warn("the server returns request ids as text")
	}
}

var errAnswerTooLarge = errors.New("too large")

// cutAnswerError returns the error for an answer that could not be read to its end.
func (x *roundTrip) cutAnswerError(err error) error {
	if errors.Is(err, errAnswerTooLarge) {
		return &LinkError{Sent: true, TooLarge: true, Err: err}
	}
	return x.failureError(err)
}

// readAnswer reads a body of at most limit bytes. If the server gave the length, the buffer has exactly that
// size.
func readAnswer(resp *http.Response, limit int) ([]byte, error) {
	n := resp.ContentLength
	if n > int64(limit) {
		return nil, fmt.Errorf("answer of %d bytes, the limit is %d: %w", n, limit, errAnswerTooLarge)
	}
	if n >= 0 {
		b := make([]byte, n)
		_, err := io.ReadFull(resp.Body, b)
		return b, err
	}
	b := make([]byte, 0, 4<<10)
	for {
		m, err := resp.Body.Read(b[len(b):cap(b)])
		b = b[:len(b)+m]
		switch {
		case len(b) > limit:
			return nil, fmt.Errorf("answer longer than %d bytes: %w", limit, errAnswerTooLarge)
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return nil, err
		case len(b) == cap(b):
			b = append(make([]byte, 0, 2*cap(b)), b...)
		}
	}
}
