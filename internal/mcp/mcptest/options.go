package mcptest

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// This file has the flags that choose what the server offers and how it misbehaves.

// options are the flags; see the package comment. They are immutable once parsed.
type options struct {
	era           string
	versions      []string
	silentUnknown bool
	discoverError string
	neverAnswer   bool
	hang          []string // methods that are never answered
	slow          []string // methods that are answered after slowBy
	slowBy        time.Duration
	lag           time.Duration
	http          string
	sse           bool
	name          string
	version       string
	instructions  string
	ttl           int
	scheme        string
	without       []string
	askRoots      bool

	offer         []string // nil means the default
	tools         int      // -1 means no generated tools and all built-in ones
	badTools      bool
	odd           bool
	seed          int64
	definitions   string
	resultFile    string
	page          int
	endlessCursor bool
	repeatCursor  bool

	delayStart  time.Duration
	startWhen   string
	startWith   int // start once so many servers have their file in pidDir
	banner      string
	exitCode    int // -1 means do not exit
	printStderr string
	crashAfter  int
	ignoreEOF   bool
	ignoreTerm  bool
	fork        bool
	grandchild  bool
	pidDir      string
	record      string
}

// parseOptions parses the command line. It writes usage and errors to stderr.
func parseOptions(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("fakemcp", flag.ContinueOnError)
	f.SetOutput(stderr)
	o.protocolFlags(f)
	o.listFlags(f)
	o.lifeFlags(f)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: all settings are flags", f.Arg(0))
	}
	if !slices.Contains([]string{"legacy", "modern", "both"}, o.era) {
		return nil, fmt.Errorf("unknown era %q: want legacy, modern or both", o.era)
	}
	if o.endlessCursor && o.repeatCursor {
		return nil, errors.New("--endless-cursor and --repeat-cursor exclude each other")
	}
	return o, nil
}

func (o *options) protocolFlags(f *flag.FlagSet) {
	f.StringVar(&o.era, "era", "legacy", "legacy, modern or both")
	f.Func("versions", "protocol versions, newest first", setList(&o.versions))
	f.BoolVar(&o.silentUnknown, "silent-unknown", false, "do not answer unknown methods")
	f.StringVar(&o.discoverError, "discover-error", "", "error object for server/discover")
	f.BoolVar(&o.neverAnswer, "never-answer", false, "answer nothing")
	f.Func("hang", "methods that are never answered", setList(&o.hang))
	f.Func("slow", "methods that take their time", setList(&o.slow))
	f.DurationVar(&o.slowBy, "slow-by", 2*time.Second, "how much that is")
	f.DurationVar(&o.lag, "lag", 0, "what each POST takes over HTTP")
	f.StringVar(&o.http, "http", "", "serve Streamable HTTP on this address")
	f.BoolVar(&o.sse, "sse", false, "answer over HTTP with event streams")
	f.StringVar(&o.name, "name", "fakemcp", "name in serverInfo")
	f.StringVar(&o.version, "version", "1.0.0", "version in serverInfo")
	f.StringVar(&o.instructions, "instructions", "", "instructions text")
	f.IntVar(&o.ttl, "ttl", 0, "ttlMs of modern results")
	f.StringVar(&o.scheme, "scheme", "fake", "URI scheme of the resources")
	f.BoolVar(&o.askRoots, "ask-roots", false, "ask for roots as soon as there is a session, and when they change")
	f.Func("without", "capabilities to do without", setList(&o.without))
}

func (o *options) listFlags(f *flag.FlagSet) {
	f.Func("offer", "built-in tools to list", setList(&o.offer))
	f.IntVar(&o.tools, "tools", -1, "list so many generated tools")
	f.BoolVar(&o.badTools, "bad-tools", false, "also list broken entries")
	f.BoolVar(&o.odd, "odd", false, "also list odd definitions")
	f.Int64Var(&o.seed, "seed", 1, "seed of the odd definitions")
	f.StringVar(&o.definitions, "definitions", "", "file with the result of tools/list")
	f.StringVar(&o.resultFile, "result-file", "", "file with the result of the tool raw")
	f.IntVar(&o.page, "page", 0, "entries a page")
	f.BoolVar(&o.endlessCursor, "endless-cursor", false, "lists never end")
	f.BoolVar(&o.repeatCursor, "repeat-cursor", false, "lists repeat one cursor")
}

func (o *options) lifeFlags(f *flag.FlagSet) {
	f.DurationVar(&o.delayStart, "delay-start", 0, "wait before doing anything")
	f.StringVar(&o.startWhen, "start-when", "", "wait until this `FILE` exists before doing anything")
	f.IntVar(&o.startWith, "start-with", 0, "wait until so many servers have a file in the directory of --pidfile")
	f.StringVar(&o.banner, "banner", "", "text on stdout before all else")
	f.IntVar(&o.exitCode, "exit-code", -1, "exit at once with this code")
	f.StringVar(&o.printStderr, "print-stderr", "", "print this on stderr and exit")
	f.IntVar(&o.crashAfter, "crash-after", -1, "exit in the tool call after so many")
	f.BoolVar(&o.ignoreEOF, "ignore-eof", false, "stay when stdin ends")
	f.BoolVar(&o.ignoreTerm, "ignore-term", false, "ignore SIGTERM")
	f.BoolVar(&o.fork, "fork", false, "start a grandchild that ignores SIGTERM")
	f.BoolVar(&o.grandchild, "grandchild", false, "be that grandchild")
	f.StringVar(&o.pidDir, "pidfile", "", "directory for a file named by the pid")
	f.StringVar(&o.record, "record", "", "append every received line to this file")
}

// setList returns a flag function that splits its value at commas. An empty value is an empty list, which
// differs from an absent flag.
func setList(dst *[]string) func(string) error {
	return func(v string) error {
		*dst = []string{}
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				*dst = append(*dst, part)
			}
		}
		return nil
	}
}

// legacy and modern report which eras the server speaks.
func (o *options) legacy() bool { return o.era != "modern" }
func (o *options) modern() bool { return o.era != "legacy" }

// has reports whether the server has a capability: tools, resources, prompts, completions or logging.
func (o *options) has(capability string) bool { return !slices.Contains(o.without, capability) }
