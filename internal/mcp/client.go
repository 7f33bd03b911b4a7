package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// This file opens a session with a server, in the era that the server speaks.

// ClientOptions say how a [Client] opens its session.
type ClientOptions struct {
	// Info is the MCP Implementation object that names us. Required.
	Info json.RawMessage
	// Capabilities are announced to a legacy server. A modern server gets them with requests of our own,
	// which have no caller. Nil means {}.
	Capabilities json.RawMessage
	// Protocol is "auto" or empty to detect the era, "legacy", or the date of a version.
	Protocol string
	// First is the era to try first when the era is detected. Legacy: initialize, and server/discover if that
	// is refused. Modern: the other way round.
	First Era
	// Early makes Connect return before the server has accepted notifications/initialized, which is a round
	// trip of its own over HTTP. Until [Client.Ready] has returned, only [Client.Request] may be used, and
	// only for requests that may be sent twice.
	Early bool
	// FirstOutput is closed when the server has written its first byte. A server counts as legacy if it
	// leaves the probe unanswered for ProbeWait (3 s) after that byte, or for ProbeMax (3.5 s) after the
	// start. If FirstOutput is nil, only ProbeMax applies.
	FirstOutput         <-chan struct{}
	ProbeWait, ProbeMax time.Duration
	// Reopened is called on its own goroutine after the server had lost the session and a new one was opened.
	// Subscriptions and the log level are lost then.
	Reopened func()
	// Logger; nil discards.
	Logger *slog.Logger
}

// Client is an open session with one MCP server of either era. Its exported fields do not change. It is safe
// for concurrent use.
type Client struct {
	Link Link
	Era  Era
	// Version is the agreed protocol version.
	Version string
	// Versions are the versions that the server says it supports; it may say nothing.
	Versions []string
	// NotModern says that the server was probed for the modern era and does not support it.
	NotModern bool
	// Info, Capabilities and Instructions are as the server sent them. Info may be nil.
	Info         json.RawMessage
	Capabilities json.RawMessage
	Instructions string
	// Tools is the "tools" member of the initialize result, which some servers send although MCP has no such
	// member; usually nil.
	Tools json.RawMessage

	info, caps json.RawMessage
	reopened   func()
	log        *slog.Logger

	early   bool
	ready   chan struct{} // closed when the server has answered notifications/initialized; nil if nobody waits for that
	unready error         // the error if it was not accepted; set before ready is closed

	renewals atomic.Uint32 // number of lost sessions that were replaced
	mu       sync.Mutex
	renew    *renewal // the replacement in progress, if any
}

// VersionError says that client and server have no protocol version in common.
type VersionError struct{ Ours, Theirs string }

// Error names the versions of both sides.
func (e *VersionError) Error() string {
	return fmt.Sprintf("no common protocol version: the server speaks %s, Collie %s", e.Theirs, e.Ours)
}

// Connect opens a session over link: it detects the era (see [ClientOptions]) and, in the legacy era, does
// the initialize handshake. Errors caused by the server are a [*VersionError], a [*HandshakeError] or a
// [*LinkError]. Connect never closes link.
func Connect(ctx context.Context, link Link, opts ClientOptions) (*Client, error) {
	c := &Client{
		Link: link, info: opts.Info, caps: opts.Capabilities, reopened: opts.Reopened, log: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), early: opts.Early,
	}
	if c.caps == nil {
		c.caps = json.RawMessage("{}")
	}
	auto := opts.Protocol == "" || opts.Protocol == "auto"
	switch {
	case auto && opts.First == Legacy:
		return c, c.legacyFirst(ctx)
	case auto:
		return c, c.probeFirst(ctx, &opts)
	case opts.Protocol == "legacy":
		return c, c.initialize(ctx, legacyVersions[0])
	case IsModern(opts.Protocol):
		resp, err := c.callDiscover(ctx, opts.Protocol)
		if err != nil {
			return c, err
		}
		return c, c.adoptDiscovery(ctx, resp)
	}
	return c, c.initialize(ctx, opts.Protocol)
}

// HandshakeError says that a server did not open a session.
type HandshakeError struct {
	Method  string
	Message string // of the JSON-RPC error, or what was wrong with the answer
}

// Error reads "method: message".
func (e *HandshakeError) Error() string { return e.Method + ": " + e.Message }

func (c *Client) callDiscover(ctx context.Context, version string) (Response, error) {
	return c.Link.Call(ctx, &Request{Method: "server/discover", Params: c.addModernMeta(nil, version, c.caps), NoCancel: true})
}

// addModernMeta adds the metadata of a modern request to params.
func (c *Client) addModernMeta(params json.RawMessage, version string, caps json.RawMessage) json.RawMessage {
	meta := Edit(Get(params, "_meta"),
		Field{MetaVersion, Quote(version)}, Field{MetaClientInfo, c.info}, Field{MetaCapabilities, caps})
	return Edit(params, Field{"_meta", meta})
}

// legacyFirst tries initialize. If the server refuses that, it tries server/discover.
func (c *Client) legacyFirst(ctx context.Context) error {
	err := c.initialize(ctx, legacyVersions[0])
	if err == nil || ctx.Err() != nil || !mayBeModern(err) {
		return err
	}
	r, discoverErr := c.callDiscover(ctx, ModernVersions[0])
	switch {
	case discoverErr != nil && isRefusal(discoverErr) && !indicatesLegacy(discoverErr):
		return discoverErr // the server has a problem other than the method: access, or it is out of order
	case discoverErr != nil || !isModernAnswer(r):
		return err
	}
	return c.adoptDiscovery(ctx, r)
}

// mayBeModern reports whether a server that failed initialize may still be modern: it answered, and the
// refusal is about the request.
func mayBeModern(err error) bool {
	if _, ok := errors.AsType[*VersionError](err); ok {
		return true
	}
	_, ok := errors.AsType[*HandshakeError](err)
	return ok || indicatesLegacy(err)
}

// probeFirst tries server/discover first (2026-07-28, stdio and HTTP: Backward Compatibility).
func (c *Client) probeFirst(ctx context.Context, opts *ClientOptions) error {
	probing, stop := context.WithCancel(ctx)
	defer stop()
	type answer struct {
		resp Response
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		resp, err := c.callDiscover(probing, ModernVersions[0])
		answers <- answer{resp, err}
	}()
	select {
	case a := <-answers:
		if a.err != nil && !indicatesLegacy(a.err) {
			return a.err
		}
		if a.err == nil && isModernAnswer(a.resp) {
			return c.adoptDiscovery(ctx, a.resp)
		}
		c.NotModern = true
		return c.initialize(ctx, legacyVersions[0])
	case <-silentChannel(probing, opts):
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.log.Debug("server/discover unanswered, trying initialize")
	err := c.initialize(ctx, legacyVersions[0])
	if err == nil {
		c.NotModern = true
		return nil
	}
	wait := lateAnswer
	if mayBeModern(err) {
		wait = opts.probeMax()
	}
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case a := <-answers: // a slow modern server
		switch {
		case a.err == nil && isModernAnswer(a.resp):
			return c.adoptDiscovery(ctx, a.resp)
		case a.err != nil && isRefusal(a.err) && !indicatesLegacy(a.err):
			return a.err // it asks for a sign-in, say, which says more than that it does not know initialize
		}
	case <-late.C:
	case <-ctx.Done():
	}
	return err
}

// lateAnswer is how long to wait for a late answer to the probe after initialize has failed and the server does not
// look modern. One that refused initialize gets as long as for the probe itself.
const lateAnswer = 500 * time.Millisecond

// probeMax returns ProbeMax or its default.
func (o *ClientOptions) probeMax() time.Duration { return cmp.Or(o.ProbeMax, 3500*time.Millisecond) }

// silentChannel returns a channel that is closed when an unanswered probe means that the server is legacy.
func silentChannel(ctx context.Context, opts *ClientOptions) <-chan struct{} {
	wait, maxWait := cmp.Or(opts.ProbeWait, 3*time.Second), opts.probeMax()
	out := make(chan struct{})
	go func() { // ends with the longest of its timers, or with ctx
		defer close(out)
		maxWait := time.NewTimer(maxWait)
		defer maxWait.Stop()
		select {
		case <-ctx.Done():
			return
		case <-maxWait.C:
			return
		case <-opts.FirstOutput:
		}
		grace := time.NewTimer(wait)
		defer grace.Stop()
		select {
		case <-ctx.Done():
		case <-maxWait.C:
		case <-grace.C:
		}
	}()
	return out
}

// indicatesLegacy reports whether a failed probe indicates a legacy server: an HTTP refusal of the request itself,
// not one about access, load or the server's health.
func indicatesLegacy(err error) bool {
	e, ok := errors.AsType[*LinkError](err)
	if !ok {
		return false
	}
	switch e.Status {
	case 401, 403, 407, 408, 429:
		return false
	}
	return e.Status >= 400 && e.Status < 500
}

// isRefusal reports whether err carries an HTTP status.
func isRefusal(err error) bool {
	e, ok := errors.AsType[*LinkError](err)
	return ok && e.Status != 0
}

// isModernAnswer reports whether r is an answer that only a modern server gives to server/discover. That may
// be an error too, as long as a legacy server would not send it.
func isModernAnswer(r Response) bool {
	if r.Result != nil {
		return Get(r.Result, "supportedVersions") != nil
	}
	var e Error
	if json.Unmarshal(r.Error, &e) != nil {
		return false
	}
	return e.Code <= codeHeaderMismatch && e.Code >= -32099
}

// adoptDiscovery stores the result of server/discover in c.
func (c *Client) adoptDiscovery(ctx context.Context, r Response) error {
	if r.Error != nil {
		theirs := Get(r.Error, "data", "supported")
		version := newestCommon(ModernVersions, theirs)
		if version == "" {
			if v := newestCommon(legacyVersions, theirs); v != "" {
				c.NotModern = true
				return c.initialize(ctx, v)
			}
			return c.refusalError("server/discover", r.Error, theirs)
		}
		var err error
		if r, err = c.callDiscover(ctx, version); err != nil {
			return err
		}
		if r.Error != nil {
			return c.refusalError("server/discover", r.Error, theirs)
		}
	}
	theirs := Get(r.Result, "supportedVersions")
	c.Version = newestCommon(ModernVersions, theirs)
	if c.Version == "" {
		if v := newestCommon(legacyVersions, theirs); v != "" {
			c.NotModern = true
			return c.initialize(ctx, v)
		}
		return &VersionError{Ours: strings.Join(slices.Concat(ModernVersions, legacyVersions), ", "), Theirs: string(theirs)}
	}
	_ = json.Unmarshal(theirs, &c.Versions) // newestCommon has validated it already
	c.Era = Modern
	c.adoptInfo(r.Result, Get(r.Result, "_meta", metaServerInfo))
	c.Link.Agreed(c.Version)
	return nil
}

func (c *Client) refusalError(method string, obj, theirs json.RawMessage) error {
	if len(theirs) > 0 {
		return &VersionError{Ours: strings.Join(slices.Concat(ModernVersions, legacyVersions), ", "), Theirs: string(theirs)}
	}
	return &HandshakeError{Method: method, Message: GetString(obj, "message")}
}

// initialize does the handshake of the legacy era.
func (c *Client) initialize(ctx context.Context, version string) error {
	params := Edit(nil,
		Field{"protocolVersion", Quote(version)}, Field{"capabilities", c.caps}, Field{"clientInfo", c.info})
	r, err := c.Link.Call(ctx, &Request{Method: "initialize", Params: params, NoCancel: true})
	if err != nil {
		return err
	}
	if r.Error != nil {
		return c.refusalError("initialize", r.Error, Get(r.Error, "data", "supported"))
	}
	agreed := GetString(r.Result, "protocolVersion")
	if !slices.Contains(legacyVersions, agreed) {
		if agreed == "" {
			return &HandshakeError{Method: "initialize", Message: "the answer has no protocolVersion"}
		}
		return &VersionError{Ours: strings.Join(legacyVersions, ", "), Theirs: agreed}
	}
	c.Era, c.Version = Legacy, agreed
	c.Versions = []string{agreed}
	c.adoptInfo(r.Result, Get(r.Result, "serverInfo"))
	c.Link.Agreed(agreed)
	if l, ok := c.Link.(*httpLink); ok && c.early {
		return c.sendInitializedBehind(ctx, l)
	}
	return c.sendInitialized(ctx)
}

// sendInitialized sends notifications/initialized and waits until the server has accepted it.
func (c *Client) sendInitialized(ctx context.Context) error {
	if err := c.Link.Notify(ctx, "notifications/initialized", nil); err != nil {
		return err
	}
	if l, ok := c.Link.(interface{ Listen() }); ok {
		l.Listen()
	}
	return nil
}

// sendInitializedBehind is like initialized without waiting for the answer, which may take as long as ctx. It returns
// when the notification has been written, so that later messages follow it.
func (c *Client) sendInitializedBehind(ctx context.Context, l *httpLink) error {
	telling, cancel := context.WithoutCancel(ctx), context.CancelFunc(func() {})
	if due, ok := ctx.Deadline(); ok {
		telling, cancel = context.WithDeadlineCause(telling, due, errNotAccepted)
	}
	c.ready = make(chan struct{})
	err := l.notifyBehind(telling, "notifications/initialized", nil, func(err error) {
		defer cancel()
		c.unready = err
		close(c.ready)
	})
	if err != nil {
		cancel()
		return err
	}
	l.Listen() // at the same time: the first call waits for both
	return nil
}

var errNotAccepted = errors.New("the server did not answer notifications/initialized in time")

// Ready waits until the server has accepted notifications/initialized, and returns an error if it did not. It
// returns at once if [ClientOptions.Early] is not set or there is nothing to wait for.
func (c *Client) Ready(ctx context.Context) error {
	if c.ready == nil {
		return nil
	}
	select {
	case <-c.ready:
		return c.unready
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// awaitsAcceptance reports whether the server has not yet accepted notifications/initialized.
func (c *Client) awaitsAcceptance() bool {
	if c.ready == nil {
		return false
	}
	select {
	case <-c.ready:
		return false
	default:
		return true
	}
}

func (c *Client) adoptInfo(result, info json.RawMessage) {
	c.Info = info
	c.Capabilities = Get(result, "capabilities")
	c.Instructions = GetString(result, "instructions")
	c.Tools = Get(result, "tools")
}

// Can reports whether the server announced a capability, given by its path: "tools", or "resources",
// "subscribe".
func (c *Client) Can(path ...string) bool {
	v := Get(c.Capabilities, path...)
	return v != nil && string(v) != "false" && string(v) != "null"
}

// Request sends a request of our own. In the modern era it carries our own identity and capabilities. If the
// server refuses it before [Client.Ready], it is sent once more after that: a server need not serve a session
// before its handshake has ended (2025-11-25, Lifecycle).
func (c *Client) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	req, early := &Request{Method: method, Params: c.Own(params)}, c.awaitsAcceptance()
	r, err := c.Call(ctx, req)
	if early && (r.Error != nil || indicatesLegacy(err)) && c.Ready(ctx) == nil {
		r, err = c.Call(ctx, req)
	}
	if err != nil {
		return nil, err
	}
	if r.Error != nil {
		return nil, &RPCError{Raw: r.Error}
	}
	return r.Result, nil
}

// Own returns params with the metadata that requests of our own carry.
func (c *Client) Own(params json.RawMessage) json.RawMessage {
	if c.Era != Modern {
		return params
	}
	return c.addModernMeta(params, c.Version, c.caps)
}

// Call sends req unchanged. If the server has lost the session (HTTP 404, legacy), Call opens a new one and
// sends req once more; the server has not executed the first.
func (c *Client) Call(ctx context.Context, req *Request) (Response, error) {
	before := c.renewals.Load()
	r, err := c.Link.Call(ctx, req)
	if c.Era != Legacy || !errors.Is(err, errSessionGone) {
		return r, err
	}
	if err := c.reopen(ctx, before); err != nil {
		return Response{}, err
	}
	return c.Link.Call(ctx, req)
}

// reopen does the handshake again, once for all requests that hit the loss, including those that learn of it
// only after the new session is open. before is the value of c.renewals when the request was sent.
func (c *Client) reopen(ctx context.Context, before uint32) error {
	mine := &renewal{done: make(chan struct{})}
	for {
		c.mu.Lock()
		reopening := c.renew
		switch {
		case c.renewals.Load() != before:
			c.mu.Unlock()
			return nil
		case reopening == nil:
			c.renew = mine
		}
		c.mu.Unlock()
		if reopening == nil {
			break
		}
		select {
		case <-reopening.done:
			if !reopening.givenUp {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	defer func() {
		mine.givenUp = ctx.Err() != nil
		c.mu.Lock()
		c.renew = nil
		c.mu.Unlock()
		close(mine.done)
	}()
	again := &Client{Link: c.Link, info: c.info, caps: c.caps, log: c.log}
	if err := again.initialize(ctx, c.Version); err != nil {
		return err
	}
	c.renewals.Add(1)
	if c.reopened != nil {
		go c.reopened() // the connection sends requests of its own
	}
	return nil
}

// renewal is one attempt to replace a lost session.
type renewal struct {
	done    chan struct{} // closed when the attempt has ended
	givenUp bool          // the context of the request that began it ended first, so another request tries again
}

// RPCError is a JSON-RPC error that the server answered with.
type RPCError struct{ Raw json.RawMessage }

// Code returns the error's code, 0 if it has none.
func (e *RPCError) Code() int {
	var v Error
	_ = json.Unmarshal(e.Raw, &v) // a code that is not a number counts as 0
	return v.Code
}

// Error reads "message (code n)".
func (e *RPCError) Error() string {
	return fmt.Sprintf("%s (code %d)", GetString(e.Raw, "message"), e.Code())
}

// Object returns the error object as it came.
func (e *RPCError) Object() json.RawMessage { return e.Raw }
