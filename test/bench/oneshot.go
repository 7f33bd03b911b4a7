package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"collie/test/inits"
)

// beforeMain returns how much memory the packages of a program allocate before its main function, in KiB: the packages of
// this module, and all others.
func beforeMain(ctx context.Context, program string) (ours, others float64, err error) {
	all, err := inits.Trace(ctx, program)
	for _, p := range all {
		if kib := float64(p.Bytes) / 1024; p.Ours() {
			ours += kib
		} else {
			others += kib
		}
	}
	return ours, others, err
}

// oneShot measures how long a command that reads a note takes if no gateway is running, from its start to its end.
func (b *bench) oneShot(ctx context.Context) error {
	home := filepath.Join(b.dir, "oneshot")
	run := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, b.collie, append([]string{"--home", home}, args...)...)
		cmd.Env = cleanEnv()
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("collie %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
		}
		return out, err
	}
	const note = "/Welcome/Writing"
	if _, err := run("fs", "ls", "/"); err != nil { // makes the vault
		return err
	}
	var took []float64
	for range 4 * b.plan.rounds {
		begun := time.Now()
		out, err := run("fs", "read", note)
		took = append(took, micros(time.Since(begun))/1000)
		if err != nil {
			return err
		}
		if !bytes.Contains(out, []byte("Writing")) {
			return fmt.Errorf("fs read %s does not show the note: %s", note, out)
		}
	}
	b.add("`collie fs read` without a gateway, start to end", milliseconds, took, atMost(30))
	b.add("the quickest of these", milliseconds, []float64{nearestRank(took, 1)}, bound{})
	return nil
}
