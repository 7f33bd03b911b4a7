// Package home lets processes that share a home, the folders with one person's settings and data, find the gateway that
// runs there and reach it.
package home

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/process"
	"collie/internal/tool"
)

// Gateway is the content of <state>/gateway.json: what a running `collie serve` tells other processes of its home.
// Only the owner can read the file.
type Gateway struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Version string    `json:"version"`
	URL     string    `json:"url"`
	Digest  string    `json:"configDigest"`
	// Settings are the absolute paths of the settings files that were named; empty means the home's file.
	// Project is the project file of the folder in which it was started, if there is one.
	Settings []string `json:"settings,omitempty"`
	Project  string   `json:"project,omitempty"`
	// Flags are the arguments of `collie serve` that restrict or protect it, such as --profile and --tls-cert, with those that
	// come from the environment. A restart repeats them. nil means that a version wrote the file which did not keep them.
	Flags []string `json:"flags"`
	// Control is the key for the command line (origin direct, may manage). Bridge is the key for stdio
	// (origin mcp-local). Both are new at each start.
	Control string `json:"control"`
	Bridge  string `json:"bridge"`
}

// Claim makes this process the gateway of its home. If the home already has one, the error names it. release
// gives up the claim and removes the file that Announce wrote.
func Claim(paths config.Paths) (release func(), err error) {
	if err := os.MkdirAll(paths.State, 0o700); err != nil {
		return nil, explainUnwritable(paths.State, fmt.Errorf("state folder: %w", err))
	}
	unlock, ok, err := lockHome(paths)
	if err != nil {
		return nil, explainUnwritable(paths.State, fmt.Errorf("lock the home: %w", err))
	}
	if !ok {
		e := &tool.Error{Op: "serve", Kind: tool.Busy, Message: "this home already has a gateway", Hint: "stop it, or choose another home with --home"}
		if g, err := FindGateway(paths); err == nil {
			e.Message = locale.Sprintf("this home already has a gateway: pid %d at %s", g.PID, g.URL)
		}
		return nil, e
	}
	// If the folder is not writable, this fails now, before anything is started. Readers ignore an entry without a
	// pid.
	if err := Announce(paths, Gateway{}); err != nil {
		unlock()
		return nil, err
	}
	return func() {
		_ = os.Remove(gatewayFile(paths)) // if that fails, the file names a pid that is gone
		unlock()
	}, nil
}

// lockLimit is how long lockHome retries a lock that is held although no gateway runs.
const lockLimit = time.Second

// lockHome locks the home, and reports whether it was free. If a gateway is killed while it starts a server, the child
// process holds the inherited lock until it executes the server's program. So a lock without a gateway is tried again
// for a moment.
func lockHome(paths config.Paths) (unlock func(), ok bool, err error) {
	path := filepath.Join(paths.State, "gateway.lock")
	if unlock, ok, err = atomicfile.TryLock(path); ok || err != nil {
		return unlock, ok, err
	}
	if _, err := FindGateway(paths); err == nil {
		return nil, false, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockLimit)
	defer cancel()
	unlock, err = atomicfile.Lock(ctx, path)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, false, nil
	}
	return unlock, err == nil, err
}

// Announce writes the gateway's file.
func Announce(paths config.Paths, g Gateway) error {
	raw, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.WriteNoSync(gatewayFile(paths), append(raw, '\n'), 0o600); err != nil {
		return explainUnwritable(paths.State, fmt.Errorf("write gateway.json: %w", err))
	}
	return nil
}

// explainUnwritable explains an error that occurs because the state folder is not writable; other errors stay as they are.
func explainUnwritable(dir string, err error) error {
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	return &tool.Error{
		Op: "serve", Kind: tool.Unavailable, Subject: dir, Err: err,
		Message: "this folder cannot be written, and a gateway keeps its address, its keys and the record of all calls there",
		Hint:    "chmod -R u+w it, or choose another home with --home DIR",
	}
}

// NewKey returns a random key for a Gateway.
func NewKey() string { return rand.Text() + rand.Text() }

// ErrNoGateway says that no gateway runs in this home.
var ErrNoGateway = errors.New("no gateway runs in this home")

// FindGateway returns the running gateway of a home, or ErrNoGateway.
func FindGateway(paths config.Paths) (Gateway, error) {
	raw, err := os.ReadFile(gatewayFile(paths))
	if errors.Is(err, fs.ErrNotExist) {
		return Gateway{}, ErrNoGateway
	}
	if err != nil {
		return Gateway{}, err
	}
	var g Gateway
	if json.Unmarshal(raw, &g) != nil || g.PID == 0 || !process.Alive(g.PID) {
		return Gateway{}, ErrNoGateway
	}
	return g, nil
}

// ProjectFile returns the project file of the working folder, trusted or not; empty if there is none.
func ProjectFile(cfg *config.Config) string {
	if cfg.Project == nil {
		return ""
	}
	return cfg.Project.File
}

func gatewayFile(paths config.Paths) string { return filepath.Join(paths.State, "gateway.json") }
