// Package config reads Collie's settings: where its folders are, what the file collie.json
// says, and the environment, of which it is the only reader.
//
// [Load] reads one or several files of JSON with comments into a [Config] with all defaults in
// place. What it finds wrong it collects, each with file, line and column, and reports at once.
// A server entry is handed on as raw JSON in a [ServerEntry]: the fields of an entry belong to
// package source/upstream/entry, the look of other programs' files to source/upstream/hosts.
// [Edit] and its relatives change a file in place and keep everything else in it.
package config

import (
	"encoding/json"
	"time"
)

// Config is all settings, defaults in place. It is immutable once [Load] has returned it.
type Config struct {
	Paths Paths
	// Files that were read, in order; empty if the default file does not exist.
	Files []string

	HTTP     HTTP
	MCP      MCP
	Cache    Cache
	Audit    Audit
	SiYuan   SiYuan
	Vault    Vault
	Profiles map[string]Profile

	// Servers in the order of the files. An entry that a later file defines again stands in
	// its first place.
	Servers []ServerEntry
	// Inputs are what VS Code's "inputs" declare, for ${input:id}.
	Inputs []Input

	// Warnings found on the way; errors are in the [*Error] that Load returns.
	Warnings []Finding
}

// HTTP is the listener that all HTTP shares.
type HTTP struct {
	Addr           string   // host:port; default 127.0.0.1:7420
	AllowedOrigins []string // further values of Origin; default none
	AllowedHosts   []string // further values of Host; default none
	TLSCert        string   // PEM file; absolute; empty means no TLS
	TLSKey         string   // PEM file; absolute; set if and only if TLSCert is
	NoAuth         bool     // no bearer token; the listener refuses it off loopback
	MaxBody        int64    // bytes of a request body; default 16 MiB
}

// MCP is what holds for all upstream servers together.
type MCP struct {
	Enabled           bool // default true
	MaxParallelStarts int  // starts at once; default 64
	MaxRunnerStarts   int  // package runners among them; default 4
	// EnvDeny are patterns of variables that no server inherits unless its entry names them
	// (R-EN-1); nil means the defaults of package entry. It is env.deny in the file.
	EnvDeny []string
	Limits  Limits
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

// Cache is the tool cache; a server entry can differ.
type Cache struct {
	Enabled  bool          // default true
	File     string        // absolute; empty means the default place
	MaxAge   time.Duration // fresh that long; default 24 h
	MaxStale time.Duration // shown that long; default 30 days
}

// Audit is what is kept of calls, and where.
type Audit struct {
	Content   string // none, redacted (default) or full
	OnFailure string // refuse (default) or continue, when a record cannot be written
	Dir       string // absolute; default <state>/audit
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

// Profile is a named view for a client. The zero value shows everything as configured.
type Profile struct {
	Description string
	View        string            // flat, grouped, or empty for each tool's own
	Views       map[string]string // the same for single tools
	Tools       Filter            // of tools
	Actions     Filter            // of actions, written tool.action
}

// Filter chooses names by globs. An empty Include means all; Exclude wins.
type Filter struct {
	Include, Exclude []string
}

// Input is one entry of VS Code's "inputs".
type Input struct {
	ID, Type, Description, Default string
	Password                       bool
}

// defaults is the Config of an empty file.
func defaults(p Paths) *Config {
	return &Config{
		Paths: p,
		HTTP:  HTTP{Addr: "127.0.0.1:7420", MaxBody: 16 << 20},
		MCP: MCP{
			Enabled: true, MaxParallelStarts: 64, MaxRunnerStarts: 4,
			Limits: Limits{
				MaxFrame: 64 << 20, MaxDefinition: 1 << 20, MaxDepth: 1000, MaxSchemaDepth: 64,
				MaxSessions: 1024, MaxInFlight: 256,
				CallTimeout: time.Minute, MaxCallTimeout: 10 * time.Minute,
			},
		},
		Cache:    Cache{Enabled: true, MaxAge: 24 * time.Hour, MaxStale: 30 * 24 * time.Hour},
		Audit:    Audit{Content: "redacted", OnFailure: "refuse", Dir: p.in(p.State, "audit")},
		SiYuan:   SiYuan{Enabled: true},
		Vault:    Vault{Enabled: true, File: p.in(p.Data, "vault.db")},
		Profiles: map[string]Profile{},
	}
}
