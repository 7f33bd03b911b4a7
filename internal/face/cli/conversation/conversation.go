// Package conversation has the commands of the agent host: collie agent, sessions, usage and store. They use the API of
// the running gateway. If none runs, they serve the same API inside this process, over pipes.
package conversation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"

	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	"collie/internal/face/mcpserver/toolbox"
	"collie/internal/face/web"
	"collie/internal/tool"
)

// commands holds the commands of this folder, which share one program.
type commands struct{ *root.Program }

// API is a client for the HTTP API of a running gateway, or of the parts opened in this process.
type API struct {
	url     string
	control string
	client  *http.Client
	close   func()

	sendMu sync.Mutex // held until a sent message is stored in its session
}

// Open returns the API. If no gateway runs, it starts servers: all if servers is nil, none if it is empty. The caller
// closes the API.
func Open(ctx context.Context, p *root.Program, servers []string) (*API, error) {
	b, err := p.Backend(ctx, servers)
	if err != nil {
		return nil, err
	}
	switch b := b.(type) {
	case *remote.Client:
		return &API{url: b.Gateway.URL, control: b.Gateway.Control, client: b.HTTP(), close: b.Close}, nil
	case *root.Local:
		return serveInProcess(p, b), nil
	}
	b.Close()
	return nil, &tool.Error{Op: "agent", Kind: tool.Internal, Message: "nothing here can hold a conversation"}
}

// serveInProcess serves the API of the parts in this process over pipes, and returns a client for it.
func serveInProcess(p *root.Program, b *root.Local) *API {
	l := newPipeListener()
	a := b.App
	a.Endpoints = toolbox.Endpoints(toolbox.Options{Pipeline: a.Pipeline, Version: p.Version, Stdio: []string{root.Self(), "stdio"}})
	who := web.Identity{Principal: root.Principal(), Origin: tool.Direct, Manage: true}
	server := &http.Server{
		Handler: web.New(web.Options{
			Pipeline: a.Pipeline, Servers: a.Servers, Tools: a.Tools, Prompts: a.Prompts, Chat: a.Conversations, Identify: func(*http.Request) web.Identity { return who },
		}),
		ReadHeaderTimeout: 0, // the only client is this process
	}
	served := make(chan struct{})
	go func() { // ends with close
		defer close(served)
		_ = server.Serve(l)
	}()
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) }}}
	return &API{url: "http://collie.invalid", client: client, close: func() {
		_ = server.Close()
		<-served
		b.Close()
	}}
}

// Close closes the API. Turns of a running gateway continue.
func (a *API) Close() { a.close() }

// request returns a request with the key that lets this command line manage the gateway.
func (a *API) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, a.url+"/api/v1"+path, body)
	if err != nil {
		return nil, err
	}
	if a.control != "" {
		r.Header.Set("Authorization", "Bearer "+a.control)
	}
	return r, nil
}

// Do sends in as JSON, no body if it is nil, and decodes the answer into out unless that is nil.
func (a *API) Do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	r, err := a.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := a.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := readResponse(resp)
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

// responseError returns the error in an answer, without an operation: the person knows what they typed.
func responseError(status int, raw []byte) error {
	err := remote.RefusalError(status, raw)
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Op == "call" {
		e.Op = ""
	}
	return err
}

// Send sends a body that is not JSON, or nil, and returns the body of the answer.
func (a *API) Send(ctx context.Context, method, path string, body io.Reader) ([]byte, error) {
	r, err := a.request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	resp, err := a.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return readResponse(resp)
}

// readResponse returns the body of an answer, or the error it describes.
func readResponse(resp *http.Response) ([]byte, error) {
	raw, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		err = responseError(resp.StatusCode, raw)
	}
	return raw, err
}

// pipeListener is a listener whose connections are pipes within this process.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// dial connects to the server that accepts on l.
func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for a connection.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept. The server calls it once.
func (l *pipeListener) Close() error {
	close(l.closed)
	return nil
}

// Addr returns a placeholder: pipes have no address.
func (*pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
