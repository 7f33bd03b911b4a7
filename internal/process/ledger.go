package process

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// Store keeps the ledger's bytes. atomicfile.File is one.
type Store interface {
	// Update replaces the content by what edit makes of it, with no other update in
	// between by any process. old is nil if there is none; edit must not keep it.
	Update(ctx context.Context, edit func(old []byte) ([]byte, error)) error
}

// Child is one line of the ledger.
type Child struct {
	Label string `json:"server"`
	Pid   int    `json:"pid"`
	Pgid  int    `json:"pgid"`
	// StartTime is that of [StartTime]; 0, not known, matches no process.
	StartTime int64 `json:"startTime"`
	// CommandHash is the SHA-256 of name, folder and arguments, in hex. For people.
	CommandHash string `json:"commandHash,omitempty"`
	// Gateway is whose child it is. The Ledger fills it in.
	Gateway Gateway `json:"gateway"`
}

// Gateway names one run of a program like this one.
type Gateway struct {
	Pid       int   `json:"pid"`
	StartTime int64 `json:"startTime"`
	// Boot names the boot of the machine where start times count from it.
	Boot string `json:"boot,omitempty"`
}

// gone reports whether that run has ended.
func (g Gateway) gone(boot string) bool {
	if g.Boot != boot || !Alive(g.Pid) {
		return true
	}
	start, err := StartTime(g.Pid)
	return err == nil && start != g.StartTime
}

// Ledger keeps the running children of this program in a file that all gateways of a home
// share (children.json), so that whoever starts next finds what a dead one left. It is the
// second line of defence, behind the [Reaper]: Add and Remove do not wait for the disk,
// and what comes together is written together.
//
// All methods are safe for concurrent use.
type Ledger struct {
	store Store
	log   *slog.Logger
	self  Gateway

	dirty   chan struct{} // of one: something is to be written
	quit    func()
	quitted chan struct{}
	written chan struct{} // closed after the last write

	mu       sync.Mutex
	children []Child
}

// LedgerOptions are the optional parts of a [Ledger].
type LedgerOptions struct {
	// Logger hears of writes that fail and of files that cannot be read. Nil discards.
	Logger *slog.Logger
}

// OpenLedger returns the ledger of this process over a store. Nothing is read or written
// before the first Add or Sweep. The caller closes it.
func OpenLedger(store Store, opts *LedgerOptions) *Ledger {
	if opts == nil {
		opts = &LedgerOptions{}
	}
	start, _ := StartTime(os.Getpid()) // 0 makes others take us for gone, no worse than no ledger
	l := &Ledger{
		store: store, log: loggerOr(opts.Logger),
		self:  Gateway{Pid: os.Getpid(), StartTime: start, Boot: bootID()},
		dirty: make(chan struct{}, 1), quitted: make(chan struct{}), written: make(chan struct{}),
	}
	l.quit = sync.OnceFunc(func() { close(l.quitted) })
	go l.run()
	return l
}

// Add puts a child on record, soon. Its Gateway is set here.
func (l *Ledger) Add(c Child) {
	c.Gateway = l.self
	l.mu.Lock()
	l.children = append(l.children, c)
	l.mu.Unlock()
	l.mark()
}

// Remove strikes a child out, soon.
func (l *Ledger) Remove(pid int) {
	l.mu.Lock()
	l.children = slices.DeleteFunc(l.children, func(c Child) bool { return c.Pid == pid })
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
		all := slices.DeleteFunc(l.parse(old), func(c Child) bool { return c.Gateway == l.self })
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
func (l *Ledger) parse(data []byte) []Child {
	children, err := parseLedger(data)
	if err != nil {
		l.log.Warn("list of child processes is not readable, starting a new one", "error", err)
	}
	return children
}

// ledgerFile is the shape of the file.
type ledgerFile struct {
	Version  int     `json:"version"`
	Children []Child `json:"children"`
}

func parseLedger(data []byte) ([]Child, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var f ledgerFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	return f.Children, nil
}

func encodeLedger(children []Child) ([]byte, error) {
	if children == nil {
		children = []Child{}
	}
	data, err := json.MarshalIndent(ledgerFile{Version: 1, Children: children}, "", "  ")
	return append(data, '\n'), err
}
