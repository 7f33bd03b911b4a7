package session

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"collie/internal/mcp"
	"collie/internal/process"
	"collie/internal/source/upstream/entry"
	"collie/internal/units"
)

// This file connects to a server over HTTP, in the newest form that it speaks.

// connectHTTP connects by Streamable HTTP, in the era that opts and the server agree on. If the answers look like a
// server of MCP 2024-11-05, it falls back to that revision's transport, HTTP with SSE. A server that is assumed to speak
// only that is asked by it first.
func (s *Session) connectHTTP(ctx context.Context, h mcp.Handler, opts mcp.ClientOptions) (*mcp.Client, error) {
	d, e := s.dialer, s.dialer.Settings()
	link, base, err := d.httpOptions(ctx)
	if err != nil {
		return nil, err
	}
	s.Transport = base
	if e.Transport == entry.SSE || d.OverSSE() {
		client, err := d.connectSSE(ctx, h, link, opts)
		if e.Transport == entry.SSE || !disprovesSSE(err) {
			return client, err
		}
		d.Log.Info("the server does not speak HTTP with SSE any more", "error", err)
		d.AssumeSSE(false)
	}
	client, refused := openSession(ctx, mcp.DialHTTP(e.URL.Reveal(), h, link), opts)
	if refused == nil || !speaksForSSE(refused) {
		return client, refused
	}
	if client, err = d.connectSSE(ctx, h, link, opts); err != nil {
		return nil, joinRefusals(refused, err)
	}
	return client, nil
}

// joinRefusals returns the error of a server that could be reached neither by Streamable HTTP nor by HTTP with SSE, with
// both texts. Its status, which decides what becomes of the server, is that of the first one: it names the cause more
// often. But a server that takes no POST at that address speaks HTTP with SSE, if anything.
func joinRefusals(streamable, sse error) error {
	if e, ok := errors.AsType[*mcp.LinkError](streamable); ok && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed) {
		return fmt.Errorf("%w (by HTTP with SSE; by Streamable HTTP: %v)", sse, streamable) //nolint:errorlint // its status must not be found
	}
	return fmt.Errorf("%w (by HTTP with SSE: %v)", streamable, sse) //nolint:errorlint // its status must not be found
}

// connectSSE connects by HTTP with SSE.
func (d *Dialer) connectSSE(ctx context.Context, h mcp.Handler, link *mcp.HTTPOptions, opts mcp.ClientOptions) (*mcp.Client, error) {
	stream, err := mcp.DialSSE(ctx, d.Settings().URL.Reveal(), h, link)
	if err != nil {
		return nil, err
	}
	opts.Protocol = "legacy"
	client, err := openSession(ctx, stream, opts)
	if err == nil {
		d.AssumeSSE(true)
	}
	return client, err
}

// disprovesSSE reports whether an attempt by HTTP with SSE failed in a way that a server of that transport does not
// fail in, so that the server may speak another one by now.
func disprovesSSE(err error) bool {
	e, ok := errors.AsType[*mcp.LinkError](err)
	if !ok {
		return false
	}
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return e.Status == http.StatusOK || e.Status >= 400 && e.Status < 500 // 200: the answer is not an event stream
}

// openSession initializes the protocol on link, and closes link if that fails.
func openSession(ctx context.Context, link mcp.Link, opts mcp.ClientOptions) (*mcp.Client, error) {
	client, err := mcp.Connect(ctx, link, opts)
	if err != nil {
		return nil, errors.Join(err, link.Close())
	}
	return client, nil
}

// speaksForSSE reports whether a refused initialize looks like a server of MCP 2024-11-05.
func speaksForSSE(err error) bool {
	e, ok := errors.AsType[*mcp.LinkError](err)
	if !ok {
		return false
	}
	switch e.Status {
	case 400, 404, 405, 406, 415:
		return true
	}
	return false
}

// httpOptions returns the HTTP options for the entry: headers, TLS settings and sign-in. The caller closes the
// returned transport with the link.
func (d *Dialer) httpOptions(ctx context.Context) (*mcp.HTTPOptions, *http.Transport, error) {
	e := d.Settings()
	head := http.Header{}
	for _, h := range e.Headers {
		head.Add(h.Name, h.Value.Reveal())
	}
	if e.HeadersCommand != nil {
		if err := d.commandHeaders(ctx, e, head); err != nil {
			return nil, nil, err
		}
	}
	switch e.Auth.Type {
	case "bearer":
		head.Set("Authorization", "Bearer "+e.Auth.Token.Reveal())
	case "basic":
		pair := e.Auth.Username.Reveal() + ":" + e.Auth.Password.Reveal()
		head.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
	}
	config, err := TLSConfig(&e.TLS)
	if err != nil {
		return nil, nil, err
	}
	opts := &mcp.HTTPOptions{
		Logger: d.Log, Header: func() http.Header { return head },
		MaxAnswer: d.MaxFrame, MaxEvent: d.MaxFrame, Withheld: &d.headless,
	}
	base := mcp.NewHTTPTransport(config)
	if opts.Transport, err = d.SignIn(base); err != nil {
		return nil, nil, err
	}
	return opts, base, nil
}

// TLSConfig reads the files of an entry's TLS settings; nil if there are none.
func TLSConfig(t *entry.TLS) (*tls.Config, error) {
	if *t == (entry.TLS{}) {
		return nil, nil //nolint:nilnil // no settings is an answer
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: t.ServerName,
		InsecureSkipVerify: t.Insecure, //nolint:gosec // the user wrote insecure: true, and is warned
	}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("tls.caFile: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls.caFile: %s holds no PEM certificate", t.CAFile)
		}
	}
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("tls.certFile and tls.keyFile: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// maxHeaders bounds the output of a headersCommand, in bytes.
const maxHeaders = 64 << 10

// commandHeaders runs the entry's headersCommand and adds its output, a JSON object of names and values, to head. The
// output is never logged.
func (d *Dialer) commandHeaders(ctx context.Context, e *entry.Entry, head http.Header) error {
	c := e.HeadersCommand
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("no answer within %s", units.DurationWords(c.Timeout)))
	defer cancel()
	out, err := process.Output(ctx, process.Command{
		Label: e.Name + " headersCommand", Name: c.Command.Reveal(), Args: entry.Reveal(c.Args), Dir: e.Dir,
		Env: d.Environment(),
	}, maxHeaders, &process.Options{Reaper: d.Reaper, Logger: d.Log})
	if err != nil {
		return fmt.Errorf("headersCommand: %w", err)
	}
	var pairs map[string]string
	if json.Unmarshal(out, &pairs) != nil {
		return fmt.Errorf("headersCommand: it printed %d bytes that are not a JSON object of texts, such as {\"Authorization\": \"Bearer …\"}", len(out))
	}
	for name, value := range pairs {
		if name == "" || strings.ContainsAny(name, " :\r\n\x00") || strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Errorf("headersCommand: the header %q or its value has characters that no header may have", name)
		}
		head.Set(name, value)
	}
	d.Hide(secretsIn(pairs))
	return nil
}

// leastSecret is how long a part of a header is at least to be taken for a secret, in bytes; "application/json" and the like
// are longer and harmless to mask.
const leastSecret = 8

// secretsIn returns what may be secret in headers: each word of a value that is long enough, and each part of a word, without a
// scheme such as Bearer.
func secretsIn(headers map[string]string) (secrets []string) {
	for _, value := range headers {
		parts := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t=;,\"", r) })
		for _, part := range append(strings.Fields(value), parts...) {
			if len(part) >= leastSecret {
				secrets = append(secrets, part)
			}
		}
	}
	return secrets
}
