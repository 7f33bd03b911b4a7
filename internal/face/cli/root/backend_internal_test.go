package root

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"

	"collie/internal/config"
	"collie/internal/face/cli/home"
	"collie/internal/face/cli/output"
	"collie/test/await"
)

// If the gateway of a home does not answer well, the command works without it and keeps no connection to it.
func TestBackendWithoutTheGateway(t *testing.T) {
	t.Parallel()
	var asked, closed atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			closed.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	p := &Program{Version: "test", Home: t.TempDir(), Output: output.Output{Out: io.Discard, Err: io.Discard, Env: config.EnvOf()}}
	cfg, err := p.Load()
	if err != nil {
		t.Fatal(err)
	}
	if err := home.Announce(cfg.Paths, home.Gateway{PID: os.Getpid(), URL: srv.URL, Version: "test", Digest: cfg.Digest()}); err != nil {
		t.Fatal(err)
	}
	b, err := p.Backend(t.Context(), []string{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if _, local := b.(*Local); !local || asked.Load() != 1 {
		t.Errorf("the backend is a %T, and the gateway was asked %d times, want once", b, asked.Load())
	}
	await.Until(t, "the connection to the gateway is closed", func() bool { return closed.Load() == 1 })
}
