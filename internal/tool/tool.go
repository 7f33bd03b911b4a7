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
