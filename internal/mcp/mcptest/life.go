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

// lifetime bounds processes that ignore what should end them, so that a failed test leaves nothing behind for
// ever.
const lifetime = 10 * time.Minute

// watchProcess sets up the handling of SIGTERM and the pid file. release undoes both.
func (s *server) watchProcess() (release func(), err error) {
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
					s.requestExit(exitSigterm)
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

// stayAfterEOF implements --ignore-eof: after the end of stdin the server stays until ctx or lifetime ends.
func (s *server) stayAfterEOF(ctx context.Context) {
	if pause(ctx, lifetime) {
		s.requestExit(exitLifetime)
	}
}

// startGrandchild starts this program again as a process that ignores SIGTERM and holds its parent's stdout
// and stderr open, as child processes of package runners do.
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
	// reaps it if it ends first; its exit status does not matter
	go func() { _, _ = p.Wait() }()
	return nil
}

// runGrandchild is the main function of the process that startGrandchild starts.
func runGrandchild() int {
	signal.Ignore(syscall.SIGTERM, os.Interrupt)
	pause(context.Background(), lifetime)
	return exitLifetime
}

// awaitOthers waits until as many servers as --start-with says have their file in the directory of --pidfile. If one gateway
// started them one after the other, it would wait until ctx ends.
func (s *server) awaitOthers(ctx context.Context) error {
	for {
		files, err := os.ReadDir(s.opts.pidDir)
		if err != nil {
			return err
		}
		if len(files) >= s.opts.startWith || !pause(ctx, 10*time.Millisecond) {
			return nil
		}
	}
}
