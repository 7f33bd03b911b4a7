package bridge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"collie/internal/mcp"
)

// This file makes one request to a gateway over HTTP and follows its answer, even after the connection breaks.

// ask makes a request; see [link].
func (l *httpLink) ask(f *request, generation int) error {
	resp, err := l.send(f.ctx, http.MethodPost, l.requestHeader(f), f.m.Raw)
	if err != nil {
		return err
	}
	switch code := resp.StatusCode; {
	case code == http.StatusOK && isStream(resp):
		return l.follow(f, generation, resp)
	case code == http.StatusOK:
		return l.deliverBody(f, resp)
	case isGoneStatus(code) && !(f.modern && code == http.StatusNotFound): // the modern era has no sessions, so 404 is an answer
		discard(resp.Body)
		return l.lostIfGone(resp)
	case code/100 == 2:
		discard(resp.Body)
		if f.ctx.Err() != nil {
			return context.Cause(f.ctx)
		}
		return fmt.Errorf("the gateway ended the request without a response")
	default:
		return l.deliverRefusal(f, resp)
	}
}

// deliverBody passes on the response in a JSON body.
func (l *httpLink) deliverBody(f *request, resp *http.Response) error {
	raw, err := readAll(resp)
	if err != nil {
		return err
	}
	if f.isInitialize() {
		l.storeSession(resp.Header.Get(headerSession), raw)
	}
	return f.deliverResponse(raw)
}

// deliverResponse passes on the response. The response to a subscription means that the gateway is stopping, so the
// subscription moves to the next gateway instead.
func (f *request) deliverResponse(raw []byte) error {
	if f.isSubscription() && f.acknowledgements.Load() > 0 {
		return &lostError{sent: true, err: errors.New("the gateway stops")}
	}
	f.reply(raw)
	return nil
}

// readAll reads a body; if the gateway gave its length, the buffer has exactly that size.
func readAll(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	n := resp.ContentLength
	if n > maxAnswer {
		return nil, fmt.Errorf("the gateway's answer of %d bytes is longer than %d", n, int64(maxAnswer))
	}
	if n >= 0 {
		raw := make([]byte, n)
		if _, err := io.ReadFull(resp.Body, raw); err != nil {
			return nil, &lostError{sent: true, err: err}
		}
		return raw, nil
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, &lostError{sent: true, err: err}
	case len(raw) > maxAnswer:
		return nil, fmt.Errorf("the gateway's answer is longer than %d bytes", int64(maxAnswer))
	}
	return raw, nil
}

// storeSession stores the session that the answer to initialize opens.
func (l *httpLink) storeSession(session string, raw []byte) {
	m, err := mcp.Parse(raw)
	if err != nil || m.Result == nil || session == "" {
		return
	}
	h := l.common.Clone()
	h[headerSession] = []string{session}
	h[headerVersion] = []string{mcp.GetString(m.Result, "protocolVersion")}
	l.session.Store(h)
}

// deliverRefusal passes on what a gateway answered with an HTTP error status.
func (l *httpLink) deliverRefusal(f *request, resp *http.Response) error {
	defer discard(resp.Body)
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil {
		return &lostError{sent: true, err: err}
	}
	m, err := mcp.Parse(raw)
	switch {
	case err == nil && m.Error != nil && !isInteger(mcp.Get(m.Error, "code")):
		// The listener's own refusal. As it is, a client would not recognize it as an answer and would go on waiting.
		message := mcp.GetString(m.Error, "message")
		if hint := mcp.GetString(m.Error, "hint"); hint != "" {
			message += "; " + hint
		}
		return &mcp.Error{Code: mcp.CodeInvalidRequest, Message: cmp.Or(message, "the gateway answered http status "+resp.Status)}
	case err != nil || m.Error == nil:
		return &mcp.Error{Code: mcp.CodeInternal, Message: fmt.Sprintf("the gateway answered http status %s: %.200q", resp.Status, raw)}
	case m.ID == f.m.ID:
		f.reply(raw)
	default: // the gateway refused before it read the id
		f.reply(mcp.AppendError(nil, f.m.ID, m.Error))
	}
	return nil
}

// isInteger reports whether raw is a JSON number without fraction or exponent.
func isInteger(raw json.RawMessage) bool {
	_, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil
}

// follow reads the event stream that answers a request. If the stream breaks and the gateway supports it,
// follow reconnects and continues.
func (l *httpLink) follow(f *request, generation int, resp *http.Response) error {
	last := ""
	for {
		events := mcp.NewEventReader(resp.Body, maxAnswer, last)
		done, err := deliverEvents(f, generation, events)
		_ = resp.Body.Close()
		last = events.LastID()
		switch {
		case done:
			return err
		case f.ctx.Err() != nil:
			return context.Cause(f.ctx)
		case last == "":
			return &lostError{sent: true, err: fmt.Errorf("the stream broke off: %w", err)}
		}
		pause(f.ctx, listenAgain)
		if resp, err = l.resume(f.ctx, last); err != nil {
			return &lostError{sent: true, err: err}
		}
	}
}

// deliverEvents passes on the events of a stream. done reports that the response was among them.
func deliverEvents(f *request, generation int, events *mcp.EventReader) (done bool, err error) {
	for {
		raw, err := events.Next()
		if frame, ok := errors.AsType[*mcp.FrameError](err); ok {
			if f.isCutResponse(frame.Head) {
				return true, frame
			}
			continue
		}
		switch {
		case err != nil:
			if done {
				err = nil // the response has arrived before the stream broke
			}
			return done, err
		case done: // read to the end, so that the connection can be reused
		case f.isResponse(raw):
			if err := f.deliverResponse(raw); err != nil {
				return true, err
			}
			done = true
		default:
			f.heard(generation, raw)
		}
	}
}

// isCutResponse is like isResponse for the beginning of a message that was too long.
func (f *request) isCutResponse(head []byte) bool {
	return bytes.HasPrefix(head, []byte(`{"jsonrpc":"2.0","id":`+string(f.m.ID)+`,"result"`))
}

// resume reopens a stream after the event last.
func (l *httpLink) resume(ctx context.Context, last string) (*http.Response, error) {
	session := l.sessionHeader()
	h := http.Header{}
	for _, k := range []string{"Authorization", HeaderStream, headerSession, headerVersion} {
		if v := session[k]; v != nil {
			h[k] = v
		}
	}
	h["Accept"] = []string{"text/event-stream"}
	if last != "" {
		h[headerLastEvent] = []string{last}
	}
	resp, err := l.send(ctx, http.MethodGet, h, nil)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusOK && isStream(resp):
		return resp, nil
	}
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // for people to read
	_ = resp.Body.Close()
	return nil, &streamError{resp.StatusCode, mcp.GetString(json.RawMessage(raw), "error", "message")}
}

// streamError says that a gateway did not continue a stream.
type streamError struct {
	status  int
	message string
}

func (e *streamError) Error() string {
	return fmt.Sprintf("no stream: http status %d: %s", e.status, e.message)
}

// listen reads the session's own stream; see [link].
func (l *httpLink) listen(ctx context.Context, heard func(raw []byte)) error {
	last := ""
	for {
		resp, err := l.resume(ctx, last)
		if refused, ok := errors.AsType[*streamError](err); ok {
			if !isGoneStatus(refused.status) {
				return nil // the gateway has no such stream
			}
			l.gone.Store(true)
			err = &lostError{err: refused}
		}
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was asked to end
		case err != nil:
			return err
		}
		events := mcp.NewEventReader(resp.Body, maxAnswer, last)
		for err == nil {
			var raw []byte
			if raw, err = events.Next(); err == nil {
				heard(raw)
			} else if _, ok := errors.AsType[*mcp.FrameError](err); ok {
				err = nil // a notification was too long; go on
			}
		}
		_ = resp.Body.Close()
		last = events.LastID()
		pause(ctx, listenAgain)
	}
}

// listenAgain is the wait before a broken stream is reopened. It is shorter than gateways ask for, because
// this one is on the same machine.
const listenAgain = 50 * time.Millisecond
