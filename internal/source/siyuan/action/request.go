package action

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has what one run of an action may use: the kernel, the levels, local files and the arguments.

// Env is what a run of an action may use.
type Env struct {
	Kernel *kernel.Client
	Levels *access.Snapshot
	Config *access.Config
	// Workspace holds what outlives one call.
	Workspace Workspace
	Call      *tool.Call
	Log       *slog.Logger // nil discards
}

// Request is one run of an action: what it may use, and what it reports besides its result. Its methods are safe for
// concurrent use, except Check, CheckAgain and Run, which the caller runs one after the other.
type Request struct {
	Env
	Action *Action
	Meta   Meta

	raw       json.RawMessage // the arguments as JSON
	args      any             // the arguments as the action's struct
	decodeErr error           // error of decoding them, which Check returns

	mu        sync.Mutex
	targets   [][]Target // of each Need, in order
	places    map[kernel.ID]Target
	refreshes []refresh
	filtered  int
}

// Workspace is what the source shares between calls and gives to actions besides the kernel.
type Workspace interface {
	// SetLevel writes a notebook's level and returns the old one.
	SetLevel(ctx context.Context, notebook kernel.ID, level access.Level) (old access.Level, err error)
	// EditConfig changes the tool config.
	EditConfig(ctx context.Context, edit func(raw map[string]any) error) (*access.Config, error)
	// Memory reads the agent's memory, [AgentsFile], anew.
	Memory(ctx context.Context) (string, error)
	// NewNotebookLevel returns the level for new notebooks.
	NewNotebookLevel() access.Level
	// LocalFiles returns the rules for files on this machine.
	LocalFiles() LocalFiles
	// Uploads returns the record of uploaded assets.
	Uploads() *Uploads
	// Tools returns all tools; a Request's Config says which are on.
	Tools() []Tool
	// Version returns the version of this program; Connection the name of the connection in use.
	Version() string
	Connection() string
	// WriteMode returns how strictly writes are guarded: off, auto or strict.
	WriteMode() string
	// Coins returns the mascot's coins.
	Coins() Coins
}

// LocalFiles says which files on this machine actions may read and write.
type LocalFiles struct {
	// Allowed is false if the caller is not on this machine, or if nothing is configured.
	Allowed bool
	// Why is the reason for false, for an error.
	Why string
	// Roots are the folders that may be read and written, absolute and without symbolic links.
	Roots []string
	// MaxUpload bounds an uploaded file, in bytes; default 200 MB.
	MaxUpload int64
}

// Coins is where the mascot's coins are kept. It is safe for concurrent use.
type Coins interface {
	Wallet(ctx context.Context) (Wallet, error)
	// Spend takes cost from the balance for an item. If the balance is too low, the error has kind Conflicting.
	Spend(ctx context.Context, item string, cost int64) (Wallet, error)
}

// Wallet holds the mascot's coins, and what it has earned them with.
type Wallet struct {
	Balance, Earned int64          // coins now, and coins ever
	Today           int64          // calls since midnight, failed ones too
	LastAction      string         // "fs/read"; empty before the first call
	Bought          map[string]int // how many of each item were ever bought
}

// NewRequest returns a run of a. The arguments have passed [Action.Adapt] and match its schema.
func NewRequest(a *Action, env Env, args json.RawMessage) *Request {
	out := &Request{Env: env, Action: a, raw: args, places: map[kernel.ID]Target{}, targets: make([][]Target, len(a.Needs))}
	if out.Log == nil {
		out.Log = slog.New(slog.DiscardHandler)
	}
	out.decodeErr = out.decode()
	return out
}

// Args returns the arguments as JSON.
func (r *Request) Args() json.RawMessage { return r.raw }

// Strings returns the texts at a path of the arguments: one text, the items of an array, or a member of each item
// ("items.#.id"). Empty ones are left out.
func (r *Request) Strings(path string) []string {
	v := gjson.GetBytes(r.raw, path)
	var out []string
	for _, one := range v.Array() { // a single value counts as an array of one
		if s := one.String(); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Given reports whether the caller gave an argument.
func (r *Request) Given(param string) bool {
	v := gjson.GetBytes(r.raw, param)
	return v.Exists() && v.Type != gjson.Null
}

// Targets returns the checked targets that the argument of a Need names, in the argument's order.
func (r *Request) Targets(param string) []Target {
	for i, n := range r.Action.Needs {
		if n.Param == param && r.targets[i] != nil {
			return r.targets[i]
		}
	}
	return nil
}

// Target returns the one thing that an argument names. It panics if there is none, so it is only for a required
// argument that has a Need.
func (r *Request) Target(param string) Target { return r.Targets(param)[0] }

// WritableTargets returns the targets that the action may change: those with a needed level of rw or rwd.
func (r *Request) WritableTargets() []Target {
	var out []Target
	for i, n := range r.Action.Needs {
		if n.Level < access.Write {
			continue
		}
		for _, t := range r.targets[i] {
			if !slices.ContainsFunc(out, func(o Target) bool { return o.ID == t.ID && o.Notebook == t.Notebook }) {
				out = append(out, t)
			}
		}
	}
	return out
}

// AllTargets returns the targets of all Needs in order, without duplicates.
func (r *Request) AllTargets() []Target {
	var out []Target
	for _, list := range r.targets {
		for _, t := range list {
			if !slices.ContainsFunc(out, func(o Target) bool { return o.ID == t.ID && o.What == t.What && o.Subject == t.Subject }) {
				out = append(out, t)
			}
		}
	}
	return out
}

// Readable reports whether a notebook may be read; false for the empty id.
func (r *Request) Readable(notebook kernel.ID) bool { return r.Levels.Readable(notebook) }

// Filtered records that n things were left out because they are hidden. The result tells the number, not what they
// were.
func (r *Request) Filtered(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.filtered += n
}
