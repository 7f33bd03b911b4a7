package process

import (
	"errors"
	"fmt"
	"os/exec"
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
