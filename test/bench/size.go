package main

import (
	"context"
	"os"
	"os/exec"
	"time"
)

// program measures the program itself: its size, and its work before main.
func (b *bench) program(ctx context.Context) error {
	info, err := os.Stat(b.collie)
	if err != nil {
		return err
	}
	b.add("binary", megabytes, []float64{float64(info.Size()) / 1e6}, atMost(39))
	ours, others, err := beforeMain(ctx, b.collie)
	if err != nil {
		return err
	}
	b.add("allocated before main, our packages", kibibytes, []float64{ours}, atMost(200))
	b.add("allocated before main, libraries", kibibytes, []float64{others}, bound{})
	if err := b.oneShot(ctx); err != nil {
		return err
	}
	var took []float64
	for range 2 * b.plan.rounds {
		cmd := exec.CommandContext(ctx, b.collie, "version")
		cmd.Env = cleanEnv()
		begun := time.Now()
		if err := cmd.Run(); err != nil {
			return err
		}
		took = append(took, micros(time.Since(begun))/1000)
	}
	b.add("`collie version`, start to end", milliseconds, took, bound{})
	return nil
}
