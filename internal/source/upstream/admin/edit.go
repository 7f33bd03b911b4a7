package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"collie/internal/config"
	secretadmin "collie/internal/secret/admin"
	"collie/internal/source/upstream/entry"
	hostadmin "collie/internal/source/upstream/hosts/admin"
	"collie/internal/tool"
)

// This file adds, changes and removes servers of a running gateway, as a page asks for it.

// EditorOptions are the parts that an [Editor] works with; none may be nil.
type EditorOptions struct {
	// Config returns the settings in effect, File the settings file that new servers are written to.
	Config func() *config.Config
	File   func(*config.Config) string
	Env    config.Env
	// Changed records a change in the audit, and returns once it is in effect.
	Changed func(ctx context.Context, command string, detail map[string]any) error
	// Redact masks the given secrets, and whatever looks like one, in JSON.
	Redact func(secrets []string, raw json.RawMessage) json.RawMessage
	// Restart makes a server use a new sign-in.
	Restart func(ctx context.Context, name string) (tool.ServerStatus, error)
}

// Editor edits the servers in the settings of a running gateway, and signs people in to them. It is safe for concurrent
// use; changes run one at a time.
type Editor struct {
	opts     EditorOptions
	seed     maphash.Seed // of revisions
	changing sync.Mutex

	mu      sync.Mutex
	signing map[string]*signingIn
}

// NewEditor returns an Editor.
func NewEditor(opts EditorOptions) *Editor {
	return &Editor{opts: opts, seed: maphash.MakeSeed(), signing: map[string]*signingIn{}}
}

// NewServers is a request to add servers.
type NewServers struct {
	// JSON is one entry, or several in {"mcpServers": {…}}, as documentation of servers shows them. Name is the name of
	// an entry without one.
	JSON string `json:"json"`
	Name string `json:"name,omitempty"`
	// DryRun means that nothing is written.
	DryRun bool `json:"dryRun,omitempty"`
	// Typed must repeat [Added.Type]: a person has to type the names of servers that run commands, joined by ", ".
	Typed string `json:"typed,omitempty"`
	// Secrets are stored before the servers are added, by the names of ${secret:NAME} in JSON.
	Secrets map[string]string `json:"secrets,omitempty"`
}

// NewServer is one added server.
type NewServer struct {
	Name      string          `json:"name"`
	Transport string          `json:"transport"`
	Entry     json.RawMessage `json:"entry"`
}

// Added is the result of [Editor.Add].
type Added struct {
	Servers []NewServer `json:"servers"`
	File    string      `json:"file"`
	// Type is what a person has to type, because commands are run; empty for nothing.
	Type string `json:"type,omitempty"`
	// Warnings say what may not work, a sentence each.
	Warnings []string `json:"warnings"`
	Written  bool     `json:"written"`
}

// Add adds servers to the settings.
func (e *Editor) Add(ctx context.Context, n *NewServers) (Added, error) {
	const op = "mcp add"
	e.changing.Lock()
	defer e.changing.Unlock()
	cfg := e.opts.Config()
	file := e.opts.File(cfg)
	servers, err := n.read(op, filepath.Dir(file))
	if err != nil {
		return Added{}, err
	}
	for _, s := range servers {
		if i := indexOf(cfg, s.Name); i >= 0 && !cfg.Servers[i].Untrusted {
			return Added{}, &tool.Error{
				Op: op, Kind: tool.Exists, Subject: s.Name,
				Message: "a server of that name is defined already in " + cfg.Servers[i].File, Hint: "choose another name, or remove that one",
			}
		}
	}
	findings, err := CheckNew(cfg, e.opts.Env, servers)
	if err != nil {
		return Added{}, err
	}
	out := Added{File: file, Warnings: []string{}}
	for _, f := range findings {
		out.Warnings = append(out.Warnings, f.Text())
	}
	out.describe(servers)
	if n.DryRun {
		return out, nil
	}
	if strings.TrimSpace(n.Typed) != out.Type {
		return Added{}, notTypedError(op, out.Type)
	}
	if err := e.mayStore(ctx, n); err != nil {
		return Added{}, err
	}
	hidden := HiddenInputs{Secrets: n.Secrets}
	if err := hidden.Store(ctx, cfg); err != nil {
		return Added{}, err
	}
	if err := e.edit(ctx, op, cfg, file, config.Add(servers, false)); err != nil {
		return Added{}, err
	}
	out.Written = true
	return out, e.opts.Changed(ctx, op, map[string]any{"servers": out.names(), "file": file})
}

// pasted is the name of a pasted text in messages.
const pasted = "what was pasted"

// read returns the servers that are described, with their names.
func (n *NewServers) read(op, base string) ([]config.ServerEntry, error) {
	servers, err := config.Snippet(pasted, base, []byte(n.JSON))
	if err != nil {
		return nil, err
	}
	switch name := strings.TrimSpace(n.Name); {
	case name != "" && len(servers) > 1:
		return nil, &tool.Error{Op: op, Kind: tool.Invalid, Subject: name, Message: "the text has several servers, with names of their own", Hint: "leave the name out"}
	case name != "":
		servers[0].Name = name
	case servers[0].Name == "":
		if servers[0].Name = hostadmin.NameFor(servers[0].Raw); servers[0].Name == "" {
			return nil, &tool.Error{Op: op, Kind: tool.Invalid, Subject: "name", Message: "the server has no name", Hint: "give it one"}
		}
	}
	return servers, nil
}

// describe fills in the result for servers.
func (a *Added) describe(servers []config.ServerEntry) {
	var run []string
	for _, s := range servers {
		parsed := parsedEntry(s.Name, s.Raw)
		a.Servers = append(a.Servers, NewServer{Name: s.Name, Transport: string(parsed.Transport), Entry: s.Raw})
		if runsCommand(parsed) {
			run = append(run, s.Name)
		}
	}
	a.Type = strings.Join(run, ", ")
}

// parsedEntry parses an entry as if all variables in it were set, to empty texts.
func parsedEntry(name string, raw json.RawMessage) *entry.Entry {
	parsed, _ := entry.Parse(name, raw, entry.Options{Env: func(string) (string, bool) { return "", true }})
	return &parsed
}

// runsCommand reports whether using a server runs a command on this machine: the server itself, or what prints its headers.
func runsCommand(e *entry.Entry) bool { return e.Transport == entry.Stdio || e.HeadersCommand != nil }

func (a *Added) names() (names []string) {
	for _, s := range a.Servers {
		names = append(names, s.Name)
	}
	return names
}

// notTypedError returns the error for a change to which nobody has agreed by typing a name.
func notTypedError(op, name string) error {
	return &tool.Error{
		Op: op, Kind: tool.Unconfirmed, Subject: name, Message: "servers that run a command are added when their name is typed", Hint: "type: " + name,
	}
}

// CheckNew checks servers that would be added to cfg. The findings are worth knowing; the error is for servers that can never
// work. A variable that is not set here is only worth knowing: it may be set where the gateway runs.
func CheckNew(cfg *config.Config, env config.Env, servers []config.ServerEntry) (notes []config.Finding, err error) {
	with := *cfg
	with.Servers = slices.Concat(slices.DeleteFunc(slices.Clone(cfg.Servers), func(s config.ServerEntry) bool {
		return slices.ContainsFunc(servers, func(n config.ServerEntry) bool { return n.Name == s.Name })
	}), servers)
	_, findings := Specs(&with, env)
	var bad []config.Finding
	for _, f := range findings {
		switch {
		case !slices.ContainsFunc(servers, func(s config.ServerEntry) bool { return s.File == f.File }):
		case f.Severity == config.SeverityError && f.Rule != ruleUnset:
			bad = append(bad, f)
		default:
			notes = append(notes, f)
		}
	}
	if len(bad) > 0 {
		return notes, &config.Error{Findings: bad}
	}
	return notes, nil
}

// Remove removes a server from the settings.
func (e *Editor) Remove(ctx context.Context, name string) error {
	return e.change(ctx, "mcp remove", name, config.Remove(name))
}

// Switch switches a server on or off in the settings. It needs no confirmation even if the server runs a command,
// because a person confirmed that when it was added.
func (e *Editor) Switch(ctx context.Context, name string, on bool) error {
	return e.change(ctx, map[bool]string{true: "mcp enable", false: "mcp disable"}[on], name, config.Switch(on, name))
}

// change changes a server in the file that defines it.
func (e *Editor) change(ctx context.Context, op, name string, change func([]byte) ([]byte, error)) error {
	e.changing.Lock()
	defer e.changing.Unlock()
	cfg := e.opts.Config()
	s, err := e.editable(cfg, op, name)
	if err != nil {
		return err
	}
	if err := e.edit(ctx, op, cfg, s.File, change); err != nil {
		return err
	}
	return e.opts.Changed(ctx, op, map[string]any{"servers": []string{name}, "file": s.File})
}

// editable returns a server that a person may change.
func (e *Editor) editable(cfg *config.Config, op, name string) (config.ServerEntry, error) {
	i := indexOf(cfg, name)
	if i < 0 {
		var known []string
		for _, s := range cfg.Servers {
			known = append(known, s.Name)
		}
		return config.ServerEntry{}, unknownServerError(op, name, known)
	}
	s := cfg.Servers[i]
	if s.Untrusted {
		return s, &tool.Error{Op: op, Kind: tool.Disabled, Subject: name, Message: "it belongs to a project that is not trusted: " + s.File, Hint: "collie mcp trust shows and trusts it"}
	}
	return s, nil
}

func (e *Editor) edit(ctx context.Context, op string, cfg *config.Config, file string, change func([]byte) ([]byte, error)) error {
	err := cfg.Edit(ctx, file, change)
	if _, wrong := errors.AsType[*config.Error](err); err == nil || wrong {
		return err
	}
	return &tool.Error{Op: op, Kind: tool.Invalid, Subject: file, Message: "the file was not changed", Err: err}
}

func indexOf(cfg *config.Config, name string) int {
	return slices.IndexFunc(cfg.Servers, func(s config.ServerEntry) bool { return s.Name == name })
}

// Importing is a request to import servers of another program.
type Importing struct {
	// From is the name of the program.
	From string `json:"from"`
	// Select has their names; a dry run shows all.
	Select []string `json:"select,omitempty"`
	DryRun bool     `json:"dryRun,omitempty"`
	// Typed must repeat [Imported.Type]: if a server runs a command, a person has to type the name of the program.
	Typed string `json:"typed,omitempty"`
}

// Imported is the result of [Editor.Import].
type Imported struct {
	hostadmin.Import
	File string `json:"file"`
	// Type is what a person has to type, because commands are run; empty for nothing.
	Type    string   `json:"type,omitempty"`
	Added   []string `json:"added"`
	Written bool     `json:"written"`
}

// Host is a program that has MCP servers in its own files.
type Host struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Servers is how many of its servers could be taken over.
	Servers int `json:"servers"`
}

// Hosts returns the programs whose files were found.
func (e *Editor) Hosts() ([]Host, error) {
	out := []Host{}
	cfg := e.opts.Config()
	plan, err := hostadmin.PlanImport(cfg, e.opts.Env, hostadmin.ImportOptions{Reserved: cfg.ReservedNames()})
	if err != nil {
		return nil, err
	}
	for _, h := range hostadmin.Hosts() {
		known, fresh := false, 0
		for _, s := range plan.Servers {
			if s.Host == h.Name {
				known = true
				if s.State == hostadmin.ImportNew {
					fresh++
				}
			}
		}
		if known {
			out = append(out, Host{h.Name, cmp.Or(h.Title, h.Name), fresh})
		}
	}
	return out, nil
}

// Import imports servers of another program. Secrets in their entries are moved to the secret store.
func (e *Editor) Import(ctx context.Context, n *Importing) (Imported, error) {
	const op = "mcp import"
	e.changing.Lock()
	defer e.changing.Unlock()
	cfg := e.opts.Config()
	if n.From == "" {
		return Imported{}, &tool.Error{Op: op, Kind: tool.Invalid, Subject: "from", Message: "from which program?", Hint: "GET /api/v1/mcp/hosts lists them"}
	}
	plan, err := hostadmin.PlanImport(cfg, e.opts.Env, hostadmin.ImportOptions{From: n.From, Select: n.Select, Reserved: cfg.ReservedNames()})
	if err != nil {
		return Imported{}, err
	}
	out := Imported{Import: *plan, File: e.opts.File(cfg), Added: []string{}}
	for _, s := range plan.Servers {
		if s.State == hostadmin.ImportNew {
			out.Added = append(out.Added, s.Name)
			if runsCommand(parsedEntry(s.Name, s.Entry)) {
				out.Type = n.From
			}
		}
	}
	if n.DryRun || len(out.Added) == 0 {
		return out, nil
	}
	if strings.TrimSpace(n.Typed) != out.Type {
		return Imported{}, notTypedError(op, out.Type)
	}
	if err := moveSecrets(ctx, cfg, plan); err != nil {
		return Imported{}, err
	}
	entries, err := plan.Entries(pasted, filepath.Dir(out.File))
	if err == nil {
		err = e.edit(ctx, op, cfg, out.File, config.Add(entries, false))
	}
	if err != nil {
		return Imported{}, err
	}
	out.Written = true
	return out, e.opts.Changed(ctx, op, map[string]any{"servers": out.Added, "file": out.File, "from": plan.Files})
}

// moveSecrets moves the secrets of new entries into the secret store.
func moveSecrets(ctx context.Context, cfg *config.Config, plan *hostadmin.Import) error {
	if len(plan.Secrets()) == 0 {
		return nil
	}
	store, err := secretadmin.Open(cfg, nil)
	if err != nil {
		return err
	}
	var broken error
	stored := func(name string) (string, bool) {
		value, ok, err := store.Get(ctx, name)
		broken = errors.Join(broken, err)
		return value, ok && err == nil
	}
	return plan.MoveSecrets(stored, func(name, value string) error {
		if broken != nil {
			return broken
		}
		return store.Set(ctx, name, value)
	})
}

// SwitchTool switches one tool of a server on or off, whatever the patterns for tools in its entry say.
func (e *Editor) SwitchTool(ctx context.Context, server, name string, on bool) error {
	value, err := json.Marshal(on)
	if err != nil {
		return err
	}
	return e.change(ctx, "config set", server, config.SetInServer(server, []string{"tools", "override", name, "enabled"}, value))
}

// DescribeTool sets the alias and the description that clients see for a tool of a server. An empty value restores the
// server's own.
func (e *Editor) DescribeTool(ctx context.Context, server, name, alias, description string) error {
	if !entry.ValidAlias(alias) {
		return &tool.Error{Op: "describe tool", Kind: tool.Invalid, Subject: alias, Message: "this is not a name for a tool", Hint: "letters, digits, _ and -, at most 64"}
	}
	if len(description) > maxDescription {
		return &tool.Error{Op: "describe tool", Kind: tool.Invalid, Subject: name, Message: fmt.Sprintf("a description has at most %d bytes", maxDescription)}
	}
	texts := [][2]string{{"alias", alias}, {"description", description}}
	return e.change(ctx, "config set", server, func(text []byte) ([]byte, error) {
		for _, member := range texts {
			var value json.RawMessage
			if member[1] != "" {
				quoted, err := json.Marshal(member[1])
				if err != nil {
					return nil, err
				}
				value = quoted
			}
			var err error
			if text, err = config.SetInServer(server, []string{"tools", "override", name, member[0]}, value)(text); err != nil {
				return nil, err
			}
		}
		return text, nil
	})
}

// maxDescription is the limit for the description of a tool, in bytes. It is sent with each list of tools.
const maxDescription = 8 << 10
