package process

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
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

// NewReaper returns a reaper that will run the program self, the absolute path of our own
// binary, with args, which make it call [ReaperMain] on its stdin. It gets an empty
// environment. No process starts yet. log hears of a reaper that died; nil discards.
func NewReaper(self string, args []string, log *slog.Logger) *Reaper {
	r := &Reaper{
		self: self, args: slices.Clone(args), log: loggerOr(log),
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
	if start, failed := startTime(pgid); failed == nil && err == nil {
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

// reaperGrace is what a group gets between SIGTERM and SIGKILL.
const reaperGrace = 3 * time.Second

// ReaperCommand is the one argument with which this program is started as its reaper. It is spelled as it always was: a
// gateway that runs while its program is replaced by a newer one starts that.
const ReaperCommand = "__guard"

// IsReaper reports whether a command line, with the name of the program, is that of a reaper.
func IsReaper(line []string) bool { return len(line) == 2 && line[1] == ReaperCommand }

// ReaperMain is what the reaper process runs: it reads the list of groups from r, its
// stdin, and when r ends it ends every group still listed. It takes no notice of SIGINT,
// SIGTERM and SIGHUP, which are often meant for everyone at once. It returns the exit code: 0,
// or 1 if a group survived.
//
// A line is "+GROUP START", START being the leader's startTime or 0, or "-GROUP". The
// last line for a group counts; others are passed over.
func ReaperMain(r io.Reader) int {
	deaf := make(chan os.Signal, 1) // nobody listens; a full channel drops the rest
	signal.Notify(deaf, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(deaf)

	groups := map[int]int64{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if pgid, start, add, ok := parseReaperLine(lines.Text()); ok && add {
			groups[pgid] = start
		} else if ok {
			delete(groups, pgid)
		}
	}
	var targets []target
	for pgid, start := range groups {
		if t := (target{pgid, start}); t.mayBeOurs() {
			targets = append(targets, t)
		}
	}
	if len(endGroups(context.Background(), targets, reaperGrace)) > 0 {
		return 1
	}
	return 0
}

// parseReaperLine refuses the numbers that kill(2) takes for something else than a group.
func parseReaperLine(line string) (pgid int, start int64, add, ok bool) {
	rest, add := strings.CutPrefix(line, "+")
	if !add {
		if rest, ok = strings.CutPrefix(line, "-"); !ok {
			return 0, 0, false, false
		}
	}
	number, after, two := strings.Cut(rest, " ")
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n <= 1 || two != add {
		return 0, 0, false, false
	}
	if add {
		if start, err = strconv.ParseInt(after, 10, 64); err != nil || start < 0 {
			return 0, 0, false, false
		}
	}
	return int(n), start, add, true
}

// target is a group that another program started.
type target struct {
	pgid  int
	start int64 // of its leader, 0 = not known
}

// isOurs reports whether the leader lives and is the one recorded.
func (t target) isOurs() bool {
	start, err := startTime(t.pgid)
	return err == nil && t.start != 0 && start == t.start && Alive(t.pgid)
}

// mayBeOurs reports the same, or that the leader is gone: its group keeps the number from
// being used again for as long as it has members. Good for the moment after the one who
// would have told us died, not for a file of yesterday.
func (t target) mayBeOurs() bool {
	start, err := startTime(t.pgid)
	return err != nil || t.start == 0 || start == t.start
}

// endGroups sends SIGTERM to the groups, and SIGKILL to what is left after grace or when
// ctx ends. It returns those that survive that.
func endGroups(ctx context.Context, targets []target, grace time.Duration) (left []target) {
	for _, t := range targets {
		terminateGroup(t.pgid)
	}
	left = awaitGroups(ctx, targets, grace)
	for _, t := range left {
		killGroup(t.pgid)
	}
	return awaitGroups(context.WithoutCancel(ctx), left, time.Second)
}

// awaitGroups returns the groups that still live when d is over or ctx ends.
func awaitGroups(ctx context.Context, targets []target, d time.Duration) (left []target) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	poll := time.NewTicker(groupPoll)
	defer poll.Stop()
	for {
		left = nil
		for _, t := range targets {
			if groupAlive(t.pgid) {
				left = append(left, t)
			}
		}
		if len(left) == 0 {
			return nil
		}
		select {
		case <-poll.C:
		case <-timer.C:
			return left
		case <-ctx.Done():
			return left
		}
		targets = left
	}
}
