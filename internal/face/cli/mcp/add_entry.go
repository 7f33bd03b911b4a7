package mcp

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/config"
	"collie/internal/face/cli/root"
)

// This file makes the entry of a server from the words and flags of `collie mcp add`.

// commandLine stands in messages for the name of the file, if an entry is given by flags.
const commandLine = "the command line"

// fromFlags returns the server that NAME, the command and the flags describe.
func (f *addFlags) fromFlags(args []string, base string) ([]config.ServerEntry, error) {
	if f.url == "" && len(args) == 2 && isAddress(args[1]) {
		f.url, args = args[1], args[:1]
	}
	switch {
	case len(args) == 0:
		return nil, root.Usage("which name? usage: collie mcp add NAME -- COMMAND ARG…, or NAME URL, or --json JSON")
	case f.url == "" && isAddress(args[0]):
		return nil, root.Usage("%s is a URL without a name for the server: collie mcp add NAME %s", args[0], args[0])
	case f.url == "" && len(args) > 1 && isAddress(args[1]):
		return nil, root.Usage("%s is a URL, so %q after it is not expected", args[1], args[2])
	case len(args) == 1 && f.url == "":
		return nil, root.Usage("%s needs a command or a URL: collie mcp add %s -- COMMAND ARG…, or collie mcp add %s URL", args[0], args[0], args[0])
	case len(args) > 1 && f.url != "":
		return nil, root.Usage("a server has a command or a URL, not both")
	case f.url != "" && (f.env != nil || f.cwd != ""):
		return nil, root.Usage("--env and --cwd are for a command; a server at a URL takes --header")
	case f.url == "" && f.headers != nil:
		return nil, root.Usage("--header is for a server at a URL; a command takes --env")
	}
	var e entry
	e.Type, e.URL = f.transport, f.url
	var err error
	if e.Headers, err = parsePairs("--header", f.headers, ":", "'Name: value'"); err != nil {
		return nil, err
	}
	if e.Env, err = parsePairs("--env", f.env, "=", "NAME=VALUE"); err != nil {
		return nil, err
	}
	if len(args) > 1 {
		if e.Command, err = fromHere(args[1]); err != nil {
			return nil, err
		}
		e.Args = args[2:]
	}
	if f.cwd != "" {
		if e.Cwd, err = absolute(f.cwd); err != nil {
			return nil, err
		}
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]map[string]entry{"mcpServers": {args[0]: e}}); err != nil {
		return nil, err
	}
	return config.Snippet(commandLine, base, text.Bytes())
}

// isAddress reports whether a word is the URL of a server and so not a command.
func isAddress(word string) bool {
	scheme, _, ok := strings.Cut(word, "://")
	return ok && slices.Contains([]string{"http", "https", "unix"}, strings.ToLower(scheme))
}

// entry is a server as written into the settings.
type entry struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// fromHere makes the path of a program absolute, because a relative path starts at the working folder on a
// command line but at the file's folder in the settings. A name to be looked up in PATH stays.
func fromHere(command string) (string, error) {
	if !strings.ContainsRune(command, '/') && !strings.ContainsRune(command, filepath.Separator) {
		return command, nil
	}
	return absolute(command)
}

// absolute makes a path absolute that is relative to the working folder. One that begins with a variable stays, and one that begins
// with ~, of which the check of the entry says what to write.
func absolute(path string) (string, error) {
	if strings.HasPrefix(path, "${") || strings.HasPrefix(path, "~") {
		return path, nil
	}
	return filepath.Abs(path)
}

// parsePairs parses the values of a repeatable flag as names and values with sep between them. form describes them in
// errors.
func parsePairs(flag string, values []string, sep, form string) (map[string]string, error) {
	if values == nil {
		return nil, nil //nolint:nilnil // nothing was given, so nothing is written
	}
	out := make(map[string]string, len(values))
	for _, v := range values {
		name, value, ok := strings.Cut(v, sep)
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, root.Usage("%s is %q, expected %s", flag, v, form)
		}
		if sep == ":" {
			value = strings.TrimSpace(value)
		}
		out[name] = value
	}
	return out, nil
}
