package home_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/config"
	"collie/internal/face/cli/home"
)

// A home has at most one gateway, which other processes find while it is running.
func TestClaim(t *testing.T) {
	t.Parallel()
	paths := config.Paths{State: filepath.Join(t.TempDir(), "state")}
	if _, err := home.FindGateway(paths); err != home.ErrNoGateway { //nolint:errorlint // it is returned as it is
		t.Errorf("an empty home: %v", err)
	}
	release, err := home.Claim(paths)
	if err != nil {
		t.Fatal(err)
	}
	g := home.Gateway{PID: os.Getpid(), Version: "9", URL: "http://127.0.0.1:7", Control: home.NewKey(), Bridge: home.NewKey()}
	if err := home.Announce(paths, g); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(paths.State, "gateway.json")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("gateway.json: %v, mode %v", err, info.Mode())
	}
	if found, err := home.FindGateway(paths); err != nil || !reflect.DeepEqual(found, g) || g.Control == g.Bridge || len(g.Control) < 32 {
		t.Errorf("found %+v %v, want %+v", found, err, g)
	}
	_, err = home.Claim(paths)
	if err == nil || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) || !strings.Contains(err.Error(), g.URL) {
		t.Errorf("a second claim: %v", err)
	}
	release()
	if _, err := home.FindGateway(paths); err != home.ErrNoGateway { //nolint:errorlint // it is returned as it is
		t.Errorf("after its end: %v", err)
	}
	again, err := home.Claim(paths)
	if err != nil {
		t.Fatal(err)
	}
	again()
	g.PID = 1 << 30 // a gateway that was killed leaves its file behind
	if err := home.Announce(paths, g); err != nil {
		t.Fatal(err)
	}
	if _, err := home.FindGateway(paths); err != home.ErrNoGateway { //nolint:errorlint // it is returned as it is
		t.Errorf("a gateway that was killed: %v", err)
	}
}

// After a gateway was killed, a child of it may hold the lock for a moment. Claim waits for that, but not for ever.
func TestClaimAfterAKill(t *testing.T) {
	t.Parallel()
	paths := config.Paths{State: filepath.Join(t.TempDir(), "state")}
	if err := os.MkdirAll(paths.State, 0o700); err != nil {
		t.Fatal(err)
	}
	unlock, ok, err := atomicfile.TryLock(filepath.Join(paths.State, "gateway.lock"))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, err := home.Claim(paths); err == nil || !strings.Contains(err.Error(), "already has a gateway") {
		t.Errorf("a lock that stays: %v", err)
	}
	time.AfterFunc(100*time.Millisecond, unlock)
	if _, err := home.Claim(paths); err != nil {
		t.Errorf("a lock that is left for a moment: %v", err)
	}
}
