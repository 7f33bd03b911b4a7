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

// This file starts child processes, reads and writes their pipes, and ends them with all they have started.

// Process is a running child with everything it starts in its group. It ends by [Process.Stop] or by itself;
// in both cases no process of the group is left afterwards. All methods are safe for concurrent use.
type Process struct {
	label   string
	ladder  Ladder
	reaper  *Reaper
	ledger  *Ledger
	log     *slog.Logger
	started time.Time
	oom     int64 // number of out-of-memory kills before the start

	cmd   *exec.Cmd
	group *group

	stdin  *os.File
	stdout *outPipe
	stderr *os.File
	tail   Ring

	stop     func()        // closes stopping, once
	stopping chan struct{} // closed when the steps of Stop may begin
	killNow  func()        // closes killing, once
	killing  chan struct{} // closed when there are to be no more waits
	killed   atomic.Bool   // we sent a SIGKILL

	drained chan struct{} // stderr has ended
	done    chan struct{} // exit is set
	exit    ExitInfo
	gone    chan struct{} // closed when err is set and no process is left
	err     error
}

// Start runs the command in a process group of its own. The error is a [*StartError].
//
// The process runs until [Process.Stop], its own end, or the end of this program. Until then someone must
// read [Process.Stdout], or the child blocks on a full pipe.
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
		p.cmd.Env = []string{} // nil would mean our environment
	}
	if err := p.spawn(); err != nil {
		return nil, spawnError(c.Name, err)
	}
	p.register(c.hash())
	go p.drain(c.Stderr)
	go p.run()
	return p, nil
}

// spawn creates the pipes and starts the process. It uses os.Pipe, whose files support deadlines and are
// closed on exec.
func (p *Process) spawn() (err error) {
	var files [6]*os.File // read and write end of stdin, stdout, stderr
	defer func() {
		child := []int{0, 3, 5}
		if err != nil {
			child = []int{0, 1, 2, 3, 4, 5}
		}
		for _, i := range child {
			_ = files[i].Close() // closing a nil file only returns an error
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
		if err := p.reaper.ensureStarted(); err != nil { // before the child, so that Add after its start is quick
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

// register adds the child to the reaper and the ledger. The reaper comes first, because it works even if this
// program is killed a microsecond later.
func (p *Process) register(hash string) {
	pid := p.Pid()
	if p.reaper != nil {
		if err := p.reaper.Add(pid); err != nil {
			p.log.Warn("reaper process does not know a child", "pid", pid, "error", err)
		}
	}
	if p.ledger != nil {
		start, _ := startTime(pid) // 0 means unknown and matches no process
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

// spawnError classifies the error of starting name. Resolve found the program a moment ago, so a missing file
// means the interpreter that its first line names.
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

// Pid returns the process id of the leader. On Unix that is also the number of the group.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Stdin returns the write end of the child's stdin. It supports write deadlines, except on Windows. It is
// closed by Stop and when the process ends; writes then fail.
func (p *Process) Stdin() *os.File { return p.stdin }

// Stdout returns the read end of the child's stdout. One goroutine must read it until an error. The error is
// io.EOF, or [os.ErrClosed] if a process outside the group still held the write end 500 ms after the group
// was gone: the Process then closes the read end. The reader may close it earlier.
func (p *Process) Stdout() io.ReadCloser { return p.stdout }

// Done returns a channel that is closed when the leader has ended and its last stderr lines are in the tail, at most 500 ms after
// its end. The rest of its group may still be ending then.
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

// Tail returns the last n lines of stderr, all kept lines for n <= 0.
func (p *Process) Tail(n int) []string { return p.tail.Lines(n) }

// Stop ends the process by the steps of [Ladder]. It returns when no process of the group is left and both
// output pipes have ended, for which it waits at most another 500 ms. If ctx ends, SIGKILL follows at once.
// Stop may be called after the process has ended. A second call waits for the same end, and if its ctx ends,
// SIGKILL follows at once too. The only error is that something survived SIGKILL for 5 s.
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
	// drainWait is how long the output pipes may take to end after the group is gone.
	drainWait = 500 * time.Millisecond
	// killWait is how long the kernel may take to carry out a SIGKILL.
	killWait = 5 * time.Second
	// groupPoll is how often to check whether a group is empty: the system sends no notification of that.
	groupPoll = 10 * time.Millisecond
)

// run accompanies the process from its start until nothing of its group is left, whether Stop was called or
// it ended by itself.
func (p *Process) run() {
	defer close(p.gone)
	reaped := make(chan struct{})
	go p.reap(reaped)

	select {
	case <-reaped:
	case <-p.stopping:
		_ = p.stdin.Close() // an already closed pipe is fine
		p.waitFor(p.ladder.CloseWait, reaped)
	}
	if !p.awaitEmpty(0, reaped, nil) {
		p.group.terminate()
		if !p.awaitEmpty(p.ladder.TermWait, reaped, p.killing) {
			p.killed.Store(true)
			p.group.kill()
		}
	}
	if !p.awaitEmpty(killWait, reaped, nil) {
		p.err = fmt.Errorf("process %d (%s) is still there %s after SIGKILL", p.Pid(), p.label, killWait)
		p.log.Error("process survives SIGKILL", "pid", p.Pid())
		p.closePipes() // returns without unregister: reaper and ledger keep the group
		return
	}
	p.group.close()
	p.closePipes()
	p.unregister()
	<-p.done
}

// reap waits for the leader, stores its exit and closes reaped.
func (p *Process) reap(reaped chan<- struct{}) {
	_ = p.cmd.Wait() // a bad exit code is not an error here
	p.group.reaped.Store(true)
	p.exit = exitInfo(p.cmd.ProcessState, time.Since(p.started))
	if p.exit.Signal == "SIGKILL" && !p.killed.Load() && p.oom >= 0 {
		p.exit.KilledOOM = oomKills() > p.oom
	}
	close(reaped)
	_ = p.stdin.Close() // or a write would wait for the processes the leader left behind
	wait(p.drained, drainWait)
	close(p.done)
}

// drain reads stderr to its end, so that the child never blocks on a full pipe.
func (p *Process) drain(line func([]byte)) {
	defer close(p.drained)
	eachLine(p.stderr, func(b []byte) {
		p.tail.Add("stderr", string(b))
		if line != nil {
			line(b)
		}
	})
}

// closePipes gives the readers of both pipes drainWait to reach the end, then closes the pipes.
func (p *Process) closePipes() {
	limit := time.Now().Add(drainWait)
	wait(p.drained, time.Until(limit))
	wait(p.stdout.done, time.Until(limit))
	_ = p.stdin.Close()
	_ = p.stdout.Close()
	_ = p.stderr.Close()
	<-p.drained
}

// waitFor waits for ch, at most d. It does not wait once killing is closed.
func (p *Process) waitFor(d time.Duration, ch <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ch:
	case <-timer.C:
	case <-p.killing:
	}
}

// awaitEmpty waits until the leader is reaped and the group is empty. It returns false if d passes or now is closed
// first.
func (p *Process) awaitEmpty(d time.Duration, reaped, now <-chan struct{}) bool {
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

// wait waits for ch, at most d.
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
	// Signal is the name of the signal that ended it, such as "SIGKILL"; empty if it exited. Unix only.
	Signal string
	Uptime time.Duration
	// KilledOOM reports that the process was ended by a SIGKILL that we did not send, while the kernel
	// counted an out-of-memory kill in our control group. Linux only. Exit code 137 of a shell or of docker
	// does not set it, since that only means "killed".
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

// MissingCommand reports that the command was a wrapper which most likely could not find or execute its
// program: exit code 127 or 126 within two seconds.
func (e ExitInfo) MissingCommand() bool {
	return (e.Code == 127 || e.Code == 126) && e.Uptime <= 2*time.Second
}

func exitInfo(state *os.ProcessState, uptime time.Duration) ExitInfo {
	info := ExitInfo{Code: -1, Uptime: uptime}
	if state == nil {
		return info // the kernel gave no wait status
	}
	info.Code = state.ExitCode()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		info.Signal = signalName(ws.Signal())
	}
	return info
}

// maxLine is the length at which a line of stderr is cut, in bytes.
const maxLine = 64 << 10

// usualLine is the size of a reader's buffer, in bytes. It is small because every child has one and lines are
// short.
const usualLine = 4 << 10

// eachLine calls line for every line of r until r ends. Lines come without the line break and are cut at
// maxLine. Text after the last line break counts as a line.
func eachLine(r io.Reader, line func([]byte)) {
	br := bufio.NewReaderSize(r, usualLine)
	var long []byte // collects a line that is longer than the buffer
	for {
		chunk, err := br.ReadSlice('\n')
		more := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case more:
			long = append(long, chunk[:min(len(chunk), maxLine-len(long))]...)
		case len(long) > 0:
			line(bytes.TrimRight(append(long, chunk[:min(len(chunk), maxLine-len(long))]...), "\r\n"))
			long = nil // release the memory
		case len(chunk) > 0:
			line(bytes.TrimRight(chunk, "\r\n"))
		}
		if err != nil && !more {
			return
		}
	}
}

// outPipe is the read end of a child's stdout. It records when its reader is done, so that output of a dead
// child that is still in the pipe is not thrown away. The file is a named field and not embedded, because its
// other read methods would bypass that.
type outPipe struct {
	f    *os.File
	once sync.Once
	done chan struct{} // closed when nobody will read any more
}

func newOutPipe(f *os.File) *outPipe { return &outPipe{f: f, done: make(chan struct{})} }

// Read reads from the file; any error counts as the end.
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
