package connection_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/connection"
)

func problemLines(ps []connection.Problem) []string {
	out := []string{}
	for _, p := range ps {
		out = append(out, string(p.Severity)+" "+p.Rule+" "+p.String())
	}
	return out
}

func TestParseProblems(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text  string
		want  []string
		names []string
	}{
		"none":             {text: ``, want: []string{}},
		"not JSON":         {text: `{`, want: []string{`error json it is not valid JSON`}},
		"a list":           {text: `[]`, want: []string{`error type expected an object with connections, got array`}},
		"enabled":          {text: `{"enabled": "yes"}`, want: []string{`error type /enabled: expected true or false, got string`}},
		"others' members":  {text: `{"mascot": {}, "x-mine": 1}`, want: []string{}},
		"unknown":          {text: `{"conections": {}}`, want: []string{`warning unknown /conections: unknown field; did you mean "connections"?`}},
		"connections":      {text: `{"connections": [1]}`, want: []string{`error type /connections: expected an object of connections by name, got array`}},
		"one is a string":  {text: `{"connections": {"a/b": "http://h", "ok": {"url": "http://h"}}}`, want: []string{`error type /connections/a~1b: expected an object such as {"url": "http://127.0.0.1:6806"}, got string`}, names: []string{"ok"}},
		"no url":           {text: `{"connections": {"a": {"token": "t"}}}`, want: []string{`error value /connections/a/url: expected the address of the kernel, such as http://127.0.0.1:6806`}},
		"url is a number":  {text: `{"connections": {"a": {"url": 6806}}}`, want: []string{`error type /connections/a/url: expected a URL as a string, got number`}},
		"token is null":    {text: `{"connections": {"a": {"url": "http://h", "token": null}}}`, want: []string{`error type /connections/a/token: expected a token as a string, got null`}},
		"old word":         {text: `{"connections": {"a": {"url": "http://h", "tokn": "t"}}}`, want: []string{`warning unknown /connections/a/tokn: unknown field; did you mean "token"?`}, names: []string{"a"}},
		"no such current":  {text: `{"current": "b", "connections": {"a": {"url": "http://h"}}}`, want: []string{`error value /current: there is no connection "b" among a`}, names: []string{"a"}},
		"current is wrong": {text: `{"current": "a", "connections": {"a": {"url": "h"}}}`, want: []string{`error value /connections/a/url: expected a URL that begins with http:// or https://, such as http://127.0.0.1:6806`}},
		"several":          {text: `{"current": 1, "connections": {"b": 1, "": {"url": "http://h"}}}`, want: []string{`error type /current: expected the name of a connection as a string, got number`, `error value /connections/: a connection needs a name`, `error type /connections/b: expected an object such as {"url": "http://127.0.0.1:6806"}, got number`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ps := connection.Parse(json.RawMessage(tc.text), "mascot")
			if diff := cmp.Diff(tc.want, problemLines(ps)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if !slices.Equal(s.Names(), tc.names) || !s.Enabled {
				t.Errorf("connections %q, enabled %t", s.Names(), s.Enabled)
			}
		})
	}
}

func TestOldFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.FromSlash("/home/me")
	newer, older := filepath.Join(dir, ".siyuan-sisyphus", "config.json"), filepath.Join(dir, ".siyuan-mcp", "config.json")
	const nested = `{"currentProfile": "work", "profiles": {"default": {"apiUrl": "http://d"}, "work": {"apiUrl": "http://w/", "token": "cmd:rm -rf /"}}, "more": 1}`
	for name, tc := range map[string]struct {
		files map[string]string
		file  string
		want  choice
	}{
		"both":      {files: map[string]string{newer: nested, older: `{"apiUrl": "http://x"}`}, file: newer, want: choice{connection.FromConnection, "work", "http://w", "", ""}},
		"the older": {files: map[string]string{older: "\ufeff" + `{"apiUrl": "http://x", "token": "t"}`}, file: older, want: choice{connection.FromConnection, "default", "http://x", "t", ""}},
		"no current": {
			files: map[string]string{newer: `{"profiles": {"default": {"apiUrl": "http://d", "token": "env:X"}, "work": {"apiUrl": "http://w"}}}`},
			file:  newer,
			want:  choice{connection.FromConnection, "default", "http://d", "env:X", ""},
		},
		"none": {files: nil, want: choice{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ps := connection.ReadOlderPrograms(connection.FilesOfOlderPrograms(dir), func(file string) ([]byte, error) {
				if text, ok := tc.files[file]; ok {
					return []byte(text), nil
				}
				return nil, &fs.PathError{Op: "open", Path: file, Err: fs.ErrNotExist}
			})
			if len(ps) > 0 || s.File != tc.file {
				t.Fatalf("from %q, problems %v", s.File, ps)
			}
			if name == "both" { // a token there is taken literally: no program runs, and a text of several words is refused
				if _, _, err := connection.Resolve(t.Context(), connection.Inputs{Saved: s}); err == nil || !strings.Contains(err.Error(), newer+": profiles.work.token: a token is one word") {
					t.Errorf("got %v", err)
				}
				return
			}
			c, _, err := connection.Resolve(t.Context(), connection.Inputs{Saved: s})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, choice{c.From, c.Name, c.URL, c.Token.Reveal(), c.Workspace}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	s, ps := connection.ReadOlderPrograms([]string{newer, older}, func(string) ([]byte, error) { return nil, errors.New("no access") })
	if len(ps) != 1 || s.File != newer || ps[0].Message != "no access" {
		t.Errorf("a file that cannot be read: %v, %v", s, ps)
	}
	if got := connection.FilesOfOlderPrograms(""); got != nil {
		t.Errorf("without a home: %v", got)
	}
}

func TestTokenIsHidden(t *testing.T) {
	t.Parallel()
	s := parseSettings(t, `{"connections": {"a": {"url": "http://h", "token": "hush"}}}`)
	c, _, err := connection.Resolve(t.Context(), connection.Inputs{Saved: s})
	if err != nil || c.Token.Reveal() != "hush" {
		t.Fatalf("%v, %v", c, err)
	}
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{fmt.Sprint(s, c), fmt.Sprintf("%+v %#v", s, c), string(raw), c.Token.LogValue().String()} {
		if strings.Contains(out, "hush") {
			t.Errorf("tells the token: %s", out)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		twoConnections, `{}`, `[]`, `{"connections": {"a": {"url": "http://h", "token": "env:X"}}}`, `{"current": "a", "connections": {"a": null}}`,
		`{"currentProfile": "x", "profiles": {"x": {"apiUrl": "https://h:1/p", "token": "t"}}}`, `{"apiUrl": "http://h", "token": "cmd:x"}`,
		`{"connections": {"a": {"url": "http://${X}"}}}`, "\ufeff{}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range []func() (connection.Settings, []connection.Problem){
			func() (connection.Settings, []connection.Problem) { return connection.Parse(text) },
			func() (connection.Settings, []connection.Problem) {
				return connection.ReadOlderPrograms([]string{"old"}, func(string) ([]byte, error) { return text, nil })
			},
		} {
			s, ps := read()
			again, psAgain := read()
			if !slices.Equal(problemLines(ps), problemLines(psAgain)) || !slices.Equal(s.Names(), again.Names()) {
				t.Fatalf("two readings differ: %v, %v", ps, psAgain)
			}
			for _, name := range s.Names() {
				c, _, err := connection.Resolve(t.Context(), connection.Inputs{Saved: s, Connection: name})
				if err != nil {
					continue
				}
				if url, err := connection.Address(c.URL); err != nil || url != c.URL {
					t.Fatalf("%q is used as an address: %v", c.URL, err)
				}
				if strings.ContainsAny(c.Token.Reveal(), "\r\n\x00 ") {
					t.Fatalf("%q is used as a token", c.Token.Reveal())
				}
			}
		}
	})
}
