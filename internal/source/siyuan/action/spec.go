package action

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"collie/internal/tool"
)

// Class says what an action does to the user's data, and what a guarded write of it is held
// against.
type Class string

// The classes.
const (
	Reads     Class = "read"
	External  Class = "external"  // has an effect, but none on the notes: export, notify, sync
	Creates   Class = "create"    // adds, and changes nothing that is there
	State     Class = "state"     // changes or removes its targets
	Structure Class = "structure" // changes their order or place
	Manifest  Class = "manifest"  // changes a set of things that is found while it runs
	Source    Class = "source"    // takes in a local file
)

// Writes reports whether an action of this class changes the notes.
func (c Class) Writes() bool { return c != Reads && c != External }

// Field is one member of a result. Name is a path from the top: "data[].id".
type Field struct {
	Name, About string
	// Verbose members are left out unless the caller asks with verbose:true.
	Verbose bool
}

// Spec says what an action is.
type Spec struct {
	Tool, Name string
	Purpose    string // what it is for, in one sentence without a full stop
	Guide      string // what else a caller should know; may be empty where there is nothing
	Common     bool   // its signature and arguments stand in the grouped view
	Off        bool   // off by default
	Dangerous  bool   // a person confirms it
	DirectOnly bool   // only a person at a terminal may call it
	// DangerousWith is the argument with which a person confirms it; empty if there is none.
	DangerousWith string
	Class         Class
	// Risk is the declared risk; empty means low for what reads, medium for what writes, high
	// for what is dangerous.
	Risk tool.Risk
	// Needs are the levels that every target must have before anything is done. An action that
	// needs none says why in Unguarded.
	Needs     []Need
	Unguarded string
	Endpoints []string // that it may use, without "/api/"
	// Aliases of arguments: other names for them. Positional are the arguments that a
	// command line may give without their names.
	Aliases    map[string]string
	Positional []string
	// Result is a value of the type that is returned. Its fields say in tags what they are: about:"…", and verbose:"yes"
	// for what is left out unless the caller asks. Where the kernel's own answer is returned it is a struct that
	// describes that.
	Result  any
	Example string // arguments as JSON, without "action"
	// Adapt changes the arguments before anything else, for aliases that are more than another
	// name; nil where there is none. It returns args itself where nothing has to be changed.
	Adapt func(args json.RawMessage) json.RawMessage
	// Effect says what would become of the targets, for the question a person is asked; nil
	// takes Purpose.
	Effect func(r *Request) string
	// Saves says what is kept of the targets before they change, so that a person can put it
	// back.
	Saves Saves
	// Inverse returns the call that takes this one back, made before it runs, for what no kept
	// block can bring back; nil where there is none. A nil result is a call that cannot be taken
	// back.
	Inverse func(ctx context.Context, r *Request) (*Inverse, error)
}

// Saves is what is kept of the targets of a write.
type Saves string

// The kinds of keeping. The zero value keeps nothing.
const (
	SavesBlocks Saves = "blocks" // their text, attributes and place
	SavesTrees  Saves = "trees"  // of documents, all those below them as well
	// SavesRemoved is SavesBlocks for blocks that will be gone, and with them the containers that
	// hold nothing else.
	SavesRemoved Saves = "removed"
)

// Inverse is the call that takes another one back.
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

	// Made at the first use: most commands never ask.
	returned func() []Field
	verbose  func() *Members
	run      func(ctx context.Context, r *Request, args any) (any, error)
}

// New returns an action of spec whose arguments are an A, a struct with the tags of [Param]. It
// panics if spec contradicts itself: that is a mistake of the programmer. There are a hundred of
// them, so what each A has compiled for itself is kept to the call of run.
func New[A any](spec Spec, run func(ctx context.Context, r *Request, a A) (any, error)) *Action {
	return made(spec, reflect.TypeFor[A](), func(ctx context.Context, r *Request, args any) (any, error) {
		return run(ctx, r, *args.(*A))
	})
}

func made(spec Spec, args reflect.Type, run func(ctx context.Context, r *Request, args any) (any, error)) *Action {
	a := &Action{Spec: spec, params: paramsOf(args), args: args, run: run}
	a.returned = sync.OnceValue(func() []Field { return returnedBy(&a.Spec) })
	a.verbose = sync.OnceValue(func() *Members { return verboseOf(a.Result) })
	if a.Risk == "" {
		a.Risk = riskOf(&spec)
	}
	a.schema = schemaOf(a)
	if err := a.check(); err != nil {
		panic(fmt.Sprintf("action %s.%s: %v", spec.Tool, spec.Name, err))
	}
	return a
}

// None are the arguments of an action that takes none.
type None struct{}

func riskOf(s *Spec) tool.Risk {
	switch {
	case s.Dangerous, s.DangerousWith != "":
		return tool.RiskHigh
	case s.Class.Writes() || s.Class == External:
		return tool.RiskMedium
	}
	return tool.RiskLow
}

// check finds what contradicts itself.
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

// Params are the arguments in order, without those that every action takes.
func (a *Action) Params() []Param { return a.params }

// Param returns an argument by its name, nil if there is none.
func (a *Action) Param(name string) *Param {
	if i := a.index(name); i >= 0 {
		return &a.params[i]
	}
	return nil
}

// index is the place of an argument in params, -1 if there is none.
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
