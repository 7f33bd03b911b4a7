package hosts

import (
	"net/url"
	"path/filepath"
	"strings"

	"collie/internal/lazyregexp"
)

// types are the words of a host for the transports; empty means that it has no such word, or no
// words at all.
type types struct {
	stdio, http, sse string
	// untyped is what a URL without a word means: http, sse, or empty where the host, as we do,
	// looks at the URL.
	untyped string
}

func (t types) any() bool { return t.stdio+t.http+t.sse != "" }

// known are the words for a transport in any host, in lower case.
var known = map[string]string{
	"stdio": "stdio", "local": "stdio",
	"http": "http", "streamable-http": "http", "streamable_http": "http", "streamablehttp": "http", "remote": "http",
	"sse": "sse",
}

// transport sets our type: none for a program, http or sse for a URL.
func (r *reading) transport() {
	word, _ := r.entry.values["type"].(string)
	for _, name := range []string{"type", "transportType", "transport"} {
		if s, ok := r.string(name); ok && word == "" {
			word = s
		}
	}
	delete(r.entry.values, "type")
	t, ok := known[strings.ToLower(word)]
	if word != "" && !ok {
		r.note("type %q: not known; it is told from the rest", word)
	}
	address, remote := r.entry.values["url"].(string)
	if _, command := r.entry.values["command"]; command || !remote {
		if remote { // a program that is told an address as well is started
			r.note("url: not carried beside a command")
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

// byURL is the transport that a URL alone stands for.
func byURL(address string) string {
	if u, err := url.Parse(address); err == nil && strings.HasSuffix(u.Path, "/sse") {
		return "sse"
	}
	return "http"
}

// place gives a server of a project its folder to start in: with us it would start elsewhere.
func (r *reading) place() {
	if r.host.isOurs() || r.base == "" || r.entry.values["command"] == nil {
		return
	}
	if _, set := r.entry.values["cwd"]; !set {
		r.set("cwd", escape(r.base))
	}
}

// workspace is what the host calls the workspace folder.
func (r *reading) workspace() string {
	if r.base != "" {
		return escape(r.base)
	}
	r.note("${workspaceFolder}: here it is the folder of the settings, or the client's")
	return "${workspaceFolder}"
}

// path makes a relative path absolute, where it is known what it starts at.
func (r *reading) path(s string) string {
	switch {
	case s == "" || strings.HasPrefix(s, "${") || isAbs(s):
		return s
	case strings.HasPrefix(s, "~/"), strings.HasPrefix(s, `~\`):
		return "${userHome}" + s[1:]
	case r.base != "":
		return escape(filepath.Join(r.base, s))
	case !r.host.isOurs():
		r.note("%s: a relative path; here it starts at the folder of the settings", s)
	}
	return s
}

// program is path for a command, of which a bare name is looked up.
func (r *reading) program(s string) string {
	if !strings.ContainsAny(s, `/\`) {
		return s
	}
	return r.path(s)
}

var driveLetter = lazyregexp.New(`^[A-Za-z]:[\\/]`)

// isAbs reports whether a path is absolute on any system: a file may come from another one.
func isAbs(s string) bool {
	return filepath.IsAbs(s) || strings.HasPrefix(s, "/") || strings.HasPrefix(s, `\\`) || driveLetter.MatchString(s)
}
