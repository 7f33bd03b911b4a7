package connection_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/connection"
	"collie/internal/tool"
)

const (
	home = "http://127.0.0.1:6806"
	work = "https://notes.example.org/siyuan"
	port = "http://127.0.0.1:7777"
)

func settings(t *testing.T, text string) connection.Settings {
	t.Helper()
	s, ps := connection.Parse([]byte(text))
	if len(ps) > 0 {
		t.Fatalf("problems: %v", ps)
	}
	return s
}

const two = `{"current": "home", "connections": {
	"home": {"url": "http://127.0.0.1:6806/", "token": "home-token", "workspace": "/notes"},
	"work": {"url": "https://notes.example.org/siyuan", "token": "env:WORK_TOKEN"}}}`

// choice is the compared part of a connection; its zero value means not configured.
type choice struct {
	From                        connection.From
	Name, URL, Token, Workspace string
}

func TestResolve(t *testing.T) {
	t.Parallel()
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"WORK_TOKEN": "work-token\n"}[name]
		return v, ok
	}
	const flags, environment, saved = connection.FromFlags, connection.FromEnv, connection.FromConnection
	for name, tc := range map[string]struct {
		in      connection.Inputs
		want    choice
		warning string // part of the only warning; empty for none
	}{
		"nothing":         {connection.Inputs{}, choice{}, ""},
		"current":         {connection.Inputs{Saved: settings(t, two)}, choice{saved, "home", home, "home-token", "/notes"}, ""},
		"--connection":    {connection.Inputs{Saved: settings(t, two), Connection: "work"}, choice{saved, "work", work, "work-token", ""}, ""},
		"the only one":    {connection.Inputs{Saved: settings(t, `{"connections": {"笔记": {"url": "http://127.0.0.1:7777"}}}`)}, choice{saved, "笔记", port, "", ""}, ""},
		"environment":     {connection.Inputs{EnvURL: port + "/", EnvToken: "e"}, choice{environment, "", port, "e", ""}, ""},
		"env wins":        {connection.Inputs{Saved: settings(t, two), EnvURL: port, EnvToken: "e"}, choice{environment, "", port, "e", ""}, ""},
		"the vault":       {connection.Inputs{Saved: settings(t, `{"current": "vault", "connections": {"work": {"url": "http://w"}}}`)}, choice{}, ""},
		"not the vault":   {connection.Inputs{Saved: settings(t, `{"current": "vault", "connections": {"vault": {"url": "http://w"}}}`)}, choice{saved, "vault", "http://w", "", ""}, ""},
		"one beside it":   {connection.Inputs{Saved: settings(t, `{"current": "vault", "connections": {"work": {"url": "http://w"}}}`), Connection: "work"}, choice{saved, "work", "http://w", "", ""}, ""},
		"env url only":    {connection.Inputs{Saved: settings(t, two), EnvURL: port}, choice{environment, "", port, "", ""}, ""},
		"env, same place": {connection.Inputs{Saved: settings(t, two), EnvURL: home}, choice{environment, "", home, "", ""}, `use connection "home"`},
		"env token only":  {connection.Inputs{EnvToken: "e"}, choice{}, "SIYUAN_TOKEN is set without SIYUAN_API_URL"},
		"env token and current": {
			connection.Inputs{Saved: settings(t, two), EnvToken: "e"},
			choice{saved, "home", home, "home-token", "/notes"},
			"SIYUAN_TOKEN is set without SIYUAN_API_URL",
		},
		"env and --connection": {
			connection.Inputs{Saved: settings(t, two), Connection: "work", EnvURL: port, EnvToken: "e"},
			choice{environment, "", port, "e", ""},
			"SIYUAN_API_URL wins over --connection work: using " + port,
		},
		"--url": {connection.Inputs{Saved: settings(t, two), URL: port}, choice{flags, "", port, "", ""}, ""},
		"--url beats env": {
			connection.Inputs{Saved: settings(t, two), URL: port, EnvURL: home, EnvToken: "e"},
			choice{flags, "", port, "", ""},
			"",
		},
		"--url and the token of env": {connection.Inputs{URL: port, EnvToken: "e"}, choice{flags, "", port, "", ""}, ""},
		"--url of the current one":   {connection.Inputs{Saved: settings(t, two), URL: "HTTP://127.0.0.1:6806/"}, choice{flags, "", "HTTP://127.0.0.1:6806", "home-token", "/notes"}, ""},
		"--url of another one":       {connection.Inputs{Saved: settings(t, two), URL: work}, choice{flags, "", work, "", ""}, ""},
		"--url of --connection": {
			connection.Inputs{Saved: settings(t, two), URL: "https://NOTES.example.org:443/siyuan", Connection: "work"},
			choice{flags, "", "https://NOTES.example.org:443/siyuan", "work-token", ""},
			"",
		},
		"--url and another --connection": {
			connection.Inputs{Saved: settings(t, two), URL: port, Connection: "work"},
			choice{flags, "", port, "", ""},
			"--url wins over --connection work",
		},
		"--url --token": {
			connection.Inputs{Saved: settings(t, two), URL: home, Token: "f"},
			choice{flags, "", home, "f", ""},
			"can read a token on the command line",
		},
		"broken current does not stop --url": {
			connection.Inputs{Saved: broken(), URL: port}, choice{flags, "", port, "", ""}, "",
		},
		"broken current does not stop env": {
			connection.Inputs{Saved: broken(), EnvURL: port}, choice{environment, "", port, "", ""}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.in.Env = env
			c, warnings, err := connection.Resolve(t.Context(), tc.in)
			if err != nil {
				t.Fatal(err)
			}
			got := choice{c.From, c.Name, c.URL, c.Token.Reveal(), c.Workspace}
			if diff := cmp.Diff(tc.want, got); diff != "" || c.Configured != (tc.want != choice{}) {
				t.Errorf("configured %t (-want +got):\n%s", c.Configured, diff)
			}
			all := strings.Join(warnings, "\n")
			if tc.warning == "" && len(warnings) > 0 || !strings.Contains(all, tc.warning) || len(warnings) > 1 {
				t.Errorf("warnings %q, want %q", warnings, tc.warning)
			}
			for _, secret := range []string{"home-token", "work-token"} {
				if strings.Contains(all, secret) {
					t.Errorf("a warning tells a token: %s", all)
				}
			}
		})
	}
}

// broken returns settings whose current connection has an error.
func broken() connection.Settings {
	s, _ := connection.Parse([]byte(`{"current": "home", "connections": {"home": {"url": "ftp://h"}}}`))
	return s
}

func TestResolveErrors(t *testing.T) {
	t.Parallel()
	three := settings(t, `{"connections": {"home": {"url": "http://h"}, "work": {"url": "http://w"}, "工作": {"url": "http://c", "token": "${secret:none}"}}}`)
	refuse := func(string) (string, error) { return "", errors.New("secret none is not set") }
	for name, tc := range map[string]struct {
		in   connection.Inputs
		kind tool.ErrorKind
		want string
	}{
		"--token alone":      {connection.Inputs{Saved: settings(t, two), Token: "f"}, tool.Invalid, "choose connection --token: a token is only sent to the address that it is given with"},
		"unknown":            {connection.Inputs{Saved: three, Connection: "wrok"}, tool.NotFound, `there is no connection "wrok" among home, work, 工作; did you mean "work"?`},
		"unknown, env wins":  {connection.Inputs{Saved: three, Connection: "x", EnvURL: port}, tool.NotFound, `there is no connection "x" among home, work, 工作`},
		"unknown, none":      {connection.Inputs{Connection: "x"}, tool.NotFound, `there is no connection "x", and no other either`},
		"none is current":    {connection.Inputs{Saved: three}, tool.Invalid, "there are 3 connections, and none is the current one"},
		"broken":             {connection.Inputs{Saved: broken()}, tool.Invalid, `siyuan.current: connection "home" cannot be used: /connections/home/url: expected a URL that begins with`},
		"no scheme":          {connection.Inputs{URL: "127.0.0.1:6806"}, tool.Invalid, "--url: it has no http:// or https:// before it; write http://127.0.0.1:6806"},
		"password in env":    {connection.Inputs{EnvURL: "http://u:hidden@h"}, tool.Invalid, "SIYUAN_API_URL: the URL must not contain a name or password"},
		"query":              {connection.Inputs{URL: "http://h?token=hidden"}, tool.Invalid, "--url: expected a URL without ? and #"},
		"two lines":          {connection.Inputs{EnvURL: port, EnvToken: "a\r\nX-Evil: hidden"}, tool.Invalid, "SIYUAN_TOKEN: a token is one word"},
		"no such secret":     {connection.Inputs{Saved: three, Connection: "工作", Expand: refuse}, tool.Invalid, "siyuan.connections.工作.token: secret none is not set"},
		"nothing expands":    {connection.Inputs{Saved: three, Connection: "工作"}, tool.Invalid, "${…} has no meaning here"},
		"variable not set":   {connection.Inputs{Saved: settings(t, two), Connection: "work"}, tool.Invalid, "siyuan.connections.work.token: WORK_TOKEN is not set"},
		"command is refused": {connection.Inputs{Saved: settings(t, `{"connections": {"a": {"url": "http://h", "token": "cmd:pass siyuan"}}}`)}, tool.Invalid, "no program can be run here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, err := connection.Resolve(t.Context(), tc.in)
			if err == nil {
				t.Fatalf("got %+v, want an error", c)
			}
			if tool.KindOf(err) != tc.kind || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s: %v\nwant %s: %s", tool.KindOf(err), err, tc.kind, tc.want)
			}
			if c.Configured {
				t.Errorf("configured: %+v", c)
			}
		})
	}
}

func TestTokenForms(t *testing.T) {
	t.Parallel()
	s := settings(t, `{"connections": {
		"cmd": {"url": "${secret:url}", "token": "cmd: pass show siyuan"},
		"secret": {"url": "http://h", "token": "${secret:siyuan}"},
		"plain": {"url": "http://h", "token": "abc"},
		"none": {"url": "http://h"}}}`)
	in := connection.Inputs{
		Saved: s,
		Expand: func(text string) (string, error) {
			return map[string]string{"${secret:url}": "http://x/"}[text] + "", nil
		},
		Command: func(_ context.Context, line string) (string, error) {
			if line != "pass show siyuan" {
				return "", errors.New("unexpected line")
			}
			return "from-cmd\n", nil
		},
	}
	for name, want := range map[string][3]string{
		"cmd":    {"from-cmd", "cmd:…", "http://x"},
		"secret": {"", "${secret:siyuan}", "http://h"},
		"plain":  {"abc", "configured", "http://h"},
		"none":   {"", "empty", "http://h"},
	} {
		in.Connection = name
		c, _, err := connection.Resolve(t.Context(), in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		saved, _ := s.Get(name)
		if got := [3]string{c.Token.Reveal(), saved.TokenShown(), c.URL}; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	c := connection.Choice{Name: "home", URL: home, Workspace: "/home/me/SiYuan/"}
	if err := c.Verify("", "/home/me/SiYuan"); err != nil {
		t.Error(err)
	}
	if err := (connection.Choice{Workspace: `C:\Notes\`}).Verify("c:/notes"); err != nil {
		t.Error(err)
	}
	if err := (connection.Choice{}).Verify("/anything"); err != nil {
		t.Error(err)
	}
	for _, seen := range [][]string{{"/home/me/Other"}, {"/home/me/siyuan"}, {""}, nil} {
		err := c.Verify(seen...)
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Code != "other_workspace" || !strings.Contains(e.Hint, "siyuan.connections.home.url") {
			t.Errorf("%q: %v", seen, err)
		}
	}
}
