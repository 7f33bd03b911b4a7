package root

import (
	"os"
	"path/filepath"
	"strings"

	"collie/internal/config"
	"collie/internal/face/cli/output"
	"collie/internal/process"
)

// This file finds how this program is to be started again: its path, and the flags for the same settings.

// StdioArgs returns the arguments with which a client starts this program with the present settings, since
// the client has neither our flags nor, often, our environment.
func (p *Program) StdioArgs(profile string) ([]string, error) {
	args := []string{"stdio"}
	home, files := output.FirstNonEmpty(p.Home, p.Env.Get("COLLIE_HOME")), p.Files
	if env := p.Env.Get("COLLIE_CONFIG"); len(files) == 0 && env != "" {
		files = []string{env}
	}
	add := func(flag, path string) error {
		abs, err := filepath.Abs(path)
		args = append(args, flag, abs)
		return err
	}
	if home != "" {
		if err := add("--home", home); err != nil {
			return nil, err
		}
	}
	for _, file := range files {
		if err := add("--config", file); err != nil {
			return nil, err
		}
	}
	if profile != "" {
		args = append(args, "--profile", profile)
	}
	return args, nil
}

// Path returns the path under which a client should start this program: the one in PATH, if that is this
// program, because it survives an update.
func (p *Program) Path() string {
	if found, ok := p.inPath(); ok {
		return found
	}
	return Self()
}

// inPath returns where PATH has this program; ok is false if it does not.
func (p *Program) inPath() (found string, ok bool) {
	found, err := process.Resolve("collie", p.Env.List(), "")
	if err != nil {
		return "", false
	}
	target, err := filepath.EvalSymlinks(found)
	return found, err == nil && target == Self()
}

// AsFlags returns --config for each file, as a person types it in this folder.
func AsFlags(files []string) string {
	var b strings.Builder
	for _, file := range files {
		b.WriteString(" --config " + output.ShellQuote(displayPath(file)))
	}
	return b.String()
}

// Typed returns a command of this program as a person types it in this folder, with the same home and
// settings.
func (p *Program) Typed(command string) string { return p.TypedWith(command, p.Files) }

// TypedWith is like Typed with other settings files.
func (p *Program) TypedWith(command string, files []string) string {
	name := "collie"
	if _, ok := p.inPath(); !ok && Self() != "" {
		if name = displayPath(Self()); !strings.ContainsRune(name, filepath.Separator) {
			name = "." + string(filepath.Separator) + name
		}
		name = output.ShellQuote(name)
	}
	if p.Home != "" {
		command += " --home " + output.ShellQuote(p.Home)
	}
	return name + " " + command + AsFlags(files)
}

// displayPath returns a path as a person types it: relative if it is below the working folder.
func displayPath(path string) string {
	workDir, err := filepath.Abs(".")
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(workDir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// ShortPath replaces the home folder by ~.
func ShortPath(path string, env config.Env) string {
	home := env.First("HOME", "USERPROFILE")
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && home != "" {
		return "~/" + filepath.ToSlash(rest)
	}
	return path
}

// Self returns the absolute path of this program; empty if it is unknown.
func Self() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
