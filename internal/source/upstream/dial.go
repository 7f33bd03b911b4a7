package upstream

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
)

// connectHTTP reaches a server by Streamable HTTP, modern first, then legacy, and falls
// back to the SSE transport of 2024-11-05 where the answers speak for it.
func connectHTTP(ctx context.Context, c *conn, opts mcp.ClientOptions) (*mcp.Client, error) {
	s := c.server
	e := s.settings()
	link, base, err := s.httpOptions(ctx)
	if err != nil {
		return nil, err
	}
	c.base = base
	p := s.pool.lock()
	overSSE := p.eras.overSSE
	s.pool.unlock()
	if e.Transport != entry.SSE && !overSSE {
		client, err := openSession(ctx, mcp.DialHTTP(e.URL.Reveal(), c, link), opts)
		if err == nil || !speaksForSSE(err) {
			return client, err
		}
	}
	old, err := mcp.DialSSE(ctx, e.URL.Reveal(), c, link)
	if err != nil {
		return nil, err
	}
	opts.Protocol = "legacy"
	client, err := openSession(ctx, old, opts)
	if err == nil {
		p := s.pool.lock()
		p.eras.overSSE = true
		s.pool.unlock()
	}
	return client, err
}

// openSession shakes hands, and closes the link where that fails.
func openSession(ctx context.Context, link mcp.Link, opts mcp.ClientOptions) (*mcp.Client, error) {
	client, err := mcp.Connect(ctx, link, opts)
	if err != nil {
		return nil, errors.Join(err, link.Close())
	}
	return client, nil
}

// speaksForSSE reports whether a refused initialize looks like a server of 2024-11-05.
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

// httpOptions are the entry's headers and TLS settings, and how the user is signed in.
// What it returns beside them is to be closed with the link.
func (s *Server) httpOptions(ctx context.Context) (*mcp.HTTPOptions, *http.Transport, error) {
	e := s.settings()
	head := http.Header{}
	for _, h := range e.Headers {
		head.Add(h.Name, h.Value.Reveal())
	}
	if e.HeadersCommand != nil {
		if err := s.commandHeaders(ctx, e, head); err != nil {
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
	config, err := tlsConfig(&e.TLS)
	if err != nil {
		return nil, nil, err
	}
	opts := &mcp.HTTPOptions{
		Logger: s.log, Header: func() http.Header { return head },
		MaxAnswer: s.set.opts.MaxFrame, MaxEvent: s.set.opts.MaxFrame, Withheld: &s.headless,
	}
	base := mcp.NewHTTPTransport(config)
	if opts.Transport, err = s.login.wrap(base); err != nil {
		return nil, nil, err
	}
	return opts, base, nil
}

// tlsConfig reads the files of an entry's TLS settings; nil where there are none.
func tlsConfig(t *entry.TLS) (*tls.Config, error) {
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

// shown is how people see what an entry starts or reaches; secrets are hidden in it.
func shown(e *entry.Entry) string {
	if e.Transport != entry.Stdio {
		return e.URL.String()
	}
	words := []string{e.Command.String()}
	for _, a := range e.Args {
		words = append(words, a.String())
	}
	return strings.Join(words, " ")
}

// maxHeaders bounds what a headersCommand prints.
const maxHeaders = 64 << 10

// commandHeaders runs the entry's headersCommand and adds what it prints, a JSON object of
// names and values, to head. What it prints is never logged.
func (s *Server) commandHeaders(ctx context.Context, e *entry.Entry, head http.Header) error {
	c := e.HeadersCommand
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("no answer within %v", c.Timeout))
	defer cancel()
	out, err := process.Output(ctx, process.Command{
		Label: s.name + " headersCommand", Name: c.Command.Reveal(), Args: reveal(c.Args), Dir: e.Dir,
		Env: entry.Environment(*e, s.set.opts.Environ, entry.EnvironmentOptions{Deny: s.set.opts.Deny}),
	}, maxHeaders, &process.Options{Reaper: s.set.opts.Reaper, Logger: s.log})
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
	return nil
}
