package mascot

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/atomicfile"
	"collie/internal/event"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file keeps the coins that the mascot earns with successful calls.

// PurseOptions are the options of [OpenPurse]; all are optional.
type PurseOptions struct {
	// Sync writes coins and events to the workspace as well, with Kernel (setting mascot.sync).
	Sync   bool
	Kernel *kernel.Client
	// Verifier refuses a kernel that is not the intended one, to which nothing is written. It is asked before each request;
	// nil accepts every kernel.
	Verifier *kernel.Verifier
	// Started publishes calls as they begin, so that the workspace can show one that is still running after Every. It is
	// used only with Sync. If it is nil, only finished calls are shown.
	Started *event.Bus[*tool.Call]
	// Every is the minimum time between writes; 0 means 500 ms.
	Every  time.Duration
	Logger *slog.Logger // nil discards
}

// Purse keeps the coins of the mascot in a file that all processes of a home share. It never delays calls. It is safe
// for concurrent use. The caller must call Close.
type Purse struct {
	opts PurseOptions
	log  *slog.Logger
	file atomicfile.File
	sub  *event.Subscription[tool.CallDone]
	runs *event.Subscription[*tool.Call] // nil if starts of calls are not shown

	mu     sync.Mutex
	earned int64      // coins that are not in the file yet
	calls  int64      // calls of day that are not in the file yet
	day    string     // "2006-01-02"
	last   *lastEvent // event that is not in the files yet
	joined bool       // the coins found in the workspace have been added to ours, once

	wake  chan struct{} // requests a write
	ended chan struct{} // closed when listen ends
	done  chan struct{} // closed when writeLoop ends
}

// flushTimeout is the limit for one write. readTimeout is the part of it that the kernel may take to answer; without an
// answer, only our own file is written.
const (
	flushTimeout = 5 * time.Second
	readTimeout  = 2 * time.Second
)

// OpenPurse opens the coins in dir. From then on each successful call that bus publishes earns a coin, except calls of the
// mascot itself.
func OpenPurse(dir string, bus *event.Bus[tool.CallDone], opts PurseOptions) (*Purse, error) {
	if opts.Every <= 0 {
		opts.Every = 500 * time.Millisecond
	}
	p := &Purse{
		opts: opts, log: opts.Logger, wake: make(chan struct{}, 1), ended: make(chan struct{}), done: make(chan struct{}),
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &tool.Error{
			Op: "make the folder", Kind: tool.Denied, Subject: dir, Err: err, Hint: "--home DIR keeps everything in another folder",
		}
	}
	p.file = atomicfile.File{Path: filepath.Join(dir, "mascot.json"), NoSync: true}
	p.sub = bus.SubscribeTo(1024, func(d *tool.CallDone) bool { return counts(d.Call) })
	if opts.Sync && opts.Started != nil {
		p.runs = opts.Started.SubscribeTo(1024, func(c **tool.Call) bool { return counts(*c) })
	}
	go p.listen()
	go p.writeLoop()
	return p, nil
}

// Close writes the last coins and stops the goroutines.
func (p *Purse) Close() error {
	p.sub.Close()
	<-p.done
	if p.runs != nil {
		p.runs.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	return p.flush(ctx)
}

// listen counts each event and does nothing slow, so that no event is dropped.
func (p *Purse) listen() {
	defer close(p.ended)
	var runs <-chan **tool.Call
	if p.runs != nil {
		runs = p.runs.C()
	}
	for {
		select {
		case c := <-runs:
			p.recordBegin(*c)
		case done, ok := <-p.sub.C():
			if !ok {
				return
			}
			for n := len(runs); n > 0; n-- { // the start of this call may be among them
				p.recordBegin(*<-runs)
			}
			p.earn(done)
		}
		p.requestWrite()
	}
}

// recordBegin notes that a call has begun.
func (p *Purse) recordBegin(c *tool.Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = &lastEvent{TS: time.Now().UnixMilli(), Tool: c.Tool, Action: c.Action.Name, Status: "running", Class: c.Action.Class(), Dangerous: c.Action.Asks(c.Args)}
}

// requestWrite makes writeLoop write soon.
func (p *Purse) requestWrite() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// writeLoop writes the files after each request, at most once in Every, until Close.
func (p *Purse) writeLoop() {
	defer close(p.done)
	for {
		select {
		case <-p.ended:
			return
		case <-p.wake:
		}
		select {
		case <-p.ended:
			return
		case <-time.After(p.opts.Every):
		}
		ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
		if err := p.flush(ctx); err != nil {
			p.log.Warn("coins of the mascot not written", "error", err)
		}
		cancel()
	}
}

// counts reports whether a call counts: one of any tool except the mascot itself. If it succeeds, it earns a coin.
func counts(c *tool.Call) bool {
	return c.Kind == tool.KindCall && c.Action != nil && c.Source != nil && (c.Tool != "mascot" || c.Source.Name() != "siyuan")
}

// earn counts a call that has ended. A successful call earns a coin.
func (p *Purse) earn(d *tool.CallDone) {
	c := d.Call
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := today(); p.day != now {
		p.day, p.calls = now, 0
	}
	p.calls++
	h := &lastEvent{TS: time.Now().UnixMilli(), Tool: c.Tool, Action: c.Action.Name, Status: "error"}
	if d.Outcome == tool.OK {
		h.Status = "success"
		p.earned++
	}
	p.last = h
}

// today returns the local date.
func today() string { return time.Now().Format(time.DateOnly) }

// Wallet returns the coins, where they came from and what they were spent on.
func (p *Purse) Wallet(ctx context.Context) (action.Wallet, error) {
	s, err := p.changeFile(ctx, nil)
	if err != nil {
		return action.Wallet{}, err
	}
	return s.wallet(), nil
}

// Spend subtracts cost, the price of the item called name, from the balance and returns the new figures. If the balance
// is too small, the error is of kind Conflicting.
func (p *Purse) Spend(ctx context.Context, name string, cost int64) (action.Wallet, error) {
	h := &lastEvent{TS: time.Now().UnixMilli(), Tool: "mascot", Action: "buy", Status: "success", ItemID: name}
	for _, it := range items() {
		if it.ID == name {
			h.ItemLabel, h.ItemType, h.ItemEmoji = it.Label, it.Type, it.Emoji
		}
	}
	s, err := p.changeFile(ctx, func(s *coins) error {
		if s.Balance < cost {
			return &tool.Error{
				Op: "buy", Kind: tool.Conflicting, Subject: name, Message: fmt.Sprintf("it costs %d coins, and there are %d", cost, s.Balance),
				Hint: "each successful call of a tool earns one",
			}
		}
		s.Balance -= cost
		s.LastAction = h.action()
		s.buy(name)
		return nil
	})
	if err != nil {
		return action.Wallet{}, err
	}
	p.mu.Lock()
	p.last = h
	p.mu.Unlock()
	p.requestWrite()
	return s.wallet(), nil
}

// flush writes the coins and the last event to the file and, with Sync, to the workspace.
func (p *Purse) flush(ctx context.Context) error {
	p.mu.Lock()
	last := p.last
	p.mu.Unlock()
	if last == nil {
		return nil
	}
	s, err := p.changeFile(ctx, func(s *coins) error {
		s.LastAction = last.action()
		s.Seq = max(time.Now().UnixMilli(), s.Seq+1)
		return nil
	})
	if err != nil {
		return err
	}
	p.mu.Lock()
	if p.last == last {
		p.last = nil
	}
	p.mu.Unlock()
	if s.Joined {
		p.publish(ctx, &s, *last)
	}
	return nil
}

// changeFile adds earned coins to the file and applies edit, which may be nil, under the lock of the file. If edit fails,
// the file is not changed.
func (p *Purse) changeFile(ctx context.Context, edit func(*coins) error) (coins, error) {
	theirs, join := p.workspaceCoins(ctx)
	p.mu.Lock()
	earned, calls, day := p.earned, p.calls, p.day
	p.earned, p.calls = 0, 0
	p.mu.Unlock()
	var s coins
	err := p.file.Update(ctx, func(old []byte) ([]byte, error) {
		s = readCoins(old)
		before := readCoins(old)
		s.add(earned, earned)
		s.count(day, calls)
		if join && !s.Joined {
			s.add(theirs.Balance, theirs.Earned)
			s.Joined = true
		}
		if edit != nil {
			if err := edit(&s); err != nil {
				return nil, err
			}
		}
		if reflect.DeepEqual(s, before) {
			return old, nil
		}
		s.UpdatedAt = time.Now().UnixMilli()
		return s.encode()
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.earned += earned // for the next try
		if p.day == day {
			p.calls += calls
		}
	} else if join {
		p.joined = true
	}
	return s, err
}

// coins is the content of the file. The first members are those of puppyStats.json, which other programs write into a
// workspace, so that both files are read alike.
type coins struct {
	Earned     int64  `json:"totalCalls"` // all coins ever earned
	Balance    int64  `json:"balance"`
	UpdatedAt  int64  `json:"updatedAt"` // milliseconds
	LastAction string `json:"lastAction,omitempty"`
	// Seq is the number of the last event. It increases across all processes of the home.
	Seq int64 `json:"seq,omitempty"`
	// Joined reports whether the coins found in the workspace have been added.
	Joined bool `json:"joined,omitempty"`
	// Day is the local day that Today counts the calls of.
	Day   string `json:"day,omitempty"`
	Today int64  `json:"today,omitempty"`
	// Bought is how many of each item were ever bought.
	Bought map[string]int `json:"bought,omitempty"`
}

// maxCount is the limit of all numbers, so that sums stay exact in JSON.
const maxCount = 1 << 52

// readCoins parses the file. An invalid file counts as empty. Without a balance, the balance is the number of calls.
func readCoins(raw []byte) coins {
	if !gjson.ValidBytes(raw) {
		return coins{}
	}
	v := gjson.ParseBytes(raw)
	s := coins{
		Earned: count(v.Get("totalCalls")), UpdatedAt: count(v.Get("updatedAt")), LastAction: v.Get("lastAction").String(),
		Seq: count(v.Get("seq")), Joined: v.Get("joined").Bool(),
	}
	if s.Balance = s.Earned; v.Get("balance").Type != gjson.Null {
		s.Balance = count(v.Get("balance"))
	}
	s.Day, s.Today = v.Get("day").String(), count(v.Get("today"))
	for _, it := range items() {
		if n := count(v.Get("bought." + it.ID)); n > 0 {
			s.setBought(it.ID, int(n))
		}
	}
	return s
}

// count returns a number as a count from 0 to maxCount; 0 if it is not a number.
func count(v gjson.Result) int64 {
	if v.Type != gjson.Number || math.IsNaN(v.Num) {
		return 0
	}
	return int64(min(max(v.Num, 0), maxCount))
}

// add adds to balance and earned, up to maxCount.
func (s *coins) add(balance, earned int64) {
	s.Balance, s.Earned = min(s.Balance+balance, maxCount), min(s.Earned+earned, maxCount)
}

// count adds the calls of a day. Those of a day before that of the file are dropped; a later day begins a new count.
func (s *coins) count(day string, calls int64) {
	switch {
	case calls == 0 || day < s.Day:
	case day == s.Day:
		s.Today = min(s.Today+calls, maxCount)
	default:
		s.Day, s.Today = day, calls
	}
}

func (s *coins) buy(id string) { s.setBought(id, s.Bought[id]+1) }

func (s *coins) setBought(id string, n int) {
	if s.Bought == nil {
		s.Bought = map[string]int{}
	}
	s.Bought[id] = n
}

func (s *coins) wallet() action.Wallet {
	w := action.Wallet{Balance: s.Balance, Earned: s.Earned, LastAction: s.LastAction, Bought: s.Bought}
	if s.Day == today() {
		w.Today = s.Today
	}
	return w
}

func (s *coins) encode() ([]byte, error) { return json.Marshal(s) }
