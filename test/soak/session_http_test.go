//go:build unix

package soak_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"
)

// httpSession is a session over Streamable HTTP in one era, with connections of its own.
type httpSession struct {
	url, token, era string
	client          *http.Client
	id              string       // of the session; modern ones have none
	last            atomic.Int64 // id of the last request
}

// dial opens a session.
func dial(ctx context.Context, url, token, era string) (*httpSession, error) {
	s := &httpSession{url: url, token: token, era: era, client: &http.Client{Transport: &http.Transport{}}}
	if era == modern {
		return s, nil
	}
	if a, err := s.do(ctx, "initialize", initializeParams); err != nil || a.failed() {
		s.client.CloseIdleConnections()
		return nil, fmt.Errorf("initialize: %v %w", a, err)
	}
	return s, s.notify(ctx, "notifications/initialized", "")
}

// do implements [session].
func (s *httpSession) do(ctx context.Context, method, params string) (answer, error) {
	id := s.last.Add(1)
	resp, err := s.post(ctx, method, params, id)
	if err == nil {
		var a answer
		a, err = s.receive(resp, id)
		if err == nil {
			return a, nil
		}
	}
	if ctx.Err() != nil && s.era == legacy { // in this era, closing the connection does not cancel a request
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callLimit)
		defer cancel()
		if terr := s.notify(ctx, "notifications/cancelled", fmt.Sprintf(`"requestId":%d`, id)); terr != nil {
			return answer{}, fmt.Errorf("%w; %w", err, terr)
		}
	}
	return answer{}, err
}

// receive reads the answer to request id.
func (s *httpSession) receive(resp *http.Response, id int64) (answer, error) {
	defer func() { _ = resp.Body.Close() }()
	if v := resp.Header.Get("Mcp-Session-Id"); v != "" {
		s.id = v
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return answer{}, err
		}
		if resp.StatusCode != http.StatusOK && !gjson.GetBytes(body, "error").Exists() {
			return answer{}, fmt.Errorf("status %d: %.400s", resp.StatusCode, body)
		}
		return parseAnswer(body, id)
	}
	var found []byte
	err := readEvents(resp.Body, func(msg []byte) bool {
		if gjson.GetBytes(msg, "method").Exists() {
			return true
		}
		found = bytes.Clone(msg)
		return false
	})
	if found == nil {
		return answer{}, fmt.Errorf("the stream of request %d ended without its answer: %w", id, err)
	}
	_, _ = io.Copy(io.Discard, resp.Body) // read to the end, so that the connection can be used again
	return parseAnswer(found, id)
}

// readEvents reads the messages of a stream until more returns false.
func readEvents(body io.Reader, more func(msg []byte) bool) error {
	r := bufio.NewReader(body)
	for {
		line, err := r.ReadBytes('\n')
		if msg, ok := bytes.CutPrefix(line, []byte("data:")); ok && len(bytes.TrimSpace(msg)) > 0 && !more(bytes.TrimSpace(msg)) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// post sends a message; with id 0 it is a notification.
func (s *httpSession) post(ctx context.Context, method, params string, id int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(frame(s.era, id, method, params)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if s.era == modern {
		req.Header.Set("Mcp-Method", method)
		for _, field := range []string{"name", "uri"} {
			if v := gjson.Get("{"+params+"}", field).Str; v != "" {
				req.Header.Set("Mcp-Name", v)
				break
			}
		}
	}
	return s.client.Do(s.addSessionHeaders(req))
}

// addSessionHeaders adds the headers that every request of the session has: token, version and session id.
func (s *httpSession) addSessionHeaders(req *http.Request) *http.Request {
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+s.token)
	if s.era == modern || s.id != "" {
		req.Header.Set("MCP-Protocol-Version", s.era)
	}
	if s.id != "" {
		req.Header.Set("Mcp-Session-Id", s.id)
	}
	return req
}

// notify sends a notification.
func (s *httpSession) notify(ctx context.Context, method, params string) error {
	resp, err := s.post(ctx, method, params, 0)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		return fmt.Errorf("%s: status %d", method, resp.StatusCode)
	}
	return nil
}

// listen implements [session], with the GET stream or subscriptions/listen.
func (s *httpSession) listen(ctx context.Context, uris []string, heard func(string, gjson.Result)) error {
	var resp *http.Response
	var err error
	if s.era == modern {
		resp, err = s.post(ctx, "subscriptions/listen", listenParams(uris), s.last.Add(1))
	} else {
		if err := subscribe(ctx, s, uris); err != nil {
			return err
		}
		var req *http.Request
		if req, err = http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil); err == nil {
			resp, err = s.client.Do(s.addSessionHeaders(req))
		}
	}
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("listen: status %d", resp.StatusCode)
	}
	heard("", gjson.Result{}) // from here on no notification is missed
	err = readEvents(resp.Body, func(msg []byte) bool {
		heard(gjson.GetBytes(msg, "method").Str, gjson.GetBytes(msg, "params"))
		return true
	})
	return fmt.Errorf("the gateway ended the stream: %w", err)
}

// close deletes the session.
func (s *httpSession) close() {
	defer s.client.CloseIdleConnections()
	if s.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if req, err := http.NewRequestWithContext(ctx, http.MethodDelete, s.url, nil); err == nil {
		if resp, err := s.client.Do(s.addSessionHeaders(req)); err == nil {
			_ = resp.Body.Close()
		}
	}
}
