package arguments

import (
	"encoding/json"
	"strings"
	"testing"

	"collie/internal/tool"
)

// readerOf returns a reader for the arguments of an action.
func readerOf(t *testing.T, a tool.Action) *Reader {
	t.Helper()
	r := reader("{}")
	r.Params, r.Positional = ForAction(&a, a.InputSchema)
	return r
}

// Our own actions, which are strict, take positional arguments, aliases, and flags for the members of an object.
func TestOwnArguments(t *testing.T) {
	t.Parallel()
	a := tool.Action{
		Name: "a", Strict: true, Positional: []string{"path", "deep", "ids"},
		Aliases: map[string]string{"blockID": "ids", "gone": "nowhere", "path": "query"},
		InputSchema: json.RawMessage(`{"type":"object","properties":{
			"path":{"type":"string"},"deep":{"type":"boolean"},"ids":{"type":"array","items":{"type":"string"}},"query":{"type":"string"},
			"page":{"type":"integer"},
			"edit":{"anyOf":[{"type":"object","properties":{"old":{"type":"string"},"replace_all":{"type":"boolean"},"page":{"type":"string"}}},{"type":"array"}]}}}`),
	}
	for line, want := range map[string]string{
		"/工作":                               `{"path":"/工作"}`,
		"/a true x y,z":                     `{"path":"/a","deep":true,"ids":["x","y","z"]}`,
		"/a --page 2 false":                 `{"path":"/a","deep":false,"page":2}`,
		"--page 2 /a":                       `{"path":"/a","page":2}`,
		"-":                                 `{"path":"from stdin\n"}`,
		"@long.md":                          `{"path":"# a\n<b>\n"}`,
		"--block-id x":                      `{"ids":["x"]}`,
		"--blockID x --ids y":               `{"ids":["x","y"]}`,
		"/a --old x --replace-all":          `{"path":"/a","edit":{"old":"x","replace_all":true}}`,
		`/a --edit-json {"old":"y"}`:        `{"path":"/a","edit":{"old":"y"}}`,
		"/a --path /b":                      `|given twice`,
		"/a maybe":                          `|expected true or false`,
		"/a true x --gone y":                `|unknown flag --gone`,
		"--page 1 --page 2":                 `|given twice`,
		"--unknown 1 /a":                    `|unknown flag --unknown`,
		`--old x --args-json {"old":"later`: `|unknown flag --args-json`,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			got, err := readerOf(t, a).Read(strings.Fields(line), nil)
			wanted, message, fails := strings.Cut(want, "|")
			switch {
			case fails && (err == nil || !strings.Contains(err.Error(), message)):
				t.Errorf("got %s, %v, want an error with %q", got, err, message)
			case !fails && (err != nil || string(got) != wanted):
				t.Errorf("got %s, %v, want %s", got, err, wanted)
			}
		})
	}
}

// An action that is not strict belongs to another server. Its arguments need a flag, by a name from its schema:
// positional arguments and aliases are refused.
func TestForeignArgumentsNeedFlags(t *testing.T) {
	t.Parallel()
	r := readerOf(t, tool.Action{
		Name: "a", Positional: []string{"path"}, Aliases: map[string]string{"p": "path"},
		InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`),
	})
	for _, line := range []string{"/a", "--p /a"} {
		if got, err := r.Read(strings.Fields(line), nil); err == nil {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// The flag of a member goes into the object that --args, or the flag of the object, gives.
func TestMembersGoIntoTheirObject(t *testing.T) {
	t.Parallel()
	a := tool.Action{Name: "a", Strict: true, InputSchema: json.RawMessage(
		`{"type":"object","properties":{"edit":{"anyOf":[{"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string"}}},{"type":"array"}]}}}`)}
	for _, tt := range []struct{ start, line, want string }{
		{start: `{"edit":{"old":"a","x":1}}`, line: "--old b --new c", want: `{"edit":{"old":"b","x":1,"new":"c"}}`},
		{start: `{"edit":{"x":1}}`, line: "--new c", want: `{"edit":{"x":1,"new":"c"}}`},
		{line: `--edit-json {"old":"a"} --new c`, want: `{"edit":{"old":"a","new":"c"}}`},
		{line: `--new c --edit-json {"old":"a"}`, want: `{"edit":{"old":"a","new":"c"}}`},
		{start: `{"old":"not of edit"}`, line: "--old a", want: `{"old":"not of edit","edit":{"old":"a"}}`},
		{start: `{"edit":[]}`, line: "--old a", want: `|--old is given twice`},
		{line: `--edit-json [] --old a`, want: `|--old is given twice`},
	} {
		got, err := readerOf(t, a).Read(strings.Fields(tt.line), json.RawMessage(tt.start))
		want, message, fails := strings.Cut(tt.want, "|")
		switch {
		case fails && (!mistake(err) || !strings.Contains(err.Error(), message)):
			t.Errorf("%s with %q: got %s, %v, want an error with %q", tt.start, tt.line, got, err, message)
		case !fails && (err != nil || string(got) != want):
			t.Errorf("%s with %q: got %s, %v, want %s", tt.start, tt.line, got, err, want)
		}
	}
}

// A plural s belongs to the abbreviation before it.
func TestKebabOfPlurals(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"blockIDs": "block-ids", "avID": "av-id", "IDs": "ids", "srcIDsAll": "src-ids-all", "HTTPServer": "http-server", "isDocs": "is-docs",
	} {
		if got := Kebab(name); got != want {
			t.Errorf("kebab(%q) is %q, want %q", name, got, want)
		}
	}
}

// TestTheRequiredComesFirst: if there are fewer values than positional parameters, the required ones get them, and
// optional ones before them get none.
func TestTheRequiredComesFirst(t *testing.T) {
	t.Parallel()
	a := tool.Action{Name: "search", Strict: true, Positional: []string{"path", "query"}, InputSchema: json.RawMessage(
		`{"type":"object","required":["query"],"properties":{"path":{"type":"string"},"query":{"type":"string"},"page":{"type":"integer"}}}`)}
	for line, want := range map[string]string{
		"tea":              `{"query":"tea"}`,
		"/Work tea":        `{"path":"/Work","query":"tea"}`,
		"tea --path /Work": `{"path":"/Work","query":"tea"}`,
		"--page 2 茶":       `{"query":"茶","page":2}`,
		"/Work --query a":  `{"path":"/Work","query":"a"}`,
		"--page 2":         `{"page":2}`,
		"a b c":            `|unexpected argument "c"; collie t search takes path and query without a flag; what has spaces in it needs quotes`,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			r := readerOf(t, a)
			r.Command = "collie t search"
			got, err := r.Read(strings.Fields(line), nil)
			wanted, message, fails := strings.Cut(want, "|")
			switch {
			case fails && (err == nil || !strings.Contains(err.Error(), message)):
				t.Errorf("got %s, %v, want an error with %q", got, err, message)
			case !fails && (err != nil || string(got) != wanted):
				t.Errorf("got %s, %v, want %s", got, err, wanted)
			}
		})
	}
	if got, err := readerOf(t, a).Read([]string{"/Work"}, json.RawMessage(`{"query":"tea"}`)); err != nil || string(got) != `{"query":"tea","path":"/Work"}` {
		t.Errorf("with --args: got %s, %v", got, err)
	}
}
