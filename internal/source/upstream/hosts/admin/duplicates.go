package admin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/config"
	"collie/internal/source/upstream/hosts"
)

// This file finds servers that a client would get twice, and the places where clients start Collie.

// Duplicate is a server that is both in a client's own files and in Collie's settings, so that the client would get its
// tools twice.
type Duplicate struct {
	Name string `json:"name"` // the client's name for it
	Ours string `json:"ours"` // our name for it
	File string `json:"file"` // the client's file; symbolic links resolved
	Same bool   `json:"same"` // same program or address, not just the same name

	path []string
}

// Duplicates returns the servers of a client that are in Collie's settings too. It reads the user's files, those of the
// project in dir, and file if it is not empty. Files that cannot be read are skipped.
func Duplicates(cfg *config.Config, env config.Env, client, dir, file string) ([]Duplicate, error) {
	h, err := hosts.FindClient(client)
	if err != nil {
		return nil, err
	}
	places := h.Places(systemOf(env, dir))
	if file != "" && !slices.ContainsFunc(places, func(p hosts.Place) bool { return p.File == file }) {
		places = append(places, hosts.Place{File: file})
	}
	var out []Duplicate
	var seen []string
	for _, place := range places {
		place.File = withoutLinks(place.File)
		found, err := h.Read(place)
		if err != nil || slices.Contains(seen, place.File) {
			continue
		}
		seen = append(seen, place.File)
		for _, f := range found {
			if f.Skip != "" || f.Project != "" && f.Project != dir || f.Entry.Disabled() || f.Entry.IsGateway() {
				continue
			}
			if t, ok := duplicateOf(cfg, f); ok {
				t.File, t.path = place.File, f.Path
				out = append(out, t)
			}
		}
	}
	return out, nil
}

// duplicateOf finds the server of the settings that a client's server duplicates: one with the same program or address,
// or else one with the same name.
func duplicateOf(cfg *config.Config, f hosts.Found) (Duplicate, bool) {
	sameName := Duplicate{}
	for _, s := range cfg.Servers {
		e, _, err := hosts.ParseEntry(s.Raw, "")
		switch {
		case err != nil || e.Disabled() || s.Untrusted:
		case hosts.Alike(e, f.Entry):
			return Duplicate{Name: f.Name, Ours: s.Name, Same: true}, true
		case strings.EqualFold(s.Name, f.Name):
			sameName = Duplicate{Name: f.Name, Ours: s.Name}
		}
	}
	return sameName, sameName.Name != ""
}

// withoutLinks resolves the symbolic links in a path. Of a file that does not exist, it resolves those of the folders that do.
func withoutLinks(file string) string {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	rest := ""
	for dir := absolute; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return absolute
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// SameFile reports whether two paths name one file, which need not exist. A relative path, as older versions recorded it, is
// only compared as text, because its folder is not known.
func SameFile(recorded, file string) bool {
	if !filepath.IsAbs(recorded) {
		return filepath.Clean(recorded) == filepath.Clean(file)
	}
	return withoutLinks(recorded) == withoutLinks(file)
}

// ClientEntry is a place where a client starts Collie, or could.
type ClientEntry struct {
	Client    string   `json:"client"`
	Title     string   `json:"title"`
	Installed bool     `json:"installed"`
	File      string   `json:"file"`
	Name      string   `json:"name,omitempty"`    // name of the entry; empty if Collie is not connected
	Command   string   `json:"command,omitempty"` // the program that it starts
	Missing   bool     `json:"missing,omitempty"` // that program does not exist
	Off       bool     `json:"disabled,omitempty"`
	HTTP      bool     `json:"http,omitempty"` // it uses HTTP instead of starting a program
	Home      string   `json:"home,omitempty"`
	Config    []string `json:"config,omitempty"`
	Profile   string   `json:"profile,omitempty"`
	Problem   string   `json:"problem,omitempty"` // why the file cannot be read
}

// ClientConnections returns all places where clients start Collie. A client that does not start it is listed once, with
// the user's own file. dir is a project whose files are read as well. A file that cannot be read is listed with its Problem.
func ClientConnections(env config.Env, dir string, runs func(command string) bool) []ClientEntry {
	var out []ClientEntry
	for _, h := range hosts.Clients() {
		userFile, err := h.File(systemOf(env, dir))
		if err != nil {
			continue
		}
		base := ClientEntry{Client: h.Name, Title: h.Title, Installed: IsInstalled(env, h.Name, userFile, runs), File: userFile}
		n := len(out)
		for _, place := range h.Places(systemOf(env, dir)) {
			found, err := h.Read(place)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				broken := base
				broken.File, broken.Problem = place.File, err.Error()
				out = append(out, broken)
			}
			for _, f := range found {
				if f.Skip != "" || !f.Entry.IsGateway() {
					continue
				}
				c := base
				c.File = place.File
				c.setEntry(f, runs)
				out = append(out, c)
			}
		}
		if len(out) == n {
			out = append(out, base)
		}
	}
	return out
}

// setEntry fills in what an entry starts.
func (c *ClientEntry) setEntry(f hosts.Found, runs func(command string) bool) {
	line := f.Entry.CommandLine()
	if line == nil {
		c.Name, c.Off, c.HTTP = f.Name, f.Entry.Disabled(), true
		return
	}
	c.Name, c.Command, c.Off = f.Name, line[0], f.Entry.Disabled()
	c.Missing = !runs(c.Command)
	for i := 1; i+1 < len(line); i++ {
		switch line[i] {
		case "--home":
			c.Home = line[i+1]
		case "--config":
			c.Config = append(c.Config, line[i+1])
		case "--profile":
			c.Profile = line[i+1]
		}
	}
}

// IsInstalled reports whether a client seems to be installed: its program or the folder of its file exists.
func IsInstalled(env config.Env, client, file string, runs func(command string) bool) bool {
	h, err := hosts.FindClient(client)
	if err != nil {
		return false
	}
	if h.Program != "" && runs(h.Program) {
		return true
	}
	dir := filepath.Dir(file)
	return dir != env.First("HOME", "USERPROFILE") && pathExists(dir) || pathExists(file)
}

func pathExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
