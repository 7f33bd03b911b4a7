package library

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"collie/internal/atomicfile"
	"collie/internal/jsonc"
	"collie/internal/tool"
)

// This file finds agents and skills of other programs and converts them to our format.

// Programs are the folders in which other programs keep agents and skills. An empty one is left out.
type Programs struct {
	Claude   string // usually ~/.claude
	OpenCode string // usually ~/.config/opencode
}

// Import is an agent or a skill of another program, converted to our format.
type Import struct {
	Kind    string `json:"kind"` // agent or skill
	Name    string `json:"name"`
	Program string `json:"program"`
	From    string `json:"from"`
	File    string `json:"file"`
	// Exists reports whether the file exists already.
	Exists bool `json:"exists,omitempty"`
	// Left lists what is not imported or means something else here.
	Left []string `json:"left,omitempty"`
	// Problem is the reason why it cannot be imported; empty if it can.
	Problem string `json:"problem,omitempty"`
	Saved   bool   `json:"saved,omitempty"`

	files map[string]string // by path below the folder of File
}

// Foreign finds agents and skills of other programs, to be imported into the folder config. It writes nothing.
func Foreign(p Programs, config string) (all []Import) {
	f := finder{config: config}
	if p.Claude != "" {
		f.findAgents("Claude Code", filepath.Join(p.Claude, "agents"), fromClaude)
		f.findSkills("Claude Code", filepath.Join(p.Claude, "skills"))
	}
	if p.OpenCode != "" {
		for _, folder := range []string{"agent", "agents"} {
			f.findAgents("opencode", filepath.Join(p.OpenCode, folder), fromOpenCode)
		}
		f.findInSettings(p.OpenCode)
		for _, folder := range []string{"skill", "skills"} {
			f.findSkills("opencode", filepath.Join(p.OpenCode, folder))
		}
	}
	for i := range f.found { // of two with the same kind and name, the first is kept
		found := &f.found[i]
		if !slices.ContainsFunc(all, func(o Import) bool { return o.Kind == found.Kind && o.Name == found.Name }) {
			all = append(all, *found)
		}
	}
	return all
}

// finder collects what other programs have.
type finder struct {
	config string
	found  []Import
}

// add adds i with the file that it would be saved to.
func (f *finder) add(i Import) {
	switch {
	case i.Problem != "":
	case checkName(i.Name) != "":
		i.Problem = checkName(i.Name)
	case i.Kind == "skill":
		i.File = filepath.Join(f.config, skillFolder, i.Name, skillFile)
	default:
		i.File = filepath.Join(f.config, agentsFolder, i.Name+".md")
	}
	if i.File != "" {
		_, err := os.Lstat(i.File)
		i.Exists = err == nil
	}
	f.found = append(f.found, i)
}

// findAgents finds the agents of a program in a folder.
func (f *finder) findAgents(program, dir string, read func(*foreign) Agent) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		f.addUnreadable(program, dir, err)
		return
	}
	defer r.Close()
	names, err := listNames(r, ".")
	if err != nil {
		f.addUnreadable(program, dir, err)
		return
	}
	for _, name := range names[:min(len(names), maxFiles)] {
		if path.Ext(name) != ".md" {
			continue
		}
		i := Import{Kind: "agent", Name: strings.TrimSuffix(name, ".md"), Program: program, From: filepath.Join(dir, name)}
		text, err := readText(r, name, maxFile)
		if err != nil {
			i.Problem = messageWithoutPath(err)
			f.add(i)
			continue
		}
		front, body, _ := splitFront(text)
		values := map[string]any{}
		if err := parseYAML(front, values); err != nil {
			values = parseLines(front)
			i.Left = append(i.Left, "the front matter is not YAML: its lines were taken as they are")
		}
		f.addAgent(i, &foreign{values: values, prompt: strings.TrimSpace(body)}, read)
	}
}

// addUnreadable adds a folder or file that could not be read, with err as its problem. If it does not exist, it adds nothing.
func (f *finder) addUnreadable(program, path string, err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		f.add(Import{Kind: "agent", Program: program, From: path, Name: filepath.Base(path), Problem: messageWithoutPath(err)})
	}
}

// addAgent converts an agent of another program with read, and adds it as an import, or the problem if it cannot be converted.
func (f *finder) addAgent(i Import, from *foreign, read func(*foreign) Agent) {
	if v, _ := from.values["disable"].(bool); v {
		return
	}
	from.markHandled("name", "description", "disable", "prompt")
	a := read(from)
	if name := from.text("name"); name != "" {
		i.Name = strings.ReplaceAll(name, " ", "-")
	}
	a.Description, a.Prompt = strings.Join(strings.Fields(from.text("description")), " "), from.prompt
	if a.Description == "" {
		a.Description = "An agent of " + i.Program
	}
	if len(a.Description) > maxAbout {
		a.Description = strings.ToValidUTF8(a.Description[:maxAbout-3], "") + "…"
		i.Left = append(i.Left, "the end of the description, which is too long")
	}
	for name := range from.values {
		if !slices.Contains(from.taken, name) {
			i.Left = append(i.Left, name)
		}
	}
	i.Left = append(i.Left, from.left...)
	slices.Sort(i.Left)
	text := Text(&a)
	if _, wrong := parseAgent(i.Name, text); wrong != nil && checkName(i.Name) == "" {
		i.Problem = wrong.Field + ": " + wrong.Message
	}
	i.files = map[string]string{i.Name + ".md": text}
	f.add(i)
}

// findInSettings finds the agents in opencode.json.
func (f *finder) findInSettings(dir string) {
	for _, name := range []string{"opencode.json", "opencode.jsonc"} {
		r, err := os.OpenRoot(dir)
		if err != nil {
			f.addUnreadable("opencode", dir, err)
			return
		}
		defer r.Close()
		file := filepath.Join(dir, name)
		text, err := readText(r, name, maxFile)
		if err != nil {
			f.addUnreadable("opencode", file, err)
			continue
		}
		var settings struct {
			Agent map[string]map[string]any `json:"agent"`
		}
		standard, err := jsonc.Parse([]byte(text))
		if err == nil {
			err = json.Unmarshal(jsonc.Standard(standard.Root()), &settings)
		}
		if err != nil {
			f.add(Import{Kind: "agent", Name: name, Program: "opencode", From: file, Problem: err.Error()})
			continue
		}
		for agent, values := range settings.Agent {
			from := &foreign{values: values}
			from.prompt, _ = values["prompt"].(string)
			if named, ok := strings.CutPrefix(from.prompt, "{file:"); ok {
				named = strings.TrimSuffix(strings.TrimSpace(named), "}")
				if from.prompt, err = readText(r, path.Clean(named), maxFile); err != nil {
					f.add(Import{Kind: "agent", Name: agent, Program: "opencode", From: file, Problem: named + ": " + messageWithoutPath(err)})
					continue
				}
			}
			f.addAgent(Import{Kind: "agent", Name: agent, Program: "opencode", From: file}, from, fromOpenCode)
		}
	}
	slices.SortStableFunc(f.found, func(a, b Import) int { return strings.Compare(a.From+"\x00"+a.Name, b.From+"\x00"+b.Name) })
}

// findSkills finds the skills in a folder. They are copied unchanged, without links.
func (f *finder) findSkills(program, dir string) {
	l := &Library{}
	l.readFolder(dir, ".", skillFolder, false)
	for _, p := range l.Problems {
		f.add(Import{Kind: "skill", Name: p.name, Program: program, From: p.File, Problem: p.Error()})
	}
	for k := range l.Skills {
		s := &l.Skills[k]
		i := Import{Kind: "skill", Name: s.Name, Program: program, From: s.File, files: map[string]string{}}
		r, err := os.OpenRoot(filepath.Dir(s.File))
		if err == nil {
			err = i.readFiles(r)
			_ = r.Close() // it was only read
		}
		if err != nil {
			i.Problem = messageWithoutPath(err)
		}
		f.add(i)
	}
}

// readFiles reads the files of a skill.
func (i *Import) readFiles(r *os.Root) error {
	return fs.WalkDir(r.FS(), ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case len(i.files) >= maxFiles:
			return fmt.Errorf("it has more than %d files", maxFiles)
		}
		text, err := readText(r, file, maxFile)
		if err != nil || !d.Type().IsRegular() {
			why := "it is a link"
			if err != nil {
				why = messageWithoutPath(err)
			}
			i.Left = append(i.Left, file+": "+why)
			return nil
		}
		i.files[file] = text
		return nil
	})
}

// Save writes the files of i. If one exists, the error is of kind Exists, unless force is set.
func (i *Import) Save(force bool) error {
	if i.Problem != "" {
		return &tool.Error{Op: "import", Kind: tool.Invalid, Subject: i.Name, Message: i.Problem}
	}
	dir := filepath.Dir(i.File)
	for name, text := range i.files {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), text, force); err != nil {
			return err
		}
	}
	i.Saved = true
	return nil
}

// Begin writes the file of a new agent into the folder config and returns its path. If it exists, the error is of kind
// Exists, unless force is set.
func Begin(config string, a *Agent, force bool) (file string, err error) {
	if why := checkName(a.Name); why != "" {
		return "", &tool.Error{Op: "new agent", Kind: tool.Invalid, Subject: "name", Message: why}
	}
	file = filepath.Join(config, agentsFolder, a.Name+".md")
	return file, writeFile(file, Text(a), force)
}

// writeFile writes a file that only its owner can read, and creates its folders. If it exists, the error is of kind Exists,
// unless force is set.
func writeFile(file, text string, force bool) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if _, err := os.Lstat(file); err == nil && !force {
		return &tool.Error{Op: "write", Kind: tool.Exists, Subject: file, Message: "there is such a file already", Hint: "--force overwrites it"}
	}
	return atomicfile.Write(file, []byte(text), 0o600)
}

// Text returns the text of a file for an agent.
func Text(a *Agent) string {
	var b bytes.Buffer
	b.WriteString("---\n")
	e := yaml.NewEncoder(&b)
	_ = e.Encode(struct { // texts always encode
		Description string   `yaml:"description"`
		Engine      string   `yaml:"engine,omitempty"`
		Model       string   `yaml:"model,omitempty"`
		Tools       []string `yaml:"tools,omitempty"`
		Deny        []string `yaml:"denyTools,omitempty"`
		Profile     string   `yaml:"profile,omitempty"`
		Level       string   `yaml:"level,omitempty"`
		Command     []string `yaml:"command,omitempty"`
		Env         []string `yaml:"env,omitempty"`
	}{a.Description, a.Engine, a.Model, a.Tools, a.Deny, a.Profile, a.Level, a.Command, a.Env})
	_ = e.Close()
	b.WriteString("---\n\n" + strings.TrimSpace(a.Prompt) + "\n")
	return b.String()
}

// foreign is an agent in the format of another program.
type foreign struct {
	values map[string]any
	prompt string
	taken  []string // names of fields that were handled
	left   []string // notes for [Import.Left]
}

// markHandled marks fields as handled.
func (f *foreign) markHandled(names ...string) { f.taken = append(f.taken, names...) }

// text returns a field that is a text, or "".
func (f *foreign) text(name string) string {
	s, _ := f.values[name].(string)
	return strings.TrimSpace(s)
}

// takeWords returns the words of a field that is a list, or a text with commas, and marks the field as handled.
func (f *foreign) takeWords(name string) (out []string) {
	f.markHandled(name)
	switch v := f.values[name].(type) {
	case string:
		for w := range strings.SplitSeq(v, ",") {
			out = append(out, strings.TrimSpace(w))
		}
	case []any:
		for _, w := range v {
			out = append(out, strings.TrimSpace(fmt.Sprint(w)))
		}
	}
	return slices.DeleteFunc(out, func(w string) bool { return w == "" })
}

// fromClaude converts an agent of Claude Code. Its MCP tools become patterns. Its other tools decide the level, so that
// the agent can do no more here than there.
func fromClaude(f *foreign) (a Agent) {
	f.markHandled("model", "color")
	if m := f.text("model"); m != "" && m != "inherit" {
		f.left = append(f.left, "model: "+m+" is a name of Claude Code; add one of your models")
	}
	only := f.takeWords("tools")
	changes, runs := len(only) == 0, len(only) == 0
	for _, t := range only {
		name, _, _ := strings.Cut(t, "(")
		switch {
		case ourPattern(t) != "":
			a.Tools = append(a.Tools, ourPattern(t))
		case name == "Write" || name == "Edit" || name == "MultiEdit" || name == "NotebookEdit":
			changes = true
		case name == "Bash" || name == "Task" || name == "Agent":
			runs = true
		}
	}
	for _, t := range f.takeWords("disallowedTools") {
		if ourPattern(t) != "" {
			a.Deny = append(a.Deny, ourPattern(t))
		} else {
			f.left = append(f.left, "disallowedTools: "+t)
		}
	}
	if len(a.Tools) == 0 { // otherwise a list of MCP tools is the limit
		a.Level = levelOf(changes, runs)
	}
	if f.text("permissionMode") == "plan" {
		f.markHandled("permissionMode")
		a.Level = "r"
	}
	return a
}

// ourPattern returns our pattern for an MCP tool in the spelling of Claude Code, or "".
func ourPattern(name string) string {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok || rest == "" {
		return ""
	}
	if !strings.Contains(rest, "__") {
		return rest + "__*"
	}
	return rest
}

// levelOf returns the level of an agent, given whether it may change files and whether it may run commands. "" sets no
// limit: who may run commands can do anything.
func levelOf(changes, runs bool) string {
	switch {
	case runs:
		return ""
	case changes:
		return "rw"
	}
	return "r"
}

// fromOpenCode converts an agent of opencode, by the same rules.
func fromOpenCode(f *foreign) (a Agent) {
	f.markHandled("mode", "color", "model", "tools", "permission")
	a.Model = f.text("model")
	changes, runs := true, true
	if tools, ok := f.values["tools"].(map[string]any); ok {
		for name, v := range tools {
			switch on, _ := v.(bool); {
			case on:
			case name == "write" || name == "edit":
				changes = false
			case name == "bash":
				runs = false
			case strings.Contains(name, "_"):
				server, rest, _ := strings.Cut(name, "_")
				a.Deny = append(a.Deny, server+"__"+rest)
			case name == "*":
				changes, runs = false, false
			}
		}
	}
	if rules, ok := f.values["permission"].(map[string]any); ok {
		changes = changes && rules["edit"] != "deny"
		runs = runs && rules["bash"] != "deny"
		for name, v := range rules {
			if _, nested := v.(map[string]any); nested {
				f.left = append(f.left, "permission: "+name)
			}
		}
	} else if f.values["permission"] == "deny" {
		changes, runs = false, false
	}
	slices.Sort(a.Deny)
	a.Level = levelOf(changes, runs)
	return a
}

// parseYAML parses YAML. It recovers from panics of the parser, because the text may come from anybody.
func parseYAML(text string, into map[string]any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	if len(text) > maxFront {
		return errors.New("it is too long")
	}
	return yaml.Unmarshal([]byte(text), &into)
}

// parseLines parses lines of name: value, which many write although it is not valid YAML.
func parseLines(text string) map[string]any {
	out := map[string]any{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, ":"); ok && checkName(name) == "" {
			out[name] = strings.ReplaceAll(strings.Trim(strings.TrimSpace(value), `"`), `\n`, " ")
		}
	}
	return out
}
