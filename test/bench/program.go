package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	startLimit = time.Minute
	stopLimit  = 15 * time.Second
)

// daemon is a program that serves HTTP.
type daemon struct {
	endpoint
	cmd     *exec.Cmd
	begun   time.Time
	ready   time.Duration // time from its start to the line that reports it ready
	drained chan struct{}
}

// startDaemon starts a program and waits until a line of its stderr matches ready, whose first group is the
// URL.
func startDaemon(ctx context.Context, ready *regexp.Regexp, program string, args ...string) (*daemon, error) {
	d := &daemon{cmd: exec.CommandContext(ctx, program, args...), drained: make(chan struct{})}
	d.cmd.Env = cleanEnv()
	stderr, err := d.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	d.begun = time.Now()
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	found, said := make(chan []string, 1), new(strings.Builder)
	go func() { // ends with the program
		defer close(d.drained)
		defer close(found)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if m := ready.FindStringSubmatch(lines.Text()); m != nil {
				d.ready = time.Since(d.begun)
				found <- m
				break
			}
			said.WriteString(lines.Text() + "\n")
		}
		for lines.Scan() {
		}
	}()
	select {
	case m, ok := <-found:
		if !ok {
			return nil, fmt.Errorf("%s ended before it was ready: %w\n%s", program, d.cmd.Wait(), said)
		}
		d.url = m[1]
		return d, nil
	case <-time.After(startLimit):
		return nil, fmt.Errorf("%s was not ready within %v: %w", program, startLimit, d.stop())
	}
}

// stop asks the program to end, and kills it if it does not.
func (d *daemon) stop() error {
	_ = d.cmd.Process.Signal(os.Interrupt)
	slow := time.AfterFunc(stopLimit, func() { _ = d.cmd.Process.Kill() })
	defer slow.Stop()
	<-d.drained
	_ = d.cmd.Wait() // the exit status does not matter
	return nil
}

var (
	serverReady = regexp.MustCompile(`^listening (http://\S+)`)
	collieReady = regexp.MustCompile(`ready: .* at (http://\S+)`)
	// collieListens matches the line that Collie prints once it can be called.
	collieListens = regexp.MustCompile(`listening on (http://\S+)`)
)

// command is a program and its arguments.
type command []string

// serveCollie runs `collie serve` in a new home with stdio servers, given by name.
func (b *bench) serveCollie(ctx context.Context, servers map[string]command) (*daemon, error) {
	home, config, err := b.home(servers)
	if err != nil {
		return nil, err
	}
	return b.serveIn(ctx, home, config, collieReady)
}

// serveIn runs `collie serve` in a home until its output matches ready.
func (b *bench) serveIn(ctx context.Context, home, config string, ready *regexp.Regexp) (*daemon, error) {
	file := filepath.Join(home, "state", "token")
	token, _ := os.ReadFile(file) // from an earlier run, to save time later
	d, err := startDaemon(ctx, ready, b.collie, "serve", "--home", home, "--config", config, "--http", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if token == nil {
		if token, err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("%w: %w", err, d.stop())
		}
	}
	d.token = strings.TrimSpace(string(token))
	return d, nil
}

// home creates a home and a settings file without notes.
func (b *bench) home(servers map[string]command) (home, config string, err error) {
	type entry struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	entries := map[string]entry{}
	for name, c := range servers {
		entries[name] = entry{c[0], c[1:]}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": entries, "siyuan": map[string]any{"enabled": false}})
	if err != nil {
		return "", "", err
	}
	dir, err := os.MkdirTemp(b.dir, "home-")
	if err != nil {
		return "", "", err
	}
	config = filepath.Join(dir, "collie.json")
	return filepath.Join(dir, "home"), config, os.WriteFile(config, text, 0o600)
}

// cleanEnv returns the environment without variables that configure Collie, and in English, because output is
// parsed.
func cleanEnv() (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "COLLIE_") && !strings.HasPrefix(v, "SIYUAN_") {
			env = append(env, v)
		}
	}
	return append(env, "LC_ALL=C")
}

// stopper collects what has to be stopped.
type stopper []func() error

func (s *stopper) add(f func() error) { *s = append(*s, f) }

// daemon is add for the result of starting a daemon.
func (s *stopper) daemon(d *daemon, err error) (*daemon, error) {
	if err == nil {
		s.add(d.stop)
	}
	return d, err
}

// stop stops everything, the latest first.
func (s *stopper) stop(log io.Writer) {
	for i := range slices.Backward(*s) {
		if err := (*s)[i](); err != nil {
			fmt.Fprintln(log, "bench: stop:", err)
		}
	}
}
