// Package library reads the files that a person writes for agents: named agents, context entries and skills, which are
// Markdown with YAML front matter, and the AGENTS.md of a project. They are read again at each use, so that changes
// take effect in the next turn without watching files.
//
// The entry point is [Read]. The package does not decide what is trusted: the caller must not pass a project that the
// person does not trust. Every file has a size limit, links that lead out of a folder are refused, and an invalid file
// does not affect the others.
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

// Limits.
const (
	maxFile      = 256 << 10 // size limit of one file, in bytes
	maxFiles     = 200       // number of files of one kind in one folder
	maxRules     = 32 << 10  // bytes of a project's AGENTS.md
	maxName      = 64        // bytes
	maxAbout     = 1 << 10   // bytes of a description
	maxList      = 64        // values of a list
	maxText      = 200       // bytes of any other value, also in a list
	agentsFolder = "agents"
	entryFolder  = "context"
	skillFolder  = "skills"
	skillFile    = "SKILL.md"
	rulesFile    = "AGENTS.md"
)

// Places are the folders to read. Empty ones are skipped.
type Places struct {
	Config string // the person's folder, with agents, context and skills
	// Project is the folder of a project that the person trusts. Its AGENTS.md is read, and agents, context and skills
	// below .collie. If a name is in both folders, the person's own file wins, so that a project cannot change what a
	// name means.
	Project string
}

// Library is the content of all files. It does not change after [Read] and [Library.Find].
type Library struct {
	Agents  []Agent // by name
	Entries []Entry // by order, then name
	Skills  []Skill // by name
	// Rules is the text of the project's AGENTS.md, and RulesFile its path; empty if there is none.
	Rules, RulesFile string
	// Problems are the files that are not used, with the reasons.
	Problems []Problem
}

// Agent is a named configuration of a model or program that answers turns. It can only narrow what the person allows.
type Agent struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Engine      string `json:"engine,omitempty"`
	Model       string `json:"model,omitempty"` // MODEL or PROVIDER/MODEL
	// Tools and Deny are patterns of tool names, as in the settings of a session. Empty Tools means all.
	Tools   []string `json:"tools,omitempty"`
	Deny    []string `json:"denyTools,omitempty"`
	Profile string   `json:"profile,omitempty"`
	// Level limits effects: r only reads, rw also changes but does not delete, run or send anything, rwd or empty has no
	// limit.
	Level string `json:"level,omitempty"`
	// Command starts the agent of another program, for the engine cli. Env names variables of our environment that it
	// gets in addition to those that every agent gets. Both are allowed in a person's own files only.
	Command []string `json:"command,omitempty"`
	Env     []string `json:"env,omitempty"`
	Prompt  string   `json:"prompt"`
	File    string   `json:"file,omitempty"`    // empty for agents that [Library.Find] added
	Project bool     `json:"project,omitempty"` // from the project
}

// Entry is a text that is added to the prompt if one of its keywords occurs in the last messages.
type Entry struct {
	Name     string   `json:"name"`
	Keywords []string `json:"keywords"`
	Agents   []string `json:"agents,omitempty"` // agents that the entry is for; empty: all, and turns without agent
	Order    int      `json:"order,omitempty"`
	Budget   int      `json:"budget,omitempty"` // tokens
	Text     string   `json:"text"`
	File     string   `json:"file"`
	Project  bool     `json:"project,omitempty"`
}

// Skill is a folder with instructions for one kind of task, in the format that other programs use too.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	File        string `json:"file"` // its SKILL.md
	Project     bool   `json:"project,omitempty"`

	root, dir string
}

// Problem says why a file, or part of it, is not used.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // from 1; 0 if the problem is not in one line
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`

	name string // name of the item that the file would have
}

// Error returns the place and the message, in English.
func (p Problem) Error() string { return p.Place() + ": " + p.Message }

// Place returns file, line and field, as far as they are known.
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

// defaultBudget is the default of [Entry.Budget].
const defaultBudget = 1000

// engineCLI is the name of the engine that hands a turn to an agent of another program.
const engineCLI = "cli"

// The values of the fields engine and level.
var (
	engines = []string{"chat", "react", "direct", "auto", engineCLI}
	levels  = []string{"r", "rw", "rwd"}
)

// Read reads all files. A folder that does not exist counts as empty.
func Read(p Places) *Library {
	l := &Library{}
	if p.Config != "" {
		for _, kind := range []string{agentsFolder, entryFolder, skillFolder} {
			l.readFolder(filepath.Join(p.Config, kind), ".", kind, false)
		}
	}
	if p.Project != "" {
		for _, kind := range []string{agentsFolder, entryFolder, skillFolder} {
			l.readFolder(p.Project, path.Join(".collie", kind), kind, true)
		}
		l.readRules(p.Project)
	}
	l.Agents = sortUnique(l, l.Agents, func(a *Agent) (string, string) { return a.Name, a.File })
	l.Entries = sortUnique(l, l.Entries, func(e *Entry) (string, string) { return e.Name, e.File })
	l.Skills = sortUnique(l, l.Skills, func(s *Skill) (string, string) { return s.Name, s.File })
	slices.SortStableFunc(l.Entries, func(a, b Entry) int { return cmp.Compare(a.Order, b.Order) })
	return l
}

// sortUnique sorts all by name. Of items with the same name it keeps the first, which is the person's own.
func sortUnique[T any](l *Library, all []T, key func(*T) (name, file string)) []T {
	slices.SortStableFunc(all, func(a, b T) int {
		x, _ := key(&a)
		y, _ := key(&b)
		return strings.Compare(x, y)
	})
	out := all[:0]
	for i := range all {
		name, file := key(&all[i])
		if n := len(out); n > 0 {
			if before, at := key(&out[n-1]); before == name {
				l.Problems = append(l.Problems, Problem{File: file, Field: "name", Message: fmt.Sprintf("%q is taken by %s, which is used", name, at)})
				continue
			}
		}
		out = append(out, all[i])
	}
	return out
}

// readFolder reads the files of one kind in the folder dir below root into l, or the problems of those that cannot be used. Links that lead out of root are refused.
func (l *Library) readFolder(root, dir, kind string, project bool) {
	wrong := func(err error) {
		if !errors.Is(err, fs.ErrNotExist) {
			l.Problems = append(l.Problems, Problem{File: filepath.Join(root, filepath.FromSlash(dir)), Message: messageWithoutPath(err)})
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
		names, err = listNames(r, dir)
	}
	if err != nil {
		wrong(err)
		return
	}
	count := 0
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
		if count++; count > maxFiles {
			p.Message = fmt.Sprintf("there are more than %d files here; it and those behind it are left out", maxFiles)
			l.Problems = append(l.Problems, p)
			return
		}
		text, err := readText(r, file, maxFile)
		if errors.Is(err, fs.ErrNotExist) && kind == skillFolder {
			continue // a folder without a skill
		}
		if err != nil {
			p.Message = messageWithoutPath(err)
			l.Problems = append(l.Problems, p)
			continue
		}
		if wrong := l.add(kind, p.name, full, text, project, root, path.Dir(file)); wrong != nil {
			wrong.File, wrong.name = full, p.name
			l.Problems = append(l.Problems, *wrong)
		}
	}
}

// listNames returns the sorted names in a folder, without those that begin with a dot.
func listNames(r *os.Root, dir string) ([]string, error) {
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

// readText reads a regular text file of at most limit bytes. It refuses other files, since opening a pipe would block.
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
	return cleanText(string(raw))
}

// messageWithoutPath returns the message of err without the path, which is shown separately.
func messageWithoutPath(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if strings.Contains(err.Error(), "escapes") {
		return "it is a link that leads out of its folder; put the file itself there"
	}
	return err.Error()
}

// readRules reads the AGENTS.md of a project.
func (l *Library) readRules(project string) {
	file := filepath.Join(project, rulesFile)
	r, err := os.OpenRoot(project)
	if err != nil {
		return // reported by folder already
	}
	defer r.Close()
	text, err := readText(r, rulesFile, maxRules)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		l.Problems = append(l.Problems, Problem{File: file, Message: messageWithoutPath(err)})
	default:
		l.Rules, l.RulesFile = strings.TrimSpace(text), file
	}
}

// Agent returns the agent called name. If there is none, the error is a [*tool.Error], with the problem of its file if
// that is the reason.
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

// Read returns the instructions of the skill without front matter, or another file of its folder, whose path is
// relative.
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
					text = textBelowFront(text)
				}
				return text, nil
			}
		}
	}
	return "", &tool.Error{Op: "skill", Kind: tool.Invalid, Subject: s.Name, Message: strings.ToValidUTF8(cmp.Or(file, skillFile), "?") + ": " + messageWithoutPath(err), Hint: "name a file that the skill mentions, relative to its folder"}
}

// checkName returns what is wrong with a name, or "".
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
