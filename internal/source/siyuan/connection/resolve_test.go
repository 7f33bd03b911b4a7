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
	homeURL  = "http://127.0.0.1:6806"
	workURL  = "https://notes.example.org/siyuan"
	localURL = "http://127.0.0.1:7777"
)

func parseSettings(t *testing.T, text string) connection.Settings {
	t.Helper()
	s, ps := connection.Parse([]byte(text))
	if len(ps) > 0 {
		t.Fatalf("problems: %v", ps)
	}
	return s
}

const twoConnections = `{"current": "home", "connections": {
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
		"nothing":         {in: connection.Inputs{}, want: choice{}},
		"current":         {in: connection.Inputs{Saved: parseSettings(t, twoConnections)}, want: choice{saved, "home", homeURL, "home-token", "/notes"}},
		"--connection":    {in: connection.Inputs{Saved: parseSettings(t, twoConnections), Connection: "work"}, want: choice{saved, "work", workURL, "work-token", ""}},
		"the only one":    {in: connection.Inputs{Saved: parseSettings(t, `{"connections": {"笔记": {"url": "http://127.0.0.1:7777"}}}`)}, want: choice{saved, "笔记", localURL, "", ""}},
		"environment":     {in: connection.Inputs{EnvURL: localURL + "/", EnvToken: "e"}, want: choice{environment, "", localURL, "e", ""}},
		"env wins":        {in: connection.Inputs{Saved: parseSettings(t, twoConnections), EnvURL: localURL, EnvToken: "e"}, want: choice{environment, "", localURL, "e", ""}},
		"the vault":       {in: connection.Inputs{Saved: parseSettings(t, `{"current": "vault", "connections": {"work": {"url": "http://w"}}}`)}, want: choice{}},
		"not the vault":   {in: connection.Inputs{Saved: parseSettings(t, `{"current": "vault", "connections": {"vault": {"url": "http://w"}}}`)}, want: choice{saved, "vault", "http://w", "", ""}},
		"one beside it":   {in: connection.Inputs{Saved: parseSettings(t, `{"current": "vault", "connections": {"work": {"url": "http://w"}}}`), Connection: "work"}, want: choice{saved, "work", "http://w", "", ""}},
		"env url only":    {in: connection.Inputs{Saved: parseSettings(t, twoConnections), EnvURL: localURL}, want: choice{environment, "", localURL, "", ""}},
		"env, same place": {in: connection.Inputs{Saved: parseSettings(t, twoConnections), EnvURL: homeURL}, want: choice{environment, "", homeURL, "", ""}, warning: `use connection "home"`},
		"env token only":  {in: connection.Inputs{EnvToken: "e"}, want: choice{}, warning: "SIYUAN_TOKEN is set without SIYUAN_API_URL"},
		"env token and current": {
			in:      connection.Inputs{Saved: parseSettings(t, twoConnections), EnvToken: "e"},
			want:    choice{saved, "home", homeURL, "home-token", "/notes"},
			warning: "SIYUAN_TOKEN is set without SIYUAN_API_URL",
		},
		"env and --connection": {
			in:      connection.Inputs{Saved: parseSettings(t, twoConnections), Connection: "work", EnvURL: localURL, EnvToken: "e"},
			want:    choice{environment, "", localURL, "e", ""},
			warning: "SIYUAN_API_URL wins over --connection work: using " + localURL,
		},
		"--url": {in: connection.Inputs{Saved: parseSettings(t, twoConnections), URL: localURL}, want: choice{flags, "", localURL, "", ""}},
		"--url beats env": {
			in:   connection.Inputs{Saved: parseSettings(t, twoConnections), URL: localURL, EnvURL: homeURL, EnvToken: "e"},
			want: choice{flags, "", localURL, "", ""},
		},
		"--url and the token of env": {in: connection.Inputs{URL: localURL, EnvToken: "e"}, want: choice{flags, "", localURL, "", ""}},
		"--url of the current one":   {in: connection.Inputs{Saved: parseSettings(t, twoConnections), URL: "HTTP://127.0.0.1:6806/"}, want: choice{flags, "", "HTTP://127.0.0.1:6806", "home-token", "/notes"}},
		"--url of another one":       {in: connection.Inputs{Saved: parseSettings(t, twoConnections), URL: workURL}, want: choice{flags, "", workURL, "", ""}},
		"--url of --connection": {
			in:   connection.Inputs{Saved: parseSettings(t, twoConnections), URL: "https://NOTES.example.org:443/siyuan", Connection: "work"},
			want: choice{flags, "", "https://NOTES.example.org:443/siyuan", "work-token", ""},
		},
		"--url and another --connection": {
			in:      connection.Inputs{Saved: parseSettings(t, twoConnections), URL: localURL, Connection: "work"},
			want:    choice{flags, "", localURL, "", ""},
			warning: "--url wins over --connection work",
		},
		"--url --token": {
			in:      connection.Inputs{Saved: parseSettings(t, twoConnections), URL: homeURL, Token: "f"},
			want:    choice{flags, "", homeURL, "f", ""},
			warning: "can read a token on the command line",
		},
		"broken current does not stop --url": {
			in: connection.Inputs{Saved: brokenSettings(), URL: localURL}, want: choice{flags, "", localURL, "", ""},
		},
		"broken current does not stop env": {
			in: connection.Inputs{Saved: brokenSettings(), EnvURL: localURL}, want: choice{environment, "", localURL, "", ""},
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

// brokenSettings returns settings whose current connection has an error.
func brokenSettings() connection.Settings {
	s, _ := connection.Parse([]byte(`{"current": "home", "connections": {"home": {"url": "ftp://h"}}}`))
	return s
}

func TestResolveErrors(t *testing.T) {
	t.Parallel()
	three := parseSettings(t, `{"connections": {"home": {"url": "http://h"}, "work": {"url": "http://w"}, "工作": {"url": "http://c", "token": "${secret:none}"}}}`)
	refuse := func(string) (string, error) { return "", errors.New("secret none is not set") }
	for name, tc := range map[string]struct {
		in   connection.Inputs
		kind tool.ErrorKind
		want string
	}{
		"--token alone":      {connection.Inputs{Saved: parseSettings(t, twoConnections), Token: "f"}, tool.Invalid, "choose connection --token: a token is only sent to the address that it is given with"},
		"unknown":            {connection.Inputs{Saved: three, Connection: "wrok"}, tool.NotFound, `there is no connection "wrok" among home, work, 工作; did you mean "work"?`},
		"unknown, env wins":  {connection.Inputs{Saved: three, Connection: "x", EnvURL: localURL}, tool.NotFound, `there is no connection "x" among home, work, 工作`},
		"unknown, none":      {connection.Inputs{Connection: "x"}, tool.NotFound, `there is no connection "x", and no other either`},
		"none is current":    {connection.Inputs{Saved: three}, tool.Invalid, "there are 3 connections, and none is the current one"},
		"broken":             {connection.Inputs{Saved: brokenSettings()}, tool.Invalid, `siyuan.current: connection "home" cannot be used: /connections/home/url: expected a URL that begins with`},
		"no scheme":          {connection.Inputs{URL: "127.0.0.1:6806"}, tool.Invalid, "--url: it has no http:// or https:// before it; write http://127.0.0.1:6806"},
		"password in env":    {connection.Inputs{EnvURL: "http://u:hidden@h"}, tool.Invalid, "SIYUAN_API_URL: the URL must not contain a name or password"},
		"query":              {connection.Inputs{URL: "http://h?token=hidden"}, tool.Invalid, "--url: expected a URL without ? and #"},
		"two lines":          {connection.Inputs{EnvURL: localURL, EnvToken: "a\r\nX-Evil: hidden"}, tool.Invalid, "SIYUAN_TOKEN: a token is one word"},
		"no such secret":     {connection.Inputs{Saved: three, Connection: "工作", Expand: refuse}, tool.Invalid, "siyuan.connections.工作.token: secret none is not set"},
		"nothing expands":    {connection.Inputs{Saved: three, Connection: "工作"}, tool.Invalid, "${…} has no meaning here"},
		"variable not set":   {connection.Inputs{Saved: parseSettings(t, twoConnections), Connection: "work"}, tool.Invalid, "siyuan.connections.work.token: WORK_TOKEN is not set"},
		"command is refused": {connection.Inputs{Saved: parseSettings(t, `{"connections": {"a": {"url": "http://h", "token": "cmd:pass siyuan"}}}`)}, tool.Invalid, "no program can be run here"},
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
	s := parseSettings(t, `{"connections": {
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
	c := connection.Choice{Name: "home", URL: homeURL, Workspace: "/home/me/SiYuan/"}
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
