// Package entry reads one entry of "mcpServers": how to start or reach a server, what the server may see, and how it
// is treated.
//
// [Parse] turns the raw JSON of an entry into an [Entry], with defaults filled in, aliases of other hosts resolved
// and variables expanded. It also returns every [Problem] it finds. Entries are independent: one with an error is
// shown as config_error, and the other servers work. [Environment] returns the environment of a child process.
//
// The package starts no server and connects to none. It does not know the entry's file: a Problem gives its place as
// a JSON pointer into the entry.
package entry

import (
	"time"

	"collie/internal/tool"
)

// Entry is the settings of one server. It is plain data; whatever may be secret in it is a [Value].
type Entry struct {
	Name        string
	DisplayName string // for people; empty if none was given
	Description string // for people
	About       string // what it is for, shown to models by the search tools
	Registry    string // where a registry filled the entry in: NAME@VERSION there
	Disabled    bool

	Transport Transport
	// Protocol is auto, legacy or a revision such as 2025-11-25.
	Protocol string

	// The following fields are for Stdio.
	Command    Value            // absolute if it was a relative path; else a name to look up in PATH
	Args       []Value          // unchanged except for expanded variables
	Env        map[string]Value // added to what is inherited; includes the values of a dotenv file
	EnvFile    string           // the dotenv file, absolute; empty if there is none
	Unset      []string         // names of variables not to inherit
	InheritEnv inherit
	Dir        string // working folder, absolute; it may not exist
	Runner     bool   // Command is a package runner: its first start may download
	Package    string // the package that the runner runs, as written; empty if it cannot be told
	// DockerManaged lets Collie have docker run write the id of its container into a file, and kill the container by
	// that id. Default true.
	DockerManaged bool

	// The following fields are for HTTP and SSE.
	URL            Value
	Headers        []Header // sorted by name
	HeadersCommand *headersCommand
	Auth           auth
	TLS            TLS

	Lifecycle      lifecycle
	IdleTimeout    time.Duration // default 10 min; 0 means never
	StartTimeout   time.Duration // default 60 s, 180 s for a package runner
	ToolTimeout    time.Duration // of a call without progress; default Options.ToolTimeout
	MaxToolTimeout time.Duration // of a call in all; default Options.MaxToolTimeout

	Tools       tools
	AutoApprove autoApprove
	View        tool.View // empty (default): the profile decides
	// Prefix comes before the names of tools in the flat view; default "<name>__".
	Prefix      string
	Restart     Restart
	Health      Health
	Cache       Cache
	Roots       []Value // absolute folders, or URIs
	Sampling    Answer
	Elicitation Answer
	Isolation   isolation
	// Unchecked passes arguments that do not match a tool's schema: "validate" is off.
	Unchecked bool
	Trust     trust

	// Secrets are the values to mask in logs, longest first.
	Secrets []string
}

// Transport says how a server is reached.
type Transport string

// The transports.
const (
	Stdio         Transport = "stdio"
	httpTransport Transport = "http" // Streamable HTTP
	SSE           Transport = "sse"  // HTTP with SSE, as in MCP 2024-11-05
)

// inherit says which of our variables a child gets; see [Environment].
type inherit struct {
	Mode  string   // minimal (default), all or none
	Names []string // further names; PREFIX_* means all that start so
}

// Header is a header of every request to a server.
type Header struct {
	Name  string
	Value Value
}

// headersCommand is a program that prints a JSON object of headers. It runs for each connection.
type headersCommand struct {
	Command Value
	Args    []Value
	Timeout time.Duration // default 10 s
}

// auth says how to sign in at a server. Type is none, bearer, basic or oauth. An empty Type means that the entry does
// not say: OAuth is then tried when the server asks for authentication.
type auth struct {
	Type         string
	Token        Value // bearer
	Username     Value // basic
	Password     Value
	ClientID     Value // oauth; empty: a client is registered
	ClientSecret Value
	// ClientMetadataURL is the address of a document that describes the client. Servers that read such documents
	// accept the address as client id.
	ClientMetadataURL Value
	// GrantType is authorization_code (the default), by which a person signs in, or client_credentials, by which the
	// client does.
	GrantType    string
	Scopes       []string
	RedirectPort int // 0: any free port
}

// ClientCredentials is the GrantType of a client that signs in without a person.
const ClientCredentials = "client_credentials"

// TLS has the differences from the system's TLS settings. Files are absolute paths.
type TLS struct {
	CAFile, CertFile, KeyFile string
	ServerName                string
	Insecure                  bool // certificates are not verified
}

// lifecycle says when a server runs.
type lifecycle string

// The lifecycles.
const (
	Auto      lifecycle = "auto" // default: started on use, once its tools are known
	Lazy      lifecycle = "lazy"
	Eager     lifecycle = "eager"
	KeepAlive lifecycle = "keepalive"
)

// tools selects the tools of a server. An empty Include means all. Exclude wins over Include, and an override over
// both.
type tools struct {
	Include, Exclude []string // globs as in [path.Match]
	Override         map[string]override
}

// override has the differences for one tool; nil and empty fields mean none.
type override struct {
	Enabled            *bool
	Alias, Description string
	Retry              bool // the tool may be called again after its connection was lost
}

// autoApprove says which tools run without asking a person.
type autoApprove struct {
	All   bool
	Names []string
}

// Restart bounds automatic restarts of a server.
type Restart struct {
	Max    int           // failures within Window that open the breaker; default 5
	Window time.Duration // default 10 min
	Base   time.Duration // first delay; default 1 s
	Cap    time.Duration // longest delay; default 5 min
}

// Health says how a server is checked while no call runs.
type Health struct {
	Ping     time.Duration // interval; 0 means off; default 30 s for a remote server, off for stdio
	Failures int           // unanswered pings in a row that make it degraded; default 3
}

// Cache says whether and how long the tools of this server are cached.
type Cache struct {
	Enabled  bool          // default true
	MaxAge   time.Duration // default 24 h
	MaxStale time.Duration // default 30 days
}

// Answer says what happens with a request from a server to its client.
type Answer string

// The answers.
const (
	Forward Answer = "forward" // default: to the caller, if it can answer
	Ask     Answer = "ask"     // a person is asked first
	Off     Answer = "off"     // the capability is not announced
)

// isolation says who shares a process.
type isolation string

// The isolations.
const (
	shared  isolation = "shared"  // default: one process for all sessions
	Session isolation = "session" // one process for each
)

// trust says what happens when a tool's definition changes.
type trust string

// The levels of trust.
const (
	Pin       trust = "pin"  // the tool is switched off until a person approves the new definition
	trustWarn trust = "warn" // the default: people are told
	Trusted   trust = "off"  // changes are only recorded
)

// severity says how bad a [Problem] is.
type severity string

// The severities. An entry with an error cannot be used.
const (
	SeverityError   severity = "error"
	severityWarning severity = "warning"
)

// Problem is one thing that is wrong in an entry.
type Problem struct {
	Pointer  string // JSON pointer into the entry; "" is the whole entry
	Rule     string // stable id of the rule, such as "var_unset"
	Severity severity
	Message  string
}

// RuleUnset is the rule of a Problem about a variable that is not set. All other errors have the reason
// config_invalid.
const RuleUnset = "var_unset"

// Further rules. People see these ids and look them up, so they stay as they are.
const (
	ruleTransport = "R-CV-1" // either a command or a URL, and a type that fits
	ruleName      = "R-CV-2" // names of servers
	ruleDocker    = "R-CV-5" // "docker run" connects the container's stdio
	ruleSecret    = "R-CV-6" // no secret in the file itself
	ruleTilde     = "R-CV-7" // ~ is not expanded
	ruleUnit      = "R-CV-8" // durations have a unit
	ruleVariable  = "R-VA-1" // the forms of ${…}
)
