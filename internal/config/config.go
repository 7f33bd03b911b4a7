// Package config reads Collie's settings: the folders, the file collie.json and the environment, which no
// other package reads.
//
// [Load] reads one or several JSON files with comments into a [Config], with all defaults set. It collects
// all errors, each with file, line and column, and reports them together. A server entry is passed on as raw
// JSON in a [ServerEntry]: package source/upstream/entry interprets its fields, package source/upstream/hosts
// the files of other programs. [Config.Edit] and the functions that make changes for it edit a file in place
// and preserve everything else in it. [Watch] reports when the settings change. A folder may have servers of
// its own in a [Project], which are used only once a person trusts it.
package config

import (
	"encoding/json"
	"io/fs"
	"time"
)

// Config holds all settings, with defaults set. It is immutable once [Load] has returned it.
type Config struct {
	Paths Paths
	// Files are the files that were read, in order; empty if the default file does not exist. A project's
	// file is not among them.
	Files []string
	// Project is the file of the working folder; nil if there is none.
	Project *Project

	HTTP      HTTP
	Web       Web
	MCP       MCP
	Cache     Cache
	Audit     Audit
	Secrets   Secrets
	Analytics Analytics
	Telemetry Telemetry
	Log       Log
	SiYuan    SiYuan
	Vault     Vault
	Profiles  map[string]Profile
	Context   Context
	Providers []Provider       // in the order of the files
	Models    map[string]Model // by MODEL or PROVIDER/MODEL
	Agent     Agent
	Guard     Guard

	// Servers in the order of the files. An entry that a later file replaces keeps its position.
	Servers []ServerEntry
	// Inputs are the declarations of VS Code's "inputs" for ${input:id}, from all files, each id once.
	// [ServerEntry.Input] returns the declaration in a server's own file.
	Inputs []Input

	// Warnings found while reading; errors are in the [*Error] that Load returns.
	Warnings []Finding

	seen fileStates // the state of the files before they were read
}

// HTTP configures the HTTP listener that all faces share.
type HTTP struct {
	Addr           string   // host:port; default 127.0.0.1:7420
	AddrSet        bool     // a file sets Addr, even if to the default
	AllowedOrigins []string // additional values of Origin; nil, the default, if no file sets it
	AllowedHosts   []string // additional values of Host; default none
	PublicURL      string   // where a proxy in front is reached, https://name[:port]; default none
	TrustedProxies []string // addresses and networks of proxies whose X-Forwarded headers count; default none
	TLSCert        string   // PEM file; absolute; empty means no TLS
	TLSKey         string   // PEM file; absolute; set together with TLSCert or not at all
	NoAuth         bool     // require no bearer token; the listener allows that only on loopback
	MaxBody        int64    // bytes of a request body; default 16 MiB
	Metrics        bool     // serve /metrics; default false
	ResumeBytes    int64    // total bytes of answers kept for clients that lose their connection; default 64 MiB
	// ElicitationConfirms lets the gate ask a person through a client that has the token; default true.
	ElicitationConfirms bool
}

// Web configures the pages in the browser.
type Web struct {
	// FrameOrigins are the origins, scheme://host[:port], whose pages may show the panel in a frame; default none.
	FrameOrigins []string
}

// MCP is what applies to all upstream servers.
type MCP struct {
	Enabled           bool // default true
	MaxParallelStarts int  // starts at once; default 64
	MaxRunnerStarts   int  // package runners among them; default 4
	// EnvDeny are patterns of variables that servers do not inherit unless their entry names them; nil means
	// the defaults of package entry. In the file it is called env.deny.
	EnvDeny []string
	Limits  Limits
	// Drain is how long running calls may go on when a server is stopped, because its settings changed or the
	// gateway ends; default 5 s, 0 cuts them off.
	Drain time.Duration
	// WarmParallel is how many servers may run at the same time only to fetch their tools, while the gateway
	// warms its cache; default 4.
	WarmParallel int
	Logs         ServerLogs
	// Registry is the address of the registry that people search for servers; default
	// https://registry.modelcontextprotocol.io. It is asked only when a person asks.
	Registry string
}

// ServerLogs configures the files with the stderr of servers, <state>/logs/mcp/<name>.log.
type ServerLogs struct {
	Enabled bool  // default true; the last lines are kept in memory even if false
	MaxSize int64 // bytes of one file; default 5 MiB
	Files   int   // of each server, the current one included; default 3
}

// Limits for messages and calls. Sizes are in bytes.
type Limits struct {
	MaxFrame       int64         // one message, answer or event of a server; default 64 MiB
	MaxDefinition  int64         // one tool definition; always 1 MiB
	MaxDepth       int           // depth of JSON on the wire; always 1,000
	MaxSchemaDepth int           // depth of a tool's schema; always 64
	MaxSessions    int           // client sessions; default 1,024
	MaxInFlight    int           // calls in flight in one session; default 256
	CallTimeout    time.Duration // time of one call without progress; default 60 s
	MaxCallTimeout time.Duration // total time of one call; default 10 min
}

// Cache configures the tool cache. A server entry may override Enabled, MaxAge and MaxStale.
type Cache struct {
	Enabled bool // default true
	// File is absolute: COLLIE_CACHE_FILE, else the setting "file", else collie.cache.json beside the
	// settings if those are in our own folder, else a file in the cache folder.
	File string
	// Fallback is used if File cannot be written; absolute, and empty if a person chose File. It is not a
	// setting.
	Fallback string
	MaxAge   time.Duration // age up to which a list counts as fresh; default 24 h
	MaxStale time.Duration // age up to which a list is shown; default 30 days; 0 shows no stale list
	// Mode is the permission of File, written in octal as "0600". Default 0600.
	Mode fs.FileMode
	// Compression is auto (default: gzip for a large file), none or gzip.
	Compression string
	// TrustImported shows lists that were imported from another program's cache before their server has
	// confirmed them; default false.
	TrustImported bool
	// ServeOldOnChange keeps showing the old tools of a server whose entry has changed until the new ones are
	// known; default false: the old ones disappear at once.
	ServeOldOnChange bool
	// RefreshStale says what happens to a server that is not running and whose list is stale: "use" (default)
	// refreshes the list when the server is used, "start" starts the server at once.
	RefreshStale string
	// Warmup says which servers the gateway starts once in the background at its start, to learn their tools:
	// off, missing (default: those without a list), stale or all.
	Warmup string
	// RefreshInterval is how often lists are refreshed; default 0, which means never. RefreshStartsServers
	// lets that start servers that are not running; default false.
	RefreshInterval      time.Duration
	RefreshStartsServers bool
	// FirstListWait is how long a client's first list waits for servers whose tools are not known yet;
	// default 5 s, 0 does not wait.
	FirstListWait time.Duration
	// Shared is the address of the NATS server through which gateways share their lists; for a cluster
	// several, separated by commas. Empty (default) means none. It may hold a password, which [Config.JSON]
	// hides.
	Shared string
	// SharedKeyFile holds the key that signs shared entries; absolute; empty means the key of this home.
	SharedKeyFile string
	// SharedIdentity is exact (default) or portable. Portable ignores folders when it compares servers of two
	// machines.
	SharedIdentity string
}

// Secrets says where ${secret:NAME} is looked up.
type Secrets struct {
	// Store is keyring (the system's), file (encrypted, in the state folder), or auto (default: the keyring
	// if there is one).
	Store string
}

// Log configures the log of serve and stdio. Other commands write to stderr only.
type Log struct {
	File    string // absolute; empty (default) means stderr
	Level   string // debug, info, warn (default) or error; --log-level wins
	MaxSize int64  // bytes of one file; default 10 MiB
	Files   int    // the current one included; default 3
}

// Audit says what is recorded of calls, and where.
type Audit struct {
	Content   string // none, redacted (default) or full
	OnFailure string // refuse (default) or continue, when a record cannot be written
	Dir       string // absolute; default <state>/audit
	Anchor    string // absolute path of a file that keeps signed heads; "" is none
	// Keep is how long records are kept; 0, the default, is for ever.
	Keep time.Duration
}

// Analytics configures the files that count calls, <data>/analytics.
type Analytics struct {
	Enabled bool // default true
	// CaptureText also keeps arguments and results, shortened and without secrets; default false.
	CaptureText bool
}

// Telemetry configures a report of how many calls there are. It is sent only if Enabled is true and Endpoint
// is set.
type Telemetry struct {
	Enabled bool // default false
	// Endpoint is an http or https URL; empty (default) means none. It may hold a password, which
	// [Config.JSON] hides.
	Endpoint      string
	IntervalHours int // hours between two reports, 1 to 168; default 24
}

// SiYuan configures the SiYuan source. Raw holds the source's own settings.
type SiYuan struct {
	Enabled bool            // default true
	Raw     json.RawMessage // the whole section as standard JSON; nil if there is none
}

// Vault configures the built-in notes. Raw holds its own settings.
type Vault struct {
	Enabled bool            // default true
	File    string          // the SQLite file; absolute; default <data>/vault.db
	Sync    []string        // folders that serve keeps equal with a notebook; absolute; default none
	Raw     json.RawMessage // the whole section as standard JSON; nil if there is none
}

// Context limits how much of a model's context the tools take up.
type Context struct {
	// View applies to servers whose entry and profile set none: flat, grouped, search, or auto, which chooses
	// one of these for each server. Empty (default) means flat.
	View   string
	Budget int64 // maximum bytes of the servers' part of the list with View auto; default 16 KiB
}

// Guard configures the rules by which calls are refused or need an answer, besides the built-in
// rules.
type Guard struct {
	Mode    string // enforce (default), or log: what the rules find is logged alone
	Clients string // log (default) or enforce: the same for calls of MCP clients
	// Guardian says whether a second model looks at calls of models before they run: off (default), monitor, which puts
	// its verdicts on record, or enforce. GuardianModel names it, MODEL or PROVIDER/MODEL; GuardianThreshold is the verdict from
	// which a person is asked, high (default) or medium.
	Guardian, GuardianModel, GuardianThreshold string
	// Prompts is how results are treated that try to give orders to a model in a conversation: enforce (default)
	// withholds the worst and marks the others, log marks them all, off checks none. PromptsModel names a second model
	// that judges unclear cases; empty (default) means none.
	Prompts, PromptsModel string
	// ReadRoots and WriteRoots are the folders that paths may lie in; none (default) means all.
	ReadRoots, WriteRoots []string
	DenyPaths             []string // patterns of paths that no call touches
	AllowCommands         []string // beginnings of commands that may run like those that only read
	DenyCommands          []string
	AllowHosts, DenyHosts []string // with or without a port
	Notify                Notify
}

// Profile is a named view for a client. The zero value shows everything.
type Profile struct {
	Description string
	View        string            // flat, grouped or search for all tools; auto, see [Context]; empty: each tool decides
	Views       map[string]string // flat, grouped or search for single tools
	Budget      int64             // see [Context]; 0 means the Budget there
	Tools       Filter            // of tools
	Actions     Filter            // of actions, written tool.action
	// Notebooks are the highest levels (none, r, rw, rwd) in SiYuan notebooks, by id; "*" means all others.
	Notebooks map[string]string
}

// ContextOf returns the context settings of a profile.
func (c *Config) ContextOf(name string) Context {
	p, ok := c.Profiles[name]
	if !ok {
		p = c.Profiles["default"]
	}
	out := c.Context
	if p.View != "" {
		out.View = p.View
	}
	if p.Budget != 0 {
		out.Budget = p.Budget
	}
	return out
}

// Filter selects names by glob patterns. An empty Include means all; Exclude wins.
type Filter struct {
	Include, Exclude []string
}

// Input is one entry of VS Code's "inputs".
type Input struct {
	ID, Type, Description, Default string
	Password                       bool
	// Options are the choices of a pickString.
	Options []string
}

// defaultConfig returns the Config of an empty file.
func defaultConfig(p Paths) *Config {
	return &Config{
		Paths: p,
		HTTP:  HTTP{Addr: "127.0.0.1:7420", MaxBody: 16 << 20, ResumeBytes: 64 << 20, ElicitationConfirms: true},
		MCP: MCP{
			Enabled: true, MaxParallelStarts: 64, MaxRunnerStarts: 4, Drain: 5 * time.Second, WarmParallel: 4,
			Registry: "https://registry.modelcontextprotocol.io",
			Logs:     ServerLogs{Enabled: true, MaxSize: 5 << 20, Files: 3},
			Limits: Limits{
				MaxFrame: 64 << 20, MaxDefinition: 1 << 20, MaxDepth: 1000, MaxSchemaDepth: 64,
				MaxSessions: 1024, MaxInFlight: 256,
				CallTimeout: time.Minute, MaxCallTimeout: 10 * time.Minute,
			},
		},
		Cache: Cache{
			Enabled: true, MaxAge: 24 * time.Hour, MaxStale: 30 * 24 * time.Hour, Mode: 0o600, Compression: "auto",
			RefreshStale: "use", Warmup: "missing", FirstListWait: 5 * time.Second, SharedIdentity: "exact",
		},
		Secrets:   Secrets{Store: "auto"},
		Log:       Log{Level: "warn", MaxSize: 10 << 20, Files: 3},
		Audit:     Audit{Content: "redacted", OnFailure: "refuse", Dir: p.in(p.State, "audit")},
		Analytics: Analytics{Enabled: true},
		Telemetry: Telemetry{IntervalHours: 24},
		SiYuan:    SiYuan{Enabled: true},
		Vault:     Vault{Enabled: true, File: p.in(p.Data, "vault.db")},
		Profiles:  map[string]Profile{},
		Context:   Context{Budget: 16 << 10},
		Guard:     Guard{Mode: "enforce", Clients: "log", Prompts: "enforce", Guardian: "off", GuardianThreshold: "high", Notify: Notify{Format: "json"}},
		Models:    map[string]Model{},
		Agent: Agent{
			Engine: "auto", MaxSteps: 25, MaxTurnSeconds: 900, ContextPolicy: "compact", ResultLimit: 64 << 10, BusyPolicy: "queue",
		},
	}
}
