package access_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
)

// drawConfig draws a tool config of any format, with mistakes in it.
func drawConfig() *rapid.Generator[map[string]any] {
	flat := slices.Sorted(maps.Keys(access.FlatNames()))
	tools := slices.Sorted(maps.Keys(known))
	return rapid.Custom(func(t *rapid.T) map[string]any {
		out := map[string]any{}
		action := func(tool string) string {
			names := slices.Sorted(maps.Keys(known[tool]))
			for former := range access.FormerNames() {
				if of, old, _ := strings.Cut(former, "."); of == tool {
					names = append(names, old)
				}
			}
			slices.Sort(names)
			return rapid.SampledFrom(append(names, "nonsense", "list_notebooks")).Draw(t, "action")
		}
		value := func() any { return rapid.SampledFrom([]any{true, true, false, false, "x", 1.0, nil}).Draw(t, "value") }
		nested := rapid.Bool().Draw(t, "nested")
		for range rapid.IntRange(0, 6).Draw(t, "tools") {
			tool := rapid.SampledFrom(tools).Draw(t, "tool")
			switch rapid.IntRange(0, 3).Draw(t, "form") {
			case 0:
				out[tool] = value()
			case 1:
				list := []any{}
				for range rapid.IntRange(0, 4).Draw(t, "items") {
					list = append(list, action(tool))
				}
				out[tool] = list
			case 2:
				out[tool] = map[string]any{"enabled": value()}
			case 3:
				if !nested {
					break
				}
				actions := map[string]any{}
				for range rapid.IntRange(0, 4).Draw(t, "actions") {
					actions[action(tool)] = value()
				}
				out[tool] = map[string]any{"enabled": value(), "actions": actions}
			}
		}
		for range rapid.IntRange(0, 6).Draw(t, "flat") {
			out[rapid.SampledFrom(flat).Draw(t, "name")] = value()
		}
		return out
	})
}

// loadPluginConfig loads text as the plugin's config file.
func loadPluginConfig(text string) (*access.Config, *access.Switches, *fakeKernel) {
	w := newFakeKernel(map[string]string{pluginConfig: text})
	s := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known, Writes: writes})
	return s.Current(context.Background()), s, w
}

// TestMigrationKeepsTheSet: migrating any config keeps what is on, and a second migration changes nothing.
func TestMigrationKeepsTheSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(drawConfig().Draw(t, "config"))
		if err != nil {
			t.Fatal(err)
		}
		before, s, _ := loadPluginConfig(string(text))
		after, err := s.Edit(context.Background(), func(map[string]any) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before.On, after.On) + cmp.Diff(before.ToolOn, after.ToolOn); diff != "" {
			t.Fatalf("%s (-before +after):\n%s", text, diff)
		}
		if after.Old() || after.Source != ownConfig {
			t.Fatalf("%s becomes %+v", text, after)
		}
	})
}

// TestNothingOpensByItself: what is off by default is on only if the file turns it on by one of its names, and a tool
// without actions is off.
func TestNothingOpensByItself(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(drawConfig().Draw(t, "config"))
		if err != nil {
			t.Fatal(err)
		}
		checkNotWider(t, text)
	})
}

// fataler is the common part of a test and a property.
type fataler interface {
	Fatalf(format string, args ...any)
}

func checkNotWider(t fataler, text []byte) {
	c, _, _ := loadPluginConfig(string(text))
	for tool, actions := range known {
		if c.ToolOn[tool] && len(enabledActions(c, tool)) == 0 {
			t.Fatalf("%s: %s is on without an action", text, tool)
		}
		for action, on := range actions {
			if c.Enabled(tool, action) && !on && !namesAction(text, tool, action) {
				t.Fatalf("%s opens %s.%s", text, tool, action)
			}
			if c.Enabled(tool, action) && c.Unreadable && writes(tool, action) {
				t.Fatalf("%s cannot be read and opens %s.%s", text, tool, action)
			}
		}
	}
	for tool := range c.On {
		if _, ok := known[tool]; !ok {
			t.Fatalf("%s makes a tool %q", text, tool)
		}
	}
}

// namesAction reports whether a text contains one of the names of an action.
func namesAction(text []byte, tool, action string) bool {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return false
	}
	plain, _ := json.Marshal(v)
	all := []string{action}
	for name, target := range access.FlatNames() {
		if target == tool+"."+action {
			all = append(all, name)
		}
	}
	for name, now := range access.FormerNames() {
		if of, old, _ := strings.Cut(name, "."); of == tool && now == action {
			all = append(all, old)
		}
	}
	return slices.ContainsFunc(all, func(name string) bool { return bytes.Contains(plain, []byte(`"`+name+`"`)) })
}

func FuzzConfig(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `null`, `{"tag": ["list"], "mascot": false}`, `{"list_notebooks": true, "delete_block": true}`, "\ufeff{}",
		`{"fs": {"enabled": true, "actions": {"ls": true, "rm": false}}, "timeline": {"enabled": true, "actions": {}}}`,
		`{"file": {"uploadLargeFileThresholdMB": 1e999, "actions": {"render_sprig": true}}}`, `{"debug": {"slimResponses": 0}}`, `{"a":1}{`,
		`{"block": {"actions": {"delete": true, "delete": false}}}`, "{\"\xff\": true}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkNotWider(t, text)
		before, s, w := loadPluginConfig(string(text))
		after, err := s.Edit(context.Background(), func(map[string]any) error { return nil })
		if before.Unreadable {
			if err == nil || w.fileText(ownConfig) != "" {
				t.Fatalf("%q cannot be read and was written over: %v", text, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before.On, after.On) + cmp.Diff(before.ToolOn, after.ToolOn); diff != "" {
			t.Fatalf("%q (-before +after):\n%s", text, diff)
		}
		if before.UploadMB < 1 || before.UploadMB > 1024 || before.UploadMB != after.UploadMB {
			t.Fatalf("%q: threshold %d, then %d", text, before.UploadMB, after.UploadMB)
		}
	})
}

func FuzzLevels(f *testing.F) {
	for _, s := range []string{
		"", "{}", "[]", "null", levelsFile("rwd"), levelsFile("readonly"), "\ufeff" + levelsFile("rw"), `{"code":"none"}`, `{"20260101000000-aaaaaaa"`,
		fmt.Sprintf(`{%q: "rwd", %q: "none", "x": {"y": 1}}`, nbA, nbA), `{"20260101000000-aaaaaaa": ["rwd"]}`, "{\"\xff\": \"rwd\"}",
		`{"20260101000000-aaaaaaa": "rwd"}`,
	} {
		f.Add([]byte(s), []byte(levelsFile("rw")))
		f.Add([]byte(levelsFile("r")), []byte(s))
	}
	f.Fuzz(func(t *testing.T, plugin, own []byte) {
		w := newFakeKernel(map[string]string{pluginLevels: string(plugin), ownLevels: string(own)})
		l := access.NewLevels(w.client(), access.LevelsOptions{})
		s, err := l.Snapshot(context.Background(), true)
		if err != nil {
			if _, err := l.Set(context.Background(), nbA, access.Read); err == nil || w.fileText(ownLevels) != string(own) {
				t.Fatalf("%q, %q cannot be read and were written over", plugin, own)
			}
			return
		}
		for _, id := range []kernel.ID{nbA, nbB, nbC} {
			level := s.Of(id)
			for _, text := range [][]byte{plugin, own} { // each file alone bounds what both allow
				bound, listed := simpleLevel(text, id)
				if listed && level > bound {
					t.Fatalf("%q, %q: %s has %s, one file says %s", plugin, own, id, level, bound)
				}
			}
			_, one := simpleLevel(plugin, id)
			_, other := simpleLevel(own, id)
			if !one && !other && level != access.Read {
				t.Fatalf("%q, %q: %s is not listed and has %s", plugin, own, id, level)
			}
		}
		old, err := l.Set(context.Background(), nbB, access.None)
		if err != nil || old != s.Of(nbB) {
			t.Fatalf("set: old %s, %v", old, err)
		}
		after, err := l.Snapshot(context.Background(), false)
		if err != nil || after.Of(nbB) != access.None || after.Of(nbA) != s.Of(nbA) || after.Of(nbC) != s.Of(nbC) {
			t.Fatalf("%q became %q: %v", own, w.fileText(ownLevels), err)
		}
	})
}

// simpleLevel reads a level in the simplest way: the last value of a name, and none for all but the five words.
func simpleLevel(text []byte, id kernel.ID) (access.Level, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &m) != nil {
		return access.None, false
	}
	raw, ok := m[string(id)]
	var s string
	_ = json.Unmarshal(raw, &s)
	return map[string]access.Level{
		"r": access.Read, "readonly": access.Read, "rw": access.Write, "write": access.Write, "rwd": access.Delete,
	}[s], ok
}
