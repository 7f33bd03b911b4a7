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

// This file keeps a list of running children on disk, so that the next run can end those that a killed gateway left.

// store keeps the ledger's bytes, as atomicfile.File does.
type store interface {
	// Update replaces the content with what edit returns for it; no other process updates it meanwhile. old
	// is nil if there is no content yet; edit must not keep old.
	Update(ctx context.Context, edit func(old []byte) ([]byte, error)) error
}

// child is one line of the ledger.
type child struct {
	Label string `json:"server"`
	Pid   int    `json:"pid"`
	Pgid  int    `json:"pgid"`
	// StartTime is that of [startTime]; 0 means unknown and matches no process.
	StartTime int64 `json:"startTime"`
	// CommandHash is the SHA-256 of name, folder and arguments in hex, for people to compare.
	CommandHash string `json:"commandHash,omitempty"`
	// Gateway is the gateway that started the child. The Ledger fills it in.
	Gateway gatewayRun `json:"gateway"`
}

// gatewayRun identifies one run of a program that uses this package.
type gatewayRun struct {
	Pid       int   `json:"pid"`
	StartTime int64 `json:"startTime"`
	// Boot identifies the boot of the machine, on systems where start times count from boot.
	Boot string `json:"boot,omitempty"`
}

// hasEnded reports whether that run has ended.
func (g gatewayRun) hasEnded(boot string) bool {
	if g.Boot != boot || !Alive(g.Pid) {
		return true
	}
	start, err := startTime(g.Pid)
	return err == nil && start != g.StartTime
}

// Ledger keeps the running children of this program in children.json, a file that all gateways of a home
// share. The next gateway to start finds there what a dead one left. The ledger is the second line of
// defence, behind the [Reaper]: Add and Remove do not wait for the disk, and changes that come close together
// are written together.
//
// All methods are safe for concurrent use.
type Ledger struct {
	store store
	log   *slog.Logger
	self  gatewayRun

	dirty   chan struct{} // signals that there is something to write; capacity 1
	quit    func()
	quitted chan struct{}
	written chan struct{} // closed after the last write

	mu       sync.Mutex
	children []child
}

// OpenLedger returns the ledger of this process over a store. Nothing is read or written before the first Add
// or Sweep. log hears of failed writes and unreadable files; nil discards. The caller closes the Ledger.
func OpenLedger(in store, log *slog.Logger) *Ledger {
	start, _ := startTime(os.Getpid()) // 0 if unknown: other gateways may then take this one for gone
	l := &Ledger{
		store: in, log: loggerOr(log),
		self:  gatewayRun{Pid: os.Getpid(), StartTime: start, Boot: bootID()},
		dirty: make(chan struct{}, 1), quitted: make(chan struct{}), written: make(chan struct{}),
	}
	l.quit = sync.OnceFunc(func() { close(l.quitted) })
	go l.run()
	return l
}

// Add records a child; the file is written a little later. Add sets c.Gateway.
func (l *Ledger) Add(c child) {
	c.Gateway = l.self
	l.mu.Lock()
	l.children = append(l.children, c)
	l.mu.Unlock()
	l.mark()
}

// Remove removes a child; the file is written a little later.
func (l *Ledger) Remove(pid int) {
	l.mu.Lock()
	l.children = slices.DeleteFunc(l.children, func(c child) bool { return c.Pid == pid })
	l.mu.Unlock()
	l.mark()
}

// Close writes pending changes and waits for that. It may be called twice.
func (l *Ledger) Close() error {
	l.quit()
	<-l.written
	return nil
}

func (l *Ledger) mark() {
	select {
	case l.dirty <- struct{}{}:
	default: // a write is pending already and will include this change
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

// write replaces this gateway's entries in the file and leaves those of others alone.
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

// parse reads the file. An unreadable file counts as empty, because each gateway rewrites its own entries.
func (l *Ledger) parse(data []byte) []child {
	children, err := parseLedger(data)
	if err != nil {
		l.log.Warn("list of child processes is not readable, starting a new one", "error", err)
	}
	return children
}

// ledgerFile is the content of the file.
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

// Sweep ends the children of gateways that are gone and removes their entries. It ends a process only if it
// still runs and started when the entry says; otherwise it just removes the entry. All are ended at once:
// SIGTERM to each group, then SIGKILL after the usual wait or when ctx ends. It returns the children it
// ended.
//
// Call it once, when a gateway starts.
func (l *Ledger) Sweep(ctx context.Context) (ended []child, err error) {
	var orphans []child
	err = l.store.Update(ctx, func(old []byte) ([]byte, error) {
		orphans = slices.DeleteFunc(l.parse(old), func(c child) bool { return !l.isOrphan(c) })
		return old, nil // entries stay until their processes have been ended
	})
	if err != nil {
		return nil, fmt.Errorf("read list of child processes: %w", err)
	}
	if len(orphans) == 0 {
		return nil, l.forget(ctx, nil)
	}
	var targets []endTarget
	for _, c := range orphans {
		targets = append(targets, endTarget{c.Pgid, c.StartTime})
	}
	survivors := endGroups(ctx, targets, Ladder{}.withDefaults().TermWait)
	survived := func(c child) bool { return slices.Contains(survivors, endTarget{c.Pgid, c.StartTime}) }
	ended = slices.DeleteFunc(slices.Clone(orphans), survived)
	return ended, l.forget(context.WithoutCancel(ctx), survived)
}

// isOrphan reports whether c lives and its gateway does not. An entry whose group number is not its pid was not
// written by this package.
func (l *Ledger) isOrphan(c child) bool {
	return c.Gateway != l.self && c.Gateway.hasEnded(l.self.Boot) && c.Gateway.Boot == l.self.Boot &&
		c.Pgid == c.Pid && c.Pid > 1 && endTarget{c.Pgid, c.StartTime}.isOurs()
}

// forget removes all entries of gateways that are gone, except those that keep returns true for.
func (l *Ledger) forget(ctx context.Context, keep func(child) bool) error {
	err := l.store.Update(ctx, func(old []byte) ([]byte, error) {
		all := l.parse(old)
		rest := slices.DeleteFunc(slices.Clone(all), func(c child) bool {
			return c.Gateway != l.self && c.Gateway.hasEnded(l.self.Boot) && (keep == nil || !keep(c))
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
