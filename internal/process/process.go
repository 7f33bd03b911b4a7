package process

import (
	"bufio"
	"bytes"
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
	"syscall"
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
		start, _ := startTime(pid) // 0 matches no process
		p.ledger.Add(child{Label: p.label, Pid: pid, Pgid: p.group.pgid, StartTime: start, CommandHash: hash})
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
	reason := spawnFailed
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = commandNotFound
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

const (
	// drainWait is how long pipes may give what is left in them.
	drainWait = 500 * time.Millisecond
	// killWait is how long the kernel may take over a SIGKILL.
	killWait = 5 * time.Second
	// groupPoll is how often a group is looked at: nothing announces its last end.
	groupPoll = 10 * time.Millisecond
)

// run takes the process from its start to where nothing of it is left, whether it was
// told to stop or ended by itself.
func (p *Process) run() {
	defer close(p.gone)
	reaped := make(chan struct{})
	go p.reap(reaped)

	select {
	case <-reaped:
	case <-p.stopping:
		_ = p.stdin.Close() // closed already is as good
		p.within(p.ladder.CloseWait, reaped)
	}
	if !p.emptied(0, reaped, nil) {
		p.group.terminate()
		if !p.emptied(p.ladder.TermWait, reaped, p.killing) {
			p.killed.Store(true)
			p.group.kill()
		}
	}
	if !p.emptied(killWait, reaped, nil) {
		p.err = fmt.Errorf("process %d (%s) is still there %s after SIGKILL", p.Pid(), p.label, killWait)
		p.log.Error("process survives SIGKILL", "pid", p.Pid())
		p.closePipes() // reaper and ledger keep it
		return
	}
	p.group.close()
	p.closePipes()
	p.unregister()
	<-p.done
}

// reap waits for the leader and tells how it ended.
func (p *Process) reap(reaped chan<- struct{}) {
	_ = p.cmd.Wait() // a bad exit code is not an error here
	p.group.reaped.Store(true)
	p.exit = exitInfo(p.cmd.ProcessState, time.Since(p.started))
	if p.exit.Signal == "SIGKILL" && !p.killed.Load() && p.oom >= 0 {
		p.exit.KilledOOM = oomKills() > p.oom
	}
	close(reaped)
	_ = p.stdin.Close() // a write must not wait for what the leader left behind
	wait(p.drained, drainWait)
	close(p.done)
}

// drain reads stderr to its end, so that the child never waits for us.
func (p *Process) drain(line func([]byte)) {
	defer close(p.drained)
	eachLine(p.stderr, func(b []byte) {
		p.tail.Add("stderr", string(b))
		if line != nil {
			line(b)
		}
	})
}

// closePipes gives both readers drainWait to see the end by themselves.
func (p *Process) closePipes() {
	limit := time.Now().Add(drainWait)
	wait(p.drained, time.Until(limit))
	wait(p.stdout.done, time.Until(limit))
	_ = p.stdin.Close()
	_ = p.stdout.Close()
	_ = p.stderr.Close()
	<-p.drained
}

// within waits for ch, but no longer than d, and not at all once told to kill.
func (p *Process) within(d time.Duration, ch <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ch:
	case <-timer.C:
	case <-p.killing:
	}
}

// emptied waits until the leader is reaped and the group empty, and reports whether that
// came true before d was over or now closed.
func (p *Process) emptied(d time.Duration, reaped, now <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-reaped:
	default:
		select {
		case <-reaped:
		case <-timer.C:
			return false
		case <-now:
			return false
		}
	}
	poll := time.NewTicker(groupPoll)
	defer poll.Stop()
	for p.group.alive() {
		select {
		case <-poll.C:
		case <-timer.C:
			return false
		case <-now:
			return false
		}
	}
	return true
}

// wait waits for ch, but no longer than d.
func wait(ch <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ch:
	case <-timer.C:
	}
}

// ExitInfo says how the leader of a process group ended.
type ExitInfo struct {
	// Code is the exit code; -1 if a signal ended it.
	Code int
	// Signal is the name of that signal, "SIGKILL"; empty if it exited. Unix only.
	Signal string
	Uptime time.Duration
	// KilledOOM reports that a SIGKILL we did not send came while the kernel counted an
	// out-of-memory kill in our control group. Linux only. The code 137 of a shell or
	// of docker alone does not set it: it says no more than "killed".
	KilledOOM bool
}

// String reads "exit code 3" or "SIGKILL (out of memory)".
func (e ExitInfo) String() string {
	switch {
	case e.KilledOOM:
		return e.Signal + " (out of memory)"
	case e.Signal != "":
		return e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// MissingCommand reports that a wrapper most likely did not find, or could not execute,
// what it was to run: exit code 127 or 126 within two seconds.
func (e ExitInfo) MissingCommand() bool {
	return (e.Code == 127 || e.Code == 126) && e.Uptime <= 2*time.Second
}

func exitInfo(state *os.ProcessState, uptime time.Duration) ExitInfo {
	info := ExitInfo{Code: -1, Uptime: uptime}
	if state == nil {
		return info // the kernel would not say
	}
	info.Code = state.ExitCode()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		info.Signal = signalName(ws.Signal())
	}
	return info
}

// maxLine is where a line of stderr is cut.
const maxLine = 64 << 10

// usualLine is what a reader keeps room for: there is one for each child, and lines are short.
const usualLine = 4 << 10

// eachLine calls line for every line of r until r ends: without its break, cut at
// maxLine. What follows the last break is a line too.
func eachLine(r io.Reader, line func([]byte)) {
	br := bufio.NewReaderSize(r, usualLine)
	var long []byte // the beginning of a line that is longer than usual
	for {
		chunk, err := br.ReadSlice('\n')
		more := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case more:
			long = append(long, chunk[:min(len(chunk), maxLine-len(long))]...)
		case len(long) > 0:
			line(bytes.TrimRight(append(long, chunk[:min(len(chunk), maxLine-len(long))]...), "\r\n"))
			long = nil // not to keep the room
		case len(chunk) > 0:
			line(bytes.TrimRight(chunk, "\r\n"))
		}
		if err != nil && !more {
			return
		}
	}
}

// outPipe is the read end of a child's stdout. It tells when its reader is done, so that
// what is still in the pipe of a dead child is not thrown away too early. The file is a
// field of its own: its other ways to read would pass by unseen.
type outPipe struct {
	f    *os.File
	once sync.Once
	done chan struct{} // closed when no more will be read
}

func newOutPipe(f *os.File) *outPipe { return &outPipe{f: f, done: make(chan struct{})} }

// Read reads as the file does; any error is the end.
func (o *outPipe) Read(p []byte) (int, error) {
	n, err := o.f.Read(p)
	if err != nil {
		o.once.Do(func() { close(o.done) })
	}
	return n, err
}

// Close may be called twice.
func (o *outPipe) Close() error {
	o.once.Do(func() { close(o.done) })
	return o.f.Close()
}
