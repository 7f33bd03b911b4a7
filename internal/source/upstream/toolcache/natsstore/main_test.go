package natsstore_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/goleak"

	"collie/test/await"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startServer runs a NATS server with JetStream in this process, on any free port where opts names none.
func startServer(t *testing.T, opts server.Options) *server.Server {
	t.Helper()
	opts.Host, opts.JetStream, opts.NoLog, opts.NoSigs = "127.0.0.1", true, true, true
	if opts.Port == 0 {
		opts.Port = -1
	}
	if opts.StoreDir == "" {
		opts.StoreDir = t.TempDir()
	}
	srv, err := server.NewServer(&opts)
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	if !srv.ReadyForConnections(waitLimit) {
		t.Fatal("the server does not start")
	}
	t.Cleanup(func() { stopServer(srv) })
	return srv
}

func stopServer(srv *server.Server) {
	srv.Shutdown()
	srv.WaitForShutdown()
}

// waitLimit bounds the wait for something that happens at once on an idle machine.
const waitLimit = await.Limit

// eventually waits until so returns true.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	limit := time.NewTimer(waitLimit)
	defer limit.Stop()
	for tick := time.NewTicker(5 * time.Millisecond); !so(); {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("not within %v: %s", waitLimit, what)
		}
	}
}
