// Package hosts knows other programs that keep MCP servers in a file. It knows where each file is, converts its
// servers to our format and back, and writes Collie into it without disturbing anything else there.
//
// Each host has one Go file, which is mostly a table of fields for both directions, and samples of its file in
// testdata. [Find] returns a host. [Host.Read] reads the servers of a file, [Host.Write] makes entries for one, and
// [Prepare] with [Plan.Apply] changes one. The caller passes the function that changes JSON text, a [setter]. The package
// does not choose names, move secrets or write our own settings.
package hosts

import (
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/tool"
)

// Host is a program that keeps MCP servers in a file.
type Host struct {
	Name  string // as users type it, such as "claude-desktop"
	Title string // the program's own name
	// Program is the command that starts it; empty if there is none.
	Program string
	// Key names the object that holds the servers by name.
	Key string
	// After tells the user how to make the program see a change; a sentence.
	After string

	format format
	// file returns the file to which a user's servers are written; nil if there is none.
	file func(System) string
	// places returns where servers may be found, the user's own file first; nil means file alone.
	places func(System) []Place
	// hints are parts of paths, in lower case with slashes, that only this host's files have.
	hints []string
	// isOwnFile reports whether a file belongs to this host, judged by its content.
	isOwnFile func(*document) bool

	vars          syntax
	types         types
	fields        []field
	read          func(*hostReading)             // reads what fields cannot describe; runs before them
	write         func(*hostWriting)             // the reverse of read; runs after fields
	list          func(*document) []listedServer // nil: the members of Key
	refusalReason func(Entry) (reason string)    // nil: accepts every entry
}

// Place is a file in which a host may keep servers.
type Place struct {
	File string
	// Project is the folder that the file is for; empty for the user's own file.
	Project string
}

// all lists the hosts in alphabetical order.
var all = []Host{
	claudeCode, claudeDesktop, cline, codex, cursor, gemini, kilo, openCode, roo, spring, vsCode, windsurf, xiaozhi, zed,
}

// All returns every known host, in alphabetical order.
func All() []Host { return slices.Clone(all) }

// Clients returns the hosts to whose files a user's servers can be written, in alphabetical order.
func Clients() []Host {
	return slices.DeleteFunc(All(), func(h Host) bool { return h.file == nil })
}

// Find returns the host with that name. The error lists the known names.
func Find(name string) (Host, error) { return find(name, "host", all) }

// FindClient is like [Find] but only finds [Clients].
func FindClient(name string) (Host, error) { return find(name, "client", Clients()) }

func find(name, noun string, list []Host) (Host, error) {
	names := make([]string, 0, len(list))
	for _, h := range list {
		if h.Name == name {
			return h, nil
		}
		names = append(names, h.Name)
	}
	e := &tool.Error{
		Op: "find " + noun, Kind: tool.NotFound, Subject: name,
		Message: "no such " + noun, Hint: "known are " + strings.Join(names, ", "),
	}
	if near, ok := tool.Nearest(name, names); ok {
		e.Hint = "did you mean " + near + "? " + e.Hint
	}
	return Host{}, e
}

// System describes the machine that a host runs on.
type System struct {
	// OS is a value of [runtime.GOOS].
	OS string
	// Env looks up a variable of our environment; nil means an empty environment.
	Env func(name string) (string, bool)
	// Dir is the absolute path of a project whose files are read besides the user's own; empty means none.
	Dir string
}

// File returns the file where the host keeps a user's servers on this system. It need not exist.
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

// Places returns every file in which the host may keep servers on this system, the user's own first. They need not
// exist.
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

// home returns a path below the user's home folder.
func (s System) home(elements ...string) string {
	dir := s.env("HOME")
	if s.OS == "windows" {
		dir = s.env("USERPROFILE")
	}
	return pathBelow(dir, elements)
}

// settings returns a path below the folder in which desktop programs keep their settings.
func (s System) settings(elements ...string) string {
	switch s.OS {
	case "windows":
		return pathBelow(s.env("APPDATA"), elements)
	case "darwin":
		return s.home(append([]string{"Library", "Application Support"}, elements...)...)
	}
	return s.dotConfig(elements...)
}

// dotConfig returns a path below the folder in which terminal programs keep their settings.
func (s System) dotConfig(elements ...string) string {
	if dir := s.env("XDG_CONFIG_HOME"); s.OS != "windows" && filepath.IsAbs(dir) {
		return pathBelow(dir, elements)
	}
	return s.home(append([]string{".config"}, elements...)...)
}

// extension returns the path of a file of an extension of Visual Studio Code.
func (s System) extension(id, file string) string {
	return s.settings("Code", "User", "globalStorage", id, "settings", file)
}

// userPlace returns the place of a user's own file.
func userPlace(file string) Place { return Place{File: file} }

// project returns a place below the project.
func (s System) project(elements ...string) Place {
	return Place{File: pathBelow(s.Dir, elements), Project: s.Dir}
}

// pathBelow returns a path below dir, empty if dir is.
func pathBelow(dir string, elements []string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, elements...)...)
}
