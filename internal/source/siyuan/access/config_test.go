package access_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
)

// loadOwnConfig reads text as our own config file.
func loadOwnConfig(t *testing.T, text string) *access.Config {
	t.Helper()
	w := newFakeKernel(map[string]string{ownConfig: text})
	return access.NewSwitches(w.client(), access.SwitchesOptions{Known: known, Writes: writes}).Current(t.Context())
}

// enabledActions returns the actions of a tool that are on, sorted; nil if the tool is off.
func enabledActions(c *access.Config, tool string) []string {
	var out []string
	for _, action := range slices.Sorted(maps.Keys(known[tool])) {
		if c.Enabled(tool, action) {
			out = append(out, action)
		}
	}
	return out
}

// toolsUnlikeDefaults returns the tools whose actions differ from the defaults, with the actions that are on.
func toolsUnlikeDefaults(c *access.Config) map[string]string {
	defaults := access.NewSwitches(newFakeKernel(nil).client(), access.SwitchesOptions{Known: known}).Last()
	out := map[string]string{}
	for tool := range known {
		if got := enabledActions(c, tool); !slices.Equal(got, enabledActions(defaults, tool)) {
			out[tool] = strings.Join(got, " ")
		}
	}
	return out
}

func TestFormats(t *testing.T) {
	t.Parallel()
	const nested, category, flat = "nested", "category", "flat"
	without := func(tool string, actions ...string) string {
		var out []string
		for name, on := range known[tool] {
			if on && !slices.Contains(actions, name) {
				out = append(out, name)
			}
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	for name, tc := range map[string]struct {
		text, format string
		old          bool
		want         map[string]string // of the tools that differ from the defaults
		findings     []string
	}{
		"empty object": {text: `{}`, format: nested, want: map[string]string{}},
		"nested": {
			text:   `{"fs": {"enabled": true, "actions": {"ls": true, "write": false}}, "tag": {"enabled": false}, "block": {"actions": {"delete": true}}}`,
			format: nested,
			want:   map[string]string{"fs": without("fs", "write"), "tag": "", "block": strings.Join(slices.Sorted(maps.Keys(known["block"])), " ")},
		},
		"a list of names": {
			text: `{"notebook": ["list", "create", "get_notebook_conf"], "tag": false, "mascot": true}`, format: category, old: true,
			want: map[string]string{"notebook": "create get_conf list", "tag": ""},
		},
		"an empty list": {text: `{"search": []}`, format: category, old: true, want: map[string]string{"search": ""}},
		"a list with old and odd names": {
			text: `{"document": ["get_path", "remove_batch", "list_notebooks", "lokup", 3]}`, format: category, old: true,
			want:     map[string]string{"document": "lookup remove"},
			findings: []string{`document: expected the names of actions`, `document: unknown action "list_notebooks"`, `document: unknown action "lokup"; did you mean "lookup"?`},
		},
		"a category and enabled alone": {
			text: `{"tag": ["list"], "fs": {"enabled": false}}`, format: category, old: true, want: map[string]string{"tag": "list", "fs": ""},
		},
		"flat": {
			text: `{"list_notebooks": true, "open_notebook": true, "close_notebook": false, "create_document": false, "get_sys_fonts": true, "get_tag": 1}`, format: flat, old: true,
			want:     map[string]string{"notebook": "list set_open_state", "document": ""},
			findings: []string{"get_sys_fonts: there is no such action any more", "get_tag: expected true or false"},
		},
		"category, then flat": {
			text: `{"notebook": ["create"], "list_notebooks": true, "tag": false, "get_tag": true}`, format: category, old: true,
			want: map[string]string{"notebook": "list", "tag": "list"},
		},
		"flat opens what is off by default": {text: `{"delete_block": true, "get_system_conf": true}`, format: flat, old: true, want: map[string]string{"block": "delete", "system": "conf"}},
		"nested wins over the rest": {
			text: `{"fs": {"actions": {"rm": false}}, "list_notebooks": true, "tag": ["list"], "mascot": false}`, format: nested,
			want: map[string]string{"fs": without("fs", "rm")},
			findings: []string{
				"list_notebooks: an old name counts only in a file of the older format",
				`mascot: expected an object with "enabled" and "actions", got false`,
				"tag: a list of actions counts only in a file of the older format",
			},
		},
		"old names in a nested file": {
			text: `{"document": {"actions": {"get_path": false, "get_ids": true, "lookup": false, "create_empty": false, "set_icon": false, "set_cover": true}}}`, format: nested, old: true,
			want: map[string]string{"document": without("document", "lookup", "create")},
		},
		"only booleans count": {
			text: `{"fs": {"enabled": "no", "actions": {"ls": 0, "tree": null, "rm": "false"}}, "tag": {"actions": []}, "av": null}`, format: nested,
			want: map[string]string{},
			findings: []string{
				`av: expected an object with "enabled" and "actions"`, "fs.actions.ls: expected true or false", "fs.actions.rm: expected true or false",
				"fs.actions.tree: expected true or false", "fs.enabled: expected true or false", "tag.actions: expected an object of action names and true or false",
			},
		},
		"unknown names": {
			text: `{"fs": {"actions": {"lz": true, "reed": true}}, "fss": {"actions": {}}, "extension": {"enabled": true, "actions": {"list": true}}}`, format: nested,
			want:     map[string]string{},
			findings: []string{`fs.actions.lz: unknown action; did you mean "ls"?`, `fs.actions.reed: unknown action; did you mean "read"?`, `fss: unknown name; did you mean "fs"?`},
		},
		"no actions, no tool":   {text: `{"mascot": {"enabled": true, "actions": {"get_balance": false, "shop": false, "buy": false}}}`, format: nested, want: map[string]string{"mascot": ""}},
		"enabled is not enough": {text: `{"timeline": {"enabled": true}}`, format: nested, want: map[string]string{}},
		"timeline":              {text: `{"timeline": {"enabled": true, "actions": {"list_nodes": true}}}`, format: nested, want: map[string]string{"timeline": "list_nodes"}},
		"compare_recent named":  {text: `{"timeline": {"enabled": true, "actions": {"compare_recent": true}}}`, format: nested, want: map[string]string{"timeline": "compare_recent"}},
		"compare_recent listed": {text: `{"timeline": ["compare_recent"]}`, format: category, old: true, want: map[string]string{"timeline": "compare_recent"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := loadOwnConfig(t, tc.text)
			if diff := cmp.Diff(tc.want, toolsUnlikeDefaults(c)); diff != "" {
				t.Errorf("on (-want +got):\n%s", diff)
			}
			if c.Format != tc.format || c.Old() != tc.old || c.Source != ownConfig {
				t.Errorf("format %q, old %t, from %q", c.Format, c.Old(), c.Source)
			}
			if diff := cmp.Diff(tc.findings, c.Findings); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCompareRecentStaysOff: compare_recent stays off unless the file names it, even in a program that has it on by default.
func TestCompareRecentStaysOff(t *testing.T) {
	t.Parallel()
	open := access.Known{"timeline": {"list_nodes": true, "compare_recent": true}}
	for text, want := range map[string]bool{
		"":   true, // an empty file counts as none
		`{}`: false, `{"timeline": {"actions": {"list_nodes": true}}}`: false, `{"timeline": true}`: false, `{"timeline": ["list_nodes"]}`: false,
		`{"timeline": {"actions": {"compare_recent": "yes"}}}`: false, `{"timeline": {"actions": {"compare_recent": true}}}`: true,
	} {
		w := newFakeKernel(map[string]string{pluginConfig: text})
		c := access.NewSwitches(w.client(), access.SwitchesOptions{Known: open}).Current(t.Context())
		if got := c.Enabled("timeline", "compare_recent"); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	c := loadOwnConfig(t, `{"file": {"uploadLargeFileThresholdMB": 25.9}, "userRulesText": "用中文\nbe brief", "agentSiyuanMemoryText": "m",
		"agentSiyuanMemoryUpdatedAt": "2026-01-31T08:00:00.5Z", "writeSafety": {"strictMode": false},
		"errorReporting": {"softRecoverableErrors": true}, "debug": {"slimResponses": false, "includeUiRefreshMetadata": true}, "readOnlyTools": true}`)
	if c.UploadMB != 25 || c.UserRules != "用中文\nbe brief" || c.Memory != "m" || c.Strict == nil || *c.Strict || !c.SoftErrors || c.Slim || !c.ReadOnly {
		t.Errorf("%+v", c)
	}
	if want := time.Date(2026, 1, 31, 8, 0, 0, 5e8, time.UTC); !c.MemoryAt.Equal(want) || len(c.Findings) > 0 {
		t.Errorf("memory at %v, findings %v", c.MemoryAt, c.Findings)
	}
	for _, text := range []string{"", "{}", "[]", `{"userRulesText": 1, "writeSafety": [], "debug": {"slimResponses": "no"}, "readOnlyTools": "yes", "agentSiyuanMemoryUpdatedAt": "soon"}`} {
		c := loadOwnConfig(t, text)
		if c.UploadMB != 10 || c.UserRules != "" || !c.MemoryAt.IsZero() || c.Strict != nil || c.SoftErrors || !c.Slim || c.ReadOnly {
			t.Errorf("%s: %+v", text, c)
		}
	}
	for number, want := range map[string]int{"0": 1, "-7": 1, "1024": 1024, "99999": 1024, "1e400": 10, `"20"`: 10, "null": 10, "0.5": 1, "1e2": 100} {
		if c := loadOwnConfig(t, `{"file": {"uploadLargeFileThresholdMB": `+number+`}}`); c.UploadMB != want {
			t.Errorf("threshold %s: %d, want %d", number, c.UploadMB, want)
		}
	}
}

// TestNamesLeadSomewhere: every old name maps to an existing action.
func TestNamesLeadSomewhere(t *testing.T) {
	t.Parallel()
	out := map[string]bool{"system.changelog": true} // left out of the tools
	for name, target := range access.FlatNames() {
		tool, action, _ := strings.Cut(target, ".")
		if _, ok := known[tool][action]; !ok && target != "." && !out[target] {
			t.Errorf("%s leads to %s, which there is not", name, target)
		}
		c := loadOwnConfig(t, `{"`+name+`": true}`)
		if target != "." && !out[target] && !c.Enabled(tool, action) {
			t.Errorf("%s does not switch %s on", name, target)
		}
	}
	for name, action := range access.FormerNames() {
		tool, old, _ := strings.Cut(name, ".")
		if _, ok := known[tool][action]; !ok {
			t.Errorf("%s leads to %s, which there is not", name, action)
		}
		if _, both := known[tool][old]; both {
			t.Errorf("%s is an action of today", name)
		}
	}
	if n := len(access.FlatNames()); n != 109 {
		t.Errorf("%d flat names", n)
	}
}

func TestImmutable(t *testing.T) {
	t.Parallel()
	before, err := json.Marshal(known)
	if err != nil {
		t.Fatal(err)
	}
	loadOwnConfig(t, `{"fs": [], "list_notebooks": false}`)
	loadOwnConfig(t, `{"fs": {"enabled": false, "actions": {"ls": false}}}`)
	if after, err := json.Marshal(known); err != nil || string(after) != string(before) {
		t.Error("the defaults were changed")
	}
}
