package mcp

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// This file sends HTTP requests to the URL of a server, with the user's secrets for it, and follows redirects without leaking them.

const (
	connectTimeout = 10 * time.Second
	idleConns      = 64
	drainLimit     = 64 << 10 // bytes read of an unwanted body so that its connection can be reused
)

// NewHTTPTransport returns the transport that [DialHTTP] uses by default. config is for TLS; nil means the
// system's defaults. It allows 10 s each for connecting and for the TLS handshake, keeps 64 idle connections
// per host, uses the proxies of the environment, and speaks HTTP/1.1.
func NewHTTPTransport(config *tls.Config) *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSClientConfig:     config,
		TLSHandshakeTimeout: connectTimeout,
		MaxIdleConns:        idleConns,
		MaxIdleConnsPerHost: idleConns,
		IdleConnTimeout:     90 * time.Second,
		ReadBufferSize:      16 << 10, // of each connection; 4 KiB by default
	}
}

// httpWire sends HTTP requests to one URL and follows its redirects.
type httpWire struct {
	url    *url.URL
	rt     http.RoundTripper
	owned  *http.Transport // rt, if the link created it and so has to close it
	socket bool            // rt connects to a unix socket, whatever the host is
	header func() http.Header
	auth   string // Authorization header made from the URL's user part
}

func newHTTPWire(raw string, opts *HTTPOptions) (*httpWire, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("the URL does not parse") // the URL's text may hold a secret, so the error does not quote it
	}
	w := &httpWire{url: u, rt: opts.Transport, header: opts.Header}
	if w.rt == nil {
		w.owned = NewHTTPTransport(nil)
		w.rt = w.owned
	}
	switch u.Scheme {
	case "http", "https":
		if u.Host == "" {
			return nil, errors.New("expected a host in the URL")
		}
	case "unix":
		if err := w.useSocket(u); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("URL scheme %q: expected http, https or unix", u.Scheme)
	}
	if u.User != nil {
		password, _ := u.User.Password()
		w.auth = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
		plain := *w.url
		plain.User = nil
		w.url = &plain
	}
	return w, nil
}

// useSocket makes w connect to the socket of unix:///path#/route.
func (w *httpWire) useSocket(u *url.URL) error {
	base, ok := w.rt.(*http.Transport)
	if !ok {
		return errors.New("a unix URL needs an *http.Transport")
	}
	route, err := url.Parse("http://localhost/" + strings.TrimPrefix(u.Fragment, "/"))
	if u.Path == "" || err != nil {
		return errors.New("expected unix:///path/of/socket#/route")
	}
	path := u.Path
	dialer := &net.Dialer{Timeout: connectTimeout}
	base = base.Clone()
	base.Proxy = nil
	base.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "unix", path)
	}
	w.url, w.rt, w.owned, w.socket = route, base, base, true
	return nil
}

func (w *httpWire) close() {
	if w.owned != nil {
		w.owned.CloseIdleConnections()
	}
}

// httpSend is one HTTP request.
type httpSend struct {
	method string
	url    *url.URL // nil means the wire's URL
	header http.Header
	body   []byte
	sent   *atomic.Bool // set when the body begins to be sent; may be nil
}

// sendFollowing sends s and follows redirects. The answer's Request.URL is the final URL.
func (w *httpWire) sendFollowing(ctx context.Context, s *httpSend) (*http.Response, error) {
	target := s.url
	if target == nil {
		target = w.url
	}
	for hops := 0; ; hops++ {
		req := w.newRequest(ctx, s, target)
		resp, err := w.rt.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		resp.Request = req
		location := redirectTarget(resp, s.method)
		if location == "" {
			return resp, nil
		}
		discardBody(resp.Body)
		if hops == maxRedirects {
			return nil, fmt.Errorf("more than %d redirects", maxRedirects)
		}
		if target, err = w.checkRedirect(target, location); err != nil {
			return nil, err
		}
	}
}

// newRequest builds the HTTP request. It adds secrets only if target has the origin of the wire's URL.
func (w *httpWire) newRequest(ctx context.Context, s *httpSend, target *url.URL) *http.Request {
	header := s.header
	if (w.header != nil || w.auth != "") && sameOrigin(target, w.url) {
		header = w.userHeader(header)
	}
	req := &http.Request{
		Method: s.method, URL: target, Host: target.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if s.body != nil {
		req.ContentLength = int64(len(s.body))
		req.Body = newRequestBody(s)
		req.GetBody = func() (io.ReadCloser, error) {
			if s.sent != nil {
				s.sent.Store(false) // net/http retries only if nothing was sent
			}
			return newRequestBody(s), nil
		}
	}
	return req.WithContext(ctx)
}

// userHeader returns the protocol's header plus the user's fields.
func (w *httpWire) userHeader(protocol http.Header) http.Header {
	header := maps.Clone(protocol)
	if w.auth != "" {
		header["Authorization"] = []string{w.auth}
	}
	if w.header == nil {
		return header
	}
	for name, values := range w.header() {
		name = http.CanonicalHeaderKey(name)
		if !isProtocolHeader(name) {
			header[name] = values
		}
	}
	return header
}

func isProtocolHeader(name string) bool {
	switch name {
	case "Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type",
		"Host", "Trailer", "Transfer-Encoding", "Upgrade",
		headerVersion, headerSession, headerMethod, headerName, headerLastEvent:
		return true
	}
	return strings.HasPrefix(name, headerParam)
}

// requestBody is a request body that records when it begins to be sent.
type requestBody struct {
	bytes.Reader
	sent *atomic.Bool
}

func newRequestBody(s *httpSend) *requestBody {
	p := &requestBody{sent: s.sent}
	p.Reset(s.body)
	return p
}

// Read reads the body.
func (p *requestBody) Read(b []byte) (int, error) {
	if p.sent != nil {
		p.sent.Store(true)
	}
	return p.Reader.Read(b)
}

// WriteTo writes the body.
func (p *requestBody) WriteTo(w io.Writer) (int64, error) {
	if p.sent != nil {
		p.sent.Store(true)
	}
	return p.Reader.WriteTo(w)
}

// Close does nothing.
func (p *requestBody) Close() error { return nil }

// discardBody reads a little of a body, so that its connection can be reused, and closes it.
func discardBody(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, drainLimit)
	_ = body.Close()
}
