// Package admin lets people manage the settings of other programs: import servers from them, export servers to them,
// and connect those programs to Collie and disconnect them. It writes other programs' files, and never Collie's own
// settings.
package admin

import (
	"encoding/json"
	"runtime"

	"collie/internal/config"
	"collie/internal/source/upstream/hosts"
)

// Clients returns the programs that [Connect] knows, in alphabetical order.
func Clients() []hosts.Host { return hosts.Clients() }

// Hosts returns the programs that [PlanImport] and [PlanExport] know, in alphabetical order.
func Hosts() []hosts.Host { return hosts.All() }

// ConnectOptions describes the entry for this program in a client's file.
type ConnectOptions struct {
	Name    string   // name of the entry; usually "collie"
	Command string   // path of this program; absolute
	Args    []string // arguments that make it serve
	File    string   // file to change; empty: the client's own file of the user
	Force   bool     // replace a different entry of that name
	// URL is the address of this program's HTTP listener, used instead of Command. It is opened by Token, or by the
	// token in the variable TokenEnv. A file with a Token gets a mode that only its owner can read.
	URL, Token, TokenEnv string
}

// Connection is a planned change of a client's file.
type Connection struct {
	Client hosts.Host
	File   string   // absolute, symbolic links resolved
	Path   []string // place of the entry in the file
	Entry  json.RawMessage
	// Changed is false if the file has the entry already.
	Changed bool
	// Next tells the user what to do afterwards; a sentence.
	Next string

	plan        hosts.Plan
	connectText []byte        // the text with Collie's entry, before others were removed; nil if none were
	removed     []hosts.Piece // the entries to be removed
}

// Connect plans how this program gets into a client's file. The error for an unknown client lists the known ones.
func Connect(client string, env config.Env, o ConnectOptions) (*Connection, error) {
	h, err := hosts.FindClient(client)
	if err != nil {
		return nil, err
	}
	file := o.File
	if file == "" {
		if file, err = h.File(systemOf(env, "")); err != nil {
			return nil, err
		}
	}
	plan, err := hosts.Prepare(h, file, o.server(), config.SetInText, o.Force)
	if err != nil {
		return nil, err
	}
	return connectionOf(plan), nil
}

func (o ConnectOptions) server() hosts.Server {
	return hosts.Server{Name: o.Name, Command: o.Command, Args: o.Args, URL: o.URL, Token: o.Token, TokenEnv: o.TokenEnv}
}

func connectionOf(plan hosts.Plan) *Connection {
	h := plan.Host
	return &Connection{
		Client: h, File: plan.File, Path: plan.Members[0].Path, Entry: plan.Members[0].Value,
		Changed: plan.Changed(), Next: h.After, plan: plan,
	}
}

// systemOf describes this machine to package hosts. dir is the project that is looked at, if any.
func systemOf(env config.Env, dir string) hosts.System {
	return hosts.System{OS: runtime.GOOS, Env: env.Lookup, Dir: dir}
}

// FileExists reports whether the client's file exists already.
func (c *Connection) FileExists() bool { return c.plan.Before() != nil }

// Describe describes the change, in the past tense if it is done: the file, the place in it and the new text there.
func (c *Connection) Describe(done bool) string { return c.plan.Describe(done) }

// Apply makes the change. The old text is kept as <file>.bak.
func (c *Connection) Apply() error { return c.plan.Apply() }
