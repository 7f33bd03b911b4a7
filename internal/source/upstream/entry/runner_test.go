package entry_test

import (
	"encoding/json"
	"testing"

	"collie/internal/source/upstream/entry"
)

// Package runners and container engines are recognized, and the package or image in their arguments is found.
func TestRunners(t *testing.T) {
	t.Parallel()
	for raw, pkg := range map[string]string{
		`["npx", "-y", "@scope/p@1.2"]`:                           "@scope/p@1.2",
		`["npx", "--package=@scope/p", "cmd"]`:                    "@scope/p",
		`["npx", "-p", "p", "cmd"]`:                               "p",
		`["C:\\Program Files\\nodejs\\npx.cmd", "p"]`:             "p",
		`["cmd", "/C", "npx", "-y", "p"]`:                         "p",
		`["npm", "exec", "--yes", "--", "p"]`:                     "p",
		`["npm", "--silent", "exec", "p"]`:                        "p",
		`["pnpm", "dlx", "p"]`:                                    "p",
		`["yarn", "dlx", "-p", "p", "q"]`:                         "p",
		`["bunx", "p"]`:                                           "p",
		`["bun", "x", "p"]`:                                       "p",
		`["uvx", "--from", "git+https://h/r", "cmd"]`:             "git+https://h/r",
		`["uvx", "--python", "3.12", "p==1"]`:                     "p==1",
		`["uv", "tool", "run", "p"]`:                              "p",
		`["uv", "run", "--with", "mcp", "server.py"]`:             "mcp",
		`["uv", "--quiet", "run", "server.py"]`:                   "server.py",
		`["pipx", "run", "--spec", "p", "cmd"]`:                   "p",
		`["docker", "run", "-i", "--rm", "-e", "K", "org/img:1"]`: "org/img:1",
		`["podman", "container", "run", "-iv", "/a:/b", "img"]`:   "img",
		`["deno", "run", "npm:p"]`:                                "npm:p",
		`["npx"]`:                                                 "",
	} {
		e, _ := entry.Parse("s", json.RawMessage(`{"command": `+raw+`}`), entry.Options{})
		if !e.Runner || e.Package != pkg {
			t.Errorf("%s is runner %v of %q, want %q", raw, e.Runner, e.Package, pkg)
		}
	}
	for _, raw := range []string{`["node", "npx"]`, `["npm", "start"]`, `["docker", "mcp", "run"]`, `["uv", "sync"]`, `["cmd", "/c", "node"]`, `["/opt/mynpx"]`} {
		if e, _ := entry.Parse("s", json.RawMessage(`{"command": `+raw+`}`), entry.Options{}); e.Runner {
			t.Errorf("%s is taken for a runner of %q", raw, e.Package)
		}
	}
}
