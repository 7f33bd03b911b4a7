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

// ClientOptions say how a [Client] opens its session.
type ClientOptions struct {
	// Info is the MCP Implementation object that names us. Required.
	Info json.RawMessage
	// Capabilities are announced to a legacy server, and to a modern one with the
	// requests that no caller of ours has made; nil means {}.
	Capabilities json.RawMessage
	// Protocol is "auto" or empty: find the era out; "legacy"; or a version date.
	Protocol string
	// First is the era that is tried first where it is to be found out: with Legacy the server is
	// asked to initialize, and for server/discover where it refuses; else the other way round.
	First Era
	// Early returns from Connect before the server has accepted notifications/initialized, which
	// over HTTP is a round trip of its own. Until [Client.Ready] has returned only [Client.Request]
	// may be used, for what may be sent twice.
	Early bool
	// FirstOutput is closed when the server has written its first byte. A server that
	// leaves the probe unanswered for ProbeWait (3 s) after that, or for ProbeMax (3.5 s)
	// from the start, counts as legacy. Without it only ProbeMax applies.
	FirstOutput         <-chan struct{}
	ProbeWait, ProbeMax time.Duration
	// Reopened is called, in a goroutine of its own, after a session that the server had
	// forgotten was opened anew: subscriptions and the log level are lost then.
	Reopened func()
	// Logger; nil discards.
	Logger *slog.Logger
}

// Client is an open session with one MCP server of either era. It is safe for concurrent
// use. Its fields do not change.
type Client struct {
	Link Link
	Era  Era
	// Version agreed on.
	Version string
	// Versions the server speaks as well, as far as it said so.
	Versions []string
	// NotModern says that the server was asked for the modern era and does not speak it.
	NotModern bool
	// Info, Capabilities and Instructions as the server gave them. Info may be nil.
	Info         json.RawMessage
	Capabilities json.RawMessage
	Instructions string
	// Tools is what some servers send as "tools" of their initialize result, which is not
	// MCP; nil as a rule.
	Tools json.RawMessage

	info, caps json.RawMessage
	reopened   func()
	log        *slog.Logger

	early   bool
	ready   chan struct{} // closed when the server has answered notifications/initialized; nil where nobody waits for it
	unready error         // why it was not accepted; written before ready is closed

	renewals atomic.Uint32 // of lost sessions that have succeeded
	mu       sync.Mutex
	renew    *renewal // that of a lost session which runs
}

// VersionError says that no protocol version suits both sides.
type VersionError struct{ Ours, Theirs string }

// Error names what both sides speak.
func (e *VersionError) Error() string {
	return fmt.Sprintf("no common protocol version: the server speaks %s, Collie %s", e.Theirs, e.Ours)
}

// Connect opens a session over link: it finds the era out (see [ClientOptions]) and shakes
// hands where the era has it. Errors of the server come as a [*VersionError], a
// [*HandshakeError] or a [*LinkError]. Connect does not close link.
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
		return c, c.probe(ctx, &opts)
	case opts.Protocol == "legacy":
		return c, c.initialize(ctx, legacyVersions[0])
	case IsModern(opts.Protocol):
		resp, err := c.discover(ctx, opts.Protocol)
		if err != nil {
			return c, err
		}
		return c, c.discovered(ctx, resp)
	}
	return c, c.initialize(ctx, opts.Protocol)
}

// HandshakeError says that a server did not open a session.
type HandshakeError struct {
	Method  string
	Message string // of the JSON-RPC error, or what made no sense
}

// Error names the method and the server's words.
func (e *HandshakeError) Error() string { return e.Method + ": " + e.Message }

func (c *Client) discover(ctx context.Context, version string) (Response, error) {
	return c.Link.Call(ctx, &Request{Method: "server/discover", Params: c.stamp(nil, version, c.caps), NoCancel: true})
}

// stamp puts the metadata of a modern request into params.
func (c *Client) stamp(params json.RawMessage, version string, caps json.RawMessage) json.RawMessage {
	meta := Edit(Get(params, "_meta"),
		Field{MetaVersion, Quote(version)}, Field{MetaClientInfo, c.info}, Field{MetaCapabilities, caps})
	return Edit(params, Field{"_meta", meta})
}

// legacyFirst asks to initialize, and a server that refuses for what it speaks.
func (c *Client) legacyFirst(ctx context.Context) error {
	err := c.initialize(ctx, legacyVersions[0])
	if err == nil || ctx.Err() != nil || !mayBeModern(err) {
		return err
	}
	r, discoverErr := c.discover(ctx, ModernVersions[0])
	switch {
	case discoverErr != nil && isRefusal(discoverErr) && !fallsBack(discoverErr):
		return discoverErr // it wants to know who asks, or is out of order: initialize was not what it minds
	case discoverErr != nil || !isModernAnswer(r):
		return err
	}
	return c.discovered(ctx, r)
}

// mayBeModern reports whether a failed initialize leaves it open that the server speaks the modern
// era: it answered, and what it refused was the request.
func mayBeModern(err error) bool {
	if _, ok := errors.AsType[*VersionError](err); ok {
		return true
	}
	_, ok := errors.AsType[*HandshakeError](err)
	return ok || fallsBack(err)
}

// probe asks a modern question first (2026-07-28, stdio and HTTP: Backward Compatibility).
func (c *Client) probe(ctx context.Context, opts *ClientOptions) error {
	probing, stop := context.WithCancel(ctx)
	defer stop()
	type answer struct {
		resp Response
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		resp, err := c.discover(probing, ModernVersions[0])
		answers <- answer{resp, err}
	}()
	select {
	case a := <-answers:
		if a.err != nil && !fallsBack(a.err) {
			return a.err
		}
		if a.err == nil && isModernAnswer(a.resp) {
			return c.discovered(ctx, a.resp)
		}
		c.NotModern = true
		return c.initialize(ctx, legacyVersions[0])
	case <-silent(probing, opts):
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
	late := time.NewTimer(lateAnswer)
	defer late.Stop()
	select {
	case a := <-answers: // a modern server that was slow
		if a.err == nil && isModernAnswer(a.resp) {
			return c.discovered(ctx, a.resp)
		}
	case <-late.C:
	case <-ctx.Done():
	}
	return err
}

// lateAnswer is how long a refused initialize waits for the answer to the probe before it.
const lateAnswer = 500 * time.Millisecond

// silent is closed when an unanswered probe counts as the answer of a legacy server.
func silent(ctx context.Context, opts *ClientOptions) <-chan struct{} {
	wait, most := cmp.Or(opts.ProbeWait, 3*time.Second), cmp.Or(opts.ProbeMax, 3500*time.Millisecond)
	out := make(chan struct{})
	go func() { // ends with the longest of its timers, or with ctx
		defer close(out)
		limit := time.NewTimer(most)
		defer limit.Stop()
		select {
		case <-ctx.Done():
			return
		case <-limit.C:
			return
		case <-opts.FirstOutput:
		}
		grace := time.NewTimer(wait)
		defer grace.Stop()
		select {
		case <-ctx.Done():
		case <-limit.C:
		case <-grace.C:
		}
	}()
	return out
}

// fallsBack reports whether a failed probe speaks for a legacy server: an HTTP refusal
// that is about the request, and none about who asks, load or the server's health.
func fallsBack(err error) bool {
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

// isRefusal reports whether an error is an HTTP status.
func isRefusal(err error) bool {
	e, ok := errors.AsType[*LinkError](err)
	return ok && e.Status != 0
}

// isModernAnswer tells a modern server's answer to server/discover, be it an error, from
// a legacy server's refusal.
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

// discovered takes over what server/discover said.
func (c *Client) discovered(ctx context.Context, r Response) error {
	if r.Error != nil {
		theirs := Get(r.Error, "data", "supported")
		version := newestCommon(ModernVersions, theirs)
		if version == "" {
			if v := newestCommon(legacyVersions, theirs); v != "" {
				c.NotModern = true
				return c.initialize(ctx, v)
			}
			return c.refused("server/discover", r.Error, theirs)
		}
		var err error
		if r, err = c.discover(ctx, version); err != nil {
			return err
		}
		if r.Error != nil {
			return c.refused("server/discover", r.Error, theirs)
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
	_ = json.Unmarshal(theirs, &c.Versions) // newestCommon has read it already
	c.Era = Modern
	c.adoptInfo(r.Result, Get(r.Result, "_meta", metaServerInfo))
	c.Link.Agreed(c.Version)
	return nil
}

func (c *Client) refused(method string, obj, theirs json.RawMessage) error {
	if len(theirs) > 0 {
		return &VersionError{Ours: strings.Join(slices.Concat(ModernVersions, legacyVersions), ", "), Theirs: string(theirs)}
	}
	return &HandshakeError{Method: method, Message: GetString(obj, "message")}
}

// initialize shakes hands as the legacy era has it.
func (c *Client) initialize(ctx context.Context, version string) error {
	params := Edit(nil,
		Field{"protocolVersion", Quote(version)}, Field{"capabilities", c.caps}, Field{"clientInfo", c.info})
	r, err := c.Link.Call(ctx, &Request{Method: "initialize", Params: params, NoCancel: true})
	if err != nil {
		return err
	}
	if r.Error != nil {
		return c.refused("initialize", r.Error, Get(r.Error, "data", "supported"))
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
		return c.initializedBehind(ctx, l)
	}
	return c.initialized(ctx)
}

// initialized tells the server that the session may begin.
func (c *Client) initialized(ctx context.Context) error {
	if err := c.Link.Notify(ctx, "notifications/initialized", nil); err != nil {
		return err
	}
	if l, ok := c.Link.(interface{ Listen() }); ok {
		l.Listen()
	}
	return nil
}

// initializedBehind is initialized without waiting for the answer, which has as long as ctx. It
// returns when the notification has left: whatever is sent next is sent after it.
func (c *Client) initializedBehind(ctx context.Context, l *httpLink) error {
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
	l.Listen() // beside the answer: the first call waits for both
	return nil
}

var errNotAccepted = errors.New("the server did not answer notifications/initialized in time")

// Ready returns when the server has accepted the end of the handshake, or why it has not; at once
// where [ClientOptions.Early] was not asked for or nothing is to be waited for.
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

// tooEarly reports whether the server has not yet said that the session may begin.
func (c *Client) tooEarly() bool {
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

// Can reports whether the server announced a capability, by path: "tools", or
// "resources", "subscribe".
func (c *Client) Can(path ...string) bool {
	v := Get(c.Capabilities, path...)
	return v != nil && string(v) != "false" && string(v) != "null"
}

// Request sends a request of our own: in the modern era it is stamped with our own
// identity and capabilities. One that is refused before [Client.Ready] is sent once more then:
// a server need not serve a session whose handshake has not ended (2025-11-25, Lifecycle).
func (c *Client) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	req, early := &Request{Method: method, Params: c.Own(params)}, c.tooEarly()
	r, err := c.Call(ctx, req)
	if early && (r.Error != nil || fallsBack(err)) && c.Ready(ctx) == nil {
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

// Own returns params as a request of our own carries them.
func (c *Client) Own(params json.RawMessage) json.RawMessage {
	if c.Era != Modern {
		return params
	}
	return c.stamp(params, c.Version, c.caps)
}

// Call sends req as it is. A session that the server has forgotten (HTTP 404, legacy) is
// opened anew once, and the request, which was not carried out, is sent again.
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

// reopen shakes hands again, once for all who wait and for those who hear of the loss when that is done: before is how
// many renewals there were when the request was sent.
func (c *Client) reopen(ctx context.Context, before uint32) error {
	mine := &renewal{done: make(chan struct{})}
	for {
		c.mu.Lock()
		other := c.renew
		switch {
		case c.renewals.Load() != before:
			c.mu.Unlock()
			return nil
		case other == nil:
			c.renew = mine
		}
		c.mu.Unlock()
		if other == nil {
			break
		}
		select {
		case <-other.done:
			if !other.givenUp {
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
		go c.reopened() // it sends requests of its own
	}
	return nil
}

// renewal is the opening of a new session in place of a lost one.
type renewal struct {
	done    chan struct{} // closed when it has ended
	givenUp bool          // whoever began it had gone by then; set before done is closed
}

// RPCError is a JSON-RPC error that a server answered with.
type RPCError struct{ Raw json.RawMessage }

// Code returns the error's code, 0 if it has none.
func (e *RPCError) Code() int {
	var v Error
	_ = json.Unmarshal(e.Raw, &v) // a code that is not a number counts as none
	return v.Code
}

// Error reads "message (code n)".
func (e *RPCError) Error() string {
	return fmt.Sprintf("%s (code %d)", GetString(e.Raw, "message"), e.Code())
}

// Object returns the error object as it came.
func (e *RPCError) Object() json.RawMessage { return e.Raw }
