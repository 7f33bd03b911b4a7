package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// errWorse is the result of a comparison in which the new program is worse.
var errWorse = errors.New("the new program is worse")

// leastRounds is the minimum number of rounds for a meaningful verdict.
const leastRounds = 12

// compare measures two programs alternately and says whether the new one is worse:
//
//	bench compare -old PROGRAM|REVISION -new PROGRAM|REVISION [-rounds N] [-json FILE] [-quick]
//
// It returns [errWorse] if it is.
func compare(ctx context.Context, args []string, out, log io.Writer) error {
	f := flag.NewFlagSet("bench compare", flag.ContinueOnError)
	f.SetOutput(log)
	older := f.String("old", "", "what to compare with: a `PROGRAM`, or a git revision, which is built")
	newer := f.String("new", "", "what to judge: a `PROGRAM`, or a git revision, which is built")
	rounds := f.Int("rounds", 16, fmt.Sprintf("rounds, at least %d", leastRounds))
	asJSON := f.String("json", "", "write the figures to `FILE` as JSON too; - writes them to stdout, in the place of the table")
	quick := f.Bool("quick", false, "a few seconds, to see that it works")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *older == "" || *newer == "" || f.NArg() > 0 {
		return errors.New("compare: expected -old and -new, each a program or a git revision")
	}
	p := fullComparison
	p.rounds = *rounds
	if *quick {
		p = shortComparison
	} else if *rounds < leastRounds {
		return fmt.Errorf("compare: -rounds is %d, expected at least %d: fewer say little", *rounds, leastRounds)
	}
	dir, err := os.MkdirTemp("", "collie-compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	others, err := buildPeers(ctx, dir)
	if err != nil {
		return err
	}
	c := &comparison{plan: p, log: log, samples: map[string]*samples{}}
	for i, what := range []string{*older, *newer} {
		program, err := programFor(ctx, what, filepath.Join(dir, [2]string{"old", "new"}[i]))
		if err != nil {
			return err
		}
		c.sides[i] = &bench{plan: short, collie: program, peers: others, dir: dir, log: log}
	}
	begun := time.Now()
	if err := c.run(ctx); err != nil {
		return err
	}
	v := c.verdict()
	v.Old, v.New, v.Seconds = *older, *newer, time.Since(begun).Seconds()
	if *asJSON != "" {
		err = v.writeJSON(*asJSON, out)
	}
	if err == nil && *asJSON != "-" {
		_, err = io.WriteString(out, v.table())
	}
	if err == nil && v.Worse {
		err = errWorse
	}
	return err
}

// programFor returns the path of the program that what names. A git revision is built in dir as its own `make
// build` does it, so that each revision has its own flags.
func programFor(ctx context.Context, what, dir string) (program string, err error) {
	if info, err := os.Stat(what); err == nil && info.Mode().IsRegular() {
		return filepath.Abs(what)
	}
	commit, err := runForOutput(ctx, "git", "rev-parse", "--verify", "--quiet", what+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("compare: %q is neither a program nor a git revision", what)
	}
	root, err := runForOutput(ctx, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	archive := filepath.Join(dir, "source.tar")
	if _, err := runForOutput(ctx, "git", "-C", root, "archive", "--format=tar", "-o", archive, commit); err != nil {
		return "", err
	}
	if _, err := runForOutput(ctx, "tar", "-xf", archive, "-C", dir); err != nil {
		return "", err
	}
	if _, err := runForOutput(ctx, "make", "-C", dir, "build", "VERSION="+commit[:12]); err != nil {
		return "", err
	}
	return filepath.Join(dir, "bin", "collie"), nil
}

// runForOutput runs a program to its end and returns what it wrote to stdout.
func runForOutput(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}
