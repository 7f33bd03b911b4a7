package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"collie/internal/config"
	"collie/internal/lazyregexp"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/hosts"
	"collie/internal/tool"
)

// This file plans which servers of other programs are added to the settings, and under which names.

// ImportOptions says which servers of other programs are wanted.
type ImportOptions struct {
	// From is the name of a host. Empty or "auto" means all hosts, or the one that File belongs to.
	From string
	// File is read instead of the host's usual files.
	File string
	// Dir is an absolute path of a project whose files are read as well; empty means none.
	Dir string
	// OnlyHere leaves out servers of projects other than Dir.
	OnlyHere bool
	// Select has names of servers, in our settings or in the host's; nil means all.
	Select []string
	// KeepApprovals carries over which tools run without asking a person.
	KeepApprovals bool
	// Reserved are names that no server may have, in lower case.
	Reserved []string
}

// The states of an imported server.
const (
	ImportNew     = "new"
	importSame    = "unchanged" // we have it already, perhaps changed by the user
	ImportSkipped = "skipped"
)

// importedServer is one server of another program.
type importedServer struct {
	Name      string          `json:"name"`            // in our settings
	From      string          `json:"from"`            // the host's name for it
	Host      string          `json:"host"`            // the name of the host
	File      string          `json:"file"`            // file it was found in
	Project   string          `json:"project"`         // folder of its project; empty for a user's own server
	Transport string          `json:"transport"`       // stdio, http or sse; empty if skipped
	State     string          `json:"state"`           // new, unchanged or skipped
	Why       string          `json:"why,omitempty"`   // why it is skipped
	Entry     json.RawMessage `json:"entry,omitempty"` // the new entry, with its secrets moved to the store
	// Secrets are the names that the secrets in its text would get in the store.
	Secrets []string `json:"secrets,omitempty"`
	// Approvals are the tools that run in the host without asking, "*" for all. They are carried over only with
	// KeepApprovals.
	Approvals []string `json:"approvals,omitempty"`
	// Differences lists what is not carried over or means something else; a phrase each.
	Differences []string `json:"differences"`

	entry hosts.Entry // with secrets as text
}

// Import is a planned import.
type Import struct {
	Files   []string         `json:"files"` // files that were read
	Servers []importedServer `json:"servers"`
	// Problems are the errors of files that could not be read.
	Problems []error `json:"-"`
}

// PlanImport reads other programs' files and decides which of their servers would be added to our settings, under
// which names. It writes no file. A server is not new if we have it under its name or under a name from an earlier
// import. If it differs only in how it is treated, our settings stay.
func PlanImport(cfg *config.Config, env config.Env, o ImportOptions) (*Import, error) {
	plan := &Import{Files: []string{}, Servers: []importedServer{}}
	if err := plan.read(env, o); err != nil {
		return nil, err
	}
	names := newNames(cfg, o.Reserved)
	for i := range plan.Servers {
		plan.Servers[i].assignName(names, o.KeepApprovals)
	}
	return plan, plan.choose(o.Select)
}

// read collects the servers under their hosts' names.
func (p *Import) read(env config.Env, o ImportOptions) error {
	if o.File != "" {
		return p.readOne(env, o)
	}
	list := hosts.All()
	named := o.From != "" && o.From != "auto"
	if named {
		h, err := hosts.Find(o.From)
		if err != nil {
			return err
		}
		list = []hosts.Host{h}
	}
	var looked []string
	for _, h := range list {
		for _, place := range h.Places(systemOf(env, o.Dir)) {
			looked = append(looked, place.File)
			found, err := h.Read(place)
			switch {
			case errors.Is(err, fs.ErrNotExist) || slices.Contains(p.Files, place.File):
			case err != nil && named:
				return err
			case err != nil:
				p.Problems = append(p.Problems, err)
			default:
				p.add(h, place, found, o)
			}
		}
	}
	if named && len(p.Files) == 0 {
		return &tool.Error{
			Op: "mcp import", Kind: tool.NotFound, Subject: o.From, Message: "it has no file here",
			Hint: "looked at " + strings.Join(looked, ", ") + "; --file names another",
		}
	}
	return nil
}

func (p *Import) readOne(env config.Env, o ImportOptions) error {
	file, err := filepath.Abs(o.File)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		kind := tool.Invalid
		if errors.Is(err, fs.ErrNotExist) {
			kind = tool.NotFound
		}
		return &tool.Error{Op: "mcp import", Kind: kind, Subject: o.File, Err: err}
	}
	h, err := hosts.Recognize(file, text)
	if o.From != "" && o.From != "auto" {
		h, err = hosts.Find(o.From)
	}
	if err != nil {
		return err
	}
	place := hosts.Place{File: file, Project: projectOf(h, env, file)}
	found, err := h.Parse(place, text)
	if err != nil {
		return err
	}
	p.add(h, place, found, o)
	return nil
}

// projectOf returns the project folder to which file belongs: file lies where the host keeps a project's servers, and
// is not the user's own file.
func projectOf(h hosts.Host, env config.Env, file string) string {
	for _, place := range h.Places(systemOf(env, "")) {
		if place.Project == "" && withoutLinks(place.File) == withoutLinks(file) {
			return ""
		}
	}
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		for _, place := range h.Places(hosts.System{Dir: dir}) {
			if place.Project != "" && place.File == file {
				return place.Project
			}
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

func (p *Import) add(h hosts.Host, place hosts.Place, found []hosts.Found, o ImportOptions) {
	p.Files = append(p.Files, place.File)
	for _, f := range found {
		if o.OnlyHere && f.Project != "" && f.Project != o.Dir {
			continue
		}
		s := importedServer{
			From: f.Name, Host: h.Name, File: place.File, Project: f.Project,
			Why: f.Skip, Differences: append([]string{}, f.Notes...), entry: f.Entry,
		}
		if f.Skip == "" {
			s.Transport = f.Entry.Transport()
		}
		p.Servers = append(p.Servers, s)
	}
}

// choose drops the servers that were not selected.
func (p *Import) choose(wanted []string) error {
	if wanted == nil {
		return nil
	}
	var known []string
	for _, s := range p.Servers {
		known = append(known, s.Name, s.From)
	}
	for _, w := range wanted {
		if slices.Contains(known, w) {
			continue
		}
		e := &tool.Error{Op: "mcp import", Kind: tool.NotFound, Subject: w, Message: "no server of that name was found"}
		if near, ok := tool.Nearest(w, known); ok {
			e.Hint = "did you mean " + near + "?"
		}
		return e
	}
	p.Servers = slices.DeleteFunc(p.Servers, func(s importedServer) bool {
		return !slices.Contains(wanted, s.Name) && !slices.Contains(wanted, s.From)
	})
	return nil
}

// assignName gives a server its name and its state.
func (s *importedServer) assignName(names *nameAssigner, keepApprovals bool) {
	if s.Approvals = s.entry.Approvals(); s.Approvals != nil && !keepApprovals {
		s.entry = s.entry.WithoutApprovals()
		s.Differences = append(s.Differences, "approvals ("+strings.Join(s.Approvals, ", ")+"): not carried; --keep-approvals does")
	}
	if s.Why == "" && s.entry.IsGateway() {
		s.Why = "it is Collie itself"
	}
	name := nameFrom(s.From, s.entry.JSON())
	if name != s.From {
		s.entry = s.entry.Named(s.From)
	}
	if s.Why == "" {
		s.Why = unfitFor(name, s.entry.JSON())
	}
	s.Secrets = s.entry.Secrets(name, entry.LooksSecret)
	if s.Why != "" {
		s.Name, s.State = name, ImportSkipped
		return
	}
	s.Name, s.State = names.assign(name, s.entry)
	s.Entry = s.entry.Hide(name, entry.LooksSecret, func(suggested, _ string) string { return suggested }).JSON()
}

// unfitFor returns why an entry could never work; empty if it could.
func unfitFor(name string, raw json.RawMessage) string {
	_, problems := entry.Parse(name, raw, entry.Options{
		Dir: string(filepath.Separator), Env: func(string) (string, bool) { return "x", true },
		Secret: func(string) (string, bool) { return "x", true }, ReadFile: func(string) ([]byte, error) { return nil, nil },
	})
	for _, p := range problems {
		open := p.Rule == entry.RuleUnset || p.Rule == "url" && strings.Contains(string(raw), "${") // fine if the variable is set
		if p.Severity == entry.SeverityError && !open {
			return strings.TrimPrefix(p.Pointer+": ", ": ") + p.Message
		}
	}
	return ""
}

// nameAssigner assigns names to servers.
type nameAssigner struct {
	taken map[string]hosts.Entry // entries by lower-case name
	as    map[string]string      // spelling by lower-case name
}

func newNames(cfg *config.Config, reserved []string) *nameAssigner {
	n := &nameAssigner{map[string]hosts.Entry{}, map[string]string{}}
	for _, r := range reserved {
		n.taken[r], n.as[r] = hosts.Entry{}, r
	}
	for _, s := range cfg.Servers {
		e, _, _ := hosts.ParseEntry(s.Raw, "") // an invalid entry gives an empty one, which equals no other
		low := strings.ToLower(s.Name)
		n.taken[low], n.as[low] = e, s.Name
	}
	return n
}

// assign returns the first of name, name-2, name-3, … that is free or belongs to the same server.
func (n *nameAssigner) assign(name string, e hosts.Entry) (given, state string) {
	for i := 1; ; i++ {
		given = name
		if i > 1 {
			suffix := "-" + strconv.Itoa(i)
			given = name[:min(len(name), longestName-len(suffix))] + suffix
		}
		low := strings.ToLower(given)
		existing, taken := n.taken[low]
		switch {
		case !taken:
			n.taken[low], n.as[low] = e, given
			return given, ImportNew
		case hosts.Same(existing, e, entry.LooksSecret):
			return n.as[low], importSame
		}
	}
}

var unfitLower = lazyregexp.New(`[^a-z0-9_-]+`)

// nameFrom derives a valid name from a host's name for a server.
func nameFrom(name string, raw json.RawMessage) string {
	if len(name) <= longestName && name != "" && !unfitChars.MatchString(name) {
		return name
	}
	s := strings.Trim(unfitLower.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if s == "" {
		s = NameFor(raw)
	}
	if s == "" {
		s = "server"
	}
	return strings.TrimRight(s[:min(len(s), longestName)], "-")
}

// Secrets returns the names of all secrets that new servers hold as text.
func (p *Import) Secrets() []string {
	var list []string
	for _, s := range p.Servers {
		if s.State == ImportNew {
			list = append(list, s.Secrets...)
		}
	}
	return list
}

// MoveSecrets calls move for each secret of a new server, to store it, and puts a reference in its place. stored looks
// up a stored secret: a name that holds a different secret is not reused.
func (p *Import) MoveSecrets(stored func(name string) (string, bool), move func(name, value string) error) error {
	var failed error
	names := map[string]string{} // secret by name
	for i := range p.Servers {
		s := &p.Servers[i]
		if s.State != ImportNew {
			continue
		}
		s.entry = s.entry.Hide(s.Name, entry.LooksSecret, func(suggested, secret string) string {
			name := suggested
			for n := 2; ; n++ {
				value, used := names[name]
				if !used {
					value, used = stored(name)
				}
				if !used || value == secret {
					break
				}
				name = suggested + "_" + strconv.Itoa(n)
			}
			if _, moved := names[name]; !moved && failed == nil {
				if failed = move(name, secret); failed != nil {
					failed = fmt.Errorf("keep secret %s: %w", name, failed)
				}
			}
			names[name] = secret
			return name
		})
		s.Entry = s.entry.JSON()
	}
	return failed
}

// Entries returns the new servers for a settings file in the folder dir. name is the origin to show in messages.
func (p *Import) Entries(name, dir string) ([]config.ServerEntry, error) {
	var text []byte
	for _, s := range p.Servers {
		if s.State == ImportNew {
			text = append(text, ',')
			text = append(append(strconv.AppendQuote(text, s.Name), ':'), s.entry.JSON()...) // quoting is safe: names are ASCII
		}
	}
	if text == nil {
		return nil, nil
	}
	text[0] = '{'
	return config.Snippet(name, dir, slices.Concat([]byte(`{"mcpServers":`), text, []byte("}}")))
}

// NameFor proposes a name for a server without one: the package that a runner runs, without scope and version; empty
// if that cannot be told.
func NameFor(raw json.RawMessage) string {
	e, _ := entry.Parse("", raw, entry.Options{Env: func(string) (string, bool) { return "", true }})
	name := path.Base(e.Package)
	if i := strings.LastIndexAny(name, "@:="); i > 0 {
		name = name[:i]
	}
	for _, prefix := range []string{"mcp-server-", "server-"} {
		if short, ok := strings.CutPrefix(name, prefix); ok && short != "" {
			name = short
			break
		}
	}
	name = strings.Trim(unfitChars.ReplaceAllString(name, "-"), "-")
	return name[:min(len(name), longestName)]
}

// unfitChars matches characters that a server's name cannot have.
var unfitChars = lazyregexp.New(`[^A-Za-z0-9_-]+`)

const longestName = 64
