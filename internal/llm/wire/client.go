package wire

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"collie/internal/llm"
)

// This file sends one request to a provider and reads the answer, within time limits.

// Timeouts of a request. A whole answer has none: it may take as long as bytes keep coming.
const (
	connectWait     = 10 * time.Second
	headerWait      = 60 * time.Second
	localHeaderWait = 300 * time.Second // the server may have to load the model first
	idleWait        = 120 * time.Second
	drainWait       = 50 * time.Millisecond // see drain
)

// How many bytes are read of an error response, and of a list of models.
const (
	errorLimit = 64 << 10
	listLimit  = 8 << 20
)

var (
	errHeaders = errors.New("the provider took the request and did not begin to answer")
	errIdle    = errors.New("the answer stopped coming")
)

// Client sends requests to providers. It is safe for concurrent use.
type Client struct {
	http                      *http.Client
	header, localHeader, idle time.Duration
}

// Options of a Client; the zero value works.
type Options struct {
	// Transport sends the requests. nil means a transport of the Client's own, which uses the proxy that the
	// environment names.
	Transport http.RoundTripper
	// Header and Idle are the timeouts for the first byte and for each next one. 0 means 60 s (300 s for a model on
	// this network) and 120 s.
	Header, Idle time.Duration
}

// NewClient returns a Client.
func NewClient(o Options) *Client {
	if o.Transport == nil {
		o.Transport = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: connectWait, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:   connectWait,
			ForceAttemptHTTP2:     true,
			DisableCompression:    true, // compression would delay small pieces of a stream
			MaxIdleConnsPerHost:   16,
			IdleConnTimeout:       90 * time.Second,
			ExpectContinueTimeout: time.Second,
		}
	}
	c := &Client{header: headerWait, localHeader: localHeaderWait, idle: idleWait}
	if o.Header > 0 {
		c.header, c.localHeader = o.Header, o.Header
	}
	if o.Idle > 0 {
		c.idle = o.Idle
	}
	// A redirect could lead the key and the conversation elsewhere.
	c.http = &http.Client{Transport: o.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c
}

// Stream makes one attempt with one key and yields the events of the answer, a finish event last. An error ends the
// sequence; it is an [*llm.Error] without secrets, and events before it remain valid. Calls get ids that do not occur
// in d. Leaving the loop early, or ending ctx, closes the connection.
func (c *Client) Stream(ctx context.Context, codec *Codec, ep Endpoint, d *Draft) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		ended, err := c.stream(ctx, codec, ep, d, func(e llm.Event) bool { return yield(e, nil) })
		if err != nil && !ended {
			yield(llm.Event{}, ep.explain(ctx, d.Model, err))
		}
	}
}

// stream calls emit for each event. It returns true if emit returned false, which ends the stream.
func (c *Client) stream(ctx context.Context, codec *Codec, ep Endpoint, d *Draft, emit func(llm.Event) bool) (bool, error) {
	path, body, err := codec.Encode(d)
	if err != nil {
		return false, requestError(err)
	}
	resp, err := c.open(ctx, codec, ep, http.MethodPost, path, body, d.Model)
	if err != nil {
		return false, err
	}
	defer resp.close()
	if err := resp.checkStream(codec, ep); err != nil {
		return false, err
	}
	decoder := codec.Decode(d.Names)
	ids := newIDs(d)
	frames := newFrames(resp, codec.JSONLines)
	var events []llm.Event
	for {
		frame, err := frames.next()
		switch {
		case err == nil:
			if events, err = decoder.Feed(frame, events[:0]); err != nil && frame.last && !json.Valid(frame.Data) {
				err = io.ErrUnexpectedEOF
			}
		case errors.Is(err, io.EOF):
			events, err = decoder.End(events[:0])
			if err == nil && !endsAnswer(events) {
				err = io.ErrUnexpectedEOF
			}
		default:
			return false, resp.timeoutOr(err)
		}
		for _, e := range events {
			if e.Kind == llm.EventStart {
				e.Provider, e.Key = ep.Provider, ep.KeyLabel
			}
			if !emit(ids.assign(e)) {
				return true, nil
			}
		}
		if err != nil {
			return false, err
		}
		if endsAnswer(events) {
			resp.drain()
			return false, nil
		}
	}
}

// endsAnswer reports whether these events end the answer.
func endsAnswer(events []llm.Event) bool {
	return len(events) > 0 && events[len(events)-1].Kind == llm.EventFinish
}

// List returns the models that the provider lists for the key of ep.
func (c *Client) List(ctx context.Context, codec *Codec, ep Endpoint) ([]ListedModel, error) {
	list, err := c.list(ctx, codec, ep)
	if err != nil {
		return nil, ep.explain(ctx, "", err)
	}
	return list, nil
}

func (c *Client) list(ctx context.Context, codec *Codec, ep Endpoint) ([]ListedModel, error) {
	body, err := c.fetch(ctx, codec, ep, http.MethodGet, codec.ListPath, nil)
	if err != nil {
		return nil, err
	}
	list, err := codec.ReadList(body)
	if err == nil && codec.DescribePath != "" {
		return list, c.describeModels(ctx, codec, ep, list)
	}
	if err != nil {
		return nil, &llm.Error{Class: llm.ClassCaller, Message: "the list of models does not read", Hint: "is the baseURL of the provider the right one?", Err: err}
	}
	return c.readInfoPages(ctx, codec, ep, list), nil
}

// infoPageWait is how long a server on this network may take to serve an [InfoPage].
const infoPageWait = 2 * time.Second

// readInfoPages adds to list what the first info page that answers says about the models. A server without such pages
// leaves the list as it is.
func (c *Client) readInfoPages(ctx context.Context, codec *Codec, ep Endpoint, list []ListedModel) []ListedModel {
	u, err := codec.address(ep.BaseURL, "")
	if err != nil || len(codec.InfoPages) == 0 || !isLocal(u) {
		return list
	}
	u.Path = strings.TrimSuffix(u.Path, codec.Version)
	ep.BaseURL = u.String()
	ctx, cancel := context.WithTimeout(ctx, infoPageWait)
	defer cancel()
	for _, b := range codec.InfoPages {
		if body, err := c.fetch(ctx, &Codec{Authorize: codec.Authorize}, ep, http.MethodGet, b.Path, nil); err == nil {
			if more, ok := b.Read(body, list); ok {
				return more
			}
		}
	}
	return list
}

// describeModels asks for a description of each model in list, several at once. A model that the provider cannot describe
// stays as it is.
func (c *Client) describeModels(ctx context.Context, codec *Codec, ep Endpoint, list []ListedModel) error {
	var all sync.WaitGroup
	room := make(chan struct{}, 4)
	for i := range list {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			ask, _ := json.Marshal(map[string]string{"model": list[i].ID})
			if body, err := c.fetch(ctx, codec, ep, http.MethodPost, codec.DescribePath, ask); err == nil {
				_ = codec.ReadDescription(body, &list[i])
			}
		})
	}
	all.Wait()
	return ctx.Err()
}

// fetch returns the body of an answer that is not streamed.
func (c *Client) fetch(ctx context.Context, codec *Codec, ep Endpoint, method, path string, ask []byte) ([]byte, error) {
	resp, err := c.open(ctx, codec, ep, method, path, ask, "")
	if err != nil {
		return nil, err
	}
	defer resp.close()
	body, err := io.ReadAll(io.LimitReader(resp, listLimit))
	if err != nil {
		return nil, resp.timeoutOr(err)
	}
	return body, nil
}

// response is an answer being read. It is cancelled when no byte comes for the idle time.
type response struct {
	*http.Response
	ctx    context.Context
	cancel context.CancelCauseFunc
	watch  *time.Timer
	idle   time.Duration
}

// open sends a request and returns the response if its status is 2xx, else an error.
func (c *Client) open(ctx context.Context, codec *Codec, ep Endpoint, method, path string, body []byte, model string) (*response, error) {
	u, err := codec.address(ep.BaseURL, path)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &llm.Error{Class: llm.ClassCaller, Message: fmt.Sprintf("baseURL %q is not a URL of http or https", ep.BaseURL), Err: err}
	}
	r := &response{idle: c.idle}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(r.ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		r.cancel(nil)
		return nil, requestError(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "text/event-stream, application/x-ndjson, application/json")
	req.Header.Set("User-Agent", "collie")
	codec.Authorize(req.Header, ep.Key)
	for name, value := range ep.Header {
		req.Header.Set(name, value)
	}
	wait := c.header
	if isLocal(u) {
		wait = c.localHeader
	}
	r.watch = time.AfterFunc(wait, func() { r.cancel(errHeaders) })
	r.Response, err = c.http.Do(req) //nolint:bodyclose // close does
	if err != nil {
		defer r.close()
		return nil, r.timeoutOr(err)
	}
	r.watch.Stop()
	r.watch = time.AfterFunc(r.idle, func() { r.cancel(errIdle) })
	if r.StatusCode/100 != 2 {
		defer r.close()
		errorBody, _ := io.ReadAll(io.LimitReader(r, errorLimit)) // whatever arrives is enough
		e := classify(r.StatusCode, r.Header, []byte(ep.redact(string(errorBody))), model, time.Now())
		if e.Message == "" {
			e.Message = r.Status
		}
		return nil, e
	}
	return r, nil
}

// Read implements [io.Reader].
func (r *response) Read(p []byte) (int, error) {
	n, err := r.Body.Read(p)
	if n > 0 {
		r.watch.Reset(r.idle)
	}
	return n, err
}

// checkStream returns an error if the response is not a stream in the format of codec.
func (r *response) checkStream(codec *Codec, ep Endpoint) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "text/event-stream":
		if !codec.JSONLines {
			return nil
		}
	case "application/x-ndjson", "application/jsonl", "application/ndjson":
		if codec.JSONLines {
			return nil
		}
	case "", "text/plain", "application/octet-stream": // servers that do not set the type
		return nil
	case "application/json":
		if codec.JSONLines {
			return nil
		}
	}
	body, _ := io.ReadAll(io.LimitReader(r, errorLimit))
	body = []byte(ep.redact(string(body)))
	if f, ok := parseFailure(body); ok {
		return f.asError("")
	}
	return &llm.Error{
		Class: llm.ClassUnknown, Status: r.StatusCode,
		Message: fmt.Sprintf("the answer is of type %q and no stream: %s", kind, excerpt(body)), Hint: "is the baseURL of the provider the right one?",
	}
}

// drain reads the rest of the answer, if it ends at once, so that the connection can be reused.
func (r *response) drain() {
	r.watch.Reset(drainWait)
	_, _ = io.CopyN(io.Discard, r.Body, 4<<10)
}

func (r *response) close() {
	if r.watch != nil {
		r.watch.Stop()
	}
	r.cancel(nil)
	if r.Response != nil {
		_ = r.Body.Close()
	}
}

// timeoutOr returns the timeout of ours that ended r, or else err.
func (r *response) timeoutOr(err error) error {
	if why := context.Cause(r.ctx); errors.Is(why, errHeaders) || errors.Is(why, errIdle) {
		return why
	}
	return err
}

// explain converts err into the error of a request to ep, without secrets.
func (ep Endpoint) explain(ctx context.Context, model string, err error) *llm.Error {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		e = &llm.Error{Class: llm.ClassTransient, Err: err, Message: err.Error()}
		if u, ok := errors.AsType[*url.Error](err); ok {
			e.Message = u.Err.Error()
		}
		switch {
		case errors.Is(err, errTooLong):
			e.Class = llm.ClassUnknown
		case errors.Is(err, io.ErrUnexpectedEOF):
			e.Message = "the answer was cut off"
		case isTLS(err):
			e.Class, e.Hint = llm.ClassUnknown, "the certificate of the provider is not trusted on this machine"
		}
	}
	if ctx.Err() != nil {
		e = &llm.Error{Class: llm.ClassCanceled, Message: "cancelled", Err: context.Cause(ctx)}
	}
	e.Provider, e.Model, e.Key = ep.Provider, model, ep.KeyLabel
	e.Message, e.Code = truncateMessage(ep.redact(e.Message)), ep.redact(e.Code)
	if e.Err != nil {
		if text := e.Err.Error(); ep.redact(text) != text {
			e.Err = nil
		}
	}
	return e
}

// redact replaces the key and the other secrets in text. It must run before text is cut to a length.
func (ep Endpoint) redact(text string) string {
	for _, secret := range append([]string{ep.Key}, ep.Secrets...) {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return text
}

// requestError wraps an error of a codec that cannot encode the request.
func requestError(err error) error {
	if _, ok := errors.AsType[*llm.Error](err); ok {
		return err
	}
	return &llm.Error{Class: llm.ClassCaller, Message: err.Error(), Err: err}
}

func isTLS(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "x509:") || strings.Contains(err.Error(), "tls:"))
}

// isLocal reports whether u is on this machine or in this network.
func isLocal(u *url.URL) bool {
	host := u.Hostname()
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return host == "localhost" || strings.HasSuffix(host, ".local") || !strings.Contains(host, ".")
}

// ids gives calls ids that do not occur in the conversation yet.
type ids struct {
	taken map[string]bool
	ours  map[int]string // by index of the part
}

func newIDs(d *Draft) ids {
	i := ids{taken: map[string]bool{}, ours: map[int]string{}}
	for _, m := range d.Messages {
		for _, p := range m.Parts {
			i.taken[p.Call] = true
		}
	}
	return i
}

// assign returns e with the id of its call: the provider's id if it is valid and free, else a new one.
func (i ids) assign(e llm.Event) llm.Event {
	switch e.Kind {
	case llm.EventToolStart:
		if !ValidID(e.ID, maxID) || i.taken[e.ID] {
			e.ID = "call_" + rand.Text()
		}
		i.taken[e.ID] = true
		i.ours[e.Index] = e.ID
	case llm.EventToolEnd:
		e.ID = i.ours[e.Index]
	}
	return e
}

// maxID is the longest id of a call that all providers accept.
const maxID = 40

// ValidID reports whether text consists of 1 to limit letters, digits, _ and -, which all providers accept in names and
// ids.
func ValidID(text string, limit int) bool {
	for _, c := range []byte(text) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return text != "" && len(text) <= limit
}
