// Package tool holds the words every part of Collie speaks: what can be called, who
// calls it, what comes back and what is kept of it. It imports nothing of ours, so that
// every other package may import it.
//
//	who calls ── Request ──▶ the pipeline ── Call ──▶ Source
//	          ◀── Result ──                ◀─ Result ─
//
// A [Source] offers [Tool]s; a Tool is a named group of [Action]s. A caller names what it
// wants in a [Request]; the pipeline makes a [Call] of it, which says what the name means, checks,
// runs and records it. Whoever made the Request can be asked back through its [Caller].
//
// JSON that passes through Collie stays the bytes that came in: fields of type
// [json.RawMessage] are never decoded and encoded again on the way.
package tool

import (
	"context"
	"encoding/json"
	"time"
)

// Kind says what a Call asks for. The audit keeps one kind of record for each.
type Kind string

// The kinds of Call, named as the audit writes them.
const (
	KindCall     Kind = "call"     // run an action (MCP tools/call)
	KindRead     Kind = "read"     // read a resource (MCP resources/read)
	KindPrompt   Kind = "prompt"   // get a prompt (MCP prompts/get)
	KindComplete Kind = "complete" // complete an argument (MCP completion/complete)
	KindRequest  Kind = "request"  // a request that MCP, or this program, does not name
)

// ListKind says which list of the catalog is wanted.
type ListKind string

// The lists a catalog keeps ready. The value is the field that holds the entries in the
// MCP result of that list.
const (
	ListTools     ListKind = "tools"
	ListResources ListKind = "resources"
	ListTemplates ListKind = "resourceTemplates"
	ListPrompts   ListKind = "prompts"
)

// Origin says who asked. It is set by the face a call came in through and never by the
// caller itself.
type Origin string

// The origins. Only Direct, a person at a terminal, may manage.
const (
	Direct    Origin = "direct"
	Chat      Origin = "chat"
	CLIAgent  Origin = "cli-agent"
	MCPLocal  Origin = "mcp-local"
	MCPRemote Origin = "mcp-remote"
	Scheduled Origin = "scheduled"
)

// View is how a client sees the actions of a Tool.
type View string

// The views.
const (
	Flat    View = "flat"    // one MCP tool an action
	Grouped View = "grouped" // one MCP tool a Tool, with an "action" argument
	Search  View = "search"  // three MCP tools for all actions together, which find, describe and call them
	Auto    View = "auto"    // one of the others for each server, so that all fit in a budget
)

// Who chose the view that a Tool is shown in; see [Tool.Why].
const (
	WhyProfile = "profile" // the profile says so
	WhyEntry   = "entry"   // the entry of the server does
	WhyContext = "context" // context.view does
	WhyAuto    = "auto"    // it was chosen, so that the list fits in the budget
	WhyNotes   = "notes"   // our own tools say so themselves
	WhyNobody  = "default" // nobody said anything
)

// Risk is how much harm an action can do. The zero value means that nobody declared it.
type Risk string

// The risks, rising. Actions of declared high or critical risk wait until the audit has
// their start record on disk.
const (
	RiskUnknown  Risk = ""
	RiskLow      Risk = "low"
	RiskMedium   Risk = "medium"
	RiskHigh     Risk = "high"
	RiskCritical Risk = "critical"
)

// WaitsForDisk reports whether the audit must hold the start record of such an action on
// disk before the action runs.
func (r Risk) WaitsForDisk() bool { return r == RiskHigh || r == RiskCritical }

// Action is the smallest thing that can be called: one schema, one effect, one risk.
// Values are immutable once a Source has published them.
type Action struct {
	// Name is the action's own name, as its Source knows it.
	Name string
	// Definition is the whole MCP tool definition as its author wrote it. Views change
	// nothing in it but the name.
	Definition json.RawMessage
	// Title and Description are read from Definition; both may be empty.
	Title, Description string
	// InputSchema is the JSON Schema of the arguments, a part of Definition. It is
	// {"type":"object"} where the definition has none.
	InputSchema json.RawMessage
	// Signature is one line that shows how the action is called, with types and defaults; where
	// it is empty, one is made of the schema.
	Signature string
	// Common actions have their signature in the grouped view; what a Tool without any has there
	// is chosen by order.
	Common bool
	// Listed are the arguments that the grouped view declares, a JSON object of their schemas:
	// at least those without which the action cannot be called. Clients that close the schemas
	// they get let a model send nothing else. Short is the signature with these alone.
	Listed json.RawMessage `json:"-"`
	Short  string          `json:"-"`
	// Positional are the arguments that a command line may give without their names, in order.
	Positional []string
	// Example is a command line that calls the action with arguments that make sense; empty where
	// its author has given none.
	Example string
	// Aliases are other names of arguments that its Source understands: alias, name.
	Aliases map[string]string
	// Adapt returns arguments with aliases replaced and values of an obvious wrong type put right
	// ("5" for 5), and without the one called except; what it does not understand it leaves as it is. It is
	// pure and cheap: it runs for each call, before that is recorded and validated. Nil: arguments are taken
	// as they come.
	Adapt func(args json.RawMessage, except string) json.RawMessage `json:"-"`
	// DirectOnly actions are listed for nobody and refused to every origin but [Direct].
	DirectOnly bool
	// Strict refuses argument names that the schema does not know, even where the schema
	// itself would allow them. It is set for our own actions only.
	Strict bool
	// Unchecked lets arguments pass that do not fit the schema.
	Unchecked bool
	// ReadOnly and Idempotent repeat the author's hints. They are claims.
	ReadOnly, Idempotent bool
	// Dangerous actions are confirmed by a person, whoever calls.
	Dangerous bool
	// DangerousWith is the argument that makes a call of the action dangerous, see [Action.Asks].
	DangerousWith string
	// Risk is the declared risk; the zero value means that nobody declared one.
	Risk Risk
	// Off says why the action is switched off; empty means it is on. An action that is off
	// is neither listed nor callable.
	Off string
	// Timeout bounds one call; zero means the pipeline's default.
	Timeout time.Duration
}

// Tool is a named group of actions: one of ours, such as "notebook", or one upstream MCP
// server, whose MCP tools are the actions. Values are immutable once published.
type Tool struct {
	// Name is unique in a catalog and matches ^[A-Za-z0-9_-]{1,64}$.
	Name string
	// Title and Description are for people and for the grouped view.
	Title, Description string
	// About says what the Tool is for in the words of the person who runs Collie; empty where nobody said.
	About string
	// View is the view that the Tool itself asks for; the zero value leaves it to the profile, and means Flat where that
	// does not say either.
	View View
	// Why says who chose View, where a Tool is shown to people: one of the constants WhyProfile to WhyNobody. Sources
	// leave it empty.
	Why string
	// Prefix stands before an action's name in the flat view, for example "github__". It
	// may be empty.
	Prefix string
	// Off says why the whole Tool is switched off; empty means it is on.
	Off string
	// Actions in the order of their Source.
	Actions []Action
	// Help returns the page, in Markdown, of an action, or of the whole Tool where action is empty, for a caller of a
	// profile.
	// It is not asked for what is switched off. Nil: pages are made of what is said here.
	Help func(ctx context.Context, profile, action string) (string, error) `json:"-"`
}

// Resource is one entry of resources/list as its author wrote it.
type Resource struct {
	URI        string
	Definition json.RawMessage
}

// Template is one entry of resources/templates/list as its author wrote it. Pattern is
// its uriTemplate (RFC 6570).
type Template struct {
	Pattern    string
	Definition json.RawMessage
}

// Prompt is one entry of prompts/list as its author wrote it.
type Prompt struct {
	Name       string
	Definition json.RawMessage
}

// Offer is all that a Source offers at one moment. It is immutable.
type Offer struct {
	Tools     []Tool
	Resources []Resource
	Templates []Template
	Prompts   []Prompt
	// Instructions is the Source's advice to a model; empty if it has none.
	Instructions string
	// ReadsAny means that resources exist which no list or template names, so that an
	// unknown URI is worth a try here.
	ReadsAny bool
	// Subscribes means that the Source is a [Peer] that accepts subscriptions.
	Subscribes bool
	// Logs means that the Source sends log messages and accepts a level.
	Logs bool
	// Completes means that the Source answers completion requests.
	Completes bool
	// Softens means that errors which the caller of an action can mend reach it as results, since a
	// few clients send their whole tool list again after an error.
	Softens bool
}

// Source offers tools and runs their actions. Implementations pass the suite in
// package tooltest and are safe for concurrent use.
type Source interface {
	// Name is constant and unique among the sources of a catalog.
	Name() string
	// Offer returns what the Source offers now. It never blocks and never returns nil;
	// the same pointer means that nothing has changed.
	Offer() *Offer
	// Watch calls f for each change until stop is called: after Offer returns something
	// new, and for what the Source tells of its own accord. f must not block; calls of f
	// are serial. After stop has returned f is not called again.
	Watch(f func(Change)) (stop func())
	// Run does what c asks for and returns when it is done or ctx ends, whichever is
	// first. c.Kind is one of the kinds the Source offers something of; c.Tool and
	// c.Action name what was resolved. A failure of the action itself is a Result with
	// IsError; an error means that no result was made, and is a [*Error] or a
	// [*ProtocolError].
	Run(ctx context.Context, c *Call) (Result, error)
}

// Plan is what a call would touch, for the questions a person is asked.
type Plan struct {
	// Targets by name and path, in the order of the call.
	Targets []string
	// Effect says in one sentence what would become of them; empty if the action's own
	// description says it.
	Effect string
}

// Refresher is a [Source] that takes a while to know what it offers, or whose offer may be old: a
// server that does not run, switches that lie in a file.
type Refresher interface {
	// Ready is closed when what the Source offers of a kind is there, or will not come; nil where
	// it is there from the start.
	Ready(kind ListKind) <-chan struct{}
	// Listed says that somebody has just been given the list of a kind. It returns at once: where what the Source offers may be
	// old it asks again in the background, and tells of what differs by Watch. attended reports whether there is anybody whom
	// a change could be told to; while there is, the Source may go on looking.
	Listed(kind ListKind, attended func() bool)
	// Current returns c.Action as it is offered now, where that may differ from when c was
	// resolved: it starts what is not running and waits for it, but not for an action that is off.
	// An action that is gone is an error of kind Removed.
	Current(ctx context.Context, c *Call) (*Action, error)
}

// Binder is a [Source] that can say what a call would touch, so that nobody is asked about a call
// that would be refused.
type Binder interface {
	// Bind resolves the targets of c, which has an Action, and checks them as they are now. It
	// writes nothing. Its errors are those of Run.
	Bind(ctx context.Context, c *Call) (Bound, error)
}

// Bound is a call whose targets are resolved and checked. It is run once or not at all, soon after
// Bind, and holds nothing that must be released.
type Bound interface {
	Plan(ctx context.Context) (Plan, error)
	// Run is [Source.Run] for the targets that were found.
	Run(ctx context.Context) (Result, error)
}

// Peer is a [Source] with another program behind it, which clients talk to beside their calls. Its
// methods are safe for concurrent use; those without a context do not block.
type Peer interface {
	Source
	// Subscribe and Unsubscribe say which resources somebody wants to hear of. They are
	// idempotent; the caller counts its subscribers. Updates arrive through Watch as
	// [ResourceUpdated].
	Subscribe(ctx context.Context, uri string) error
	Unsubscribe(ctx context.Context, uri string) error
	// SetLevel says how much the Source is to log; level is an RFC 5424 name in lower case, as
	// MCP uses it.
	SetLevel(ctx context.Context, level string) error
	// Listens reports whether there is somebody to say anything to.
	Listens() bool
	// Owns reports whether m is about something that its sender has under way with the Source:
	// a call, a question, a task.
	Owns(m *Message) bool
	// Tell takes a notification. It starts nothing; what cannot be delivered is dropped.
	Tell(m *Message)
	// Meet says which sessions there are that see the Source, whenever that changes. The list
	// belongs to the Source from then on.
	Meet(sessions []*Session)
}

// ChangeKind says what changed.
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

// Change is something a Source tells of its own accord.
type Change struct {
	Kind ChangeKind
	// Source that tells it.
	Source string
	// Method and Params of the MCP notification, for ResourceUpdated, LogMessage and Notice.
	Method string
	Params json.RawMessage
	// URI as clients see it, for ResourceUpdated.
	URI string
	// Level of a LogMessage.
	Level string
	// Session is the only one that a LogMessage or Notice is for; empty means all.
	Session string
}

// Request asks for one action, resource, prompt or completion, in the caller's own words. A face
// fills it, and nobody changes it after that.
type Request struct {
	// ID is unique among all processes that share a home; the pipeline gives one to a Request
	// without.
	ID   string
	Kind Kind
	// Name is what the caller wrote: an exposed tool name, a resource URI, a prompt name;
	// for a completion the name or URI of its ref, for a request its method.
	Name string
	// Args are the arguments as the caller wrote them, always a JSON object. For a
	// completion or a request they are the whole parameters.
	Args json.RawMessage
	// Params are the whole MCP parameters as they came in, for a Source that speaks MCP;
	// nil where the caller does not.
	Params    json.RawMessage
	Origin    Origin
	Principal string // who is signed in: a token's id or an OS user
	Client    string // name and version as the client told them, for people
	Session   string // id of the client's session, never shown in clear
	RequestID string // id of the client's request as JSON text; empty where there is none
	Profile   string // the view profile; empty is the default one
	// Caller is the way back to whoever made the Request. Nil means that nobody can be asked
	// and nobody is told.
	Caller Caller
	// Trace is told what the call does on its way; nil for nearly all.
	Trace Trace
	// Cancel ends the context that the call runs with, and only that, for a reason that [context.Cause]
	// then gives; nil where nobody has made a context for this call alone. Who ends it because the call
	// has failed gives a [*Error], which is what becomes of the call.
	Cancel context.CancelCauseFunc
	// Retry says that the caller answers what an earlier Request asked for (MCP 2026-07-28
	// inputResponses).
	Retry bool
}

// Call is a [Request] of which is known what it means. Nobody changes one: a stage that knows
// better hands a copy on.
type Call struct {
	Request
	// Source that runs the Call, and the tool and action in its own words. Source is nil for a
	// Request that means nothing; Action also for other kinds than KindCall.
	Source Source
	Tool   string
	Action *Action
	// Target is what the Source calls the thing: an action's own name, a URI, a prompt.
	Target string
	// Args are the arguments of the action, as [Action.Adapt] has left them.
	Args json.RawMessage
	// Bound is set once the Source has resolved what the Call is about; it is run in place of the
	// Call.
	Bound Bound
}

// Subject names what c calls, for an [Error].
func (c *Call) Subject() string {
	if c.Action == nil || c.Action.Name == "" || c.Tool == "" {
		return c.Name
	}
	return c.Tool + "." + c.Action.Name
}

// HasEffects reports whether c may change something, as far as anybody has declared.
func (c *Call) HasEffects() bool {
	return c.Kind == KindRequest || c.Kind == KindCall && (c.Action == nil || !c.Action.ReadOnly)
}

// Result is what came of a Call.
type Result struct {
	// Raw is the MCP result object. For KindCall that is a CallToolResult.
	Raw json.RawMessage
	// IsError says that Raw reports a failure of the action.
	IsError bool
	// Type is the resultType that Raw carries (MCP 2026-07-28), empty if it has none.
	// "input_required" means that the Call is over, and that another one will bring the
	// answers.
	Type string
}

// Runner runs a Call.
type Runner func(ctx context.Context, c *Call) (Result, error)

// Stage is one step of the pipeline around those behind it. It is safe for concurrent use.
type Stage interface {
	// Enter lets c pass, or refuses it with an error. The context is that of all steps behind; it
	// is ctx where the Stage has no use for one of its own.
	Enter(ctx context.Context, c *Call) (context.Context, error)
	// Leave is called once for each Call that Enter let pass, however it ended, with the context
	// that Enter returned. What it returns is what the steps before see.
	Leave(ctx context.Context, c *Call, r Result, err error) (Result, error)
}

// Check is a step of the pipeline that only looks at a Call: it returns c, or a copy that says more
// for all steps behind, which is never nil; an error refuses the Call. It is safe for concurrent use.
type Check func(ctx context.Context, c *Call) (*Call, error)

// Capability names something a Caller may be able to do.
type Capability string

// What a Caller may support. The first three are MCP client capabilities.
const (
	CanSample Capability = "sampling"
	CanElicit Capability = "elicitation"
	CanRoots  Capability = "roots"
	// TakesInputRequired means that the caller speaks MCP 2026-07-28 and completes an
	// input_required result itself.
	TakesInputRequired Capability = "input_required"
	// CanConfirm means that the caller answers [MethodConfirm]: it is a program of ours that
	// asks the person in front of it, or was told beforehand what that person wants.
	CanConfirm Capability = "collie/confirm"
	// SpeaksForPerson means that the gate takes what the caller answers to an elicitation for the word of the
	// person in front of it. A caller that can elicit without it still answers what servers ask.
	SpeaksForPerson Capability = "collie/speaks-for-person"
	// WantsProgress means that progress notifications reach somebody.
	WantsProgress Capability = "progress"
	// Attends means that the caller reads what it is sent at the moment.
	Attends Capability = "attends"
	// TakesAnyRequest means that the caller can be asked by any method, and refuses itself what
	// it does not know.
	TakesAnyRequest Capability = "requests"
)

// MethodConfirm asks a [Caller] that [CanConfirm] whether a dangerous call shall run. Only the
// gate asks it: what servers ask can never arrive under this method. Its parameters are a
// [Question], its result is {"confirm":true} or {"confirm":false}.
const MethodConfirm = "collie/confirm"

// Question is what a person is asked before a dangerous call runs.
type Question struct {
	Tool    string   `json:"tool"`
	Action  string   `json:"action"`
	Effect  string   `json:"effect"`            // what would happen, in a sentence
	Targets []string `json:"targets,omitempty"` // by name and path
	Args    string   `json:"args"`              // as JSON, cut where they are long
}

// Caller is the way back to whoever made a Call: it carries what a server asks and tells
// while the Call runs. Nil or unsupported means decline. Implementations are safe for
// concurrent use and stay valid until the Call's Run has returned.
type Caller interface {
	// ID tells a caller from others of the same principal: a session, or the name that a client
	// without sessions gives itself. Empty: the principal is all that is known. It may hold a
	// session's id, and is never shown in clear.
	ID() string
	Supports(Capability) bool
	// Capabilities is the MCP client capability object the caller declared, {} if none.
	Capabilities() json.RawMessage
	// Notify sends a notification that belongs to the Call. Progress arrives with the
	// caller's own token in place. It never blocks for long: what cannot be delivered is
	// dropped.
	Notify(ctx context.Context, method string, params json.RawMessage)
	// Ask sends a request and waits for its result. A refusal by the caller's side is a
	// [*ProtocolError].
	Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}
