// Package toolbox offers tools to the agent of another program for the time of one turn: an MCP endpoint on a free port
// of this machine, with a token that is valid only there and only during the turn.
package toolbox

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"collie/internal/agent"
	"collie/internal/face/httpserver"
	"collie/internal/face/mcpserver"
	"collie/internal/pipeline"
	"collie/internal/tool"
)

// Variable is the environment variable that tells collie stdio the endpoint of a turn: its URL, with the token as password.
const Variable = "COLLIE_TURN"

// Options of the endpoints. Pipeline is required.
type Options struct {
	Pipeline *pipeline.Pipeline
	Version  string
	// Stdio is the command that carries a client on stdio to where Variable points, with its arguments.
	Stdio  []string
	Logger *slog.Logger // nil discards
}

// Endpoints returns the function that opens an endpoint for one turn.
func Endpoints(o Options) func(context.Context, *agent.Toolbox) (agent.Endpoint, error) {
	return func(ctx context.Context, box *agent.Toolbox) (agent.Endpoint, error) { return open(ctx, o, box) }
}

func open(ctx context.Context, o Options, box *agent.Toolbox) (agent.Endpoint, error) {
	token := rand.Text()
	listener, err := httpserver.Open(ctx, httpserver.Options{
		Addr: "127.0.0.1:0", Keys: []httpserver.Key{{Name: "turn", Secret: token, Origin: tool.CLIAgent}},
		Routes: []string{"/mcp"}, Version: o.Version, Grace: time.Millisecond, Logger: o.Logger,
	})
	if err != nil {
		return agent.Endpoint{}, err
	}
	who := mcpserver.Client{Principal: box.Principal, Origin: tool.CLIAgent, Profile: box.Profile, Owner: "turn", Do: box.Do, Shows: box.Shows}
	stopping := make(chan struct{})
	face := mcpserver.New(o.Pipeline, mcpserver.Options{Version: o.Version, Stopping: stopping, Logger: o.Logger})
	handler := face.Handler(func(*http.Request) mcpserver.Client { return who }, mcpserver.Bounds{})
	served := make(chan struct{})
	go func() { // ends with close
		defer close(served)
		if err := listener.Serve(context.WithoutCancel(ctx), handler); err != nil && o.Logger != nil {
			o.Logger.Debug("requests of an agent were cut off", "error", err)
		}
	}()
	at := url.URL{Scheme: "http", Host: listener.Addr().String(), Path: "/mcp"}
	endpoint := agent.Endpoint{URL: at.String(), Token: token, Command: o.Stdio}
	at.User = url.UserPassword("turn", token)
	endpoint.Env = [2]string{Variable, at.String()}
	endpoint.Close = func() {
		close(stopping)
		_ = listener.Close() // the message does not matter, because the turn of the agent has ended
		<-served
		_ = handler.Close()
		face.Close()
	}
	return endpoint, nil
}
