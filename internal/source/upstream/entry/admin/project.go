// Package admin shows people what an entry of the settings would start or reach before they agree to it, with secrets
// masked and effects named.
package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"collie/internal/config"
	"collie/internal/source/upstream/entry"
)

// ProjectServer is a server that a project's file defines, for the person who decides whether to trust it. Texts are
// as in the file, control characters included.
type ProjectServer struct {
	Name      string `json:"name"`
	Transport string `json:"transport"`
	// Command is the whole command line, or the URL, with secrets masked and variables not expanded.
	Command string `json:"command"`
	// Effects are further things that a person should know before trusting the server, a phrase each.
	Effects []string `json:"effects"`
	// Problems say why the server would not work.
	Problems []string        `json:"problems,omitempty"`
	Entry    json.RawMessage `json:"entry"` // the whole entry, secrets masked
}

// ProjectServers returns the servers that a project's file defines. It opens no file and looks up no variable, since
// nobody has agreed to that yet. known are the names of the user's servers.
func ProjectServers(p *config.Project, known []string, redact redact) []ProjectServer {
	out := make([]ProjectServer, 0, len(p.Servers))
	for _, s := range p.Servers {
		e, problems := entry.Parse(s.Name, s.Raw, entry.Options{
			Dir: s.Dir, Workspace: s.Workspace,
			Env:      func(string) (string, bool) { return "1", true }, // "1" is valid in place of a host or a port
			Secret:   func(string) (string, bool) { return "", true },
			ReadFile: func(string) ([]byte, error) { return nil, nil },
		})
		ps := ProjectServer{
			Name: s.Name, Transport: string(e.Transport), Command: commandLine(&e),
			Effects: effects(&e, s.Raw), Entry: HiddenEntry(s.Name, s.Raw, s.Dir, redact),
		}
		if slices.Contains(known, s.Name) {
			ps.Effects = append(ps.Effects, "takes the place of your own server of that name")
		}
		for _, pr := range problems {
			if pr.Severity == entry.SeverityError && pr.Rule != entry.RuleUnset {
				ps.Problems = append(ps.Problems, pr.Message)
			}
		}
		out = append(out, ps)
	}
	return out
}

func commandLine(e *entry.Entry) string {
	if e.Transport != entry.Stdio {
		return e.URL.String()
	}
	words := []string{e.Command.String()}
	for _, a := range e.Args {
		words = append(words, a.String())
	}
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\r\n\"'\\") {
			words[i] = strconv.Quote(w)
		}
	}
	return strings.Join(words, " ")
}

// effects returns what a person should know of a server besides its command line or URL, a phrase each.
func effects(e *entry.Entry, raw json.RawMessage) []string {
	out := []string{}
	add := func(when bool, format string, args ...any) {
		if when {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	if e.Transport == entry.Stdio {
		command := e.Command.String()
		add(strings.HasPrefix(command, "."), "the program is %s", e.Command.Reveal())
		add(true, "runs in %s", e.Dir)
		names := slices.Sorted(maps.Keys(e.Env))
		add(len(names) > 0, "gets the variables %s", strings.Join(names, ", "))
		add(e.EnvFile != "", "gets the variables in %s", e.EnvFile)
		add(e.InheritEnv.Mode == "all", "gets your whole environment")
		add(len(e.InheritEnv.Names) > 0, "gets from your environment %s", strings.Join(e.InheritEnv.Names, ", "))
	} else {
		var names []string
		for _, h := range e.Headers {
			names = append(names, h.Name)
		}
		add(len(names) > 0, "is sent the headers %s", strings.Join(names, ", "))
		if c := e.HeadersCommand; c != nil {
			add(true, "runs for its headers: %s", commandLine(&entry.Entry{Transport: entry.Stdio, Command: c.Command, Args: c.Args}))
		}
		add(e.TLS.Insecure, "its certificate is not checked")
	}
	refs := References(raw)
	add(len(refs) > 0, "reads %s", strings.Join(refs, ", "))
	var roots []string
	for _, r := range e.Roots {
		roots = append(roots, r.String())
	}
	add(len(roots) > 0, "is told of the folders %s", strings.Join(roots, ", "))
	add(e.AutoApprove.All, "its tools run without asking")
	add(len(e.AutoApprove.Names) > 0, "runs without asking: %s", strings.Join(e.AutoApprove.Names, ", "))
	add(e.Lifecycle == entry.Eager || e.Lifecycle == entry.KeepAlive, "starts with the gateway")
	add(e.Disabled, "is switched off")
	return out
}

// folderVariables are variables that hold folders and separators, not secrets.
var folderVariables = []string{"workspaceFolder", "configDir", "userHome", "pathSeparator", "/"}

// References returns the variables and secrets to which an entry refers, such as "secret TEAM". It looks at texts as JSON means them: an escape
// such as \u0024 in place of a character would hide a reference from who reads the file only.
func References(raw json.RawMessage) []string {
	var out []string
	d := json.NewDecoder(bytes.NewReader(raw))
	for {
		t, err := d.Token()
		if err != nil { // the end; config has checked that it is JSON
			return out
		}
		text, _ := t.(string)
		for _, ref := range referencesIn(text) {
			if !slices.Contains(out, ref) {
				out = append(out, ref)
			}
		}
	}
}

// referencesIn returns the variables and secrets in a text, also where one begins within another: which part of the text is
// expanded by itself is up to the field that it stands in.
func referencesIn(text string) []string {
	var out []string
	for i := 0; i < len(text); i++ {
		if !strings.HasPrefix(text[i:], "${") || i > 0 && text[i-1] == '$' { // $${ stands for a literal ${
			continue
		}
		ref, _, closed := strings.Cut(text[i+len("${"):], "}")
		if !closed || slices.Contains(folderVariables, ref) {
			continue
		}
		if name, ok := strings.CutPrefix(ref, "secret:"); ok {
			out = append(out, "secret "+name)
		} else if name, ok := strings.CutPrefix(ref, "input:"); ok {
			out = append(out, "input "+name)
		} else {
			name, _, _ := strings.Cut(strings.TrimPrefix(ref, "env:"), ":-")
			out = append(out, "$"+name)
		}
	}
	return out
}
