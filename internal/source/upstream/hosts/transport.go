package hosts

import (
	"net/url"
	"path/filepath"
	"strings"

	"collie/internal/lazyregexp"
)

// This file reads the words with which programs name transports, and resolves relative paths.

// types are a host's words for the transports. A word is empty if the host has none.
type types struct {
	stdio, http, sse string
	// untyped is the transport of a URL without a type: http, sse, or empty if the host looks at the URL, as we do.
	untyped string
}

func (t types) any() bool { return t.stdio+t.http+t.sse != "" }

// transportWords maps the words for a transport in any host, in lower case.
var transportWords = map[string]string{
	"stdio": "stdio", "local": "stdio",
	"http": "http", "streamable-http": "http", "streamable_http": "http", "streamablehttp": "http", "remote": "http",
	"sse": "sse",
}

// transport sets our field type: empty for a program, http or sse for a URL.
func (r *hostReading) transport() {
	word, _ := r.entry.values["type"].(string)
	for _, name := range []string{"type", "transportType", "transport"} {
		if s, ok := r.string(name); ok && word == "" {
			word = s
		}
	}
	delete(r.entry.values, "type")
	t, ok := transportWords[strings.ToLower(word)]
	if word != "" && !ok {
		r.addNote("type %q: not known; it is told from the rest", word)
	}
	address, remote := r.entry.values["url"].(string)
	if _, command := r.entry.values["command"]; command || !remote {
		if remote { // an entry with both a program and a URL starts the program
			r.addNote("url: not carried beside a command")
			delete(r.entry.values, "url")
		}
		return
	}
	if t == "" || t == "stdio" {
		t = r.host.types.untyped
	}
	if t == "" {
		t = byURL(address)
	}
	r.set("type", t)
}

// byURL guesses the transport from a URL alone.
func byURL(address string) string {
	if u, err := url.Parse(address); err == nil && strings.HasSuffix(u.Path, "/sse") {
		return "sse"
	}
	return "http"
}

// place sets the working folder of a project's server to the project, since we would start it elsewhere.
func (r *hostReading) place() {
	if r.host.isOurs() || r.base == "" || r.entry.values["command"] == nil {
		return
	}
	if _, set := r.entry.values["cwd"]; !set {
		r.set("cwd", escape(r.base))
	}
}

// workspace returns the folder that the host calls the workspace.
func (r *hostReading) workspace() string {
	if r.base != "" {
		return escape(r.base)
	}
	r.addNote("${workspaceFolder}: here it is the folder of the settings, or the client's")
	return "${workspaceFolder}"
}

// path makes a relative path absolute if its base is known.
func (r *hostReading) path(s string) string {
	switch {
	case s == "" || strings.HasPrefix(s, "${") || isAbs(s):
		return s
	case strings.HasPrefix(s, "~/"), strings.HasPrefix(s, `~\`):
		return "${userHome}" + s[1:]
	case r.base != "":
		return escape(filepath.Join(r.base, s))
	case !r.host.isOurs():
		r.addNote("%s: a relative path; here it starts at the folder of the settings", s)
	}
	return s
}

// program returns path for a command, except that a bare name stays, to be looked up in PATH.
func (r *hostReading) program(s string) string {
	if !strings.ContainsAny(s, `/\`) {
		return s
	}
	return r.path(s)
}

var driveLetter = lazyregexp.New(`^[A-Za-z]:[\\/]`)

// isAbs reports whether a path is absolute on any system, since the file may come from another one.
func isAbs(s string) bool {
	return filepath.IsAbs(s) || strings.HasPrefix(s, "/") || strings.HasPrefix(s, `\\`) || driveLetter.MatchString(s)
}
