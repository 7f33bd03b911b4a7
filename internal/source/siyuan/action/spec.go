package action

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"collie/internal/tool"
)

// This file describes an action: its name, arguments, effects, what it saves for undo, and the function that runs it.

// Class says what an action does to the user's data, and so what a guarded write is checked against.
type Class string

// The classes.
const (
	Reads     Class = "read"
	External  Class = "external"  // has an effect, but not on the notes: export, notify, sync
	Creates   Class = "create"    // adds something and changes nothing that exists
	State     Class = "state"     // changes or removes its targets
	Structure Class = "structure" // changes order or place of its targets
	Manifest  Class = "manifest"  // changes a set of things that it finds while it runs
	Source    Class = "source"    // takes in a local file
)

// Writes reports whether an action of this class changes the notes.
func (c Class) Writes() bool { return c != Reads && c != External }

// Field is one member of a result. Name is its path from the top: "data[].id".
type Field struct {
	Name, About string
	// Verbose members are left out unless the caller asks for them with verbose:true.
	Verbose bool
}

// Spec describes an action.
type Spec struct {
	Tool, Name string
	Purpose    string // what it is for: one sentence without a full stop
	Guide      string // further advice for callers; may be empty
	Common     bool   // the grouped view shows its signature and arguments
	Off        bool   // off by default
	Dangerous  bool   // needs a person's confirmation
	DirectOnly bool   // only for a person at a terminal
	// DangerousWith is the argument by which a person confirms the call; empty if there is none.
	DangerousWith string
	Class         Class
	// Risk is none for reads, low for writes that add something or can be undone, medium for other writes, high for
	// what a person must confirm, and critical for what deletes everything inside a thing or changes permissions.
	Risk    tool.Risk
	Effects tool.Effects
	// Needs are the levels that all targets must have before anything is done. An action without Needs says why in
	// Unguarded.
	Needs     []Need
	Unguarded string
	Endpoints []string // endpoints that it may use, without "/api/"
	// Aliases maps other names to arguments. Positional are the arguments that a command line may give without their
	// names.
	Aliases    map[string]string
	Positional []string
	// Result is a value of the returned type. Its fields have the tags about:"…", which describes the field, and
	// verbose:"yes" for fields that are left out unless the caller asks. If the kernel's own answer is returned,
	// Result is a struct that describes that.
	Result  any
	Example string // arguments as JSON, without "action"
	// Adapt changes the arguments before anything else, for aliases that are more than another name; may be nil. If
	// it changes nothing it returns args itself.
	Adapt func(args json.RawMessage) json.RawMessage
	// Effect says what would happen to the targets, for the question that a person is asked; nil uses Purpose.
	Effect func(r *Request) string
	// Saves says what is saved of the targets before they change, so that a person can restore it.
	Saves Saves
	// AddsDocument: a new document has the id that the result has as "id", unless that is one of the targets. It can be
	// taken back by removing that document.
	AddsDocument bool
	// AddsBlocks: new blocks have the ids that the result, or each of its items, has as "createdBlockIDs". They can be
	// taken back by removing these blocks.
	AddsBlocks bool
	// Inverse returns the call that undoes this one, for what saved blocks cannot restore; may be nil. It runs before
	// the call. A nil result means that the call cannot be undone.
	Inverse func(ctx context.Context, r *Request) (*Inverse, error)
}

// Saves says what is saved of the targets of a write.
type Saves string

// The zero value saves nothing.
const (
	SavesBlocks Saves = "blocks" // their text, attributes and place
	SavesTrees  Saves = "trees"  // for documents, all those below them as well
	// SavesRemoved is SavesBlocks for blocks that will be removed, with containers that become empty by that.
	SavesRemoved Saves = "removed"
)

// Inverse is the call that undoes another one.
type Inverse struct {
	Tool   string          `json:"tool"`
	Action string          `json:"action"`
	Args   json.RawMessage `json:"args"`
}

// Action is one action, ready to run. It is immutable and safe for concurrent use.
type Action struct {
	Spec
	params []Param
	schema json.RawMessage
	args   reflect.Type

	// Computed at the first use, since most commands never need it.
	returned func() []Field
	verbose  func() *Members
	run      func(ctx context.Context, r *Request, args any) (any, error)
}

// New returns an action whose arguments are decoded into an A, a struct with the tags of [Param]. It panics if spec
// contradicts itself, which is a programming error. The generic part is only the call of run: each A gets its own
// compiled code, and there are a hundred of them.
func New[A any](spec Spec, run func(ctx context.Context, r *Request, a A) (any, error)) *Action {
	return newAction(spec, reflect.TypeFor[A](), func(ctx context.Context, r *Request, args any) (any, error) {
		return run(ctx, r, *args.(*A))
	})
}

func newAction(spec Spec, args reflect.Type, run func(ctx context.Context, r *Request, args any) (any, error)) *Action {
	a := &Action{Spec: spec, params: paramsOf(args), args: args, run: run}
	a.returned = sync.OnceValue(func() []Field { return returnedBy(&a.Spec) })
	a.verbose = sync.OnceValue(func() *Members { return verboseOf(a.Result) })
	a.schema = schemaOf(a)
	if err := a.check(); err != nil {
		panic(fmt.Sprintf("action %s.%s: %v", spec.Tool, spec.Name, err))
	}
	return a
}

// None is the argument type of an action without arguments.
type None struct{}

// check returns an error if the spec contradicts itself.
func (a *Action) check() error {
	for alias, to := range a.Aliases {
		if a.Param(to) == nil {
			return fmt.Errorf("alias %q is for an argument %q that does not exist", alias, to)
		}
	}
	for _, p := range a.Positional {
		if a.Param(p) == nil {
			return fmt.Errorf("there is no argument %q to give without its name", p)
		}
	}
	if a.DangerousWith != "" && a.Param(a.DangerousWith) == nil {
		return fmt.Errorf("it is dangerous with %q, which is not an argument", a.DangerousWith)
	}
	for _, n := range a.Needs {
		if n.Param != "" && a.Param(n.Param) == nil {
			return fmt.Errorf("a level is needed on %q, which is not an argument", n.Param)
		}
	}
	if a.Saves != "" && a.Inverse != nil {
		return fmt.Errorf("it is taken back by what is kept, or by a call, not by both")
	}
	if !json.Valid([]byte(a.Example)) {
		return fmt.Errorf("the example is not JSON: %s", a.Example)
	}
	return nil
}

// Params returns the arguments in order, without those that every action takes.
func (a *Action) Params() []Param { return a.params }

// Param returns an argument by name, nil if there is none.
func (a *Action) Param(name string) *Param {
	if i := a.index(name); i >= 0 {
		return &a.params[i]
	}
	return nil
}

// index returns the index of an argument in params, -1 if there is none.
func (a *Action) index(name string) int {
	for i := range a.params {
		if a.params[i].Name == name {
			return i
		}
	}
	return -1
}

// Tool is a named group of actions.
type Tool struct {
	Name, Title string
	About       string // one or two sentences for a model
	Off         bool   // off by default as a whole
	Actions     []*Action
}
