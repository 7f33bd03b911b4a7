package mcptest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
)

// This file runs the test server as a program.

// Exit codes of Main, besides those that flags and tools set.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitSigterm  = 128 + 15
	exitLifetime = 3
)

// Main runs the program. args are its flags, without the program's name; it returns the exit code. It returns
// when stdin ends, on SIGTERM, or when a flag or tool ends the process. Goroutines that are still reading or
// running then are left behind, so a caller that goes on should close the other end of stdin.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "fakemcp: %v\n", err)
		return exitUsage
	case o.grandchild:
		return runGrandchild()
	case o.printStderr != "":
		fmt.Fprintln(stderr, o.printStderr)
		if o.exitCode < 0 {
			return exitFailed
		}
		return o.exitCode
	case o.exitCode >= 0:
		return o.exitCode
	}
	code, err := serveUntilExit(o, stdin, stdout, stderr, (*server).watchProcess)
	if err != nil {
		fmt.Fprintf(stderr, "fakemcp: %v\n", err)
	}
	return code
}

// Serve is like Main for a test that runs it in its own process. It does not handle signals, which would not work
// in a bubble of testing/synctest.
func Serve(args []string, stdin io.Reader, stdout io.Writer) error {
	o, err := parseOptions(args, io.Discard)
	if err != nil {
		return err
	}
	_, err = serveUntilExit(o, stdin, stdout, io.Discard, func(*server) (func(), error) { return func() {}, nil })
	return err
}

// serveUntilExit serves until something ends the process. It calls attend once the server exists and its release at the
// end.
func serveUntilExit(o *options, stdin io.Reader, stdout, stderr io.Writer, attend func(*server) (func(), error)) (int, error) {
	s, err := newServer(o, stderr)
	if err != nil {
		return exitFailed, err
	}
	defer s.close()
	release, err := attend(s)
	if err != nil {
		return exitFailed, err
	}
	defer release()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		if err := s.run(ctx, stdin, stdout); err != nil {
			failed <- err
		}
	}()
	select {
	case code := <-s.exit:
		return code, nil
	case err := <-failed:
		return exitFailed, err
	}
}

// run serves over HTTP or stdio. At the end of stdin it asks the process to end, or stays with --ignore-eof.
func (s *server) run(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	if s.opts.delayStart > 0 && !pause(ctx, s.opts.delayStart) {
		return nil
	}
	if s.opts.startWhen != "" && !awaitFile(ctx, s.opts.startWhen) {
		return nil
	}
	if s.opts.startWith > 0 {
		if err := s.awaitOthers(ctx); err != nil {
			return err
		}
	}
	if s.opts.fork {
		if err := s.startGrandchild(); err != nil {
			return err
		}
	}
	if s.opts.http != "" {
		return s.serveHTTP(ctx)
	}
	out := &pipe{w: stdout}
	if s.opts.banner != "" {
		out.sendRaw([]byte(s.opts.banner + "\n"))
	}
	if err := s.serveStdio(ctx, stdin, out); err != nil {
		return err
	}
	if s.opts.ignoreEOF {
		s.stayAfterEOF(ctx)
		return nil
	}
	s.endListens()
	s.requestExit(exitOK)
	return nil
}
