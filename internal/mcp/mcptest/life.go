package mcptest

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// lifetime bounds processes that ignore what should end them, so that a test that failed
// leaves nothing behind for good.
const lifetime = 10 * time.Minute

// attend sets up what surrounds a life: signals and the pid file. The function returned
// takes it down again.
func (s *server) attend() (release func(), err error) {
	pidFile := ""
	if s.opts.pidDir != "" {
		pidFile = filepath.Join(s.opts.pidDir, strconv.Itoa(os.Getpid()))
		if err := os.WriteFile(pidFile, nil, 0o600); err != nil {
			return nil, err
		}
	}
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-term:
				if !s.opts.ignoreTerm {
					s.leave(exitSigterm)
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(term)
		close(done)
		if pidFile != "" {
			os.Remove(pidFile)
		}
	}, nil
}

// outstay is what --ignore-eof does at the end of stdin: nothing, for a long time.
func (s *server) outstay(ctx context.Context) {
	if pause(ctx, lifetime) {
		s.leave(exitLifetime)
	}
}

// startGrandchild starts this program again as a process that ignores SIGTERM and holds
// the standard output and error of its parent open, as the children of package runners do.
func (s *server) startGrandchild() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	p, err := os.StartProcess(exe, []string{exe, "--grandchild"}, &os.ProcAttr{
		Env:   append(os.Environ(), childEnv+"=1"),
		Files: []*os.File{null, os.Stdout, os.Stderr},
	})
	if err != nil {
		return err
	}
	s.logf("grandchild %d", p.Pid)
	// Reaps it when it ends first; nobody needs to know how it went.
	go func() { _, _ = p.Wait() }()
	return nil
}

// grandchild is the life of that process.
func grandchild() int {
	signal.Ignore(syscall.SIGTERM, os.Interrupt)
	pause(context.Background(), lifetime)
	return exitLifetime
}
