package process

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// store keeps the ledger's bytes. atomicfile.File is one.
type store interface {
	// Update replaces the content by what edit makes of it, with no other update in
	// between by any process. old is nil if there is none; edit must not keep it.
	Update(ctx context.Context, edit func(old []byte) ([]byte, error)) error
}

// child is one line of the ledger.
type child struct {
	Label string `json:"server"`
	Pid   int    `json:"pid"`
	Pgid  int    `json:"pgid"`
	// StartTime is that of [startTime]; 0, not known, matches no process.
	StartTime int64 `json:"startTime"`
	// CommandHash is the SHA-256 of name, folder and arguments, in hex. For people.
	CommandHash string `json:"commandHash,omitempty"`
	// Gateway is whose child it is. The Ledger fills it in.
	Gateway gateway `json:"gateway"`
}

// gateway names one run of a program like this one.
type gateway struct {
	Pid       int   `json:"pid"`
	StartTime int64 `json:"startTime"`
	// Boot names the boot of the machine where start times count from it.
	Boot string `json:"boot,omitempty"`
}

// gone reports whether that run has ended.
func (g gateway) gone(boot string) bool {
	if g.Boot != boot || !Alive(g.Pid) {
		return true
	}
	start, err := startTime(g.Pid)
	return err == nil && start != g.StartTime
}

// Ledger keeps the running children of this program in a file that all gateways of a home
// share (children.json), so that whoever starts next finds what a dead one left. It is the
// second line of defence, behind the [Reaper]: Add and Remove do not wait for the disk,
// and what comes together is written together.
//
// All methods are safe for concurrent use.
type Ledger struct {
	store store
	log   *slog.Logger
	self  gateway

	dirty   chan struct{} // of one: something is to be written
	quit    func()
	quitted chan struct{}
	written chan struct{} // closed after the last write

	mu       sync.Mutex
	children []child
}

// OpenLedger returns the ledger of this process over a store. Nothing is read or written
// before the first Add or Sweep. log hears of writes that fail and of files that cannot be read; nil discards.
// The caller closes it.
func OpenLedger(in store, log *slog.Logger) *Ledger {
	start, _ := startTime(os.Getpid()) // 0 where it cannot be read: others may then take us for gone
	l := &Ledger{
		store: in, log: loggerOr(log),
		self:  gateway{Pid: os.Getpid(), StartTime: start, Boot: bootID()},
		dirty: make(chan struct{}, 1), quitted: make(chan struct{}), written: make(chan struct{}),
	}
	l.quit = sync.OnceFunc(func() { close(l.quitted) })
	go l.run()
	return l
}

// Add puts a child on record, soon. Its Gateway is set here.
func (l *Ledger) Add(c child) {
	c.Gateway = l.self
	l.mu.Lock()
	l.children = append(l.children, c)
	l.mu.Unlock()
	l.mark()
}

// Remove strikes a child out, soon.
func (l *Ledger) Remove(pid int) {
	l.mu.Lock()
	l.children = slices.DeleteFunc(l.children, func(c child) bool { return c.Pid == pid })
	l.mu.Unlock()
	l.mark()
}

// Close writes what is left to write and waits for it. It may be called twice.
func (l *Ledger) Close() error {
	l.quit()
	<-l.written
	return nil
}

func (l *Ledger) mark() {
	select {
	case l.dirty <- struct{}{}:
	default: // a write to come will see it
	}
}

func (l *Ledger) run() {
	defer close(l.written)
	for {
		select {
		case <-l.dirty:
			l.write()
		case <-l.quitted:
			select {
			case <-l.dirty:
				l.write()
			default:
			}
			return
		}
	}
}

// write replaces our part of the file and leaves the others' alone.
func (l *Ledger) write() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := l.store.Update(ctx, func(old []byte) ([]byte, error) {
		all := slices.DeleteFunc(l.parse(old), func(c child) bool { return c.Gateway == l.self })
		l.mu.Lock()
		defer l.mu.Unlock()
		return encodeLedger(append(all, l.children...))
	})
	if err != nil {
		l.log.Warn("list of child processes is not written", "error", err)
	}
}

// parse reads the file; one that cannot be read counts as empty, because each gateway
// writes its own part anew.
func (l *Ledger) parse(data []byte) []child {
	children, err := parseLedger(data)
	if err != nil {
		l.log.Warn("list of child processes is not readable, starting a new one", "error", err)
	}
	return children
}

// ledgerFile is the shape of the file.
type ledgerFile struct {
	Version  int     `json:"version"`
	Children []child `json:"children"`
}

func parseLedger(data []byte) ([]child, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var f ledgerFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	return f.Children, nil
}

func encodeLedger(children []child) ([]byte, error) {
	if children == nil {
		children = []child{}
	}
	data, err := json.MarshalIndent(ledgerFile{Version: 1, Children: children}, "", "  ")
	return append(data, '\n'), err
}

// Sweep ends the children of gateways that are gone and strikes them out. A process is
// touched only if it lives and started when the ledger says; any other line of a gone
// gateway is struck out and that is all. All are ended together: SIGTERM to the group,
// SIGKILL after the usual wait or when ctx ends. It returns those it ended.
//
// Call it once, when a gateway starts.
func (l *Ledger) Sweep(ctx context.Context) (ended []child, err error) {
	var orphans []child
	err = l.store.Update(ctx, func(old []byte) ([]byte, error) {
		orphans = slices.DeleteFunc(l.parse(old), func(c child) bool { return !l.orphan(c) })
		return old, nil // they stay on record until they are ended
	})
	if err != nil {
		return nil, fmt.Errorf("read list of child processes: %w", err)
	}
	if len(orphans) == 0 {
		return nil, l.forget(ctx, nil)
	}
	var targets []target
	for _, c := range orphans {
		targets = append(targets, target{c.Pgid, c.StartTime})
	}
	left := endGroups(ctx, targets, Ladder{}.withDefaults().TermWait)
	survived := func(c child) bool { return slices.Contains(left, target{c.Pgid, c.StartTime}) }
	ended = slices.DeleteFunc(slices.Clone(orphans), survived)
	return ended, l.forget(context.WithoutCancel(ctx), survived)
}

// orphan reports whether c lives and its gateway does not. A line whose group is not led
// by its own pid was not written by us.
func (l *Ledger) orphan(c child) bool {
	return c.Gateway != l.self && c.Gateway.gone(l.self.Boot) && c.Gateway.Boot == l.self.Boot &&
		c.Pgid == c.Pid && c.Pid > 1 && target{c.Pgid, c.StartTime}.isOurs()
}

// forget strikes out every line of gone gateways but those to keep.
func (l *Ledger) forget(ctx context.Context, keep func(child) bool) error {
	err := l.store.Update(ctx, func(old []byte) ([]byte, error) {
		all := l.parse(old)
		rest := slices.DeleteFunc(slices.Clone(all), func(c child) bool {
			return c.Gateway != l.self && c.Gateway.gone(l.self.Boot) && (keep == nil || !keep(c))
		})
		if len(rest) == len(all) {
			return old, nil
		}
		return encodeLedger(rest)
	})
	if err != nil {
		return fmt.Errorf("strike out child processes that are gone: %w", err)
	}
	return nil
}
