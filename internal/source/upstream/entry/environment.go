package entry

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// This file makes the environment of a server's process.

// defaultDeny are patterns of variables that a child inherits only if its entry names them.
var defaultDeny = []string{
	"COLLIE_*", "SIYUAN_TOKEN",
	"*_API_KEY", "*_TOKEN", "*_SECRET", "*_PASSWORD", "AWS_*", "*_CREDENTIALS",
}

// Variables that "minimal" passes on if they are set.
var (
	minimalUnix = strings.Fields("HOME LOGNAME USER SHELL PATH TERM LANG LC_* TZ TMPDIR XDG_*")

	minimalWindows = strings.Fields("APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA NUMBER_OF_PROCESSORS PATH " +
		"PATHEXT PROCESSOR_ARCHITECTURE ProgramData ProgramFiles ProgramFiles(x86) ProgramW6432 " +
		"SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE windir COMSPEC")

	network = strings.Fields("HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy " +
		"all_proxy SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE npm_config_registry " +
		"npm_config_cache UV_INDEX_URL UV_CACHE_DIR PIP_INDEX_URL DOCKER_HOST")
)

// EnvironmentOptions are the inputs of [Environment] besides the entry. The zero value works.
type EnvironmentOptions struct {
	// Deny are patterns of variables that are not inherited; nil means COLLIE_*, *_API_KEY, *_TOKEN and the like.
	Deny []string
	// IsDir reports whether a folder exists; nil asks the file system.
	IsDir func(string) bool
	// ReadFile reads a small file, such as nvm's default version; nil reads from the file system.
	ReadFile func(string) ([]byte, error)

	goos string
}

// Environment returns the environment of e's child process, sorted: the variables that it inherits from parent (our
// own environment, as NAME=value), overridden by those that the entry sets. A list in inheritEnv adds to the minimal
// set. Names are compared without case on Windows; patterns of Deny always are. Existing folders where tools are
// usually installed are appended to an inherited PATH.
func Environment(e Entry, parent []string, o EnvironmentOptions) []string {
	b := newEnvironment(o)
	for _, pair := range parent {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" || strings.HasPrefix(value, "()") { // an exported shell function
			continue
		}
		if b.inherits(e.InheritEnv, name) && !b.matchesAny(e.Unset, name) {
			b.set(name, value)
		}
	}
	if name := b.knownSpelling("PATH"); b.vars[name] != "" {
		b.vars[name] = b.extendPath(b.vars[name], parent)
	}
	for name, v := range e.Env {
		b.set(name, v.text)
	}
	out := make([]string, 0, len(b.vars))
	for name, value := range b.vars {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// environment is an environment being built.
type environment struct {
	EnvironmentOptions
	vars map[string]string
}

func newEnvironment(o EnvironmentOptions) *environment {
	if o.Deny == nil {
		o.Deny = defaultDeny
	}
	if o.IsDir == nil {
		o.IsDir = func(dir string) bool {
			info, err := os.Stat(dir)
			return err == nil && info.IsDir()
		}
	}
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	if o.goos == "" {
		o.goos = runtime.GOOS
	}
	return &environment{o, map[string]string{}}
}

// set sets a variable. On Windows it replaces one whose name differs in case.
func (b *environment) set(name, value string) { b.vars[b.knownSpelling(name)] = value }

// knownSpelling returns the name under which a variable is already set, which on Windows may differ in case, or else
// the given one.
func (b *environment) knownSpelling(name string) string {
	if b.goos == "windows" {
		for n := range b.vars {
			if strings.EqualFold(n, name) {
				return n
			}
		}
	}
	return name
}

// inherits reports whether a child inherits a variable, by the mode, the list of names, and the denied patterns.
func (b *environment) inherits(in inherit, name string) bool {
	if in.Mode == "none" {
		return false
	}
	for _, n := range in.Names { // a name in the list overrules denied patterns
		if n != "*" && b.matches(n, name) {
			return true
		}
	}
	minimal := minimalUnix
	if b.goos == "windows" {
		minimal = minimalWindows
	}
	wanted := in.Mode == "all" || b.matchesAny(in.Names, name) || b.matchesAny(minimal, name) || b.matchesAny(network, name)
	return wanted && !b.denied(name) // checked last, since matching the patterns costs most
}

// denied reports whether a pattern of Deny matches a name, without regard to case.
func (b *environment) denied(name string) bool {
	return slices.ContainsFunc(b.Deny, func(pattern string) bool {
		ok, err := path.Match(strings.ToUpper(pattern), strings.ToUpper(name))
		return ok && err == nil
	})
}

// matchesAny reports whether a name matches one of patterns.
func (b *environment) matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return b.matches(p, name) })
}

// matches reports whether name equals pattern, or has its prefix if pattern is PREFIX_*.
func (b *environment) matches(pattern, name string) bool {
	if b.goos == "windows" {
		pattern, name = strings.ToUpper(pattern), strings.ToUpper(name)
	}
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

// extendPath appends existing folders where tools are usually installed to a PATH: programs started from a desktop often
// lack them.
func (b *environment) extendPath(list string, parent []string) string {
	separator := string(filepath.ListSeparator)
	have := strings.Split(list, separator)
	for _, dir := range b.toolFolders(func(name string) string {
		for _, pair := range slices.Backward(parent) {
			if n, v, _ := strings.Cut(pair, "="); n == name || b.goos == "windows" && strings.EqualFold(n, name) {
				return v
			}
		}
		return ""
	}) {
		if !slices.Contains(have, dir) && b.IsDir(dir) {
			have = append(have, dir)
		}
	}
	return strings.Join(have, separator)
}
