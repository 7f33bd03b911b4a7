// Package admin is what people do with the settings of other programs: taking servers over, writing them there,
// and connecting those programs to Collie and back. It writes other programs' files, and never Collie's own settings.
package admin

import (
	"encoding/json"
	"runtime"

	"collie/internal/config"
	"collie/internal/source/upstream/hosts"
)

// Clients are the programs that [Connect] knows, in alphabetical order.
func Clients() []hosts.Host { return hosts.Clients() }

// Hosts are the programs that [PlanImport] and [PlanExport] know, in alphabetical order.
func Hosts() []hosts.Host { return hosts.All() }

// ConnectOptions say how this program gets into a client's file.
type ConnectOptions struct {
	Name    string   // of the entry; usually "collie"
	Command string   // this program; absolute
	Args    []string // that make it serve
	File    string   // empty means where the client keeps its user's servers
	Force   bool     // replace another entry of that name
	// URL is where this program answers, instead of Command. Token opens it, or TokenEnv, the variable that has one. A file with a
	// Token gets a mode for its owner alone.
	URL, Token, TokenEnv string
}

// Connection is a change of a client's file that is worked out and not made yet.
type Connection struct {
	Client hosts.Host
	File   string   // symbolic links followed
	Path   []string // where in it
	Entry  json.RawMessage
	// Changed is false if the file has the entry already.
	Changed bool
	// Next is what a person does then; a sentence.
	Next string

	plan   hosts.Plan
	made   []byte        // the text with Collie in it, before entries were taken out; nil while it is the plan's
	pieces []hosts.Piece // what is taken out
}

// Connect works out how this program gets into a client's file. The error for an unknown
// client lists those that are known.
func Connect(client string, env config.Env, o ConnectOptions) (*Connection, error) {
	h, err := hosts.FindClient(client)
	if err != nil {
		return nil, err
	}
	file := o.File
	if file == "" {
		if file, err = h.File(system(env, "")); err != nil {
			return nil, err
		}
	}
	plan, err := hosts.Prepare(h, file, o.server(), config.SetMember, o.Force)
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

// system is this machine for hosts; dir is the project that is looked at, if any.
func system(env config.Env, dir string) hosts.System {
	return hosts.System{OS: runtime.GOOS, Env: env.Lookup, Dir: dir}
}

// FileExists reports whether the client has its file already.
func (c *Connection) FileExists() bool { return c.plan.Before() != nil }

// Describe shows the change, done or to be done: the file, the place in it and what stands there then.
func (c *Connection) Describe(done bool) string { return c.plan.Describe(done) }

// Apply makes the change. The old text is kept as <file>.bak.
func (c *Connection) Apply() error { return c.plan.Apply() }
