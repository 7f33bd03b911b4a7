package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// Launch starts a program that is meant to outlive this one, such as the one that opens a page in a browser.
// It is not a child of ours in the sense of this package: no reaper, no ledger, no pipes; c.Stderr is not
// used.
//
// Launch waits up to wait for the program to end, which shows most failures: an exit code other than 0 is an
// error. A program that still runs after wait is not an error. The error is a [*StartError] if the program
// could not be started.
func Launch(c Command, wait time.Duration) error {
	path, err := Resolve(c.Name, c.Env, c.Dir)
	if err != nil {
		return err
	}
	if err := checkDir(c.Name, c.Dir); err != nil {
		return err
	}
	cmd := &exec.Cmd{Path: path, Args: append([]string{c.Name}, c.Args...), Env: c.Env, Dir: c.Dir}
	if c.Env == nil {
		cmd.Env = []string{} // nil would mean our environment
	}
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return spawnError(c.Name, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the program, or with us
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case err := <-ended:
		if e, ok := errors.AsType[*exec.ExitError](err); ok {
			return fmt.Errorf("%s ended with %s", c.Name, e.ProcessState)
		}
		return err
	case <-timer.C:
		return nil
	}
}

// Output runs a command to its end and returns its stdout, of at most limit bytes. If ctx ends first, the
// command and all processes of its group are ended. If the command does not start, the error is a
// [*StartError]; if ctx ended, it is the cause of ctx; if the exit code is not 0, it holds the last lines of stderr.
func Output(ctx context.Context, c Command, limit int, opts *Options) ([]byte, error) {
	p, err := Start(c, opts)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = p.Stop(ctx) })()
	_ = p.Stdin().Close() // it reads nothing from us
	out, err := io.ReadAll(io.LimitReader(p.Stdout(), int64(limit)+1))
	if len(out) > limit {
		_ = p.Stop(ctx) // the rest of its output is not wanted
		return nil, fmt.Errorf("%s wrote more than %d bytes", c.Name, limit)
	}
	<-p.Done()
	switch exit := p.Exit(); {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", c.Name, context.Cause(ctx))
	case exit.Code != 0:
		return nil, fmt.Errorf("%s: %v: %s", c.Name, exit, strings.Join(p.Tail(5), " | "))
	case err != nil:
		return nil, fmt.Errorf("read from %s: %w", c.Name, err)
	}
	return out, p.Stop(ctx)
}
