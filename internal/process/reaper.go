package process

import (
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	// reaperWrite is how long a reaper may let its pipe be full before it is replaced.
	reaperWrite = time.Second
	// reaperPause is the least time between two starts: one that dies at once is not
	// started over and over.
	reaperPause = time.Second
	// reaperEnd is how long Close waits for a reaper that still has groups to end.
	reaperEnd = reaperGrace + 2*time.Second
)

var errReaperClosed = errors.New("reaper is closed")

// Reaper is this program's hold on a second process that ends every listed group when this
// program dies, even by SIGKILL: the kernel then closes the pipe between them,
// and what was written to it before is still read.
//
// The reaper runs in a session of its own, inherits nothing but the read end of that pipe,
// and starts when it is first needed. One that dies is replaced within a second, or at the
// next Add, and told all groups again. On Windows all methods do nothing: each child's Job
// Object does the work.
//
// All methods are safe for concurrent use. Close it after the last [Process.Stop].
type Reaper struct {
	self string
	args []string
	log  *slog.Logger

	quit     func()        // closes quitted, once
	quitted  chan struct{} // Close was called
	watchers sync.WaitGroup

	mu      sync.Mutex
	groups  map[int]int64  // group → start time of its leader, 0 = not known
	current *reaperProcess // nil until the first Ready
}

// reaperProcess is one life of the reaper.
type reaperProcess struct {
	cmd    *exec.Cmd
	pipe   *os.File
	born   time.Time
	exited chan struct{}
}

// ReaperOptions are the optional parts of a [Reaper].
type ReaperOptions struct {
	// Logger hears of a reaper that died. Nil discards.
	Logger *slog.Logger
}

// NewReaper returns a reaper that will run the program self, the absolute path of our own
// binary, with args, which make it call [ReaperMain] on its stdin. It gets an empty
// environment. No process starts yet.
func NewReaper(self string, args []string, opts *ReaperOptions) *Reaper {
	if opts == nil {
		opts = &ReaperOptions{}
	}
	r := &Reaper{
		self: self, args: slices.Clone(args), log: loggerOr(opts.Logger),
		quitted: make(chan struct{}), groups: map[int]int64{},
	}
	r.quit = sync.OnceFunc(func() { close(r.quitted) })
	return r
}

// Ready starts the reaper if it does not run. [Start] calls it before it makes a child.
func (r *Reaper) Ready() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ready()
}

// Add has the group ended when this program dies. On an error the reaper does not know of
// it yet, but a later call will tell.
func (r *Reaper) Add(pgid int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !needsReaper || r.closed() {
		return r.ready()
	}
	r.groups[pgid] = 0
	err := r.tell(reaperLine(pgid, 0)) // at once; what proves the leader follows
	if start, failed := StartTime(pgid); failed == nil && err == nil {
		r.groups[pgid] = start
		err = r.tell(reaperLine(pgid, start))
	}
	return err
}

// Remove takes back an Add, when nothing of the group is left.
func (r *Reaper) Remove(pgid int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.groups[pgid]; !ok || r.closed() {
		return nil
	}
	delete(r.groups, pgid)
	return r.tell("-" + strconv.Itoa(pgid) + "\n")
}

// Pid returns the process id of the reaper, 0 while there is none.
func (r *Reaper) Pid() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil || r.current.dead() {
		return 0
	}
	return r.current.cmd.Process.Pid
}

// Close ends the reaper and waits for it. Groups that are still listed it ends first, as
// if this program had died.
func (r *Reaper) Close() error {
	r.quit()
	r.mu.Lock()
	if p := r.current; p != nil {
		_ = p.pipe.Close() // closed by an earlier Close is as good
		wait(p.exited, reaperEnd)
		p.kill()
	}
	r.mu.Unlock()
	r.watchers.Wait()
	return nil
}

func (r *Reaper) closed() bool {
	select {
	case <-r.quitted:
		return true
	default:
		return false
	}
}

// ready starts a reaper if none runs, and tells it everything.
func (r *Reaper) ready() error {
	switch {
	case !needsReaper:
		return nil
	case r.closed():
		return errReaperClosed
	case r.current != nil && !r.current.dead():
		return nil
	}
	if r.current != nil {
		r.current.kill()
	}
	p, err := startReaper(r.self, r.args)
	if err != nil {
		return err
	}
	r.current = p
	r.watchers.Go(func() { r.watch(p) })
	for pgid, start := range r.groups {
		if err := p.write(reaperLine(pgid, start)); err != nil {
			return err
		}
	}
	return nil
}

// tell writes one line to the reaper, to a new one if the present one does not take it.
// A new one hears everything, this line's news among it.
func (r *Reaper) tell(line string) error {
	if r.current != nil && !r.current.dead() {
		if r.current.write(line) == nil {
			return nil
		}
		r.current.kill()
	}
	return r.ready()
}

// watch replaces a reaper that died while it is needed.
func (r *Reaper) watch(p *reaperProcess) {
	_ = p.cmd.Wait() // how it ended does not matter
	close(p.exited)
	wait(r.quitted, time.Until(p.born.Add(reaperPause)))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed() || r.current != p || len(r.groups) == 0 {
		return
	}
	r.log.Warn("reaper process died, starting another", "pid", p.cmd.Process.Pid)
	if err := r.ready(); err != nil {
		r.log.Error("reaper process does not start", "error", err)
	}
}

func startReaper(self string, args []string) (*reaperProcess, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// Its output goes nowhere: a reader of our stderr must see the end when we end. Its
	// folder is the root, not to keep a file system from being unmounted.
	cmd := &exec.Cmd{Path: self, Args: append([]string{self}, args...), Env: []string{}, Dir: "/", Stdin: r}
	detach(cmd)
	if err := cmd.Start(); err != nil {
		_ = w.Close()
		return nil, err
	}
	return &reaperProcess{cmd: cmd, pipe: w, born: time.Now(), exited: make(chan struct{})}, nil
}

func (p *reaperProcess) dead() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *reaperProcess) write(line string) error {
	if err := p.pipe.SetWriteDeadline(time.Now().Add(reaperWrite)); err != nil {
		return err
	}
	_, err := p.pipe.WriteString(line)
	return err
}

// kill ends the reaper without letting it see the end of its pipe, at which it would end
// all children.
func (p *reaperProcess) kill() {
	_ = p.cmd.Process.Kill() // gone already is as good
	<-p.exited
	_ = p.pipe.Close()
}

func reaperLine(pgid int, start int64) string {
	return "+" + strconv.Itoa(pgid) + " " + strconv.FormatInt(start, 10) + "\n"
}
