package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// render writes the report.
func render(figures []figure, p plan, facts string, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Measurements\n\nWritten by `make bench`. %s. %d rounds, %.0f s in all, %s.\n\n",
		facts, p.rounds, took.Seconds(), time.Now().Format(time.DateOnly))
	b.WriteString("## Against the budgets of [the architecture](../docs/architecture.md)\n\n| what | budget | measured | |\n|---|---|---|---|\n")
	for _, f := range figures {
		if f.bound != (bound{}) {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.what, f.budget(), f.value(), f.verdict())
		}
	}
	table(&b, "Everything measured", "", figures)
	table(&b, "The same before the lean server", leanPrefix, figures)
	return b.String() + guide
}

// table writes the figures whose names begin with prefix and with no other table's prefix.
func table(b *strings.Builder, title, prefix string, figures []figure) {
	fmt.Fprintf(b, "\n## %s\n\n| what | median | least | most |\n|---|---|---|---|\n", title)
	for _, f := range figures {
		if what, lean := strings.CutPrefix(f.what, leanPrefix); lean == (prefix != "") {
			low, high := f.spread()
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", what, f.value(), low, high)
		}
	}
}

const guide = `
## How to read it

A server runs over stdio, over its own HTTP endpoint, behind Collie and behind a bare relay; clients
call its tool echo, which answers at once. Collie runs with everything on: token, Host check, schema
validation, limits, audit. The ways take turns of a few calls each, so that other work on the machine
disturbs all alike. A round gives one value of each line; the tables show the median of the rounds and
their extremes.

Two servers are measured. The one that the budgets are about is built on the official Go SDK, as most
servers are built on some SDK. The lean one is written by hand and answers in microseconds: with two hops
instead of one nothing can keep up with its own endpoint, and every microsecond of Collie's shows. The
bare relay swaps request ids between HTTP and stdio and does nothing else; it is the floor under
whatever stands in between, and tells a slow Collie from a slow machine.

Ratios and differences are taken within a round and hold on other machines roughly; everything else
belongs to this machine and to what else ran on it. The clients, the server and Collie share its
processors: what one uses is taken from the calls/s of all. Processor time is that of Collie's own process,
user and system, without the server's. Memory is resident memory of the same process, at its peak where
it says so.

Starts are counted from the start of the process until a client has the full list: "from the cache" in a
home where the gateway has run before, where no server process may be started, and that is counted. The
bare HTTP server and ` + "`collie version`" + ` say what a start costs on this machine when there is nothing to do. A
server is killed with SIGKILL, its end is awaited, and the next call is timed.

A first call is one of a server that the gateway has to start: known from an earlier run, in which a modern client
called it, or never seen, where the client lists before it calls. Round trips are whole multiples of what a
request takes.

The vault is a generated file of documents in Chinese and in English with headings, lists, tasks, tags and
references. Where nothing else is said its handler is asked within the process that measures, as the tools
ask it; memory is that of ` + "`collie serve`" + ` over the same file. A plain insert and commit, into a table of two
columns in a file of its own with the same settings, is the floor under an append.

Conversations are answered by the fake provider of the tests, which runs in the program that measures and writes into
each piece of an answer when it sends it; who listens, over HTTP, runs there too and compares. The bare relay stands
between the two in turns with Collie and passes on bytes. Pieces count from when all answers stream until the first has
ended; processor time is that of the same span. On a machine that is busy otherwise the relay's lines show it.
`

func (f figure) budget() string {
	sign := "≤ "
	if f.bound.least {
		sign = "≥ "
	}
	return sign + f.unit.write(f.bound.limit)
}

func (f figure) value() string {
	if len(f.rounds) == 0 {
		return "not measured here"
	}
	return f.unit.write(f.median())
}

func (f figure) spread() (low, high string) {
	if len(f.rounds) < 2 {
		return "", ""
	}
	least, most := f.rounds[0], f.rounds[0]
	for _, v := range f.rounds {
		least, most = min(least, v), max(most, v)
	}
	return f.unit.write(least), f.unit.write(most)
}

func (f figure) verdict() string {
	switch {
	case len(f.rounds) == 0:
		return ""
	case f.bound.holds(f.median(), 1):
		return "met"
	}
	return "**missed**"
}

// machine describes the machine that was measured on.
func machine(collie string) string {
	facts := fmt.Sprintf("%d processors, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := regexp.MustCompile(`model name\s*:\s*(.+)`).FindSubmatch(text); m != nil {
			facts = strings.TrimSpace(string(m[1])) + ", " + facts
		}
	}
	if text, err := exec.Command(collie, "version").Output(); err == nil {
		line, _, _ := strings.Cut(string(text), "\n")
		facts += ", " + line
	}
	return facts
}
