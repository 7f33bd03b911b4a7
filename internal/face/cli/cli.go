// Package cli is the face for people at a terminal. Each group of commands has a folder; what they share is in root,
// output, locale, home, remote, learn and call. [Main] runs one command line and returns the exit code.
//
// Results go to stdout, everything else to stderr. Every command whose output programs may read has --json.
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// program is one run of the command line.
type program struct{ *root.Program }

// Main runs a command line and returns its exit code: 0 ok, 1 the call failed, 2 usage, 3 unreachable, 4
// denied, 5 not confirmed, 6 partial, or 128 plus the number of the signal that ended it.
func Main(version string, args []string, in io.Reader, out, errw io.Writer) int {
	// Run the garbage collector less often while the heap is small: in a gateway that merges many lists, collection
	// took a third of the processor time.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(memoryLimit)
	env := config.FromOS()
	locale.Use(locale.OfLocale(env.First("LC_ALL", "LC_MESSAGES", "LANG")))
	p := program{&root.Program{Version: version, In: in, Output: output.Output{Out: out, Err: errw, Env: env}}}
	ctx, interrupted, stop := untilSignal()
	defer stop()
	root := p.tree()
	root.SetArgs(p.expandCompletion(root, p.expand(root, args)))
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	if err := root.ExecuteContext(ctx); err != nil {
		code := p.Report(err)
		if s := interrupted(); s != 0 {
			return bySignal + s
		}
		return code
	}
	return 0
}

// bySignal plus a signal's number is the exit code after that signal, as in shells: 130 after Ctrl-C.
const bySignal = 128

// untilSignal returns a context that ends with the first signal to stop. interrupted returns the number of
// that signal, 0 if none came. The caller calls stop.
func untilSignal() (ctx context.Context, interrupted func() int, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, number := make(chan os.Signal, 1), new(atomic.Int32)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() { // ends with ctx
		select {
		case s := <-signals:
			if n, ok := s.(syscall.Signal); ok {
				number.Store(int32(n))
			}
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() int { return int(number.Load()) }, func() {
		signal.Stop(signals)
		cancel()
	}
}

// memoryLimit is the soft limit for the memory of the Go runtime, in bytes. Near it the garbage collector runs more often.
const memoryLimit = 96 << 20
