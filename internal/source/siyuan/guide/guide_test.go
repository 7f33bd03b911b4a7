package guide_test

import (
	"context"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/guide"
)

type sampleArgs struct {
	Path     string            `json:"path" about:"where | what" req:"true"`
	ParentID string            `json:"parentID" about:"parent"`
	AVID     string            `json:"avID" about:"database"`
	Deep     bool              `json:"deep" about:"all of it" default:"true"`
	Size     int               `json:"pageSize" about:"size" default:"50"`
	Tags     []string          `json:"tags" about:"tags"`
	Edit     map[string]string `json:"edit" about:"edit"`
	Mode     string            `json:"mode" about:"how" enum:"fast,slow" default:"fast"`
}

// newSampleAction returns an action with an example, after edit has changed its spec.
func newSampleAction(example string, edit func(*action.Spec)) *action.Action {
	spec := action.Spec{
		Tool: "box", Name: "open_all", Purpose: "Open everything", Class: action.Reads, Unguarded: "it is a test",
		Positional: []string{"path"}, Aliases: map[string]string{"where": "path", "at": "path"},
		Result: struct {
			N    int    `json:"n" about:"how many"`
			More string `json:"more" about:"the rest" verbose:"yes"`
		}{},
		Example: example,
	}
	if edit != nil {
		edit(&spec)
	}
	return action.New(spec, func(context.Context, *action.Request, sampleArgs) (any, error) { return nil, nil })
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for example, want := range map[string]string{
		`{}`:                                     `collie box open-all`,
		`{"path":"/a/b"}`:                        `collie box open-all /a/b`,
		`{"path":"/Work notes/计划"}`:              `collie box open-all '/Work notes/计划'`,
		`{"path":"it's"}`:                        `collie box open-all 'it'\''s'`,
		`{"path":""}`:                            `collie box open-all ''`,
		`{"path":"$HOME"}`:                       `collie box open-all '$HOME'`,
		`{"path":"x","parentID":"1","avID":"2"}`: `collie box open-all x --parent-id 1 --av-id 2`,
		`{"path":"x","deep":true,"pageSize":5}`:  `collie box open-all x --deep --page-size 5`,
		`{"path":"x","deep":false}`:              `collie box open-all x --no-deep`,
		`{"path":"x","tags":["a","b, c"]}`:       `collie box open-all x --tags a --tags 'b\, c'`,
		`{"path":"x","tags":[]}`:                 `collie box open-all x --tags-json '[]'`,
		`{"path":"x","edit":{"old": "a b"}}`:     `collie box open-all x --edit-json '{"old":"a b"}'`,
		`{"parentID":"before","path":"x"}`:       `collie box open-all x --parent-id before`,
	} {
		if got := guide.CommandLine(newSampleAction(example, nil)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", example, got, want)
		}
	}
}

// TestPage: a page has every argument with its type and default, the level,
// what comes back, and both examples.
func TestPage(t *testing.T) {
	t.Parallel()
	page := guide.Page(newSampleAction(`{"path":"/a"}`, func(s *action.Spec) { s.Guide, s.Dangerous, s.Off = "Be careful.", true, true }))
	for _, want := range []string{
		"# box(action=\"open_all\")\n\nOpen everything.\n\nBe careful.\n",
		"| path | string | required |  | where \\| what (also at, where) |\n",
		"| deep | boolean | optional | true | all of it |\n",
		"| pageSize | integer | optional | 50 | size |\n",
		"| tags | string[] | optional |  | tags |\n",
		"| mode | string | optional | fast | how: fast, slow |\n",
		"- Needs: no level: it is a test\n",
		"- Kind: reads; a person confirms it; off by default\n",
		"- `n`: how many\n- `more`: the rest (with verbose:true)\n",
		"{\"action\":\"open_all\",\"path\":\"/a\"}\n",
		"collie box open-all /a\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

func TestOverview(t *testing.T) {
	t.Parallel()
	tool := &action.Tool{Name: "box", About: "A box.", Actions: []*action.Action{
		newSampleAction(`{}`, func(s *action.Spec) { s.Name = "rare" }),
		newSampleAction(`{}`, func(s *action.Spec) { s.Name, s.Common = "usual", true }),
		newSampleAction(`{}`, func(s *action.Spec) { s.Name, s.Dangerous = "sharp", true }),
		newSampleAction(`{}`, func(s *action.Spec) { s.Name = "hidden" }),
	}}
	page := guide.Overview(tool, func(a *action.Action) bool { return a.Name != "hidden" })
	common, more := strings.Index(page, "## Common actions"), strings.Index(page, "## More actions")
	at := func(name string) int { return strings.Index(page, "`"+name+"(") }
	if common < 0 || !(common < at("usual") && at("usual") < more && more < at("rare")) || at("hidden") >= 0 {
		t.Errorf("%s", page)
	}
	if !strings.Contains(page, "Open everything. A person confirms it.\n") || strings.Count(page, "confirms it") != 1 {
		t.Errorf("who is asked: %s", page)
	}
	if none := guide.Overview(tool, func(*action.Action) bool { return false }); strings.Contains(none, "##") {
		t.Errorf("with all off: %s", none)
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	writes := newSampleAction(`{}`, func(s *action.Spec) {
		s.Needs, s.Unguarded = []action.Need{action.OnNotebook(access.Write, "path")}, ""
	})
	for _, tt := range []struct {
		counts map[access.Level]int
		want   string
	}{
		{nil, "in no notebook now: it needs rw"},
		{map[access.Level]int{access.Read: 9}, "collie siyuan permission set NOTEBOOK rw"},
		{map[access.Level]int{access.Read: 9, access.Delete: 1}, "which 1 notebook allows now"},
		{map[access.Level]int{access.Write: 2, access.Delete: 1}, "which 3 notebooks allow now"},
	} {
		if got := guide.Levels(writes, tt.counts, false); !strings.Contains(got, tt.want) {
			t.Errorf("%v: %s, want %q", tt.counts, got, tt.want)
		}
	}
	if got := guide.Levels(writes, nil, true); !strings.Contains(got, "the notebooks of your profile") {
		t.Errorf("under a profile: %s", got)
	}
	if got := guide.Levels(newSampleAction(`{}`, nil), nil, true); !strings.Contains(got, "needs no level") {
		t.Errorf("%s", got)
	}
}

// TestPrompts checks the limits of the prompts' texts.
func TestPrompts(t *testing.T) {
	t.Parallel()
	for _, p := range guide.Prompts() {
		if !strings.HasPrefix(p.Name, "siyuan_") || p.Title == "" || p.Description == "" || len(p.Text("")) > 2000 {
			t.Errorf("%+v", p)
		}
		if got := p.Text("  x  "); got != p.Text("")+"\n\nThe task: x" {
			t.Errorf("with a task: %q", got)
		}
		if p.Text(" \n") != p.Text("") {
			t.Error("an empty task is told")
		}
	}
	if n := len(guide.Instructions); n > 3<<10 { // the server appends its own, up to 4 KiB in all
		t.Errorf("instructions have %d bytes", n)
	}
}
