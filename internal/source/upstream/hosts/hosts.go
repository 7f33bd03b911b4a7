// Package hosts knows other programs that keep MCP servers in a file: where the file is, how it
// is shaped, how its servers read in our words and ours in theirs, and how Collie is written
// into it without disturbing anything else there.
//
// There is one Go file for each host, which is mostly a table of fields for both directions,
// and samples of its file in testdata. [Find] is the entry point; then [Host.Read] takes servers
// out of a file, [Host.Write] makes entries for one, and [Prepare] with [Plan.Apply] changes
// one. Nothing here chooses names, moves secrets or writes our own settings. Changing JSON text
// is left to a [setter].
package hosts

import (
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/tool"
)

// Host is one program that keeps MCP servers in a file.
type Host struct {
	Name  string // as people type it, such as "claude-desktop"
	Title string // as the program calls itself
	// Program is the command that starts it; empty if none does.
	Program string
	// Key is the object that holds the servers by name.
	Key string
	// After is what a person does so that the program sees a change; a sentence.
	After string

	format format
	// file is where a user's servers are written; nil if there is no such place.
	file func(System) string
	// places are where servers may be found, the user's own first; nil means file alone.
	places func(System) []Place
	// hints are parts of paths, with slashes and in lower case, that only this host has.
	hints []string
	// fits reports whether a file without a telling name is this host's.
	fits func(*document) bool

	vars    syntax
	types   types
	fields  []field
	read    func(*reading)              // what the table cannot say; before it
	write   func(*writing)              // the reverse; after it
	list    func(*document) []listed    // nil means the members of Key
	refuses func(Entry) (reason string) // nil means that it takes every entry
}

// Place is a file in which a host may keep servers.
type Place struct {
	File string
	// Project is the folder that the file is about; empty for a user's own.
	Project string
}

// all lists the hosts in alphabetical order.
var all = []Host{
	claudeCode, claudeDesktop, cline, codex, cursor, gemini, kilo, openCode, roo, spring, vsCode, windsurf, xiaozhi, zed,
}

// All returns every known host, in alphabetical order.
func All() []Host { return slices.Clone(all) }

// Clients returns the hosts with a file of their own, into which a user's servers can be
// written, in alphabetical order.
func Clients() []Host {
	return slices.DeleteFunc(All(), func(h Host) bool { return h.file == nil })
}

// Find returns the host of that name. The error lists the names.
func Find(name string) (Host, error) { return find(name, "host", all) }

// FindClient is [Find] among [Clients].
func FindClient(name string) (Host, error) { return find(name, "client", Clients()) }

func find(name, what string, list []Host) (Host, error) {
	names := make([]string, 0, len(list))
	for _, h := range list {
		if h.Name == name {
			return h, nil
		}
		names = append(names, h.Name)
	}
	e := &tool.Error{
		Op: "find " + what, Kind: tool.Unknown, Subject: name,
		Message: "no such " + what, Hint: "known are " + strings.Join(names, ", "),
	}
	if near, ok := tool.Nearest(name, names); ok {
		e.Hint = "did you mean " + near + "? " + e.Hint
	}
	return Host{}, e
}

// System is the machine that a host runs on.
type System struct {
	// OS is a value of [runtime.GOOS].
	OS string
	// Env looks up our environment. Nil means an empty one.
	Env func(name string) (string, bool)
	// Dir is the project whose files are looked at beside the user's own; absolute. Empty means
	// none.
	Dir string
}

// File is where the host keeps a user's servers on this system. The file need not exist.
func (h Host) File(s System) (string, error) {
	if h.file == nil {
		return "", &tool.Error{
			Op: "find file", Kind: tool.Invalid, Subject: h.Name,
			Message: "its file has no fixed place", Hint: "name it with --file",
		}
	}
	file := h.file(s)
	if !filepath.IsAbs(file) {
		return "", &tool.Error{
			Op: "find file", Kind: tool.Invalid, Subject: h.Name,
			Message: "the home folder is not known", Hint: "set HOME, or name the file",
		}
	}
	return file, nil
}

// Places is every file in which the host may keep servers on this system, the user's own first.
// The files need not exist.
func (h Host) Places(s System) []Place {
	var list []Place
	if h.places != nil {
		list = h.places(s)
	} else if h.file != nil {
		list = []Place{{File: h.file(s)}}
	}
	return slices.DeleteFunc(list, func(p Place) bool { return p.File == "" })
}

func (s System) env(name string) string {
	if s.Env == nil {
		return ""
	}
	v, _ := s.Env(name)
	return v
}

// home is a file below the user's own folder.
func (s System) home(elements ...string) string {
	dir := s.env("HOME")
	if s.OS == "windows" {
		dir = s.env("USERPROFILE")
	}
	return below(dir, elements)
}

// settings is a file below the folder in which desktop programs keep their settings.
func (s System) settings(elements ...string) string {
	switch s.OS {
	case "windows":
		return below(s.env("APPDATA"), elements)
	case "darwin":
		return s.home(append([]string{"Library", "Application Support"}, elements...)...)
	}
	return s.dotConfig(elements...)
}

// dotConfig is a file below the folder in which programs of terminals keep their settings.
func (s System) dotConfig(elements ...string) string {
	if dir := s.env("XDG_CONFIG_HOME"); s.OS != "windows" && filepath.IsAbs(dir) {
		return below(dir, elements)
	}
	return s.home(append([]string{".config"}, elements...)...)
}

// extension is a file in the storage of an extension of Visual Studio Code.
func (s System) extension(id, file string) string {
	return s.settings("Code", "User", "globalStorage", id, "settings", file)
}

// own is the place of a user's own file.
func own(file string) Place { return Place{File: file} }

// project is a place below the project.
func (s System) project(elements ...string) Place {
	return Place{File: below(s.Dir, elements), Project: s.Dir}
}

// below is a file below dir, or nothing if there is no dir.
func below(dir string, elements []string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, elements...)...)
}
