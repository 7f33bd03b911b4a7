package mascot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/event"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// The files of the mascot in the workspace, shared with the public plugin (7.2).
const (
	folder     = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/"
	statsPath  = folder + "puppyStats.json"
	eventsPath = folder + "puppyEvents.json"
)

// stats is the file of the coins.
type stats struct {
	TotalCalls int64  `json:"totalCalls"`
	Balance    *int64 `json:"balance,omitempty"`
	UpdatedAt  int64  `json:"updatedAt"`
	LastAction string `json:"lastAction,omitempty"`
}

// balance is what stands in the file, never below 0; a file without one counts each call.
func (s *stats) balance() int64 {
	if s.Balance == nil {
		return max(s.TotalCalls, 0)
	}
	return max(*s.Balance, 0)
}

// happened is the last thing that happened, as the workspace's one event.
type happened struct {
	Seq        int64  `json:"seq"`
	TS         int64  `json:"ts"`
	Tool       string `json:"tool"`
	Action     string `json:"action"`
	Status     string `json:"status"`
	TotalCalls int64  `json:"totalCalls"`
	Balance    int64  `json:"balance"`
	ItemID     string `json:"itemId,omitempty"`
	ItemLabel  string `json:"itemLabel,omitempty"`
	ItemType   string `json:"itemType,omitempty"`
	ItemEmoji  string `json:"itemEmoji,omitempty"`
}

// PurseOptions are the optional parts of a [Purse].
type PurseOptions struct {
	// Sync writes coins and events to the workspace as well, with Kernel (mascot.sync).
	Sync   bool
	Kernel *kernel.Client
	// Every is how often files are written at most; default 500 ms (R-7-1).
	Every  time.Duration
	Logger *slog.Logger // nil discards
}

// Purse keeps the mascot's coins in a file that all processes of a home share. Calls never wait
// for it. It is safe for concurrent use. Close ends it.
type Purse struct {
	opts PurseOptions
	log  *slog.Logger
	file atomicfile.File
	sub  *event.Subscription[tool.CallDone]

	mu      sync.Mutex
	earned  int64 // not in the file yet
	last    *happened
	lastSeq int64

	wake chan struct{}
	done chan struct{}
	once sync.Once
}

// OpenPurse keeps the coins in dir, and earns with the calls that bus tells of.
func OpenPurse(dir string, bus *event.Bus[tool.CallDone], opts PurseOptions) (*Purse, error) {
	if opts.Every <= 0 {
		opts.Every = 500 * time.Millisecond
	}
	p := &Purse{opts: opts, log: opts.Logger, wake: make(chan struct{}, 1), done: make(chan struct{})}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the mascot: %w", err)
	}
	p.file = atomicfile.File{Path: filepath.Join(dir, "mascot.json"), NoSync: true}
	p.sub = bus.Subscribe(1024)
	go p.keep()
	return p, nil
}

// Close writes what has been earned and ends.
func (p *Purse) Close() error {
	p.once.Do(p.sub.Close)
	<-p.done
	return p.settle(context.Background())
}

// keep earns with each event and writes now and then, until the subscription is closed.
func (p *Purse) keep() {
	defer close(p.done)
	var due <-chan time.Time
	for {
		select {
		case done, ok := <-p.sub.C():
			if !ok {
				return
			}
			if p.earn(&done) && due == nil {
				due = time.After(p.opts.Every)
			}
		case <-due:
			due = nil
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			if err := p.settle(ctx); err != nil {
				p.log.Warn("coins of the mascot not written", "error", err)
			}
			cancel()
		}
	}
}

// earn counts a call and reports whether there is anything to write. Only calls of the SiYuan
// tools count, successful ones earn, and the mascot's own never do (R-7-3).
func (p *Purse) earn(d *tool.CallDone) bool {
	c := d.Call
	if c.Kind != tool.KindCall || c.Action == nil || c.Source == nil || c.Source.Name() != "siyuan" || c.Tool == "mascot" {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	status := "error"
	if d.Outcome == tool.OK {
		status = "success"
		p.earned++
	}
	p.tell(&happened{Tool: c.Tool, Action: c.Action.Name, Status: status})
	return true
}

// tell makes h the last event. p.mu is held.
func (p *Purse) tell(h *happened) {
	h.TS = time.Now().UnixMilli()
	h.Seq = max(h.TS, p.lastSeq+1)
	p.lastSeq = h.Seq
	p.last = h
}

// Balance returns the coins now and the coins ever earned.
func (p *Purse) Balance(ctx context.Context) (balance, earned int64, err error) {
	s, err := p.change(ctx, func(*stats) error { return nil })
	return s.balance(), s.TotalCalls, err
}

// Spend takes cost from the balance.
func (p *Purse) Spend(ctx context.Context, name string, cost int64) (balance, earned int64, err error) {
	s, err := p.change(ctx, func(s *stats) error {
		have := s.balance()
		if have < cost {
			return &tool.Error{
				Op: "buy", Kind: tool.Conflicting, Subject: name, Message: fmt.Sprintf("it costs %d coins, and there are %d", cost, have),
				Hint: "each successful call of a SiYuan tool earns one",
			}
		}
		have -= cost
		s.Balance = &have
		s.LastAction = "mascot/buy"
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	p.mu.Lock()
	h := &happened{Tool: "mascot", Action: "buy", Status: "success", ItemID: name}
	for _, it := range items() {
		if it.ID == name {
			h.ItemLabel, h.ItemType, h.ItemEmoji = it.Label, it.Type, it.Emoji
		}
	}
	p.tell(h)
	p.mu.Unlock()
	if p.opts.Sync {
		p.publish(ctx, s)
	}
	return s.balance(), s.TotalCalls, nil
}

// settle puts what was earned into the file, and both files into the workspace.
func (p *Purse) settle(ctx context.Context) error {
	p.mu.Lock()
	idle := p.earned == 0 && p.last == nil
	p.mu.Unlock()
	if idle {
		return nil
	}
	s, err := p.change(ctx, func(*stats) error { return nil })
	if err == nil && p.opts.Sync {
		p.publish(ctx, s)
	}
	return err
}

// change adds what was earned to the file and edits it, under its lock. What an edit refuses
// leaves the file as it is.
func (p *Purse) change(ctx context.Context, edit func(*stats) error) (stats, error) {
	p.mu.Lock()
	earned, last := p.earned, p.last
	p.earned = 0
	p.mu.Unlock()
	var s stats
	err := p.file.Update(ctx, func(old []byte) ([]byte, error) {
		s = read(old)
		balance := s.balance() + earned
		s.Balance, s.TotalCalls, s.UpdatedAt = &balance, s.TotalCalls+earned, time.Now().UnixMilli()
		if last != nil {
			s.LastAction = last.Tool + "/" + last.Action
		}
		if err := edit(&s); err != nil {
			return nil, err
		}
		return json.Marshal(s)
	})
	if err != nil {
		p.mu.Lock()
		p.earned += earned // not lost
		p.mu.Unlock()
	}
	return s, err
}

// read is a file of coins; what is broken begins anew.
func read(raw []byte) stats {
	var s stats
	if err := json.Unmarshal(raw, &s); err != nil {
		return stats{}
	}
	s.TotalCalls = min(max(s.TotalCalls, 0), math.MaxInt32)
	return s
}

// publish writes the workspace's files. The mascot is never worth an error.
func (p *Purse) publish(ctx context.Context, s stats) {
	p.mu.Lock()
	h := p.last
	p.last = nil
	p.mu.Unlock()
	if p.opts.Kernel == nil || h == nil {
		return
	}
	h.TotalCalls, h.Balance = s.TotalCalls, s.balance()
	for path, v := range map[string]any{statsPath: s, eventsPath: h} {
		raw, err := json.Marshal(v)
		if err == nil {
			err = p.opts.Kernel.WriteFile(ctx, path, raw)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			p.log.Debug("mascot not written to the workspace", "path", path, "error", err)
		}
	}
}
