//go:build unix

package soak_test

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"collie/test/gateway"
	"collie/test/port"
)

// server is one of the servers behind the gateway.
type server struct {
	name string
	era  string  // legacy, modern or both
	http *remote // nil for a server over stdio

	extra map[int]bool // whether the process of this pid lists the tool extra
}

// uri returns the resource that listeners subscribe to.
func (s *server) uri() string { return s.name + "://static/hello" }

// flags returns the flags of fakemcp. Its list of tools is short, as most are.
func (s *server) flags() []string {
	return []string{"--era", s.era, "--scheme", s.name, "--offer", "echo,slow,fail,rpcerror,pid,change,touch,crash"}
}

const (
	childServers  = 24 // over stdio, which the gateway runs: eight of each era
	remoteServers = 6  // over HTTP, which the test runs: two of each era
)

// servers returns the servers behind the gateway, first those over stdio and then those over HTTP.
func servers(t *testing.T, p gateway.Programs) []*server {
	t.Helper()
	var list []*server
	for i := range childServers + remoteServers {
		s := &server{name: fmt.Sprintf("s%02d", i), era: []string{"legacy", "modern", "both"}[i%3], extra: map[int]bool{}}
		if i >= childServers {
			s.http = &remote{program: p.Fake, flags: s.flags(), addr: port.Address(t)}
			if err := s.http.start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.http.kill)
		}
		list = append(list, s)
	}
	return list
}

// entry returns the entry of the server in the settings.
func (s *server) entry() gateway.Server {
	if s.http != nil {
		return gateway.Server{Name: s.name, Entry: `{"url":"http://` + s.http.addr + `/mcp"}`}
	}
	return gateway.Server{Name: s.name, Flags: s.flags()}
}

// remote is the process of a fakemcp that is reached over HTTP.
type remote struct {
	program string
	flags   []string
	addr    string // stays the same once it has been chosen
	cmd     *exec.Cmd
	drained chan struct{} // closed when its stderr has ended
}

// start runs the process and waits until it listens.
func (r *remote) start() error {
	r.cmd = exec.Command(r.program, append(r.flags, "--http", r.addr)...)
	stderr, err := r.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	r.drained = make(chan struct{})
	listening := make(chan string, 1)
	go func() { // ends with the process
		defer close(r.drained)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if url, ok := strings.CutPrefix(lines.Text(), "listening http://"); ok {
				listening <- strings.TrimSuffix(url, "/mcp")
			}
		}
	}()
	select {
	case r.addr = <-listening:
		return nil
	case <-time.After(callLimit):
		return fmt.Errorf("fakemcp does not listen on %s", r.addr)
	}
}

// kill kills the process and waits for its end.
func (r *remote) kill() {
	_ = r.cmd.Process.Kill()
	<-r.drained
	_ = r.cmd.Wait()
}
