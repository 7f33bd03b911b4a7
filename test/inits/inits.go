// Package inits measures how much time and memory each package of a program takes before main runs, as the Go runtime
// reports it with GODEBUG=inittrace=1.
package inits

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Package is one package that has something to initialize, with the time and the bytes that it takes.
type Package struct {
	Path  string
	Took  time.Duration
	Bytes int
}

// Ours reports whether the package belongs to this module.
func (p Package) Ours() bool { return p.Path == "main" || strings.HasPrefix(p.Path, "collie/") }

// Trace runs the program with the argument "version" and initialization tracing on. It returns the packages in the
// order in which they were initialized.
func Trace(ctx context.Context, program string) ([]Package, error) {
	cmd := exec.CommandContext(ctx, program, "version")
	cmd.Env = []string{"GODEBUG=inittrace=1"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s version: %w\n%s", program, err, stderr.String())
	}
	var out []Package
	for line := range strings.Lines(stderr.String()) {
		if p, ok := parse(line); ok {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s traces no initialization", program)
	}
	return out, nil
}

// parse parses a line of the trace, such as "init PATH @0.5 ms, 0.01 ms clock, 1024 bytes, 3 allocs". It reports
// false for other lines.
func parse(line string) (Package, bool) {
	f := strings.Fields(line)
	if len(f) < 10 || f[0] != "init" || f[8] != "bytes," {
		return Package{}, false
	}
	ms, err := strconv.ParseFloat(f[4], 64)
	if err != nil {
		return Package{}, false
	}
	n, err := strconv.Atoi(f[7])
	return Package{Path: f[1], Took: time.Duration(ms * float64(time.Millisecond)), Bytes: n}, err == nil
}
