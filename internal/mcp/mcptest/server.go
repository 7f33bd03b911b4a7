package mcptest

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// This file has the state that all clients share.

// server is the state that all clients of one process share.
type server struct {
	opts   *options
	tools  map[string]builtin
	listed map[string]bool // names in tools/list that are not built in
	static []string        // entries of tools/list without the extra one
	odd    map[string]bool // names of the odd definitions
	list   []byte          // content of the file of --definitions
	result []byte          // content of the file of --result-file
	filler filler
	calls  atomic.Int64
	exit   chan int // receives the exit code once

	stderrMu sync.Mutex
	stderr   io.Writer

	recordMu sync.Mutex
	record   *os.File

	mu        sync.RWMutex
	peers     map[*peer]bool
	sessions  map[string]*peer // legacy sessions over HTTP
	listens   map[*listen]bool
	extra     map[string]bool // kinds of lists that currently have their extra entry
	revisions map[string]int  // revisions of touched resources
}

// newServer opens the files that the options name. The caller closes the server.
func newServer(o *options, stderr io.Writer) (*server, error) {
	s := &server{
		opts:      o,
		exit:      make(chan int, 1),
		stderr:    stderr,
		peers:     map[*peer]bool{},
		sessions:  map[string]*peer{},
		listens:   map[*listen]bool{},
		extra:     map[string]bool{},
		revisions: map[string]int{},
	}
	s.tools = builtins()
	if err := s.openFiles(); err != nil {
		return nil, err
	}
	s.buildList()
	return s, nil
}

func (s *server) openFiles() error {
	var err error
	if s.opts.definitions != "" {
		if s.list, err = s.readJSON(s.opts.definitions); err != nil {
			return err
		}
	}
	if s.opts.resultFile != "" {
		if s.result, err = s.readJSON(s.opts.resultFile); err != nil {
			return err
		}
	}
	if s.opts.record != "" {
		s.record, err = os.OpenFile(s.opts.record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	}
	return err
}

// readJSON reads a file whose bytes are sent unchanged. Only line breaks are removed, because stdio cannot
// carry them.
func (s *server) readJSON(name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if err == nil && s.opts.http == "" {
		b = oneLine(b)
	}
	return b, err
}

func (s *server) close() {
	if s.record != nil {
		s.record.Close()
	}
}

// requestExit asks the process to end. It returns at once; only the first code counts.
func (s *server) requestExit(code int) {
	select {
	case s.exit <- code:
	default:
	}
}

// logf writes one line to stderr.
func (s *server) logf(format string, args ...any) {
	s.stderrMu.Lock()
	defer s.stderrMu.Unlock()
	fmt.Fprintf(s.stderr, format+"\n", args...)
}

// recordInput appends a received line or body to the --record file, with a line end if it has none.
func (s *server) recordInput(b []byte) {
	if s.record == nil {
		return
	}
	s.recordMu.Lock()
	defer s.recordMu.Unlock()
	if len(b) == 0 || b[len(b)-1] != '\n' {
		b = append(slices.Clip(b), '\n')
	}
	if _, err := s.record.Write(b); err != nil {
		s.logf("record: %v", err)
	}
}

func (s *server) addPeer(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peers[p] = true
	if p.session != "" {
		s.sessions[p.session] = p
	}
}

func (s *server) removePeer(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, p)
	delete(s.sessions, p.session)
}

// awaitFile waits until a file exists and reports whether it did so before ctx ended. It gives up after some minutes, since
// nobody may be left to create the file.
func awaitFile(ctx context.Context, path string) bool {
	for begun := time.Now(); time.Since(begun) < 5*time.Minute; {
		if _, err := os.Stat(path); err == nil {
			return true
		}
		if !pause(ctx, 10*time.Millisecond) {
			return false
		}
	}
	return false
}

// pause waits for d and reports whether it did so before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
