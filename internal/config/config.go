// Package config reads Collie's settings: where its folders are, what the file collie.json
// says, and the environment, of which it is the only reader.
//
// [Load] reads one or several files of JSON with comments into a [Config] with all defaults in
// place. What it finds wrong it collects, each with file, line and column, and reports at once.
// A server entry is handed on as raw JSON in a [ServerEntry]: the fields of an entry belong to
// package source/upstream/entry, the look of other programs' files to source/upstream/hosts.
// [Config.Edit] and its relatives change a file in place and keep everything else in it. [Watch] tells
// when the files say something else. A folder may bring servers of its own in a [Project], which
// counts only once a person trusts it.
package config

import (
	"encoding/json"
	"io/fs"
	"time"
)

// Config is all settings, defaults in place. It is immutable once [Load] has returned it.
type Config struct {
	Paths Paths
	// Files that were read, in order; empty if the default file does not exist. The file of a
	// project is not among them.
	Files []string
	// Project is the file of the working folder; nil if there is none.
	Project *Project

	HTTP      HTTP
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

	// Servers in the order of the files. An entry that a later file defines again stands in
	// its first place.
	Servers []ServerEntry
	// Inputs are what VS Code's "inputs" declare, for ${input:id}, of all files; each id once.
	// What a server's own file declares is told by [ServerEntry.Input].
	Inputs []Input

	// Warnings found on the way; errors are in the [*Error] that Load returns.
	Warnings []Finding

	seen looks // how the files looked before they were read
}

// HTTP is the listener that all HTTP shares.
type HTTP struct {
	Addr           string   // host:port; default 127.0.0.1:7420
	AddrSet        bool     // a file says Addr, be it the default
	AllowedOrigins []string // further values of Origin; nil, the default, where no file says any
	AllowedHosts   []string // further values of Host; default none
	TLSCert        string   // PEM file; absolute; empty means no TLS
	TLSKey         string   // PEM file; absolute; set if and only if TLSCert is
	NoAuth         bool     // no bearer token; the listener refuses it off loopback
	MaxBody        int64    // bytes of a request body; default 16 MiB
	Metrics        bool     // serve /metrics; default false
	ResumeBytes    int64    // bytes of answers kept for clients that lose their connection, all sessions together; default 64 MiB
	// ElicitationConfirms lets clients with the token answer for their person what the gate asks; default true.
	ElicitationConfirms bool
}

// MCP is what holds for all upstream servers together.
type MCP struct {
	Enabled           bool // default true
	MaxParallelStarts int  // starts at once; default 64
	MaxRunnerStarts   int  // package runners among them; default 4
	// EnvDeny are patterns of variables that no server inherits unless its entry names them;
	// nil means the defaults of package entry. It is env.deny in the file.
	EnvDeny []string
	Limits  Limits
	// Drain is how long calls that are running may go on when a server is stopped, because its
	// settings changed or the gateway ends; default 5 s, 0 means that they are cut off.
	Drain time.Duration
	// WarmParallel is how many servers are started at once only to learn their tools, while the
	// gateway warms its cache; default 4.
	WarmParallel int
	Logs         ServerLogs
}

// ServerLogs are the files of what servers write to stderr, <state>/logs/mcp/<name>.log.
type ServerLogs struct {
	Enabled bool  // default true; the last lines are kept in memory in any case
	MaxSize int64 // bytes of one file; default 5 MiB
	Files   int   // of each server, the current one included; default 3
}

// Limits of what passes on the wire and of calls. Sizes are bytes.
type Limits struct {
	MaxFrame       int64         // one message, answer or event of a server; default 64 MiB
	MaxDefinition  int64         // one tool definition; default 1 MiB
	MaxDepth       int           // JSON depth on the wire; default 1,000
	MaxSchemaDepth int           // depth of a tool's schema; default 64
	MaxSessions    int           // client sessions; default 1,024
	MaxInFlight    int           // calls in flight in one session; default 256
	CallTimeout    time.Duration // one call without progress; default 60 s
	MaxCallTimeout time.Duration // one call in all; default 10 min
}

// Cache is the tool cache (8). Enabled, MaxAge and MaxStale can differ in a server entry.
type Cache struct {
	Enabled bool // default true
	// File is absolute: COLLIE_CACHE_FILE, else "file", else collie.cache.json beside the
	// settings in our own folder; of settings elsewhere a file in the cache folder.
	File string
	// Fallback stands in for File where that cannot be written; absolute, and empty if a person
	// chose File. It is not a setting.
	Fallback string
	MaxAge   time.Duration // fresh that long; default 24 h
	MaxStale time.Duration // shown that long; default 30 days; 0 means that nothing stale is shown
	// Mode is the permission of File; it is written "0600", in octal. Default 0600.
	Mode fs.FileMode
	// Compression is auto (default; gzip when the text is large), none or gzip.
	Compression string
	// TrustImported lets lists be shown that were imported from another program's cache, before
	// their server has confirmed them; default false.
	TrustImported bool
	// ServeOldOnChange keeps the old tools of a server whose entry changed until the new ones are
	// known; default false: they go at once.
	ServeOldOnChange bool
	// RefreshStale says what a stale list does to a server that does not run: with "use" (the
	// default) it is asked when it is used, with "start" it is started at once.
	RefreshStale string
	// Warmup says which servers are started once, in the background, when the gateway starts, to
	// learn their tools: off, missing (default; those without a list), stale, all.
	Warmup string
	// RefreshInterval is how often lists are asked for again; default 0, which means never.
	// RefreshStartsServers lets that start servers that do not run; default false.
	RefreshInterval      time.Duration
	RefreshStartsServers bool
	// FirstListWait is how long the first list of a client waits for servers whose tools nobody has
	// seen; default 5 s, 0 does not wait.
	FirstListWait time.Duration
	// Shared is the address of the NATS server through which gateways share their lists, several of
	// a cluster with commas between; empty (default) means none. It may hold a password, which
	// [Config.JSON] hides.
	Shared string
	// SharedKeyFile holds the key that signs shared entries; absolute; empty means this home's.
	SharedKeyFile string
	// SharedIdentity is exact (default), or portable, which leaves folders out of what makes a
	// server the same on two machines.
	SharedIdentity string
}

// Secrets is where ${secret:NAME} is looked up.
type Secrets struct {
	// Store is keyring (that of the system), file (encrypted, in the state folder), or auto
	// (default): the keyring where there is one.
	Store string
}

// Log is what serve and stdio tell about themselves. Other commands write to stderr only.
type Log struct {
	File    string // absolute; empty (default) means stderr
	Level   string // debug, info, warn (default) or error; --log-level wins
	MaxSize int64  // bytes of one file; default 10 MiB
	Files   int    // the current one included; default 3
}

// Audit is what is kept of calls, and where.
type Audit struct {
	Content   string // none, redacted (default) or full
	OnFailure string // refuse (default) or continue, when a record cannot be written
	Dir       string // absolute; default <state>/audit
}

// Analytics are the files that count what is called, <data>/analytics.
type Analytics struct {
	Enabled bool // default true
	// CaptureText keeps what was asked and answered as well, without secrets, cut; default false.
	CaptureText bool
}

// Telemetry is a report of how much is called, which is sent only if Enabled and Endpoint are
// both set.
type Telemetry struct {
	Enabled bool // default false
	// Endpoint is an http or https URL; empty (default) means none. It may hold a password,
	// which [Config.JSON] hides.
	Endpoint      string
	IntervalHours int // between two reports, 1 to 168; default 24
}

// SiYuan is the SiYuan source. Its own settings are in Raw.
type SiYuan struct {
	Enabled bool            // default true
	Raw     json.RawMessage // the whole section as standard JSON; nil if there is none
}

// Vault is the built-in notes. Its own settings are in Raw.
type Vault struct {
	Enabled bool            // default true
	File    string          // the SQLite file; absolute; default <data>/vault.db
	Raw     json.RawMessage // the whole section as standard JSON; nil if there is none
}

// Context is how much of a model's context the tools may take.
type Context struct {
	// View is how servers are listed whose entry and profile do not say: flat, grouped, search, or auto, which chooses one
	// of these for each server; empty (default) means flat.
	View   string
	Budget int64 // bytes of the list that servers may take with auto; default 16 KiB
}

// Profile is a named view for a client. The zero value shows everything as configured.
type Profile struct {
	Description string
	View        string            // flat, grouped or search for all; auto as [Context] has it; empty for each tool's own
	Views       map[string]string // flat, grouped or search for single tools
	Budget      int64             // see [Context]; 0 means that one
	Tools       Filter            // of tools
	Actions     Filter            // of actions, written tool.action
	// Notebooks are the levels that SiYuan notebooks have at most, by id, "*" for all others: none, r, rw or rwd.
	Notebooks map[string]string
}

// ContextOf is the context of a profile by name.
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

// Filter chooses names by globs. An empty Include means all; Exclude wins.
type Filter struct {
	Include, Exclude []string
}

// Input is one entry of VS Code's "inputs".
type Input struct {
	ID, Type, Description, Default string
	Password                       bool
	// Options are what a pickString chooses from.
	Options []string
}

// defaults is the Config of an empty file.
func defaults(p Paths) *Config {
	return &Config{
		Paths: p,
		HTTP:  HTTP{Addr: "127.0.0.1:7420", MaxBody: 16 << 20, ResumeBytes: 64 << 20, ElicitationConfirms: true},
		MCP: MCP{
			Enabled: true, MaxParallelStarts: 64, MaxRunnerStarts: 4, Drain: 5 * time.Second, WarmParallel: 4,
			Logs: ServerLogs{Enabled: true, MaxSize: 5 << 20, Files: 3},
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
		Models:    map[string]Model{},
		Agent: Agent{
			Engine: "auto", MaxSteps: 25, MaxTurnSeconds: 900, ContextPolicy: "compact", ResultLimit: 64 << 10, BusyPolicy: "queue",
		},
	}
}
