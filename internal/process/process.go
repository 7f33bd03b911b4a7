package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// Process is a running child and whatever it starts in its group. It ends by [Process.Stop]
// or by itself; either way nothing of the group is left afterwards. All methods are safe
// for concurrent use.
type Process struct {
	label   string
	ladder  Ladder
	reaper  *Reaper
	ledger  *Ledger
	log     *slog.Logger
	started time.Time
	oom     int64 // out-of-memory kills before the start

	cmd   *exec.Cmd
	group *group

	stdin  *os.File
	stdout *outPipe
	stderr *os.File
	tail   Ring

	stop     func()        // closes stopping, once
	stopping chan struct{} // the ladder may begin
	killNow  func()        // closes killing, once
	killing  chan struct{} // no more waits
	killed   atomic.Bool   // a SIGKILL was ours

	drained chan struct{} // stderr has ended
	done    chan struct{} // exit is set
	exit    ExitInfo
	gone    chan struct{} // err is set, nothing is left
	err     error
}

// Start runs the command in a process group of its own. The error is a [*StartError].
//
// The process runs until [Process.Stop], its own end, or the end of this program; someone
// must read [Process.Stdout] meanwhile.
func Start(c Command, opts *Options) (*Process, error) {
	if opts == nil {
		opts = &Options{}
	}
	path, err := Resolve(c.Name, c.Env, c.Dir)
	if err != nil {
		return nil, err
	}
	if err := checkDir(c.Name, c.Dir); err != nil {
		return nil, err
	}
	p := &Process{
		label: c.Label, ladder: opts.Ladder.withDefaults(), reaper: opts.Reaper, ledger: opts.Ledger,
		log: loggerOr(opts.Logger).With("label", c.Label), oom: oomKills(),
		stopping: make(chan struct{}), killing: make(chan struct{}),
		drained: make(chan struct{}), done: make(chan struct{}), gone: make(chan struct{}),
	}
	p.stop = sync.OnceFunc(func() { close(p.stopping) })
	p.killNow = sync.OnceFunc(func() { close(p.killing) })
	p.cmd = &exec.Cmd{Path: path, Args: append([]string{c.Name}, c.Args...), Env: c.Env, Dir: c.Dir}
	if c.Env == nil {
		p.cmd.Env = []string{} // nil would mean ours
	}
	if err := p.spawn(); err != nil {
		return nil, spawnError(c.Name, err)
	}
	p.register(c.hash())
	go p.drain(c.Stderr)
	go p.run()
	return p, nil
}

// spawn makes the pipes and the process. Pipes of os.Pipe have deadlines and are closed
// on exec.
func (p *Process) spawn() (err error) {
	var files [6]*os.File // read and write end of stdin, stdout, stderr
	defer func() {
		child := []int{0, 3, 5}
		if err != nil {
			child = []int{0, 1, 2, 3, 4, 5}
		}
		for _, i := range child {
			_ = files[i].Close() // a nil file says so
		}
	}()
	for i := 0; i < len(files); i += 2 {
		if files[i], files[i+1], err = os.Pipe(); err != nil {
			return err
		}
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = files[0], files[3], files[5]
	prepare(p.cmd)
	if p.reaper != nil {
		if err := p.reaper.Ready(); err != nil { // before the child, to be quick after it
			p.log.Warn("reaper process does not start", "error", err)
		}
	}
	p.started = time.Now()
	if err := p.cmd.Start(); err != nil {
		return err
	}
	if p.group, err = newGroup(p.cmd); err != nil {
		return errors.Join(err, p.cmd.Process.Kill(), p.cmd.Wait())
	}
	p.stdin, p.stdout, p.stderr = files[1], newOutPipe(files[2]), files[4]
	return nil
}

// register tells reaper and ledger, the reaper first: it is what survives a SIGKILL of this
// program in the next microsecond.
func (p *Process) register(hash string) {
	pid := p.Pid()
	if p.reaper != nil {
		if err := p.reaper.Add(pid); err != nil {
			p.log.Warn("reaper process does not know a child", "pid", pid, "error", err)
		}
	}
	if p.ledger != nil {
		start, _ := StartTime(pid) // 0 matches no process
		p.ledger.Add(Child{Label: p.label, Pid: pid, Pgid: p.group.pgid, StartTime: start, CommandHash: hash})
	}
}

func (p *Process) unregister() {
	if p.reaper != nil {
		if err := p.reaper.Remove(p.group.pgid); err != nil {
			p.log.Warn("reaper process keeps a child that has ended", "pid", p.Pid(), "error", err)
		}
	}
	if p.ledger != nil {
		p.ledger.Remove(p.Pid())
	}
}

// spawnError tells the kernel's refusals apart. The program was there a moment ago, so a
// missing file is the interpreter its first line names.
func spawnError(name string, err error) error {
	reason := SpawnFailed
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = CommandNotFound
		err = fmt.Errorf("its interpreter is missing: %w", err)
	case errors.Is(err, fs.ErrPermission):
		reason = PermissionDenied
	}
	return &StartError{Reason: reason, Name: name, Err: err}
}

// Pid returns the process id of the leader, which on Unix is the group's number too.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Stdin returns the write end of the child's stdin. A write deadline works on it, except
// on Windows. Stop closes it, and so does the end of the process: a write then fails.
func (p *Process) Stdin() *os.File { return p.stdin }

// Stdout returns the read end of the child's stdout; one goroutine reads it until an
// error: io.EOF, or [os.ErrClosed] when something outside the group still holds the other
// end 500 ms after the group is gone. The Process closes it then; the reader may earlier.
func (p *Process) Stdout() io.ReadCloser { return p.stdout }

// Done is closed when the leader has ended and its last lines on stderr are kept, at most
// 500 ms later. What it leaves in its group is ended meanwhile.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit says how the leader ended; the zero value before Done is closed.
func (p *Process) Exit() ExitInfo {
	select {
	case <-p.done:
		return p.exit
	default:
		return ExitInfo{}
	}
}

// Tail returns the last n lines of stderr, all that are kept for n <= 0.
func (p *Process) Tail(n int) []string { return p.tail.Lines(n) }

// Entries returns the kept lines of stderr with their times.
func (p *Process) Entries() []Entry { return p.tail.Entries() }

// Stop ends the process by the [Ladder] and returns when nothing of its group is left
// and both output pipes have ended, for which it waits 500 ms more at most. It
// may be called when the process has ended already. When ctx ends, SIGKILL comes at once.
// Later calls wait for the first, and may cut it short by their own ctx. The error is not nil
// only if something survived SIGKILL for five seconds.
func (p *Process) Stop(ctx context.Context) error {
	p.stop()
	select {
	case <-p.gone:
	case <-ctx.Done():
		p.killNow()
		<-p.gone
	}
	return p.err
}
