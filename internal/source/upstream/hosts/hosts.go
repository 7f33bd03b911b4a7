// Package hosts knows other programs that keep MCP servers in a file: where the file is, how it
// is shaped, and how Collie is written into it without disturbing anything else there.
//
// There is one Go file for each host and a sample of its file in testdata. [Find] is the entry
// point, then [Prepare] and [Plan.Apply]. Changing JSON text is left to a [Setter].
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
	// Key is the object that holds the servers by name.
	Key string
	// Typed says that the program writes "type": "stdio" into its entries.
	Typed bool
	// After is what a person does so that the program sees a change; a sentence.
	After string

	file func(System) string
}

// all lists the hosts in alphabetical order.
var all = []Host{claudeCode, claudeDesktop, cursor, vsCode}

// All returns every known host, in alphabetical order.
func All() []Host { return slices.Clone(all) }

// Find returns the host of that name. The error lists the names.
func Find(name string) (Host, error) {
	names := make([]string, 0, len(all))
	for _, h := range all {
		if h.Name == name {
			return h, nil
		}
		names = append(names, h.Name)
	}
	return Host{}, &tool.Error{
		Op: "connect", Kind: tool.Unknown, Subject: name,
		Message: "no such client", Hint: "known are " + strings.Join(names, ", "),
	}
}

// System is the machine that a host runs on.
type System struct {
	// OS is a value of [runtime.GOOS].
	OS string
	// Env looks up our environment. Nil means an empty one.
	Env func(name string) (string, bool)
}

// File is where the host keeps a user's servers on this system. The file need not exist.
func (h Host) File(s System) (string, error) {
	file := h.file(s)
	if !filepath.IsAbs(file) {
		return "", &tool.Error{
			Op: "connect", Kind: tool.Invalid, Subject: h.Name,
			Message: "the home folder is not known", Hint: "set HOME, or name the file",
		}
	}
	return file, nil
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
	if dir := s.env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return below(dir, elements)
	}
	return s.home(append([]string{".config"}, elements...)...)
}

// below is a file below dir, or nothing if there is no dir.
func below(dir string, elements []string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, elements...)...)
}
