package tool

import (
	"context"
	"encoding/json"
)

// This file has the interface of a source of tools, and the abilities that a source may have besides.

// Source offers tools and runs their actions. Implementations pass the suite in package tooltest and are safe
// for concurrent use.
type Source interface {
	// Name is constant and unique in a catalog.
	Name() string
	// Offer returns what the Source offers now. It never blocks and never returns nil. The same pointer as
	// before means that nothing has changed.
	Offer() *Offer
	// Watch calls f for each change until stop is called: once Offer returns something new, and for messages
	// that the Source sends on its own. f must not block. Calls of f never overlap. Once stop has returned, f
	// is not called again.
	Watch(f func(Change)) (stop func())
	// Run executes c and returns when that is done or ctx ends, whichever is first. c.Kind is a kind of which
	// the Source offers something; c.Tool and c.Action are already resolved. If the action itself fails, Run
	// returns a Result with IsError. An error means that there is no result; it is a [*Error] or a
	// [*ProtocolError].
	Run(ctx context.Context, c *Call) (Result, error)
}

// Plan is what a call would affect, to be shown to the person who is asked to confirm it.
type Plan struct {
	// Targets are named with their paths, in the order of the call.
	Targets []string
	// Effect says in one sentence what would happen to them; empty if the action's description already says
	// so.
	Effect string
	// Name is what people call the one target; empty if there is none, or several.
	Name string
	// Touches lists everything that the call would change, with its place. It is nil unless all of it is
	// known.
	Touches []Touch
}

// TouchKind says what a [Touch] is.
type TouchKind string

// The kinds of Touch, with the form of their values. Of notes and files a value lies below another if that is its
// beginning, up to a slash.
const (
	TouchNotes   TouchKind = "notes"   // ids of the notebook, of the documents above, and of the document: BOX/ID/ID
	TouchFile    TouchKind = "file"    // an absolute path with /, without links
	TouchHost    TouchKind = "host"    // a scheme with a host and, if it is given, a port
	TouchCommand TouchKind = "command" // the words of one simple command, one a line
)

// Touch is one place that a call would change something at.
type Touch struct {
	Kind  TouchKind
	Value string
	// Notebook and Document name the place for people, for notes.
	Notebook, Document string
}

// Refresher is a [Source] whose offer may come late or be out of date: a server that is not running, switches
// that are read from a file.
type Refresher interface {
	// Ready returns a channel that is closed once the list of a kind is known or cannot be obtained; nil if
	// it is known from the start.
	Ready(kind ListKind) <-chan struct{}
	// Listed reports that a client has just received the list of a kind. It returns at once. If the offer may
	// be out of date, the Source asks again in the background and reports differences by Watch. attended
	// reports whether any client can still be told of a change; while it does, the Source may keep looking.
	Listed(kind ListKind, attended func() bool)
	// Current returns c.Action as it is offered now, which may differ from when c was resolved. It starts
	// what is not running and waits for that, except for an action that is switched off. If the action no
	// longer exists, the error is of kind Removed.
	Current(ctx context.Context, c *Call) (*Action, error)
}

// Binder is a [Source] that can find out what a call would affect before it runs, so that nobody is asked to
// confirm a call that would be refused anyway.
type Binder interface {
	// Bind resolves the targets of c, which has an Action, and checks them against the present state. It
	// writes nothing. Its errors are those of Run.
	Bind(ctx context.Context, c *Call) (Bound, error)
}

// Bound is a call whose targets are resolved and checked. It runs at most once, soon after Bind, and holds
// nothing that must be released.
type Bound interface {
	Plan(ctx context.Context) (Plan, error)
	// Run is [Source.Run] for the resolved targets.
	Run(ctx context.Context) (Result, error)
}

// Peer is a [Source] backed by another program, to which clients can talk outside of their calls. Its methods
// are safe for concurrent use; those without a context do not block.
type Peer interface {
	Source
	// Subscribe and Unsubscribe turn updates of one resource on and off. They are idempotent; the caller
	// counts its subscribers. Updates arrive through Watch as [ResourceUpdated].
	Subscribe(ctx context.Context, uri string) error
	Unsubscribe(ctx context.Context, uri string) error
	// SetLevel sets the least severe level the Source logs. level is an RFC 5424 name in lower case, as in
	// MCP.
	SetLevel(ctx context.Context, level string) error
	// Listens reports whether the program behind the Source can receive messages now.
	Listens() bool
	// Owns reports whether m belongs to something its sender has in progress with the Source: a call, a
	// question, a task.
	Owns(m *Message) bool
	// Tell delivers a notification. It starts nothing; if m cannot be delivered, it is dropped.
	Tell(m *Message)
	// SetSessions passes the sessions that see the Source, whenever their list changes. The Source may keep the
	// list.
	SetSessions(sessions []*Session)
}

// ChangeKind says what a [Change] is about.
type ChangeKind string

// The kinds of Change.
const (
	ToolsChanged     ChangeKind = "tools"
	ResourcesChanged ChangeKind = "resources"
	PromptsChanged   ChangeKind = "prompts"
	ResourceUpdated  ChangeKind = "updated"
	LogMessage       ChangeKind = "log"
	Notice           ChangeKind = "notice" // a notification that MCP does not name
)

// Change is something that a Source reports on its own.
type Change struct {
	Kind ChangeKind
	// Source is the name of the Source that reports it.
	Source string
	// Method and Params are those of the MCP notification, for ResourceUpdated, LogMessage and Notice.
	Method string
	Params json.RawMessage
	// URI as clients see it, for ResourceUpdated.
	URI string
	// Level is the level of a LogMessage.
	Level string
	// Session is the only session that should get a LogMessage or Notice; empty means all.
	Session string
	// Differs reports whether the list that clients of a profile were given may differ from the present one. A Catalog sets
	// it for changed lists; a Source leaves it nil. It may be called only while the Change is being delivered.
	Differs func(profile string) bool
}
