package admin_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/app"
	"collie/internal/config"
	entryadmin "collie/internal/source/upstream/entry/admin"
)

// A person sees everything that matters before trusting a project, but no secret, and looking opens no file that the
// project names.
func TestProjectServers(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	file := config.ProjectPath(dir)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	const text = `{"mcpServers": {
		"all": {"command": "./run.sh", "args": ["a b", "--token", "geheim", "${TOKEN}"], "cwd": "${workspaceFolder}", "env": {"B": "geheim", "A": "${secret:TEAM}"},
			"envFile": "/dev/zero", "inheritEnv": "all", "roots": ["/srv"], "autoApprove": true, "lifecycle": "eager", "disabled": true},
		"remote": {"url": "https://${HOST}:${PORT}/mcp?key=geheim", "headers": {"Authorization": "Bearer geheim"}, "tls": {"insecure": true},
			"headersCommand": {"command": "sh", "args": ["-c", "print headers"]}, "autoApprove": ["a", "b"]},
		"mine": {"command": "npx", "args": ["-y", "p"], "inheritEnv": ["AWS_*"]},
		"odd": {"command": "x", "url": "http://h"},
		"sly": {"url": "https://h/mcp", "headers": {"X-A": "\u0024{secret:TEAM}", "X-B": "$\u007bAWS_KEY:-x\u007d", "X-C": "${secret:a:b}${\u0065nv:HOME_KEY}",
			"X-D": "${userHome}$${LITERAL}", "X-A": "none", "X-E": "${input:i}"}}
	}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	paths, err := config.FindPaths(home, config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := config.FindProject(paths, dir)
	if err != nil {
		t.Fatal(err)
	}
	got := entryadmin.ProjectServers(p, []string{"mine", "other"}, app.Redacted)
	raw, err := json.Marshal(got)
	if err != nil || strings.Contains(string(raw), "geheim") {
		t.Errorf("a secret is shown: %s, %v", raw, err)
	}
	for i := range got {
		got[i].Entry = nil
	}
	in := filepath.Dir(file)
	want := []entryadmin.ProjectServer{
		{Name: "all", Transport: "stdio", Command: `./run.sh "a b" --token *** ${TOKEN}`, Effects: []string{
			"the program is " + filepath.Join(in, "run.sh"), "runs in " + p.Dir, "gets the variables A, B", "gets the variables in /dev/zero",
			"gets your whole environment", "reads $TOKEN, secret TEAM", "is told of the folders /srv", "its tools run without asking",
			"starts with the gateway", "is switched off",
		}},
		{Name: "remote", Transport: "http", Command: "https://${HOST}:${PORT}/mcp?key=***", Effects: []string{
			"is sent the headers Authorization", `runs for its headers: sh -c "print headers"`, "its certificate is not checked", "reads $HOST, $PORT",
			"runs without asking: a, b",
		}},
		{Name: "mine", Transport: "stdio", Command: "npx -y p", Effects: []string{
			"runs in " + in, "gets from your environment AWS_*", "takes the place of your own server of that name",
		}},
		{Name: "odd", Transport: "stdio", Command: "x", Effects: []string{"runs in " + in}, Problems: []string{"both a command and a url; a server has one of them"}},
		{Name: "sly", Transport: "http", Command: "https://h/mcp", Effects: []string{
			"is sent the headers X-A, X-B, X-C, X-D, X-E", "reads secret TEAM, $AWS_KEY, secret a:b, $HOME_KEY, input i",
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
}
