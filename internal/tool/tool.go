// Package tool holds the types that all parts of Collie share: what can be called, who calls it, what comes
// back and what is recorded. It imports no other package of ours, so that all of them may import it.
//
//	who calls ── Request ──▶ the pipeline ── Call ──▶ Source
//	          ◀── Result ──                ◀─ Result ─
//
// A [Source] offers [Tool]s; a Tool is a named group of [Action]s. A caller names what it wants in a
// [Request]. The pipeline resolves that name, which makes a [Call], and then checks, runs and records the
// Call. While it runs, the Source can reach whoever made the Request through its [Caller].
//
// JSON that passes through Collie keeps its bytes: fields of type [json.RawMessage] are never decoded and
// encoded again on the way.
package tool

import (
	"cmp"
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
	KindRequest  Kind = "request"  // a request whose method is neither MCP's nor ours
)

// ListKind says which list of the catalog is wanted.
type ListKind string

// The lists of a catalog. The value is the member of the MCP list result that holds the entries.
const (
	ListTools     ListKind = "tools"
	ListResources ListKind = "resources"
	ListTemplates ListKind = "resourceTemplates"
	ListPrompts   ListKind = "prompts"
)

// Origin says who asked. The face that received the call sets it, never the caller itself.
type Origin string

// The origins. Only Direct, a person at a terminal, may manage servers and settings.
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
	Flat    View = "flat"    // one MCP tool per action
	Grouped View = "grouped" // one MCP tool per Tool, with an "action" argument
	Search  View = "search"  // three MCP tools that find, describe and call all actions
	Auto    View = "auto"    // chosen for each server, so that the whole list fits in a budget
)

// Who chose the view in which a Tool is shown; see [Tool.Why].
const (
	WhyProfile = "profile" // the profile
	WhyEntry   = "entry"   // the server's entry in the settings
	WhyContext = "context" // the setting context.view
	WhyAuto    = "auto"    // Auto: chosen so that the list fits in the budget
	WhyNotes   = "notes"   // our own tools themselves
	WhyNobody  = "default" // nobody
)

// Action is the smallest thing that can be called: one schema, one effect, one risk. It is immutable once a
// Source has published it.
type Action struct {
	// Name is the action's own name, as its Source knows it.
	Name string
	// Definition is the whole MCP tool definition as its author wrote it. Views change only the name in it.
	Definition json.RawMessage
	// Alias is the name that a person has given the action: clients see it instead of Name, and both can be called.
	// No other action of the Tool has it as a name. Empty means none.
	Alias string `json:"-"`
	// Authored is what its author says of the action where a person has put other words into Description. Only the
	// author's words count for the risk.
	Authored string `json:"-"`
	// Title and Description are taken from Definition; both may be empty.
	Title, Description string
	// InputSchema is the JSON Schema of the arguments, taken from Definition; {"type":"object"} if the
	// definition has none.
	InputSchema json.RawMessage
	// Signature shows on one line how the action is called, with types and defaults. If it is empty, one is
	// derived from the schema.
	Signature string
	// Common actions show their signature in the grouped view. A Tool without any Common action shows its
	// first actions there.
	Common bool
	// Listed are the arguments that the grouped view declares: a JSON object of their schemas, with at least
	// the required ones. It exists because some clients close the schemas they get, and then a model can send
	// nothing that is not declared. Short is the signature with these arguments alone.
	Listed json.RawMessage `json:"-"`
	Short  string          `json:"-"`
	// Positional are the arguments that a command line may give without their names, in order.
	Positional []string
	// Example is a command line that calls the action with sensible arguments; empty if its author gave none.
	Example string
	// Aliases maps other names of arguments that the Source accepts to the real names.
	Aliases map[string]string
	// Adapt normalizes arguments: it replaces aliases, converts values of an obviously wrong type ("5" for 5)
	// and drops the argument called except. What it does not understand it leaves alone. It is pure and
	// cheap, since it runs for each call, before the call is recorded and validated. Nil means that arguments
	// stay as they are.
	Adapt func(args json.RawMessage, except string) json.RawMessage `json:"-"`
	// DirectOnly actions are not listed, and refused to every origin but [Direct].
	DirectOnly bool
	// Strict refuses arguments that the schema does not name, even if the schema would allow them. Only our
	// own actions set it.
	Strict bool
	// Unchecked lets arguments pass that do not match the schema.
	Unchecked bool
	// ReadOnly, Destructive and Idempotent repeat the author's hints, which may be wrong.
	ReadOnly, Destructive, Idempotent bool
	// Dangerous actions need a person's confirmation, whoever calls.
	Dangerous bool
	// DangerousWith is the argument that makes a single call dangerous; see [Action.Asks].
	DangerousWith string
	// Risk and Effects are declared by our own actions; of others both are zero, see [Action.Rated].
	Risk    Risk
	Effects Effects
	// Changed says that the definition is not the one that was first seen or that a person has accepted since.
	Changed bool
	// Off says why the action is switched off; empty means it is on. An action that is off is not listed and
	// cannot be called.
	Off string
	// Unsupported says that nobody can switch it on: Off says what this program cannot do.
	Unsupported bool
	// Timeout bounds one call; zero means the pipeline's default.
	Timeout time.Duration
}

// Shown returns the name under which clients see the action.
func (a *Action) Shown() string { return cmp.Or(a.Alias, a.Name) }

// Is reports whether name is one that the action can be called by.
func (a *Action) Is(name string) bool {
	return a.Name == name || a.Alias != "" && a.Alias == name
}

// Tool is a named group of actions: one of ours, such as "notebook", or an upstream MCP server with its MCP
// tools as actions. It is immutable once a Source has published it.
type Tool struct {
	// Name is unique in a catalog and matches ^[A-Za-z0-9_-]{1,64}$.
	Name string
	// Title and Description are shown to people and in the grouped view.
	Title, Description string
	// About says in the user's own words what the Tool is for; empty if the settings do not say.
	About string
	// View is the view that the Tool itself asks for. Empty leaves the choice to the profile, or means Flat
	// if the profile does not choose either.
	View View
	// Why says who chose View, for display to people: one of the constants WhyProfile to WhyNobody. Sources
	// leave it empty.
	Why string
	// Prefix precedes the actions' names in the flat view, for example "github__". It may be empty.
	Prefix string
	// Off says why the whole Tool is switched off; empty means it is on.
	Off string
	// Actions in the Source's order.
	Actions []Action
	// Help returns a help page in Markdown, of action or, if that is empty, of the whole Tool. profile is
	// that of the caller. Help is not called for what is switched off. If it is nil, pages are made from the
	// fields of Tool and Action.
	Help func(ctx context.Context, profile, action string) (string, error) `json:"-"`
}

// Resource is one entry of resources/list as its author wrote it.
type Resource struct {
	URI        string
	Definition json.RawMessage
}

// Template is one entry of resources/templates/list as its author wrote it. Pattern is its uriTemplate (RFC
// 6570).
type Template struct {
	Pattern    string
	Definition json.RawMessage
}

// Prompt is one entry of prompts/list as its author wrote it.
type Prompt struct {
	Name       string
	Definition json.RawMessage
}

// SourcePrompt is a prompt and the Source that offers it.
type SourcePrompt struct {
	Source string
	Prompt
}

// FullName returns "SOURCE:PROMPT", which names the prompt whatever name the list of a profile gives it.
func (p *SourcePrompt) FullName() string { return p.Source + ":" + p.Name }

// Offer is everything that a Source offers at one moment. It is immutable.
type Offer struct {
	Tools     []Tool
	Resources []Resource
	Templates []Template
	Prompts   []Prompt
	// Instructions is the Source's advice to a model; empty if it has none.
	Instructions string
	// ReadsAny means that the Source may have resources that no list or template names, so that it should be
	// asked for an unknown URI.
	ReadsAny bool
	// Subscribes means that the Source is a [Peer] that accepts subscriptions.
	Subscribes bool
	// Logs means that the Source sends log messages and accepts a level.
	Logs bool
	// Completes means that the Source answers completion requests.
	Completes bool
	// Softens means that errors which the caller of an action can correct are returned as results. Some
	// clients send their whole tool list again after a protocol error, which is expensive.
	Softens bool
}

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
	// Touches are where everything lies that the call would change. It is nil unless all of that is known.
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
	// Differs reports whether clients of a profile may hold another list than they would be given now, for changed lists
	// as a Catalog tells them; nil where a Source does. It is called while the Change is told, not later.
	Differs func(profile string) bool
}

// Request asks for one action, resource, prompt or completion, in the caller's words. A face fills it; nobody
// changes it after that.
type Request struct {
	// ID is unique among all processes that share a home. If it is empty, the pipeline sets one.
	ID   string
	Kind Kind
	// Name is what the caller wrote: the tool name it sees, a resource URI or a prompt name; for a completion
	// the name or URI of its ref; for a request its method.
	Name string
	// Args are the arguments as the caller wrote them, always a JSON object. For a completion or a request
	// they are all its parameters.
	Args json.RawMessage
	// Params are all MCP parameters as received, for a Source that speaks MCP; nil if the caller does not
	// speak it.
	Params    json.RawMessage
	Origin    Origin
	Principal string // who is signed in: the id of a token or an OS user
	Client    string // the name and version that the client reports, for people
	Session   string // id of the client's session; never shown or logged as is
	RequestID string // id of the client's request as JSON text; empty if it has none
	Parent    string // what the Request is a part of, such as a step of a turn; empty where it stands alone
	Profile   string // the view profile; empty is the default one
	// Caller is the way back to whoever made the Request. If it is nil, nobody can be asked or told anything.
	Caller Caller
	// Taint names the rules by which texts that the model behind this Request has read try to give it orders, separated
	// by commas; empty if there are none, or no model.
	Taint string
	// Trace is told the steps of the call; usually nil.
	Trace Trace
	// Cancel ends the context that this call runs with, with a cause for [context.Cause]. It is nil if the
	// call has no context of its own. A caller of Cancel that knows the call has failed passes a [*Error],
	// which then becomes the error of the call.
	Cancel context.CancelCauseFunc
	// Retry says that the Request brings the answers that an earlier one was asked for (inputResponses of MCP
	// 2026-07-28).
	Retry bool
}

// Call is a resolved [Request]. It is never changed: a stage that adds something passes a copy on.
type Call struct {
	Request
	// Source runs the Call; Tool and Action are its own. Source is nil if the Request could not be resolved.
	// Action is nil in that case and for every kind but KindCall.
	Source Source
	Tool   string
	Action *Action
	// Target is the Source's own name for what is called: an action, a URI or a prompt.
	Target string
	// Args are the arguments of the action, after [Action.Adapt].
	Args json.RawMessage
	// Finding is what a stage has found out about this call; nil if nothing.
	Finding *Finding
	// Review is what a second model says of it; nil if none whose word counts was asked.
	Review *Review
	// Bound is set once a [Binder] has resolved the targets; it then runs in place of the Call.
	Bound Bound
}

// Review is what a second model says of one call.
type Review struct {
	Rule      string // what it is about, such as guardian.data_loss
	Reason    string // in a sentence fragment, for the person alone
	Verdict   Risk   // ReviewFailed if it gave none
	Threshold Risk   // from which its verdicts have a person asked; empty means RiskHigh
}

// ReviewFailed is the verdict of a model that was asked and gave none.
const ReviewFailed Risk = "failed"

// Finding is what a stage has found out about one call, beyond what its action declares.
type Finding struct {
	Stage, Rule string
	Reason      string // in a sentence fragment
	Risk        Risk   // takes the place of that of the action
	Ask         bool   // a person has to agree to the call
}

// Subject names what c calls, for the Subject of an [Error].
func (c *Call) Subject() string {
	if c.Action == nil || c.Action.Name == "" || c.Tool == "" {
		return c.Name
	}
	return c.Tool + "." + c.Action.Name
}

// HasEffects reports whether c may change something, as far as the action declares that.
func (c *Call) HasEffects() bool {
	return c.Kind == KindRequest || c.Kind == KindCall && (c.Action == nil || !c.Action.ReadOnly)
}

// Result is the outcome of a Call that has one.
type Result struct {
	// Raw is the MCP result object; for KindCall a CallToolResult.
	Raw json.RawMessage
	// IsError says that Raw reports a failure of the action.
	IsError bool
	// Type is the resultType in Raw (MCP 2026-07-28), empty if there is none. "input_required" means that
	// this Call is over and a new one will bring the answers.
	Type string
}

// Runner runs a Call.
type Runner func(ctx context.Context, c *Call) (Result, error)

// Stage is one step of the pipeline. It surrounds the steps behind it. It is safe for concurrent use.
type Stage interface {
	// Enter lets c pass, or refuses it with an error. The context it returns is used for all steps behind; a
	// Stage that needs none of its own returns ctx.
	Enter(ctx context.Context, c *Call) (context.Context, error)
	// Leave is called once for each Call that Enter let pass, however it ended, with the context that Enter
	// returned. The steps before see what Leave returns.
	Leave(ctx context.Context, c *Call, r Result, err error) (Result, error)
}

// Check is a step of the pipeline that only looks at a Call. It returns c or, to add something for the steps
// behind, a copy; never nil without an error. An error refuses the Call. It is safe for concurrent use.
type Check func(ctx context.Context, c *Call) (*Call, error)

// Capability is something that a Caller may support.
type Capability string

// The capabilities. The first three are MCP client capabilities.
const (
	CanSample Capability = "sampling"
	CanElicit Capability = "elicitation"
	CanRoots  Capability = "roots"
	// TakesInputRequired means that the caller speaks MCP 2026-07-28 and handles an input_required result
	// itself.
	TakesInputRequired Capability = "input_required"
	// CanConfirm means that the caller answers [MethodConfirm]. It is a program of ours that asks the person
	// in front of it, or was told the answer beforehand.
	CanConfirm Capability = "collie/confirm"
	// SpeaksForPerson means that the gate accepts the caller's answer to an elicitation as that of a person.
	// A caller without it may still answer elicitations of servers.
	SpeaksForPerson Capability = "collie/speaks-for-person"
	// WantsProgress means that progress notifications reach somebody.
	WantsProgress Capability = "progress"
	// Attends means that the caller is reading what it is sent at the moment.
	Attends Capability = "attends"
	// TakesAnyRequest means that the caller accepts requests of any method and refuses unknown ones itself.
	TakesAnyRequest Capability = "requests"
)

// MethodConfirm asks a [Caller] with [CanConfirm] whether a dangerous call may run. Only the gate uses it;
// requests of servers never reach a caller under this method. Its parameters are a [Question], its result is
// {"confirm":true} or {"confirm":false}. A yes to a question with a Name repeats it: {"confirm":true,"name":"…"}.
// A yes may also name one of the grants that the question offers:
// {"confirm":true,"grant":"ID"}. One that the person gave before there was a question, as by --yes, says "beforehand":true,
// for the record.
const MethodConfirm = "collie/confirm"

// Question is what a person is asked before a dangerous call runs.
type Question struct {
	Tool    string   `json:"tool"`
	Action  string   `json:"action"`
	Effect  string   `json:"effect"`            // what would happen, in one sentence
	Why     string   `json:"why,omitempty"`     // what a rule found in the arguments
	Targets []string `json:"targets,omitempty"` // by name and path
	Args    string   `json:"args"`              // as JSON, long values cut
	Risk    Risk     `json:"risk,omitempty"`    // how much harm it can do
	// Name is what the person has to type to agree, since the harm is critical; empty if a yes will do.
	Name string `json:"name,omitempty"`
	// Grants are what a person may allow instead of this one call. Each of them covers it.
	Grants []GrantOffer `json:"grants,omitempty"`
}

// GrantOffer is a grant that a person is offered: which calls of the same action would run without a question.
type GrantOffer struct {
	ID      string     `json:"id"`                // of this offer, for the answer to the question
	Scope   string     `json:"scope"`             // turn, session or always
	Kind    string     `json:"kind"`              // what Within is: notebook, subtree, path, host, command; any for all calls of the action
	Within  string     `json:"within,omitempty"`  // the notebook or document by its name, a folder, a host, a command
	Expires *time.Time `json:"expires,omitempty"` // none for one that holds until it is taken back
}

// Caller is the way back to whoever made a Call: it carries requests and notifications of a server while the
// Call runs. Where a Caller is nil or does not support a request, the answer is to decline. Implementations
// are safe for concurrent use and valid until the Call's Run has returned.
type Caller interface {
	// ID distinguishes callers of the same principal: a session id, or the name that a client without
	// sessions gives itself. If it is empty, only the principal is known. It may hold a session id, so it is
	// never shown or logged as is.
	ID() string
	Supports(Capability) bool
	// Capabilities is the MCP client capabilities object that the caller declared, {} if none.
	Capabilities() json.RawMessage
	// Notify sends a notification that belongs to the Call. Progress carries the caller's own token. It never
	// blocks for long: what cannot be delivered is dropped.
	Notify(ctx context.Context, method string, params json.RawMessage)
	// Ask sends a request and waits for its result. If the other side refuses, the error is a
	// [*ProtocolError].
	Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}
