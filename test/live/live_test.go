//go:build live

package live_test

import (
	"os"
	"testing"
	"time"

	"collie/test/gateway"
	"collie/test/live"
)

// address is the URL of the kernel; empty if the test is not to run.
var address = os.Getenv("SIYUAN_API_URL")

func TestMain(m *testing.M) {
	if address == "" {
		os.Exit(m.Run()) // nothing has to be built
	}
	os.Exit(gateway.BuildAndRun(m))
}

// TestLive takes the tour at a real kernel.
func TestLive(t *testing.T) {
	if address == "" {
		t.Skip("not run: SIYUAN_API_URL is not set")
	}
	live.Smoke(t, address, os.Getenv("SIYUAN_TOKEN"), live.Options{Wait: 5 * time.Second})
}
