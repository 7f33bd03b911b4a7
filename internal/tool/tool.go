// Package tool holds the words every part of Collie speaks: what can be called, who
// calls it, what comes back and what is kept of it. It imports nothing of ours, so that
// every other package may import it.
//
//	who calls ── Call ──▶ the pipeline ── Call ──▶ Source
//	          ◀─ Result ─                     ◀─ Result ─
//
// A [Source] offers [Tool]s; a Tool is a named group of [Action]s. A caller names what it
// wants in a [Call]; the pipeline resolves the name, checks, runs and records it. Whoever made
// the Call can be asked back through its [Caller].
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

// The views. Search is reserved for a later version.
const (
	Flat    View = "flat"    // one MCP tool an action
	Grouped View = "grouped" // one MCP tool a Tool, with an "action" argument
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
	// View is the default view of the Tool; the zero value means Flat.
	View View
	// Prefix stands before an action's name in the flat view, for example "github__". It
	// may be empty.
	Prefix string
	// Off says why the whole Tool is switched off; empty means it is on.
	Off string
	// Actions in the order of their Source.
	Actions []Action
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
	// Subscribes means that the Source is a [Reader] that accepts subscriptions.
	Subscribes bool
	// Logs means that the Source sends log messages and accepts a level.
	Logs bool
	// Completes means that the Source answers completion requests.
	Completes bool
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

// Reader is a Source whose resources can be subscribed to. Both methods are idempotent;
// the caller counts its subscribers. Updates arrive through Watch as [ResourceUpdated].
type Reader interface {
	Subscribe(ctx context.Context, uri string) error
	Unsubscribe(ctx context.Context, uri string) error
}

// Starter is a Source that takes a while to know what it offers, such as a server that nobody has
// ever seen and that is starting. Started is closed when the tools of its first offer are there, or
// will not come; Listed, not before it, when all the rest is.
type Starter interface {
	Started() <-chan struct{}
	Listed() <-chan struct{}
}

// Refresher is a [Source] whose offer may be old while what offers it does not run.
type Refresher interface {
	// Current returns c.Action as it is offered now, where that may differ from when c was
	// resolved: it starts what is not running and waits for it. An action that is gone is an
	// error of kind Removed.
	Current(ctx context.Context, c *Call) (*Action, error)
}

// Logger is a Source that sends log messages and can be told how much of them to send.
// level is an RFC 5424 name in lower case, as MCP uses it.
type Logger interface {
	SetLevel(ctx context.Context, level string) error
}

// Plan is what a call would touch, for the questions a person is asked.
type Plan struct {
	// Targets by name and path, in the order of the call.
	Targets []string
	// Effect says in one sentence what would become of them; empty if the action's own
	// description says it.
	Effect string
}

// Preparer is a Source that can resolve the targets of a call and check its levels without
// writing, so that nobody is asked about a call that would be refused.
type Preparer interface {
	Prepare(ctx context.Context, c *Call) (Plan, error)
}

// Softener is a Source that wants some errors to reach their caller as results, since a few clients send their whole
// tool list again after an error. It is asked once the call is over and on record as what it was.
type Softener interface {
	// Soften returns the result that the caller of c gets instead of err; false leaves it an error. c.Source is set.
	Soften(c *Call, err *Error) (Result, bool)
}

// Adapter is a Source that understands more than its schemas say. Both methods are pure and
// cheap: they run for each call, before it is recorded and validated.
type Adapter interface {
	// ActionName returns the action that a caller means by name, which may be an alias of it;
	// name itself if nothing is known.
	ActionName(tool, name string) string
	// Adapt returns c.Args with aliases replaced and values of an obvious wrong type put right
	// ("5" for 5). What it does not understand it leaves as it is. c.Action is set.
	Adapt(c *Call) json.RawMessage
}

// Helper is a Source that has help pages of its own for its actions.
type Helper interface {
	// Help returns the page, in Markdown, of an action that c's caller may see, or of the whole
	// tool where action is empty. It is never asked for what is switched off.
	Help(ctx context.Context, c *Call, tool, action string) (string, error)
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

// Call is one request for one action, resource, prompt or completion. A face fills the
// first group, the resolve stage the second; nobody changes a Call after that, and a Call
// is used once.
type Call struct {
	// ID is unique among all processes that share a home.
	ID string
	// Parent is the ID of the Call that this one continues, or empty.
	Parent string
	Kind   Kind
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
	// Caller is the way back to whoever made the Call. Nil means that nobody can be asked
	// and nobody is told.
	Caller Caller
	// Trace is told what the Call does on its way; nil for nearly all.
	Trace Trace
	// Cancel ends the context that the Call runs with, and only that, for a reason that [context.Cause]
	// then gives; nil where nobody has made a context for this Call alone. Who ends it because the Call
	// has failed gives a [*Error], which is what becomes of the Call.
	Cancel context.CancelCauseFunc
	// Retry says that the caller answers what an earlier Call asked for (MCP 2026-07-28
	// inputResponses).
	Retry bool

	// Source that runs the Call, and the tool and action in its own words. Action is nil
	// for other kinds and for a Call that did not resolve.
	Source Source
	Tool   string
	Action *Action
	// Target is what the Source calls the thing: an action's own name, a URI, a prompt.
	Target string
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

// Runner runs a Call, or the rest of the pipeline for it.
type Runner func(ctx context.Context, c *Call) (Result, error)

// Stage is one step of the pipeline. Do runs next, or refuses by not running it. A Stage is
// safe for concurrent use.
type Stage interface {
	Do(ctx context.Context, c *Call, next Runner) (Result, error)
}

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

// Identified is a [Caller] that can be told from others of the same [Call.Principal]. One that is not, as a program
// that sends single requests with a token, is all of its principal's callers of that kind.
type Identified interface {
	// CallerID is the same for the Calls of one caller and differs from that of any other: a session, or the name
	// that a client without sessions gives itself. It may hold a session's id, and is never shown in clear.
	CallerID() string
}

// Caller is the way back to whoever made a Call: it carries what a server asks and tells
// while the Call runs. Nil or unsupported means decline. Implementations are safe for
// concurrent use and stay valid until the Call's Run has returned.
type Caller interface {
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
