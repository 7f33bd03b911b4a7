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

// This file runs a second process that ends the children when this program is killed.

const (
	// reaperWrite is how long a reaper may leave its pipe full before it is replaced.
	reaperWrite = time.Second
	// reaperPause is the minimum time between two starts, so that a reaper that dies at once is not restarted
	// in a tight loop.
	reaperPause = time.Second
	// reaperEnd is how long Close waits for a reaper that still has groups to end.
	reaperEnd = reaperGrace + 2*time.Second
)

var errReaperClosed = errors.New("reaper is closed")

// Reaper controls a second process, the reaper process, which ends every listed group when this program dies,
// even by SIGKILL: the kernel then closes the pipe between the two, and the reaper process still reads what
// was written before.
//
// The reaper process runs in its own session, inherits only the read end of that pipe, and starts when it is
// first needed. If it dies, it is replaced within a second, or at the next Add, and the new one is told all
// groups again. On Windows all methods do nothing, because each child's Job Object does the work.
//
// All methods are safe for concurrent use. Close the Reaper after the last [Process.Stop].
type Reaper struct {
	self string
	args []string
	log  *slog.Logger

	quit     func()        // closes quitted, once
	quitted  chan struct{} // Close was called
	watchers sync.WaitGroup

	mu      sync.Mutex
	groups  map[int]int64  // group → start time of its leader, 0 = unknown
	current *reaperProcess // nil until a reaper process is first needed
}

// reaperProcess is one running reaper process.
type reaperProcess struct {
	cmd    *exec.Cmd
	pipe   *os.File
	born   time.Time
	exited chan struct{}
}

// NewReaper returns a reaper that runs the program self, the absolute path of our own binary, with args that
// make it call [ReaperMain] on its stdin. The process gets an empty environment and does not start yet. log
// hears of a reaper process that died; nil discards.
func NewReaper(self string, args []string, log *slog.Logger) *Reaper {
	r := &Reaper{
		self: self, args: slices.Clone(args), log: loggerOr(log),
		quitted: make(chan struct{}), groups: map[int]int64{},
	}
	r.quit = sync.OnceFunc(func() { close(r.quitted) })
	return r
}

// ensureStarted starts the reaper process if none runs. [Start] calls it before it starts a child.
func (r *Reaper) ensureStarted() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ready()
}

// Add lists a group that the reaper process ends when this program dies. If sending it fails, the group is still
// listed, and the next successful call passes it on. A closed Reaper lists nothing and returns errReaperClosed.
func (r *Reaper) Add(pgid int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !needsReaper || r.closed() {
		return r.ready()
	}
	r.groups[pgid] = 0
	err := r.sendLine(reaperLine(pgid, 0)) // at once; the start time, which identifies the leader, follows
	if start, failed := startTime(pgid); failed == nil && err == nil {
		r.groups[pgid] = start
		err = r.sendLine(reaperLine(pgid, start))
	}
	return err
}

// Remove takes a group off the list; call it when no process of the group is left.
func (r *Reaper) Remove(pgid int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.groups[pgid]; !ok || r.closed() {
		return nil
	}
	delete(r.groups, pgid)
	return r.sendLine("-" + strconv.Itoa(pgid) + "\n")
}

// Pid returns the id of the reaper process, 0 if none runs.
func (r *Reaper) Pid() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil || r.current.dead() {
		return 0
	}
	return r.current.cmd.Process.Pid
}

// Close ends the reaper process and waits for it. Groups that are still listed are ended first, as if this
// program had died.
func (r *Reaper) Close() error {
	r.quit()
	r.mu.Lock()
	if p := r.current; p != nil {
		_ = p.pipe.Close() // closed by an earlier Close is fine
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

// ready starts a reaper process if none runs, and sends it the whole list. The caller holds r.mu.
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

// sendLine writes one line to the reaper process. If that fails it starts a new one, which gets the whole list
// and so needs no line. The caller holds r.mu.
func (r *Reaper) sendLine(line string) error {
	if r.current != nil && !r.current.dead() {
		if r.current.write(line) == nil {
			return nil
		}
		r.current.kill()
	}
	return r.ready()
}

// watch waits for p to die and replaces it if groups are still listed.
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
	// Its output is discarded: if it held our stderr, a reader of that would not see the end when we end. It
	// runs in "/", so that it keeps no file system from being unmounted.
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

// kill ends the reaper process by SIGKILL. If its pipe were closed instead, it would end all children.
func (p *reaperProcess) kill() {
	_ = p.cmd.Process.Kill() // already gone is fine
	<-p.exited
	_ = p.pipe.Close()
}

func reaperLine(pgid int, start int64) string {
	return "+" + strconv.Itoa(pgid) + " " + strconv.FormatInt(start, 10) + "\n"
}

// reaperGrace is how long the reaper process waits between SIGTERM and SIGKILL to a group.
const reaperGrace = 3 * time.Second

// ReaperCommand is the only argument of this program when it runs as the reaper. Its value must not change: a
// gateway that is running while its binary is upgraded starts the new binary with this argument.
const ReaperCommand = "__guard"

// IsReaper reports whether a command line, program name included, is that of the reaper.
func IsReaper(line []string) bool { return len(line) == 2 && line[1] == ReaperCommand }

// ReaperMain is the main function of the reaper process. It reads the list of groups from r, its stdin, and
// when r ends it ends every group still listed. It ignores SIGINT, SIGTERM and SIGHUP, which are often sent
// to all processes at once. It returns the exit code: 0, or 1 if a group survived.
//
// A line is "+GROUP START" or "-GROUP"; START is the leader's startTime, or 0. The last line for a group
// counts. Other lines are ignored.
func ReaperMain(r io.Reader) int {
	deaf := make(chan os.Signal, 1) // never read; a full channel drops further signals
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
	var targets []endTarget
	for pgid, start := range groups {
		if t := (endTarget{pgid, start}); t.mayBeOurs() {
			targets = append(targets, t)
		}
	}
	if len(endGroups(context.Background(), targets, reaperGrace)) > 0 {
		return 1
	}
	return 0
}

// parseReaperLine parses one line. It refuses group numbers that kill(2) would not take for a group.
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

// endTarget is a group that another process started.
type endTarget struct {
	pgid  int
	start int64 // start time of its leader, 0 = unknown
}

// isOurs reports whether the leader lives and is the recorded process.
func (t endTarget) isOurs() bool {
	start, err := startTime(t.pgid)
	return err == nil && t.start != 0 && start == t.start && Alive(t.pgid)
}

// mayBeOurs reports true also if the leader is gone: as long as its group has members, the number cannot be
// reused. Use it only right after the gateway died, not for entries in an old file.
func (t endTarget) mayBeOurs() bool {
	start, err := startTime(t.pgid)
	return err != nil || t.start == 0 || start == t.start
}

// endGroups sends SIGTERM to the groups, and SIGKILL to those left after grace or when ctx ends. It returns
// those that survive SIGKILL.
func endGroups(ctx context.Context, targets []endTarget, grace time.Duration) (survivors []endTarget) {
	for _, t := range targets {
		terminateGroup(t.pgid)
	}
	survivors = awaitGroups(ctx, targets, grace)
	for _, t := range survivors {
		killGroup(t.pgid)
	}
	return awaitGroups(context.WithoutCancel(ctx), survivors, time.Second)
}

// awaitGroups waits until all groups have ended, at most d or until ctx ends. It returns those that still
// live.
func awaitGroups(ctx context.Context, targets []endTarget, d time.Duration) (survivors []endTarget) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	poll := time.NewTicker(groupPoll)
	defer poll.Stop()
	for {
		survivors = nil
		for _, t := range targets {
			if groupAlive(t.pgid) {
				survivors = append(survivors, t)
			}
		}
		if len(survivors) == 0 {
			return nil
		}
		select {
		case <-poll.C:
		case <-timer.C:
			return survivors
		case <-ctx.Done():
			return survivors
		}
		targets = survivors
	}
}
