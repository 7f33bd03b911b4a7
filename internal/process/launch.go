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

// Launch starts a program that is none of our children: it is meant to outlive this one, is in
// no reaper and no ledger, and has no pipes. What opens a page in a browser is such a program.
//
// It waits up to wait for the program to end, which shows most failures: an exit code other
// than 0 is an error, one that still runs is none. The error is a [*StartError] if it could not
// be started. Stderr of c is not used.
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
		cmd.Env = []string{} // nil would mean ours
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

// Output runs a command to its end and returns what it wrote to stdout, of which there may be
// at most limit bytes. When ctx ends, the command and what it started are ended too. The error
// is a [*StartError], says how the command ended and what it wrote to stderr last, or is the
// cause of ctx.
func Output(ctx context.Context, c Command, limit int, opts *Options) ([]byte, error) {
	p, err := Start(c, opts)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = p.Stop(ctx) })()
	_ = p.Stdin().Close() // it reads nothing from us
	out, err := io.ReadAll(io.LimitReader(p.Stdout(), int64(limit)+1))
	if len(out) > limit {
		_ = p.Stop(ctx) // what it would still write is not wanted
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
