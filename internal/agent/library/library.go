// Package library reads the files that a person writes for agents: named agents, context entries and skills, each Markdown
// with YAML front matter, and the AGENTS.md of a project. They are read anew at each use, so that a change counts from the
// next turn on, and nothing has to be watched.
//
// The entry point is [Read]. The package knows nothing of trust: it reads what it is pointed at, so a project that is not
// trusted is not named to it. Every file is bounded, a link that leads out of its folder is refused, and what is wrong
// with one file keeps none of the others from being used.
package library

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"collie/internal/tool"
)

// Bounds of what is read.
const (
	maxFile      = 256 << 10 // bytes of one file
	maxFiles     = 200       // of one kind in one folder
	maxRules     = 32 << 10  // bytes of a project's AGENTS.md
	maxName      = 64        // bytes
	maxAbout     = 1 << 10   // bytes of a description
	maxList      = 64        // values of a list
	maxText      = 200       // bytes of a value in a list
	agentsFolder = "agents"
	entryFolder  = "context"
	skillFolder  = "skills"
	skillFile    = "SKILL.md"
	rulesFile    = "AGENTS.md"
)

// Places are the folders to read. An empty one is left out.
type Places struct {
	Config string // the person's own: agents, context and skills in it
	// Project is the folder of a project that the person trusts: its AGENTS.md, and the same three in its .collie. Where a
	// name is in both, the person's own counts: a project is not to change what a name means.
	Project string
}

// Library is what was read. It is never changed.
type Library struct {
	Agents  []Agent // by name
	Entries []Entry // by order, then name
	Skills  []Skill // by name
	// Rules is the text of the project's AGENTS.md, RulesFile its path; empty without one.
	Rules, RulesFile string
	// Problems are the files that are not used, and why.
	Problems []Problem
}

// Agent is a named way to answer. It only ever narrows what the person allows.
type Agent struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Engine      string `json:"engine,omitempty"`
	Model       string `json:"model,omitempty"` // MODEL or PROVIDER/MODEL
	// Tools and Deny are patterns of exposed names, as in a session; no Tools means all.
	Tools   []string `json:"tools,omitempty"`
	Deny    []string `json:"denyTools,omitempty"`
	Profile string   `json:"profile,omitempty"`
	// Level is the most it may do: r reads, rw changes what can be changed back, rwd or nothing bounds nothing.
	Level string `json:"level,omitempty"`
	// Command starts the agent of another program, for the engine cli, and Env names the variables that it gets of our
	// environment beside those that every program needs. Only a person's own file may have them.
	Command []string `json:"command,omitempty"`
	Env     []string `json:"env,omitempty"`
	Prompt  string   `json:"prompt"`
	File    string   `json:"file,omitempty"`    // empty for one that [Library.Find] has found
	Project bool     `json:"project,omitempty"` // it is the project's
}

// Entry is a text that enters the prompt where one of its keywords was said.
type Entry struct {
	Name     string   `json:"name"`
	Keywords []string `json:"keywords"`
	Agents   []string `json:"agents,omitempty"` // that it is for; none means all, and turns without one
	Order    int      `json:"order,omitempty"`
	Budget   int      `json:"budget,omitempty"` // tokens
	Text     string   `json:"text"`
	File     string   `json:"file"`
	Project  bool     `json:"project,omitempty"`
}

// Skill is a folder with instructions for one kind of task, as other programs have them too.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	File        string `json:"file"` // its SKILL.md
	Project     bool   `json:"project,omitempty"`

	root, dir string
}

// Problem says why a file is not used.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // from 1; 0 where it is about the whole file
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`

	name string // what the file would have been called
}

// Error returns where the problem is and what it is, in English.
func (p Problem) Error() string { return p.Place() + ": " + p.Message }

// Place returns where the problem is: file, line and field, as far as they are known.
func (p Problem) Place() string {
	place := p.File
	if p.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, p.Line)
	}
	if p.Field != "" {
		place += ": " + p.Field
	}
	return place
}

// defaultBudget is how many tokens of an entry enter the prompt where its file says nothing.
const defaultBudget = 1000

// engineCLI is the engine that hands a turn to the agent of another program.
const engineCLI = "cli"

// The values that an agent's engine and level may have.
var (
	engines = []string{"chat", "react", "direct", "auto", engineCLI}
	levels  = []string{"r", "rw", "rwd"}
)

// Read reads what is in the places. A folder that does not exist is empty.
func Read(p Places) *Library {
	l := &Library{}
	if p.Config != "" {
		for _, kind := range []string{agentsFolder, entryFolder, skillFolder} {
			l.folder(filepath.Join(p.Config, kind), ".", kind, false)
		}
	}
	if p.Project != "" {
		for _, kind := range []string{agentsFolder, entryFolder, skillFolder} {
			l.folder(p.Project, path.Join(".collie", kind), kind, true)
		}
		l.rules(p.Project)
	}
	l.Agents = unique(l, l.Agents, func(a *Agent) (string, string) { return a.Name, a.File })
	l.Entries = unique(l, l.Entries, func(e *Entry) (string, string) { return e.Name, e.File })
	l.Skills = unique(l, l.Skills, func(s *Skill) (string, string) { return s.Name, s.File })
	slices.SortStableFunc(l.Entries, func(a, b Entry) int { return cmp.Compare(a.Order, b.Order) })
	return l
}

// unique sorts by name; of those with the same one the first, which is the person's own, stays.
func unique[T any](l *Library, all []T, of func(*T) (name, file string)) []T {
	slices.SortStableFunc(all, func(a, b T) int {
		x, _ := of(&a)
		y, _ := of(&b)
		return strings.Compare(x, y)
	})
	out := all[:0]
	for i := range all {
		name, file := of(&all[i])
		if n := len(out); n > 0 {
			if before, at := of(&out[n-1]); before == name {
				l.Problems = append(l.Problems, Problem{File: file, Field: "name", Message: fmt.Sprintf("%q is taken by %s, which is used", name, at)})
				continue
			}
		}
		out = append(out, all[i])
	}
	return out
}

// folder reads the files of one kind in the folder dir below root, out of which no link leads.
func (l *Library) folder(root, dir, kind string, project bool) {
	wrong := func(err error) {
		if !errors.Is(err, fs.ErrNotExist) {
			l.Problems = append(l.Problems, Problem{File: filepath.Join(root, filepath.FromSlash(dir)), Message: reason(err)})
		}
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		wrong(err)
		return
	}
	defer r.Close()
	info, err := r.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a folder")
	}
	var names []string
	if err == nil {
		names, err = list(r, dir)
	}
	if err != nil {
		wrong(err)
		return
	}
	kept := 0
	for _, name := range names {
		file := path.Join(dir, name)
		if kind == skillFolder {
			if info, err := r.Stat(file); err == nil && !info.IsDir() {
				continue
			}
			file = path.Join(file, skillFile)
		} else if path.Ext(name) != ".md" {
			continue
		}
		full := filepath.Join(root, filepath.FromSlash(file))
		p := Problem{File: full, name: strings.TrimSuffix(name, ".md")}
		if kept++; kept > maxFiles {
			p.Message = fmt.Sprintf("there are more than %d files here; it and those behind it are left out", maxFiles)
			l.Problems = append(l.Problems, p)
			return
		}
		text, err := readText(r, file, maxFile)
		if errors.Is(err, fs.ErrNotExist) && kind == skillFolder {
			continue // a folder without a skill
		}
		if err != nil {
			p.Message = reason(err)
			l.Problems = append(l.Problems, p)
			continue
		}
		if wrong := l.add(kind, p.name, full, text, project, root, path.Dir(file)); wrong != nil {
			wrong.File, wrong.name = full, p.name
			l.Problems = append(l.Problems, *wrong)
		}
	}
}

// list returns the names in a folder in order, but none that begins with a dot.
func list(r *os.Root, dir string) ([]string, error) {
	d, err := r.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(maxFiles * 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, ".") }), nil
}

// readText reads a plain file of at most limit bytes, which must be text; a pipe would be waited for.
func readText(r *os.Root, file string, limit int64) (string, error) {
	info, err := r.Stat(file)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("it is not a plain file")
	case info.Size() > limit:
		return "", fmt.Errorf("it has %d bytes, the limit is %d", info.Size(), limit)
	}
	f, err := r.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return "", err
	}
	return plain(string(raw))
}

// reason is what went wrong with a file, without its path, which stands beside it.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if strings.Contains(err.Error(), "escapes") {
		return "it is a link that leads out of its folder; put the file itself there"
	}
	return err.Error()
}

// rules reads the AGENTS.md of a project.
func (l *Library) rules(project string) {
	file := filepath.Join(project, rulesFile)
	r, err := os.OpenRoot(project)
	if err != nil {
		return // folder has said so
	}
	defer r.Close()
	text, err := readText(r, rulesFile, maxRules)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		l.Problems = append(l.Problems, Problem{File: file, Message: reason(err)})
	default:
		l.Rules, l.RulesFile = strings.TrimSpace(text), file
	}
}

// Agent returns the agent called name. That there is none is a [*tool.Error], which says so where its file is the reason.
func (l *Library) Agent(name string) (*Agent, error) {
	for i := range l.Agents {
		if l.Agents[i].Name == name {
			return &l.Agents[i], nil
		}
	}
	names := make([]string, len(l.Agents))
	for i := range l.Agents {
		names[i] = l.Agents[i].Name
	}
	e := &tool.Error{Op: "agent", Kind: tool.NotFound, Code: "no_agent", Subject: strings.ToValidUTF8(name, "?"), Message: "there is no such agent", Hint: "collie agent list shows those that there are"}
	for _, p := range l.Problems {
		if p.name == name && filepath.Base(filepath.Dir(p.File)) == agentsFolder {
			e.Kind, e.Subject, e.Message = tool.Invalid, p.Place(), p.Message
			return nil, e
		}
	}
	if near, ok := tool.Nearest(name, names); ok {
		e.Hint = "did you mean " + near + "?"
	}
	return nil, e
}

// Skill returns the skill called name.
func (l *Library) Skill(name string) (*Skill, error) {
	names := make([]string, len(l.Skills))
	for i := range l.Skills {
		if names[i] = l.Skills[i].Name; names[i] == name {
			return &l.Skills[i], nil
		}
	}
	e := &tool.Error{Op: "skill", Kind: tool.NotFound, Subject: strings.ToValidUTF8(name, "?"), Message: "there is no such skill", Hint: "take a name from the list of skills"}
	if near, ok := tool.Nearest(name, names); ok {
		e.Hint = "did you mean " + near + "?"
	}
	return nil, e
}

// Read returns the instructions of the skill, or, where file is given, another file of its folder.
func (s *Skill) Read(file string) (string, error) {
	r, err := os.OpenRoot(s.root)
	if err == nil {
		defer r.Close()
		var inside *os.Root
		if inside, err = r.OpenRoot(s.dir); err == nil {
			defer inside.Close()
			var text string
			if text, err = readText(inside, path.Clean(cmp.Or(file, skillFile)), maxFile); err == nil {
				if file == "" {
					text = body(text)
				}
				return text, nil
			}
		}
	}
	return "", &tool.Error{Op: "skill", Kind: tool.Invalid, Subject: s.Name, Message: strings.ToValidUTF8(cmp.Or(file, skillFile), "?") + ": " + reason(err), Hint: "name a file that the skill speaks of, relative to its folder"}
}

// checkName says what is wrong with the name of an agent, an entry or a skill, or nothing.
func checkName(name string) string {
	ok := name != "" && len(name) <= maxName
	for i, r := range name {
		ok = ok && (unicode.IsLetter(r) || unicode.IsDigit(r) || i > 0 && (r == '-' || r == '_'))
	}
	if !ok {
		return fmt.Sprintf("%q is not a name: expected letters, digits, - and _, at most %d bytes", name, maxName)
	}
	return ""
}
