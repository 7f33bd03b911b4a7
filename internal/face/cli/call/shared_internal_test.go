package call

import (
	"encoding/json"
	"testing"

	"collie/internal/config"
	"collie/internal/face/cli/home"
	"collie/internal/face/cli/remote"
	"collie/internal/face/web/webtest"
	"collie/internal/tool"
)

// serveGateway serves a source behind a real pipeline and the real API, and returns a client for it.
func serveGateway(t *testing.T, src tool.Source) *remote.Client {
	t.Helper()
	url, key := webtest.Serve(t, src)
	r := remote.New(&config.Config{}, home.Gateway{URL: url, Control: key}, nil)
	t.Cleanup(r.Close)
	return r
}

// newCallRequest returns a request for a call as collie call makes it.
func newCallRequest(name, args string, caller tool.Caller) tool.Request {
	return tool.Request{Kind: tool.KindCall, Name: name, Args: json.RawMessage(args), Caller: caller}
}
