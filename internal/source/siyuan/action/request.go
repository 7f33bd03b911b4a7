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

// Env is what a run of an action may use.
type Env struct {
	Kernel *kernel.Client
	Levels *access.Snapshot
	Config *access.Config
	// Workspace is what lasts longer than one call.
	Workspace Workspace
	Call      *tool.Call
	Log       *slog.Logger // nil discards
}

// Request is one run of an action: what it may use, and what it leaves behind beside its
// result. Its methods are safe for concurrent use.
type Request struct {
	Env
	Action *Action
	Meta   Meta

	raw  json.RawMessage // the arguments
	args any             // the same in the action's own struct
	bad  error           // what is wrong with them, for Check

	mu        sync.Mutex
	targets   [][]Target // of each Need, in order
	places    map[kernel.ID]Target
	refreshes []refresh
	filtered  int
}

// Workspace is what the source keeps for all calls: it gives actions what is more than the
// kernel.
type Workspace interface {
	// SetLevel writes a notebook's level and returns the one before.
	SetLevel(ctx context.Context, notebook kernel.ID, level access.Level) (old access.Level, err error)
	// EditConfig changes the tool config.
	EditConfig(ctx context.Context, edit func(raw map[string]any) error) (*access.Config, error)
	// NewNotebookLevel is the level that new notebooks get.
	NewNotebookLevel() access.Level
	// LocalFiles are the rules for files of this machine.
	LocalFiles() LocalFiles
	// Uploads are the assets that have been uploaded.
	Uploads() *Uploads
	// Tools are all tools; what is on is in a Request's Config.
	Tools() []Tool
	// Version is that of this program; Connection names the connection in use.
	Version() string
	Connection() string
	// WriteMode is how much writes are guarded: off, auto or strict.
	WriteMode() string
	// Coins are the mascot's.
	Coins() Coins
}

// LocalFiles says which files of this machine actions may touch.
type LocalFiles struct {
	// Allowed is false where the caller is not on this machine, or nothing is configured.
	Allowed bool
	// Why says why not, for an error.
	Why string
	// Roots are the folders that may be read and written, absolute and without symbolic links.
	Roots []string
	// MaxUpload bounds an uploaded file, in bytes; default 200 MB.
	MaxUpload int64
}

// Coins is the mascot's purse. It is safe for concurrent use.
type Coins interface {
	Balance(ctx context.Context) (balance, earned int64, err error)
	// Spend takes cost from the balance, for the item of a name. Too little is an error of kind
	// Conflicting.
	Spend(ctx context.Context, item string, cost int64) (balance, earned int64, err error)
}

// NewRequest returns a run of a with arguments that have been through [Action.Adapt] and fit
// its schema.
func NewRequest(a *Action, env Env, args json.RawMessage) *Request {
	out := &Request{Env: env, Action: a, raw: args, places: map[kernel.ID]Target{}, targets: make([][]Target, len(a.Needs))}
	if out.Log == nil {
		out.Log = slog.New(slog.DiscardHandler)
	}
	out.bad = out.decode()
	return out
}

// Args are the arguments as JSON.
func (r *Request) Args() json.RawMessage { return r.raw }

// Strings returns the texts at a path of the arguments: of one, of an array, of a member of the
// items of an array ("items.#.id"). Empty ones are left out.
func (r *Request) Strings(path string) []string {
	v := gjson.GetBytes(r.raw, path)
	var out []string
	for _, one := range v.Array() { // a single value is an array of one
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

// Targets are what the argument of a Need names, in its order, each of them allowed.
func (r *Request) Targets(param string) []Target {
	for i, n := range r.Action.Needs {
		if n.Param == param && r.targets[i] != nil {
			return r.targets[i]
		}
	}
	return nil
}

// Target is the one thing that an argument names. It panics if there is none: only an argument
// that must be given, and that a Need is about, may be asked for.
func (r *Request) Target(param string) Target { return r.Targets(param)[0] }

// Written are the targets that the action changes: those that must have level rw or rwd.
func (r *Request) Written() []Target {
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

// AllTargets are the targets of all Needs, in order, each once.
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

// Readable reports whether a notebook may be read; what has no notebook may not.
func (r *Request) Readable(notebook kernel.ID) bool { return r.Levels.Readable(notebook) }

// Filtered notes that n things were left out because they may not be read. The result says so
// without saying what they were.
func (r *Request) Filtered(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.filtered += n
}
