// Package conversation has the commands of the agent host: collie agent, sessions, usage and store. They use the API of
// the running gateway. If none runs, they serve the same API inside this process, over pipes.
package conversation

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"

	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	"collie/internal/face/web"
	"collie/internal/tool"
)

// commands holds the commands of this folder, which share one program.
type commands struct{ *root.Program }

// api is the API of a gateway, or of the parts opened here.
type api struct {
	url     string
	control string
	client  *http.Client
	close   func()
	// gateway says that others can see what it does: a gateway runs.
	gateway bool
}

// api opens the API. servers are those to start where no gateway runs: all if it is nil, none if it is empty. The caller
// closes it.
func (p commands) api(ctx context.Context, servers []string) (*api, error) {
	b, err := p.Backend(ctx, servers)
	if err != nil {
		return nil, err
	}
	switch b := b.(type) {
	case *remote.Client:
		return &api{url: b.Gateway.URL, control: b.Gateway.Control, client: b.HTTP(), close: b.Close, gateway: true}, nil
	case *root.Local:
		return p.serveHere(b), nil
	}
	b.Close()
	return nil, &tool.Error{Op: "agent", Kind: tool.Internal, Message: "nothing here can hold a conversation"}
}

// serveHere serves the API of the parts of this process to this process.
func (p commands) serveHere(b *root.Local) *api {
	l := newPipeListener()
	a := b.App
	who := web.Identity{Principal: root.Principal(), Origin: tool.Direct, Manage: true}
	server := &http.Server{
		Handler: web.New(web.Options{
			Pipeline: a.Pipeline, Tools: a.Tools, Chat: a.Conversations, Identify: func(*http.Request) web.Identity { return who },
		}),
		ReadHeaderTimeout: 0, // the only client is this process
	}
	served := make(chan struct{})
	go func() { // ends with close
		defer close(served)
		_ = server.Serve(l)
	}()
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) }}}
	return &api{url: "http://collie.invalid", client: client, close: func() {
		_ = server.Close()
		<-served
		b.Close()
	}}
}

// request is a request of a person at this terminal.
func (a *api) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, a.url+"/api/v1"+path, body)
	if err != nil {
		return nil, err
	}
	if a.control != "" {
		r.Header.Set("Authorization", "Bearer "+a.control)
	}
	return r, nil
}

// do sends a value as JSON, nil for none, and decodes the answer into out unless that is nil.
func (a *api) do(ctx context.Context, method, path string, in, out any) error {
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
	raw, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode >= http.StatusBadRequest:
		return remote.Refused(resp.StatusCode, raw)
	case out == nil:
		return nil
	}
	return json.Unmarshal(raw, out)
}

// pipeListener is a listener whose connections are pipes of this process.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

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
