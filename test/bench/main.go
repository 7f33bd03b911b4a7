package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures and writes the report or, if the first argument is compare, compares two programs.
func run(ctx context.Context, args []string, log io.Writer) error {
	if len(args) > 0 && args[0] == "compare" {
		return compare(ctx, args[1:], os.Stdout, log)
	}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(log)
	collie := f.String("collie", "bin/collie", "the program to measure, stripped")
	out := f.String("out", "", "write the report to this file instead of stdout")
	quick := f.Bool("quick", false, "a few seconds, to see that it works")
	only := f.String("only", "", "measure only the parts whose names contain this")
	check := f.Bool("check", false, "fail if a ratio is five times off its budget")
	if err := f.Parse(args); err != nil {
		return err
	}
	p := full
	if *quick {
		p = short
	}
	begun := time.Now()
	figures, err := measure(ctx, p, *collie, *only, log)
	if err != nil {
		return err
	}
	report := render(figures, p, machine(*collie), time.Since(begun))
	if err := write(*out, report); err != nil {
		return err
	}
	if *check {
		return farOffBudget(figures)
	}
	return nil
}

func write(file, report string) error {
	if file == "" {
		_, err := io.WriteString(os.Stdout, report)
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(report), 0o644)
}

// measure takes all figures, in the order of the report.
func measure(ctx context.Context, p plan, collie, only string, log io.Writer) ([]figure, error) {
	dir, err := os.MkdirTemp("", "collie-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	others, err := buildPeers(ctx, dir)
	if err != nil {
		return nil, err
	}
	b := &bench{plan: p, collie: collie, peers: others, dir: dir, log: log}
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"one client", func(ctx context.Context) error { return b.latency(ctx, b.sdk) }},
		{"many clients", func(ctx context.Context) error { return b.throughput(ctx, b.sdk, p.sessions) }},
		{"big results", func(ctx context.Context) error { return b.bigResults(ctx, b.sdk) }},
		{"start and rest", b.startAndRest},
		{"warm start", b.warmStart},
		{"first call", b.firstCalls},
		{"many servers", b.many},
		{"long list", b.longList},
		{"stop", b.stopping},
		{"recovery", b.recovery},
		{"notes", b.notes},
		{"vault", b.vault},
		{"conversations", b.conversations},
		{"the program itself", b.program},
		{"finding", b.finding},
		{"sizes of views", b.views},
		{"one client, lean server", func(ctx context.Context) error { return b.latency(ctx, b.lean) }},
		{"many clients, lean server", func(ctx context.Context) error { return b.throughput(ctx, b.lean, p.leanSessions) }},
		{"big results, lean server", func(ctx context.Context) error { return b.bigResults(ctx, b.lean) }},
	} {
		if !strings.Contains(part.name, only) {
			continue
		}
		begun := time.Now()
		if err := part.run(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
		fmt.Fprintf(log, "bench: %s: %.1f s\n", part.name, time.Since(begun).Seconds())
	}
	return b.figures, nil
}

// bench is one run of the harness.
type bench struct {
	plan   plan
	collie string
	peers
	dir     string // for settings and homes
	log     io.Writer
	figures []figure
}

// add adds a figure to the report.
func (b *bench) add(what string, u unit, rounds []float64, limit bound) {
	b.figures = append(b.figures, figure{what: what, unit: u, rounds: rounds, bound: limit})
}
