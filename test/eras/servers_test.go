package eras_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"collie/internal/mcp/mcptest"
	"collie/test/await"
	"collie/test/binary"
)

// limit bounds what should happen at once.
const limit = await.Limit

// server is a fakemcp behind Collie.
type server struct {
	name   string // transport and era; also the prefix of its tools
	era    string
	stdio  bool
	entry  string
	record string // file in which it records what it receives

	mu          sync.Mutex
	stderrLines []string // stderr of a server over HTTP
}

func (s *server) tool(name string) string { return s.name + "__" + name }

// uri returns the URI of one of the server's resources. Each server has its own scheme, so that URIs do not
// clash.
func (s *server) uri(path string) string { return strings.ReplaceAll(s.name, "_", "-") + "://" + path }

// startServers starts what needs to be started and returns a server for each transport and era.
func startServers(t *testing.T) []*server {
	t.Helper()
	fake := mcptest.Build(t)
	var list []*server
	for _, transport := range []string{"stdio", "http"} {
		for _, era := range []string{"legacy", "modern", "both"} {
			s := &server{name: transport + "_" + era, era: era, stdio: transport == "stdio", record: filepath.Join(t.TempDir(), "heard")}
			flags := []string{"--era=" + era, "--scheme=" + strings.TrimSuffix(s.uri(""), "://"), "--record=" + s.record}
			if s.stdio {
				s.entry = `{"command":` + strconv.Quote(fake) + `,"args":["` + strings.Join(flags, `","`) + `"]}`
			} else {
				s.entry = `{"url":` + strconv.Quote(s.startHTTP(t, fake, flags)) + `}`
			}
			list = append(list, s)
		}
	}
	return list
}

// startHTTP runs the server over HTTP and returns its URL.
func (s *server) startHTTP(t *testing.T, fake string, flags []string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), fake, append(flags, "--http=127.0.0.1:0")...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listening, drained := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(drained)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if url, ok := strings.CutPrefix(lines.Text(), "listening "); ok {
				listening <- url
			}
			s.mu.Lock()
			s.stderrLines = append(s.stderrLines, lines.Text())
			s.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // the context has ended, it is going anyway
		<-drained
		_ = cmd.Wait()
	})
	select {
	case url := <-listening:
		return url
	case <-drained:
		t.Fatal("fakemcp ended before it listened")
	}
	return ""
}

// countCancels returns how often a request was cancelled at the server: by a notification or, over HTTP, by
// closing the connection.
func (s *server) countCancels(t *testing.T) int {
	t.Helper()
	n := s.countReceived(t, "notifications/cancelled")
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.stderrLines {
		if strings.HasPrefix(line, "cancelled ") {
			n++
		}
	}
	return n
}

// countReceived returns how often text occurs in what the server has received.
func (s *server) countReceived(t *testing.T, text string) int {
	t.Helper()
	heard, err := os.ReadFile(s.record)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(heard), text)
}

// gateway is a Collie in front of the servers. It has no URL if clients start it.
type gateway struct {
	program, config, home, url string
}

// writeSettingsAndServe writes settings with the servers and, if http is true, starts the gateway.
func writeSettingsAndServe(t *testing.T, program string, list []*server, http bool) *gateway {
	t.Helper()
	var entries []string
	for _, s := range list {
		entries = append(entries, strconv.Quote(s.name)+":"+s.entry)
	}
	g := &gateway{program: program, config: filepath.Join(t.TempDir(), "collie.json")}
	if err := os.WriteFile(g.config, []byte(`{"siyuan":{"enabled":false},"cache":{"firstListWait":"10s"},"mcpServers":{`+strings.Join(entries, ",")+`}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if http {
		g.home = t.TempDir()
		g.url = binary.Serve(t, g.program, g.config, "--home", g.home)
	}
	return g
}
