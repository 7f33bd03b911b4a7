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
	// guardWrite is how long a guard may let its pipe be full before it is replaced.
	guardWrite = time.Second
	// guardPause is the least time between two starts: one that dies at once is not
	// started over and over.
	guardPause = time.Second
	// guardEnd is how long Close waits for a guard that still has groups to end.
	guardEnd = guardGrace + 2*time.Second
)

var errGuardClosed = errors.New("guard is closed")

// Guard is this program's hold on a second process that ends every listed group when this
// program dies, even by SIGKILL: the kernel then closes the pipe between them,
// and what was written to it before is still read.
//
// The guard runs in a session of its own, inherits nothing but the read end of that pipe,
// and starts when it is first needed. One that dies is replaced within a second, or at the
// next Add, and told all groups again. On Windows all methods do nothing: each child's Job
// Object does the work.
//
// All methods are safe for concurrent use. Close it after the last [Process.Stop].
type Guard struct {
	self string
	args []string
	log  *slog.Logger

	quit     func()        // closes quitted, once
	quitted  chan struct{} // Close was called
	watchers sync.WaitGroup

	mu      sync.Mutex
	groups  map[int]int64 // group → start time of its leader, 0 = not known
	current *guardProcess // nil until the first Ready
}

// guardProcess is one life of the guard.
type guardProcess struct {
	cmd    *exec.Cmd
	pipe   *os.File
	born   time.Time
	exited chan struct{}
}

// GuardOptions are the optional parts of a [Guard].
type GuardOptions struct {
	// Logger hears of a guard that died. Nil discards.
	Logger *slog.Logger
}

// NewGuard returns a guard that will run the program self, the absolute path of our own
// binary, with args, which make it call [GuardMain] on its stdin. It gets an empty
// environment. No process starts yet.
func NewGuard(self string, args []string, opts *GuardOptions) *Guard {
	if opts == nil {
		opts = &GuardOptions{}
	}
	g := &Guard{
		self: self, args: slices.Clone(args), log: loggerOr(opts.Logger),
		quitted: make(chan struct{}), groups: map[int]int64{},
	}
	g.quit = sync.OnceFunc(func() { close(g.quitted) })
	return g
}

// Ready starts the guard if it does not run. [Start] calls it before it makes a child.
func (g *Guard) Ready() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ready()
}

// Add has the group ended when this program dies. On an error the guard does not know of
// it yet, but a later call will tell.
func (g *Guard) Add(pgid int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !guarded || g.closed() {
		return g.ready()
	}
	g.groups[pgid] = 0
	err := g.tell(guardLine(pgid, 0)) // at once; what proves the leader follows
	if start, failed := StartTime(pgid); failed == nil && err == nil {
		g.groups[pgid] = start
		err = g.tell(guardLine(pgid, start))
	}
	return err
}

// Remove takes back an Add, when nothing of the group is left.
func (g *Guard) Remove(pgid int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.groups[pgid]; !ok || g.closed() {
		return nil
	}
	delete(g.groups, pgid)
	return g.tell("-" + strconv.Itoa(pgid) + "\n")
}

// Pid returns the process id of the guard, 0 while there is none.
func (g *Guard) Pid() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.current == nil || g.current.dead() {
		return 0
	}
	return g.current.cmd.Process.Pid
}

// Close ends the guard and waits for it. Groups that are still listed it ends first, as
// if this program had died.
func (g *Guard) Close() error {
	g.quit()
	g.mu.Lock()
	if p := g.current; p != nil {
		_ = p.pipe.Close() // closed by an earlier Close is as good
		wait(p.exited, guardEnd)
		p.kill()
	}
	g.mu.Unlock()
	g.watchers.Wait()
	return nil
}

func (g *Guard) closed() bool {
	select {
	case <-g.quitted:
		return true
	default:
		return false
	}
}

// ready starts a guard if none runs, and tells it everything.
func (g *Guard) ready() error {
	switch {
	case !guarded:
		return nil
	case g.closed():
		return errGuardClosed
	case g.current != nil && !g.current.dead():
		return nil
	}
	if g.current != nil {
		g.current.kill()
	}
	p, err := startGuard(g.self, g.args)
	if err != nil {
		return err
	}
	g.current = p
	g.watchers.Go(func() { g.watch(p) })
	for pgid, start := range g.groups {
		if err := p.write(guardLine(pgid, start)); err != nil {
			return err
		}
	}
	return nil
}

// tell writes one line to the guard, to a new one if the present one does not take it.
// A new one hears everything, this line's news among it.
func (g *Guard) tell(line string) error {
	if g.current != nil && !g.current.dead() {
		if g.current.write(line) == nil {
			return nil
		}
		g.current.kill()
	}
	return g.ready()
}

// watch replaces a guard that died while it is needed.
func (g *Guard) watch(p *guardProcess) {
	_ = p.cmd.Wait() // how it ended does not matter
	close(p.exited)
	wait(g.quitted, time.Until(p.born.Add(guardPause)))
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed() || g.current != p || len(g.groups) == 0 {
		return
	}
	g.log.Warn("guard process died, starting another", "pid", p.cmd.Process.Pid)
	if err := g.ready(); err != nil {
		g.log.Error("guard process does not start", "error", err)
	}
}

func startGuard(self string, args []string) (*guardProcess, error) {
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
	return &guardProcess{cmd: cmd, pipe: w, born: time.Now(), exited: make(chan struct{})}, nil
}

func (p *guardProcess) dead() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *guardProcess) write(line string) error {
	if err := p.pipe.SetWriteDeadline(time.Now().Add(guardWrite)); err != nil {
		return err
	}
	_, err := p.pipe.WriteString(line)
	return err
}

// kill ends the guard without letting it see the end of its pipe, at which it would end
// all children.
func (p *guardProcess) kill() {
	_ = p.cmd.Process.Kill() // gone already is as good
	<-p.exited
	_ = p.pipe.Close()
}

func guardLine(pgid int, start int64) string {
	return "+" + strconv.Itoa(pgid) + " " + strconv.FormatInt(start, 10) + "\n"
}
