// Flake looks for tests that fail now and then: it runs packages many times under the race detector, on a
// machine that it keeps busy, and says which tests failed how often and what they said first.
//
//	go run ./test/flake -rounds 20 -busy 2 -- -run TestEvents ./internal/mcp ./internal/event
//
// The arguments after the two dashes are those of `go test`.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
)

func main() { os.Exit(run()) }

// run returns the exit code.
func run() int {
	rounds := flag.Int("rounds", 20, "run each package `n` times")
	busy := flag.Int("busy", 2, "run beside `n` busy loops")
	packagesAtOnce := flag.Int("p", 2, "run `n` packages at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if flag.NArg() == 0 || *rounds < 1 {
		fmt.Fprintln(os.Stderr, "flake: name packages, and at least one round")
		return 2
	}
	args := append([]string{
		"test", "-json", "-race", "-shuffle=on", "-timeout=0", "-count=" + strconv.Itoa(*rounds), "-p", strconv.Itoa(*packagesAtOnce),
	}, flag.Args()...)
	failures, err := runBusily(ctx, *busy, args, os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "flake:", err)
		return 2
	case len(failures) > 0:
		report(os.Stdout, failures, *rounds)
		return 1
	}
	fmt.Println("nothing failed")
	return 0
}

// runBusily runs `go args…` beside busy loops and returns what failed.
func runBusily(ctx context.Context, busy int, args []string, progress io.Writer) ([]failure, error) {
	idle, rest := context.WithCancel(ctx)
	defer rest()
	for range busy {
		go func() {
			for idle.Err() == nil {
			}
		}()
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	failures, readErr := read(out, progress)
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(failures) > 0 {
		err = nil // it prints this for failed tests too
	}
	return failures, errors.Join(readErr, err)
}

// failure is a test that failed, or a package where no test did.
type failure struct {
	name        string
	times       int
	firstOutput string // the first time
}

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// read reads the output of `go test -json`. It writes a line to progress for each finished package and each failed test,
// and returns the failures, the most frequent first.
func read(r io.Reader, progress io.Writer) ([]failure, error) {
	failed, said := map[string]*failure{}, map[string]*strings.Builder{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		name := strings.TrimSuffix(e.Package+" "+e.Test, " ")
		switch e.Action {
		case "run", "start", "pass", "skip":
			delete(said, name)
		case "output":
			if said[name] == nil {
				said[name] = &strings.Builder{}
			}
			said[name].WriteString(e.Output)
		case "fail":
			countFailure(failed, name, e, said[name])
			delete(said, name)
		}
		if e.Action == "fail" || e.Action == "pass" && e.Test == "" {
			_, _ = fmt.Fprintf(progress, "%s\t%s\t%.0fs\n", e.Action, name, e.Elapsed)
		}
	}
	byTimes := func(a, b failure) int { return cmp.Or(cmp.Compare(b.times, a.times), strings.Compare(a.name, b.name)) }
	var list []failure
	for _, f := range failed {
		list = append(list, *f)
	}
	slices.SortFunc(list, byTimes)
	return list, lines.Err()
}

// countFailure counts a failure. It ignores a package or a test if one of its tests or subtests has failed, because that failure
// says more.
func countFailure(failed map[string]*failure, name string, e event, said *strings.Builder) {
	for other := range maps.Keys(failed) {
		if strings.HasPrefix(other, name+"/") || e.Test == "" && strings.HasPrefix(other, name+" ") {
			return
		}
	}
	f := failed[name]
	if f == nil {
		f = &failure{name: name}
		if said != nil {
			f.firstOutput = said.String()
		}
		failed[name] = f
	}
	f.times++
}

// report prints how often each test failed.
func report(w io.Writer, failures []failure, rounds int) {
	for _, f := range failures {
		_, _ = fmt.Fprintf(w, "\n%s failed %d of %d times; the first time:\n%s", f.name, f.times, rounds, f.firstOutput)
	}
	_, _ = fmt.Fprintln(w)
	for _, f := range failures {
		_, _ = fmt.Fprintf(w, "%3d of %d  %s\n", f.times, rounds, f.name)
	}
}
