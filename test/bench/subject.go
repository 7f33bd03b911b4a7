package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// subject is a server that Collie is measured in front of. Its tools are echo and big.
type subject struct {
	prefix  string // the prefix of its lines in the report
	program string
	modern  []string // flags with which it speaks the modern era over HTTP
	judged  bool     // the budgets apply to this one
}

// leanPrefix is the prefix of the lean server's lines in the report.
const leanPrefix = "lean server: "

// peers are the programs that the benchmarks run besides Collie.
type peers struct {
	sdk, lean subject
	relay     string
	bare      string
}

// buildPeers builds the peers into dir.
func buildPeers(ctx context.Context, dir string) (p peers, err error) {
	const own = "collie/test/bench/"
	cmd := exec.CommandContext(ctx, "go", "build", "-o", dir+string(filepath.Separator),
		own+"relay", own+"bare", own+"sdkserver", "collie/internal/mcp/mcptest/fakemcp")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as Collie is built
	if msg, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("build the peers: %w\n%s", err, msg)
	}
	program := func(name string) string {
		path, err := exec.LookPath(filepath.Join(dir, name)) // adds .exe on Windows
		if err != nil {
			return filepath.Join(dir, name)
		}
		return path
	}
	return peers{
		sdk:   subject{"", program("sdkserver"), []string{"-stateless"}, true},
		lean:  subject{leanPrefix, program("fakemcp"), []string{"--era", "modern"}, false},
		relay: program("relay"),
		bare:  program("bare"),
	}, nil
}

// budget returns limit if the budgets apply to s, else none.
func (s subject) budget(limit bound) bound {
	if !s.judged {
		return bound{}
	}
	return limit
}

// serve runs the server over HTTP.
func (s subject) serve(ctx context.Context, flags ...string) (*daemon, error) {
	return startDaemon(ctx, serverReady, s.program, append([]string{"-http", "127.0.0.1:0"}, flags...)...)
}

// serveRelay runs the relay in front of s.
func (b *bench) serveRelay(ctx context.Context, s subject) (*daemon, error) {
	return startDaemon(ctx, serverReady, b.relay, s.program)
}
