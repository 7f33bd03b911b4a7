package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"collie/internal/siyuanapi"
	"collie/internal/tool"
)

// This file sends requests to a kernel and reads the answers.

// Options of a [Client]. The zero value is useful.
type Options struct {
	// Token is sent in the header "Authorization: Token …"; empty sends none.
	Token string
	// Transport carries the requests; nil means our own with keep-alive. The vault is connected here.
	Transport http.RoundTripper
	// ReadTimeout and WriteTimeout bound one request; 0 means 10 s and 60 s.
	ReadTimeout, WriteTimeout time.Duration
	// Waits are the pauses before repeating a read; nil means 0.3, 0.6 and 0.9 s.
	Waits  []time.Duration
	Logger *slog.Logger // nil discards
}

// Client is a client of one kernel. It connects at its first use, and is safe for concurrent use. Close closes its
// connections.
type Client struct {
	base string
	opts Options
	log  *slog.Logger
	http *http.Client

	// dirty says that something was written that an index may not show yet. It is set when a write has ended, since a
	// flush before that has no effect. It is also set at the start, since another program, such as a command that has
	// just ended, may have written.
	dirty atomic.Bool
	// writesEndAt is when the kernel is done with the work that it does after answering a write, in milliseconds since
	// 1970. Until then one flush may not be enough.
	writesEndAt atomic.Int64
	// flushLock is held during a flush, so that others who need it wait for it too.
	flushLock chan struct{}
}

// New returns a client of the kernel at base, such as "http://127.0.0.1:6806"; trailing slashes are dropped.
func New(base string, opts Options) *Client {
	if opts.ReadTimeout <= 0 {
		opts.ReadTimeout = 10 * time.Second
	}
	if opts.WriteTimeout <= 0 {
		opts.WriteTimeout = time.Minute
	}
	if opts.Waits == nil {
		opts.Waits = []time.Duration{300 * time.Millisecond, 600 * time.Millisecond, 900 * time.Millisecond}
	}
	c := &Client{base: strings.TrimRight(base, "/"), opts: opts, log: opts.Logger, flushLock: make(chan struct{}, 1)}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.dirty.Store(true)
	transport := opts.Transport
	if transport == nil {
		transport = &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, Proxy: nil}
	}
	c.http = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// Base returns the address of the kernel without a trailing slash.
func (c *Client) Base() string { return c.base }

// Close closes idle connections. The client can be used again.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// requestKind says what a request does to the kernel's data, and what its answer must contain.
type requestKind struct {
	write bool
	// data says that an answer of code 0 always has data, so null means that nothing was done.
	data bool
	// once says that the request is not repeated though it changes nothing: it may keep the kernel busy, even after
	// the client has given up.
	once bool
	// finishesLate says that the kernel continues the write after its answer.
	finishesLate bool
	// index says that the request reads an index, which first has to show what was written: see [Client.Flush].
	index bool
	// member names the member of the data that is the answer; empty means all of the data.
	member string
}

// withMember returns k for an answer that is one member of the data. A missing member leaves the zero value.
func (k requestKind) withMember(member string) requestKind {
	k.member = member
	return k
}

// writeTail is how long the kernel may go on with a write after it has answered.
const writeTail = 3 * time.Second

// The kinds of requests.
var (
	read          = requestKind{}
	readData      = requestKind{data: true}
	readIndex     = requestKind{index: true}
	readIndexData = requestKind{index: true, data: true}
	write         = requestKind{write: true}
	writeData     = requestKind{write: true, data: true}
	writeLate     = requestKind{write: true, finishesLate: true}
)

// callFor is like [Client.call], but returns the decoded answer.
func callFor[Out any](ctx context.Context, c *Client, endpoint string, k requestKind, body any) (Out, error) {
	var out Out
	err := c.call(ctx, endpoint, k, body, &out)
	return out, err
}

// call posts body as JSON to an endpoint, and decodes the data of the answer into out, unless out is nil. A
// *json.RawMessage gets the raw data.
func (c *Client) call(ctx context.Context, endpoint string, k requestKind, body, out any) error {
	if k.index {
		if err := c.Flush(ctx); err != nil {
			return err
		}
	}
	if body == nil {
		body = struct{}{}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return internalError(endpoint, err)
	}
	return c.post(ctx, endpoint, k, "application/json", raw, out)
}

// post posts a body to an endpoint and decodes the data of the answer into out, unless out is nil. It records what a write means
// for later reads of an index, and traces each attempt.
func (c *Client) post(ctx context.Context, endpoint string, k requestKind, contentType string, body []byte, out any) error {
	if k.write {
		defer c.dirty.Store(true)
	}
	if k.finishesLate {
		defer func() { c.writesEndAt.Store(time.Now().Add(writeTail).UnixMilli()) }()
	}
	data, err := c.doWithRetries(ctx, endpoint, k, func(ctx context.Context) (data json.RawMessage, err error) {
		if trace := tool.TraceOf(ctx); trace != nil {
			begun := time.Now()
			defer func() { trace(tool.TraceKernel, endpoint+" "+traceOutcome(err), time.Since(begun)) }()
		}
		resp, err := c.send(ctx, http.MethodPost, endpoint, contentType, body)
		if err != nil {
			return nil, err
		}
		return envelopeData(endpoint, k, resp)
	})
	if k.write {
		recordWrite(ctx, err)
	}
	if err != nil || out == nil {
		return err
	}
	if k.member != "" {
		if data = bytes.TrimSpace(data); len(data) > 0 && data[0] != '{' && data[0] != 'n' {
			return unexpectedDataError(endpoint, k, fmt.Errorf("%.60q is not an object", data))
		}
		if data = valueAt(data, k.member); len(data) == 0 {
			return nil
		}
	}
	if raw, ok := out.(*json.RawMessage); ok {
		*raw = data
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return unexpectedDataError(endpoint, k, err)
	}
	return nil
}

// traceOutcome returns the result of a request for a trace: the kernel's code, or why there is none.
func traceOutcome(err error) string {
	switch e, ok := errors.AsType[*codeError](err); {
	case ok:
		return fmt.Sprintf("code %d %s", e.code, e.msg)
	case err != nil:
		return err.Error()
	}
	return "code 0"
}

// answer is a response that has been read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// maxAnswer bounds one answer, in bytes.
const maxAnswer = 256 << 20

// send makes one request. Its errors are the transport's.
func (c *Client) send(ctx context.Context, method, endpoint, contentType string, body []byte) (answer, error) {
	resp, err := c.startRequest(ctx, method, endpoint, contentType, bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return answer{}, err
	}
	return readAnswer(resp)
}

// startRequest makes one request with a body of size bytes and returns the response; the caller closes its body.
func (c *Client) startRequest(ctx context.Context, method, endpoint, contentType string, body io.Reader, size int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+endpoint, body)
	if err != nil {
		return nil, err
	}
	req.ContentLength = size
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if c.opts.Token != "" {
		req.Header.Set("Authorization", "Token "+c.opts.Token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the wrapper, which repeats the address
		}
		return nil, err
	}
	return resp, nil
}

// readAnswer reads and closes a response.
func readAnswer(resp *http.Response) (answer, error) {
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1)) // one byte more shows that it is too long
	if err != nil {
		return answer{}, err
	}
	if len(raw) > maxAnswer {
		return answer{}, errTooLong
	}
	return answer{resp.StatusCode, resp.Header, raw}, nil
}

// doWithRetries runs one request, and repeats it with pauses if it is a read and that may help: after a failure of the transport,
// 429 and 5xx. It returns errors in the form for callers.
func (c *Client) doWithRetries(
	ctx context.Context, endpoint string, k requestKind, request func(context.Context) (json.RawMessage, error),
) (json.RawMessage, error) {
	if ctx.Err() != nil { // nothing was sent, so even a write has a known outcome
		return nil, c.callerError(ctx, endpoint, read, ctx.Err())
	}
	limit := c.opts.ReadTimeout
	if k.write {
		limit = c.opts.WriteTimeout
	}
	late := 0 // attempts that got no answer in time
	for n := 0; ; n++ {
		attempt, cancel := context.WithTimeout(ctx, limit)
		data, err := request(attempt)
		if attempt.Err() != nil {
			late++
		}
		cancel()
		if err == nil {
			return data, nil
		}
		if ctx.Err() != nil {
			return nil, c.callerError(ctx, endpoint, k, err)
		}
		// A kernel that hangs is asked only once more, or the caller would wait four times ten seconds.
		if k.write || k.once || n >= len(c.opts.Waits) || late > 1 || !isTransient(err) {
			return nil, c.callerError(ctx, endpoint, k, err)
		}
		c.log.Debug("kernel asked again", "endpoint", endpoint, "attempt", n+2, "error", err)
		select {
		case <-ctx.Done():
			return nil, c.callerError(ctx, endpoint, k, ctx.Err())
		case <-time.After(c.opts.Waits[n]):
		}
	}
}

// Flush makes what was written visible to requests that read an index: SQL, search, tags and cards. It asks the
// kernel the first time. After that it does so only if this client has written since, or has just removed documents,
// whose rows the kernel deletes some time after its answer. If the kernel is read-only or cannot flush, Flush does
// nothing.
func (c *Client) Flush(ctx context.Context) error {
	select {
	case c.flushLock <- struct{}{}:
		defer func() { <-c.flushLock }()
	case <-ctx.Done():
		return c.callerError(ctx, "/api/sqlite/flushTransaction", read, ctx.Err())
	}
	if !c.dirty.Swap(false) && time.Now().UnixMilli() >= c.writesEndAt.Load() {
		return nil
	}
	err := c.call(ctx, "/api/sqlite/flushTransaction", read, nil, nil)
	if e, ok := errors.AsType[*tool.Error](err); ok && (e.Code == CodeReadOnly || e.Kind == NotInKernel) {
		return nil
	}
	if err != nil {
		c.dirty.Store(true)
	}
	return err
}

// ID identifies a block, a document, a notebook, a database, a row or a column.
type ID = siyuanapi.ID

// NewID returns a new id with the current time.
func NewID() ID { return siyuanapi.NewID() }
