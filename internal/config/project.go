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

// This file reads the settings file of a project, whose servers run only after a person has trusted the file.

// ProjectFile is the path of the settings file in a project's folder.
var ProjectFile = filepath.Join(".collie", FileName)

// Project is the settings file of a folder. Since it can start programs, it is used only after a person has
// looked at it and trusted it; the decision is bound to its path and its exact content.
//
// Only the servers in such a file and the inputs they need are used. Anything else in it, such as listener,
// audit, limits or profiles, causes a warning and has no effect: whoever can put a file into a folder must
// not be able to change how Collie itself behaves.
type Project struct {
	// Dir is the project's folder with symbolic links resolved, File the settings file in it; both absolute.
	Dir, File string
	// SHA256 is the hexadecimal hash of the whole file.
	SHA256 string
	State  TrustState
	// Servers are all servers in the file, trusted or not.
	Servers []ServerEntry
	Inputs  []Input
	// Findings are the problems in the file; empty if it was not read.
	Findings []Finding
}

// ErrNoProject says that a folder has no settings file.
var ErrNoProject = errors.New("there is no " + filepath.ToSlash(ProjectFile) + " in this folder")

// FindProject reads the settings of the folder dir and the decision about them. The error is [ErrNoProject]
// if there are none or if they are the user's own. Problems in the file are in Findings.
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

// openProject reads the file once, so that the hashed, shown and used bytes are the same.
func openProject(paths Paths, dir string) (*Project, []byte, error) {
	file := ProjectPath(dir)
	p := &Project{Dir: filepath.Dir(filepath.Dir(file)), File: file, State: Untrusted}
	info, err := os.Stat(file)
	userFile, _ := os.Stat(paths.ConfigFile) // nil if there is no such file; then it cannot be the project's file
	switch {
	case errors.Is(err, fs.ErrNotExist) || userFile != nil && os.SameFile(info, userFile):
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

// ProjectPath returns the path of the settings of the folder dir, under which trust is stored. The file need
// not exist.
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

// parse reads servers and inputs, and warns about everything else.
func (p *Project) parse(text []byte) {
	var d decoder
	c := defaultConfig(Paths{})
	c.Project = p
	if err := c.read(&d, p.File, text); err != nil { // this error is not about the text
		d.findings = append(d.findings, Finding{File: p.File, Rule: "syntax", Severity: SeverityError, Message: err.Error()})
	}
	p.Servers, p.Inputs, p.Findings = c.Servers, c.Inputs, d.findings
	for i := range p.Servers {
		p.Servers[i].Workspace = p.Dir
	}
}

// projectFields returns the fields of a project's file: servers and inputs, and a warning for each other section.
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

// readProject adds the servers of the project in dir, if there is one.
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
		i := slices.IndexFunc(c.Servers, func(known ServerEntry) bool { return known.Name == s.Name })
		if i < 0 {
			c.Servers = append(c.Servers, s)
		} else {
			c.Servers[i] = s // the project's entry replaces the user's
		}
	}
	for _, in := range p.Inputs {
		if !slices.ContainsFunc(c.Inputs, func(known Input) bool { return known.ID == in.ID }) {
			c.Inputs = append(c.Inputs, in)
		}
	}
}

// addUntrusted lists servers that must not run. They never replace servers of the user.
func (c *Config) addUntrusted(servers []ServerEntry) {
	for _, s := range servers {
		if slices.ContainsFunc(c.Servers, func(known ServerEntry) bool { return known.Name == s.Name }) {
			continue
		}
		s.Untrusted, s.Raw = true, harmlessEntry(s.at.value)
		c.Servers = append(c.Servers, s)
	}
}

// shownMembers are the members of an untrusted entry that may be shown.
var shownMembers = []string{"type", "command", "args", "url", "displayName", "description"}

// harmlessEntry returns an entry that is switched off for every reader and does not make a reader open files.
func harmlessEntry(v *hujson.Value) json.RawMessage {
	out := hujson.Value{Value: &hujson.Object{Members: []hujson.ObjectMember{
		{Name: hujson.Value{Value: hujson.String("disabled")}, Value: hujson.Value{Value: hujson.Bool(true)}},
	}}}
	if o, ok := v.Value.(*hujson.Object); ok {
		members := out.Value.(*hujson.Object)
		for _, name := range shownMembers {
			if m := jsonc.Member(o, name); m != nil {
				members.Members = append(members.Members, hujson.ObjectMember{
					Name: hujson.Value{Value: hujson.String(name)}, Value: m.Value.Clone(),
				})
			}
		}
	}
	return jsonc.Standard(&out)
}
