// Package entry reads what one entry of "mcpServers" says: how to start or reach a server, what
// it may see, and how it is to be treated.
//
// [Parse] turns the raw JSON of an entry into an [Entry] with all defaults in place, aliases of
// other hosts folded in and variables expanded, and lists every [Problem] on the way. Each entry
// is read alone; one with a problem of severity error is shown as config_error and keeps no
// other server from working. [Environment] builds what a child process may see.
//
// Nothing is started or connected here. Which file an entry stands in is the caller's
// knowledge: a Problem names its place by a JSON pointer into the entry.
package entry

import (
	"time"

	"collie/internal/tool"
)

// Entry is one server's settings. It is plain data; what may be secret in it is a [Value].
type Entry struct {
	Name        string
	DisplayName string // for people; empty if none was given
	Description string // for people
	About       string // what it is for, for models that search for tools; see the search view
	Disabled    bool

	Transport Transport
	// Protocol is auto, legacy or a version date such as 2025-11-25.
	Protocol string

	// For Stdio.
	Command    Value            // absolute if it was written relative; else a name to look up
	Args       []Value          // never changed but for variables
	Env        map[string]Value // added to what is inherited; a dotenv file's values included
	EnvFile    string           // the dotenv file, absolute; empty if there is none
	Unset      []string         // names not to inherit
	InheritEnv inherit
	Dir        string // working folder, absolute; need not exist
	Runner     bool   // Command is a package runner: a first start may download
	Package    string // what the runner runs, as written; empty if it is not plain
	// DockerManaged lets Collie name the container of docker run and kill it. Default true.
	DockerManaged bool

	// For HTTP and SSE.
	URL            Value
	Headers        []Header // sorted by name
	HeadersCommand *headersCommand
	Auth           auth
	TLS            TLS

	Lifecycle      lifecycle
	IdleTimeout    time.Duration // default 10 min; 0 means never
	StartTimeout   time.Duration // default 60 s, 180 s for a package runner
	ToolTimeout    time.Duration // see Options
	MaxToolTimeout time.Duration // see Options

	Tools       tools
	AutoApprove autoApprove
	View        tool.View // empty (default) leaves it to the profile
	// Prefix stands before the names of tools in the flat view; default "<name>__".
	Prefix      string
	Restart     Restart
	Health      Health
	Cache       Cache
	Roots       []Value // folders, absolute, or URIs
	Sampling    Answer
	Elicitation Answer
	Isolation   isolation
	// Unchecked lets arguments pass that do not fit a tool's schema: "validate" is off.
	Unchecked bool
	Trust     trust

	// Secrets are the values that must be struck out of logs, longest first.
	Secrets []string
}

// Transport is how a server is reached.
type Transport string

// The transports.
const (
	Stdio         Transport = "stdio"
	httpTransport Transport = "http" // Streamable HTTP
	SSE           Transport = "sse"  // httpTransport with SSE, as of MCP 2024-11-05
)

// inherit is what a child gets of our environment; see [Environment].
type inherit struct {
	Mode  string   // minimal (default), all or none
	Names []string // further names, or PREFIX_* for all that start so
}

// Header is one header of every request to a server.
type Header struct {
	Name  string
	Value Value
}

// headersCommand prints a JSON object of headers. It runs for each connection.
type headersCommand struct {
	Command Value
	Args    []Value
	Timeout time.Duration // default 10 s
}

// auth is how to sign in at a server. Type is none, bearer, basic or oauth; empty means that
// nothing was said, so that OAuth is tried when a server asks for it.
type auth struct {
	Type         string
	Token        Value // bearer
	Username     Value // basic
	Password     Value
	ClientID     Value // oauth; empty means registering
	ClientSecret Value
	// ClientMetadataURL is where a document describes the client; it is the client id at servers
	// that read such documents.
	ClientMetadataURL Value
	// GrantType is authorization_code, for a person, or client_credentials, for the client
	// itself; empty means the first.
	GrantType    string
	Scopes       []string
	RedirectPort int // 0 means any
}

// ClientCredentials is the GrantType of a client that signs in by itself, with no person.
const ClientCredentials = "client_credentials"

// TLS is what differs from the system's settings. Files are absolute.
type TLS struct {
	CAFile, CertFile, KeyFile string
	ServerName                string
	Insecure                  bool // certificates are not checked
}

// lifecycle is when a server runs.
type lifecycle string

// The lifecycles.
const (
	Auto      lifecycle = "auto" // the default: lazy, once the tools are known
	Lazy      lifecycle = "lazy"
	Eager     lifecycle = "eager"
	KeepAlive lifecycle = "keepalive"
)

// tools chooses a server's tools. An empty Include means all; Exclude wins over Include, an
// override over both.
type tools struct {
	Include, Exclude []string // globs as in [path.Match]
	Override         map[string]override
}

// override is what differs for one tool. Nil and empty mean no difference.
type override struct {
	Enabled            *bool
	Alias, Description string
	Retry              bool // the tool may be called again after a lost connection
}

// autoApprove is what runs without asking a person.
type autoApprove struct {
	All   bool
	Names []string
}

// Restart bounds how often a server is started again.
type Restart struct {
	Max    int           // failures in Window until the breaker opens; default 5
	Window time.Duration // default 10 min
	Base   time.Duration // first delay; default 1 s
	Cap    time.Duration // longest delay; default 5 min
}

// Health is how a quiet server is looked after.
type Health struct {
	Ping     time.Duration // 0 means off; default 30 s for a remote server, off for stdio
	Failures int           // in a row until it counts; default 3
}

// Cache is the tool cache for this server.
type Cache struct {
	Enabled  bool          // default true
	MaxAge   time.Duration // default 24 h
	MaxStale time.Duration // default 30 days
}

// Answer is what happens when a server asks back.
type Answer string

// The answers.
const (
	Forward Answer = "forward" // the default: to the caller, if it can
	Ask     Answer = "ask"     // a person first
	Off     Answer = "off"     // not announced
)

// isolation says who shares a process.
type isolation string

// The isolations.
const (
	shared  isolation = "shared"  // the default: all sessions
	Session isolation = "session" // one process for each
)

// trust is what happens when the definition of a tool changes.
type trust string

// The levels of trust.
const (
	Pin     trust = "pin"
	warn    trust = "warn" // the default
	Trusted trust = "off"  // changes are only recorded
)

// severity is how bad a [Problem] is.
type severity string

// The severities. An entry with an error cannot be used.
const (
	SeverityError   severity = "error"
	severityWarning severity = "warning"
)

// Problem is one thing that is wrong with an entry.
type Problem struct {
	Pointer  string // JSON pointer into the entry; "" is the whole
	Rule     string // stable id, such as "R-CV-1", or "var_unset"
	Severity severity
	Message  string
}

// RuleUnset is the rule of a Problem about a variable that is not set. All other
// errors have the reason config_invalid.
const RuleUnset = "var_unset"
