package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tailscale/hujson"

	"collie/internal/jsonc"
)

// ProjectFile is where a project's folder has its settings.
var ProjectFile = filepath.Join(".collie", FileName)

// Project is the settings file of a folder. It starts programs, so a person has to look at it
// before it counts: the decision is bound to its path and to every byte of it.
//
// Of such a file only servers and the inputs they ask for count. Everything else in it, such as
// the listener, the audit, limits or profiles, is named in a warning and has no effect: whoever
// can put a file into a folder must not change how Collie itself behaves.
type Project struct {
	// Dir is the project's folder, and File its settings in it; absolute, symbolic links in Dir
	// resolved.
	Dir, File string
	// SHA256 is that of the whole file, hexadecimal.
	SHA256 string
	State  TrustState
	// Servers are all that the file defines, as it defines them, trusted or not.
	Servers []ServerEntry
	Inputs  []Input
	// Findings are what is wrong with the file; empty if it was not read.
	Findings []Finding
}

// ErrNoProject says that a folder has no settings of its own.
var ErrNoProject = errors.New("there is no " + filepath.ToSlash(ProjectFile) + " in this folder")

// FindProject reads the settings of the folder dir, and what was decided about them. The error
// is [ErrNoProject] if it has none, or if they are the user's own. What is wrong in the file is
// in Findings.
func FindProject(paths Paths, dir string) (*Project, error) {
	p, text, err := openProject(paths, dir)
	if err != nil {
		return nil, err
	}
	decisions, err := readTrust(paths)
	p.State = decisions.state(p)
	p.parse(text)
	return p, err
}

// openProject reads the bytes that are hashed, shown and used: one reading serves all three.
func openProject(paths Paths, dir string) (*Project, []byte, error) {
	file := ProjectPath(dir)
	p := &Project{Dir: filepath.Dir(filepath.Dir(file)), File: file, State: Untrusted}
	info, err := os.Stat(file)
	own, _ := os.Stat(paths.ConfigFile) // nil if there is none, which is not a project's file
	switch {
	case errors.Is(err, fs.ErrNotExist) || own != nil && os.SameFile(info, own):
		return nil, nil, fmt.Errorf("%w: %s", ErrNoProject, p.Dir)
	case err != nil:
		return nil, nil, fmt.Errorf("read project: %w", err)
	}
	text, err := readPlain(file)
	if err != nil {
		return nil, nil, fmt.Errorf("read project %q: %w", file, err)
	}
	p.SHA256 = digest(text)
	return p, text, nil
}

// ProjectPath is the path of the settings of the folder dir, under which trust is kept; the file
// need not exist.
func ProjectPath(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(dir, ProjectFile)
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// parse reads servers and inputs, and warns about all else.
func (p *Project) parse(text []byte) {
	var d decoder
	c := defaults(Paths{})
	c.Project = p
	if err := c.read(&d, p.File, text); err != nil { // says nothing about the text
		d.findings = append(d.findings, Finding{File: p.File, Rule: "syntax", Severity: SeverityError, Message: err.Error()})
	}
	p.Servers, p.Inputs, p.Findings = c.Servers, c.Inputs, d.findings
	for i := range p.Servers {
		p.Servers[i].Workspace = p.Dir
	}
}

// projectFields is a project's file: what counts in it, and a warning for each known section
// that does not.
func (c *Config) projectFields() fields {
	out := fields{}
	for name, f := range c.fields() {
		switch name {
		case "mcpServers", "servers", "inputs", "$schema":
			out[name] = f
		default:
			out[name] = field{func(d *decoder, n node) {
				d.report(n, n.value.StartOffset, "project", SeverityWarning,
					"a project's file cannot set this; it counts only in your own settings")
			}, func() any { return nil }}
		}
	}
	return out
}

// readProject adds what the project in dir has, if it has anything.
func (c *Config) readProject(d *decoder, dir string) {
	warn := func(file, rule, message string) {
		d.findings = append(d.findings, Finding{File: file, Rule: rule, Severity: SeverityWarning, Message: message})
	}
	p, err := FindProject(c.Paths, dir)
	if errors.Is(err, ErrNoProject) {
		return
	}
	if err != nil {
		warn(trustFile(c.Paths), "trust", fmt.Sprintf("no project is trusted: %v", err))
	}
	if p == nil {
		return
	}
	c.Project = p
	if p.State != Trusted {
		warn(p.File, string(p.State), map[TrustState]string{
			Untrusted: "the servers of this project are not used; collie mcp trust shows them and asks",
			Changed:   "this file has changed since it was trusted, so its servers are not used; collie mcp trust shows them and asks",
		}[p.State])
		c.addUntrusted(p.Servers)
		return
	}
	d.findings = append(d.findings, p.Findings...)
	for _, s := range p.Servers {
		i := slices.IndexFunc(c.Servers, func(own ServerEntry) bool { return own.Name == s.Name })
		if i < 0 {
			c.Servers = append(c.Servers, s)
		} else {
			c.Servers[i] = s // a project beats the user
		}
	}
	for _, in := range p.Inputs {
		if !slices.ContainsFunc(c.Inputs, func(own Input) bool { return own.ID == in.ID }) {
			c.Inputs = append(c.Inputs, in)
		}
	}
}

// addUntrusted lists servers that must not run. They never stand in for the user's own.
func (c *Config) addUntrusted(servers []ServerEntry) {
	for _, s := range servers {
		if slices.ContainsFunc(c.Servers, func(own ServerEntry) bool { return own.Name == s.Name }) {
			continue
		}
		s.Untrusted, s.Raw = true, harmlessEntry(s.at.value)
		c.Servers = append(c.Servers, s)
	}
}

// shownMembers are what is shown of a server that nobody has trusted.
var shownMembers = []string{"type", "command", "args", "url", "displayName", "description"}

// harmlessEntry is an entry that is switched off whoever reads it, and in which nothing is left
// that makes its reader open files.
func harmlessEntry(v *hujson.Value) json.RawMessage {
	out := hujson.Value{Value: &hujson.Object{Members: []hujson.ObjectMember{
		{Name: hujson.Value{Value: hujson.String("disabled")}, Value: hujson.Value{Value: hujson.Bool(true)}},
	}}}
	if o, ok := v.Value.(*hujson.Object); ok {
		kept := out.Value.(*hujson.Object)
		for _, name := range shownMembers {
			if m := jsonc.Member(o, name); m != nil {
				kept.Members = append(kept.Members, hujson.ObjectMember{
					Name: hujson.Value{Value: hujson.String(name)}, Value: m.Value.Clone(),
				})
			}
		}
	}
	return jsonc.Standard(&out)
}
