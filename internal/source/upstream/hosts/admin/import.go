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

// ImportOptions say which servers of other programs are wanted.
type ImportOptions struct {
	// From is a host's name; empty or "auto" means all hosts, or whichever File belongs to.
	From string
	// File is read instead of the places where hosts keep their servers.
	File string
	// Dir is the project whose files are looked at too; absolute. Empty means none.
	Dir string
	// OnlyHere leaves out servers that are for other projects than Dir.
	OnlyHere bool
	// Select are names of servers, ours or the host's; nil means all.
	Select []string
	// KeepApprovals carries over what runs without asking a person.
	KeepApprovals bool
	// Reserved are names that no server may have, in lower case.
	Reserved []string
}

// The states of an imported server.
const (
	ImportNew     = "new"
	importSame    = "unchanged" // it is there already, as it is or changed by its owner
	ImportSkipped = "skipped"
)

// imported is one server that another program has.
type imported struct {
	Name      string          `json:"name"`            // ours
	From      string          `json:"from"`            // what the host calls it
	Host      string          `json:"host"`            // the host's name
	File      string          `json:"file"`            // where it stands
	Project   string          `json:"project"`         // the folder it is for; empty for a user's own
	Transport string          `json:"transport"`       // stdio, http or sse; empty if it is skipped
	State     string          `json:"state"`           // new, unchanged or skipped
	Why       string          `json:"why,omitempty"`   // it is skipped
	Entry     json.RawMessage `json:"entry,omitempty"` // as it would stand with its secrets moved
	// Secrets stand in it as text; what they would be called.
	Secrets []string `json:"secrets,omitempty"`
	// Approvals are tools that run there without asking, "*" for all; they are not carried unless
	// that was asked for.
	Approvals []string `json:"approvals,omitempty"`
	// Differences are what is not carried, or means something else; a phrase each.
	Differences []string `json:"differences"`

	entry hosts.Entry // secrets as text
}

// Import is what an import would do.
type Import struct {
	Files   []string   `json:"files"` // that were read
	Servers []imported `json:"servers"`
	// Problems are files that could not be read.
	Problems []error `json:"-"`
}

// PlanImport reads other programs' files and works out which of their servers would get into
// ours, under which names. Nothing is written. A server that we have already, under its name or
// one that an earlier import gave it, is not new; of one that differs only in how it is
// treated, what we have counts.
func PlanImport(cfg *config.Config, env config.Env, o ImportOptions) (*Import, error) {
	plan := &Import{Files: []string{}, Servers: []imported{}}
	if err := plan.read(env, o); err != nil {
		return nil, err
	}
	names := newNames(cfg, o.Reserved)
	for i := range plan.Servers {
		plan.Servers[i].decide(names, o.KeepApprovals)
	}
	return plan, plan.choose(o.Select)
}

// read finds the servers; their names are not ours yet.
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
		for _, place := range h.Places(system(env, o.Dir)) {
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
			Op: "mcp import", Kind: tool.Unknown, Subject: o.From, Message: "it has no file here",
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
		return &tool.Error{Op: "mcp import", Kind: tool.Invalid, Subject: o.File, Err: err}
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

// projectOf is the folder that a file is about if it lies where the host looks for a project's, and is
// not the user's own.
func projectOf(h hosts.Host, env config.Env, file string) string {
	for _, place := range h.Places(system(env, "")) {
		if place.Project == "" && followed(place.File) == followed(file) {
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
		s := imported{
			From: f.Name, Host: h.Name, File: place.File, Project: f.Project,
			Why: f.Skip, Differences: append([]string{}, f.Notes...), entry: f.Entry,
		}
		if f.Skip == "" {
			s.Transport = f.Entry.Transport()
		}
		p.Servers = append(p.Servers, s)
	}
}

// choose leaves the selected servers.
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
		e := &tool.Error{Op: "mcp import", Kind: tool.Unknown, Subject: w, Message: "no server of that name was found"}
		if near, ok := tool.Nearest(w, known); ok {
			e.Hint = "did you mean " + near + "?"
		}
		return e
	}
	p.Servers = slices.DeleteFunc(p.Servers, func(s imported) bool {
		return !slices.Contains(wanted, s.Name) && !slices.Contains(wanted, s.From)
	})
	return nil
}

// decide gives a server its name and its state.
func (s *imported) decide(names *names, keepApprovals bool) {
	if s.Approvals = s.entry.Approvals(); s.Approvals != nil && !keepApprovals {
		s.entry = s.entry.WithoutApprovals()
		s.Differences = append(s.Differences, "approvals ("+strings.Join(s.Approvals, ", ")+"): not carried; --keep-approvals does")
	}
	if s.Why == "" && s.entry.IsGateway() {
		s.Why = "it is Collie itself"
	}
	name := slug(s.From, s.entry.JSON())
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
	s.Name, s.State = names.give(name, s.entry)
	s.Entry = s.entry.Hide(name, entry.LooksSecret, func(suggested, _ string) string { return suggested }).JSON()
}

// unfitFor is why an entry could never work; empty if it could.
func unfitFor(name string, raw json.RawMessage) string {
	_, problems := entry.Parse(name, raw, entry.Options{
		Dir: string(filepath.Separator), Env: func(string) (string, bool) { return "x", true },
		Secret: func(string) (string, bool) { return "x", true }, ReadFile: func(string) ([]byte, error) { return nil, nil },
	})
	for _, p := range problems {
		open := p.Rule == entry.RuleUnset || p.Rule == "url" && strings.Contains(string(raw), "${") // its value may do
		if p.Severity == entry.SeverityError && !open {
			return strings.TrimPrefix(p.Pointer+": ", ": ") + p.Message
		}
	}
	return ""
}

// names gives servers their names.
type names struct {
	taken map[string]hosts.Entry // by the name in lower case
	as    map[string]string      // how it is written
}

func newNames(cfg *config.Config, reserved []string) *names {
	n := &names{map[string]hosts.Entry{}, map[string]string{}}
	for _, r := range reserved {
		n.taken[r], n.as[r] = hosts.Entry{}, r
	}
	for _, s := range cfg.Servers {
		e, _, _ := hosts.ParseEntry(s.Raw, "") // what is not an entry is nobody's equal
		low := strings.ToLower(s.Name)
		n.taken[low], n.as[low] = e, s.Name
	}
	return n
}

// give returns the first of name, name-2, name-3, … that is free or has the same server.
func (n *names) give(name string, e hosts.Entry) (given, state string) {
	for i := 1; ; i++ {
		given = name
		if i > 1 {
			suffix := "-" + strconv.Itoa(i)
			given = name[:min(len(name), longestName-len(suffix))] + suffix
		}
		low := strings.ToLower(given)
		there, taken := n.taken[low]
		switch {
		case !taken:
			n.taken[low], n.as[low] = e, given
			return given, ImportNew
		case hosts.Same(there, e, entry.LooksSecret):
			return n.as[low], importSame
		}
	}
}

var unfitLower = lazyregexp.New(`[^a-z0-9_-]+`)

// slug makes a name for a server of what a host calls it.
func slug(name string, raw json.RawMessage) string {
	if len(name) <= longestName && name != "" && !unfit.MatchString(name) {
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

// Secrets are all secrets that new servers hold as text, by what they would be called.
func (p *Import) Secrets() []string {
	var list []string
	for _, s := range p.Servers {
		if s.State == ImportNew {
			list = append(list, s.Secrets...)
		}
	}
	return list
}

// MoveSecrets hands each secret of a new server to move, which keeps it, and puts a reference in
// its place. kept looks up what is kept already: a name that holds another secret is
// not used again.
func (p *Import) MoveSecrets(kept func(name string) (string, bool), move func(name, value string) error) error {
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
				there, used := names[name]
				if !used {
					there, used = kept(name)
				}
				if !used || there == secret {
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

// Entries are the new servers as they are to be written, for a file in the folder dir; name is
// what messages call where they come from.
func (p *Import) Entries(name, dir string) ([]config.ServerEntry, error) {
	var text []byte
	for _, s := range p.Servers {
		if s.State == ImportNew {
			text = append(text, ',')
			text = append(append(strconv.AppendQuote(text, s.Name), ':'), s.entry.JSON()...) // names are ASCII
		}
	}
	if text == nil {
		return nil, nil
	}
	text[0] = '{'
	return config.Snippet(name, dir, slices.Concat([]byte(`{"mcpServers":`), text, []byte("}}")))
}

// NameFor proposes a name for a server whose entry has none: what a package runner runs,
// without scope and version; empty where that cannot be told.
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
	name = strings.Trim(unfit.ReplaceAllString(name, "-"), "-")
	return name[:min(len(name), longestName)]
}

// unfit is what a server's name cannot hold.
var unfit = lazyregexp.New(`[^A-Za-z0-9_-]+`)

const longestName = 64
