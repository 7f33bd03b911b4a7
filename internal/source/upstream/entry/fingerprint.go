package entry

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"collie/internal/process"
)

// This file notices that a server was updated, by its files and the version of its package.

// maxFingerprinted bounds how many files are looked at.
const maxFingerprinted = 16

// Fingerprint returns a digest that changes when a server is updated: of the path, size and modification time of its
// program, unless that is a package runner, and of the scripts among its arguments, and of the version of the installed
// package for a Node runner. It only looks at a few files. parent is our own environment as NAME=value. The fingerprint
// is empty for a remote server, and if nothing is found. Compute it after the list was fetched, since a first start may
// download the package.
func (e Entry) Fingerprint(parent []string, o EnvironmentOptions) string {
	if e.Transport != Stdio {
		return ""
	}
	env := sync.OnceValue(func() []string { return Environment(e, parent, o) })
	var parts []string
	add := func(path string) {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || len(parts) == maxFingerprinted {
			return
		}
		sum := sha256.Sum256([]byte(path))
		parts = append(parts, fmt.Sprintf("%x:%d:%d", sum[:6], info.Size(), info.ModTime().UnixMilli()))
	}
	if !e.Runner { // the runner itself is not the server
		if path, err := e.resolve(env); err == nil {
			add(path)
		}
	}
	for _, path := range e.scripts() {
		add(path)
	}
	if name, version := e.nodePackage(env); version != "" {
		parts = append(parts, name+"@"+version)
	}
	return strings.Join(parts, " ")
}

// resolve returns the path of the program. A command with a path needs no environment.
func (e Entry) resolve(env func() []string) (string, error) {
	if filepath.IsAbs(e.Command.text) {
		return process.Resolve(e.Command.text, nil, e.Dir)
	}
	return process.Resolve(e.Command.text, env(), e.Dir)
}

// programEndings are endings of program files. Arguments with other endings may be files that the server writes, and such a
// write must not make its tools look outdated.
var programEndings = strings.Fields(".js .mjs .cjs .ts .mts .cts .tsx .py .pyz .rb .php .pl .lua .sh .jar .dll .exe .wasm .whl .ps1 .bat .cmd")

// baseFlags are flags followed by the folder to which relative paths refer.
var baseFlags = strings.Fields("--directory --dir --cwd --project --prefix -C")

// scripts returns the arguments that may be files of the server.
func (e Entry) scripts() (paths []string) {
	bases := []string{e.Dir}
	args := texts(e.Args)
	for i, arg := range args {
		if i > 0 && slices.Contains(baseFlags, args[i-1]) {
			bases = append(bases, under(e.Dir, arg))
			if filepath.IsAbs(arg) {
				bases[len(bases)-1] = arg
			}
			continue
		}
		if !slices.Contains(programEndings, strings.ToLower(filepath.Ext(arg))) {
			continue
		}
		if filepath.IsAbs(arg) {
			paths = append(paths, arg)
			continue
		}
		for _, base := range bases {
			paths = append(paths, filepath.Join(base, arg))
		}
	}
	return paths
}

// nodePackage returns the package that npx or a similar program runs, and its version as installed in the server's
// folder or in npm's cache; empty if it is in neither.
func (e Entry) nodePackage(env func() []string) (name, version string) {
	if !e.Runner || !slices.Contains([]string{"npx", "npm", "pnpx", "pnpm", "yarn", "bunx", "bun"}, programName(e.Command.text)) {
		return "", ""
	}
	name = e.Package
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	if name == "" || strings.ContainsAny(name, `\: `) || strings.Contains(name, "..") {
		return "", "" // a folder, a URL or nothing
	}
	file := filepath.Join("node_modules", filepath.FromSlash(name), "package.json")
	for _, dir := range []string{e.Dir, npxFolder(env(), e.Package)} {
		if version := packageVersion(under(dir, file)); version != "" {
			return name, version
		}
	}
	return name, ""
}

// npxFolder returns the folder where npm keeps what npx installed for a package, spelled as in spec.
func npxFolder(env []string, spec string) string {
	value := func(name string) string {
		for _, pair := range slices.Backward(env) {
			if n, v, ok := strings.Cut(pair, "="); ok && strings.EqualFold(n, name) {
				return v
			}
		}
		return ""
	}
	cache := value("npm_config_cache")
	if cache == "" {
		cache = under(value("HOME"), ".npm")
	}
	if local := value("LOCALAPPDATA"); cache == "" && local != "" {
		cache = filepath.Join(local, "npm-cache")
	}
	sum := sha512.Sum512([]byte(spec))
	return under(cache, filepath.Join("_npx", hex.EncodeToString(sum[:8])))
}

// packageVersion returns the version in a package.json, empty if there is none.
func packageVersion(path string) string {
	if path == "" {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 1<<20))
	var p struct {
		Version string `json:"version"`
	}
	if err != nil || json.Unmarshal(data, &p) != nil || len(p.Version) > 100 {
		return ""
	}
	return p.Version
}
