package access_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
	"collie/test/await"
)

const (
	noTag    = `{"tag": {"enabled": false}}`
	noMascot = `{"mascot": {"enabled": false}}`
)

func TestWhichFile(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		own, plugin string
		source      string
		tag, mascot bool
	}{
		"none":                  {own: "-", plugin: "-", tag: true, mascot: true},
		"the plugin's":          {own: "-", plugin: noTag, source: pluginConfig, mascot: true},
		"ours wins":             {own: noMascot, plugin: noTag, source: ownConfig, tag: true},
		"ours is empty":         {own: " ", plugin: noTag, source: pluginConfig, mascot: true},
		"ours is not an object": {own: "[]", plugin: noTag, source: pluginConfig, mascot: true},
		"neither is one":        {own: "null", plugin: "3", tag: true, mascot: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFakeKernel(nil)
			for path, text := range map[string]string{ownConfig: tc.own, pluginConfig: tc.plugin} {
				if text != "-" {
					w.writeFile(path, text)
				}
			}
			c := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known}).Current(t.Context())
			if c.Source != tc.source || c.ToolOn["tag"] != tc.tag || c.ToolOn["mascot"] != tc.mascot || c.Unreadable || !c.Stale.IsZero() {
				t.Errorf("%+v", c)
			}
			if w.takeCount("/api/file/putFile") > 0 {
				t.Error("a read wrote something")
			}
		})
	}
}

func TestTTL(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFakeKernel(map[string]string{ownConfig: noTag})
		var changes []bool
		s := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known, Changed: func(c *access.Config) { changes = append(changes, c.ToolOn["tag"]) }})
		if !s.Last().ToolOn["tag"] || w.takeCount("/api/file/getFile") > 0 {
			t.Error("something was read before it was needed")
		}
		step := func(requests int, tag bool) {
			t.Helper()
			c := s.Current(t.Context())
			if n := w.takeCount("/api/file/getFile"); n != requests || c.ToolOn["tag"] != tag || s.Last() != c {
				t.Errorf("%d requests, tag %t; want %d, %t", n, c.ToolOn["tag"], requests, tag)
			}
		}
		step(1, false)
		w.writeFile(ownConfig, `{"userRulesText": "x"}`)
		await.Sleep(30*time.Second - 1)
		step(0, false)
		await.Sleep(1)
		step(1, true)
		w.writeFile(ownConfig, `{"userRulesText": "y"}`)
		s.Forget()
		step(1, true)
		w.removeFile(ownConfig)
		s.Forget()
		step(2, true)
		if diff := cmp.Diff([]bool{false, true}, changes); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		always := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known, TTL: -1})
		for range 3 {
			always.Current(t.Context())
		}
		if n := w.takeCount("/api/file/getFile"); n != 6 {
			t.Errorf("without a cache: %d requests, want 6", n)
		}
	})
}

func TestConfigSingleFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFakeKernel(map[string]string{ownConfig: noTag})
		w.delay = time.Second
		s := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known})
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if s.Current(t.Context()).ToolOn["tag"] {
					t.Error("tag is on")
				}
			})
		}
		wg.Wait()
		if n := w.takeCount("/api/file/getFile"); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// TestConfigUnreadable: the last good copy is used until it is too old.
func TestConfigUnreadable(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(w *fakeKernel){
		"corrupt":    func(w *fakeKernel) { w.writeFile(ownConfig, `{"tag": `) },
		"two values": func(w *fakeKernel) { w.writeFile(ownConfig, `{} {}`) },
		"202": func(w *fakeKernel) {
			w.failWith(failEndpoint("getFile", ownConfig, 202, `{"code":403,"msg":"no","data":null}`))
		},
		"status 500": func(w *fakeKernel) { w.failWith(failEndpoint("getFile", "", 500, "")) },
		"no token":   func(w *fakeKernel) { w.failWith(failEndpoint("getFile", "", 401, "{}")) },
		"no kernel":  func(w *fakeKernel) { w.failWith(failEndpoint("getFile", "", -1, "")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				// What is off is a tool, a read and a write, and a write that is off by default is on.
				const good = `{"mascot": {"enabled": false}, "search": {"actions": {"query_sql": false}}, "fs": {"actions": {"write": false}}, "block": {"actions": {"delete": true}}}`
				w := newFakeKernel(map[string]string{ownConfig: good})
				var changes int
				opts := access.SwitchesOptions{Known: known, Writes: writes, Changed: func(*access.Config) { changes++ }}
				fresh := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known, Writes: writes})
				s := access.NewSwitches(w.client(), opts)
				s.Current(t.Context())
				breaks(w)

				if c := fresh.Current(t.Context()); !c.Unreadable || c.Problem == nil || c.Enabled("fs", "write") || c.Enabled("tag", "remove") || !c.Enabled("fs", "read") {
					t.Errorf("without a good copy: %+v", c)
				} else {
					for tool, actions := range c.On {
						for action, on := range actions {
							if on && writes(tool, action) {
								t.Errorf("without a good copy %s.%s is on", tool, action)
							}
						}
					}
				}

				await.Sleep(30 * time.Second)
				failed := time.Now()
				for range 2 {
					c := s.Current(t.Context())
					if c.Unreadable || !c.Stale.Equal(failed) || c.Problem == nil || c.ToolOn["mascot"] || !c.Enabled("block", "delete") {
						t.Errorf("with a good copy: %+v", c)
					}
					await.Sleep(9*time.Minute + 30*time.Second)
				}
				if changes != 1 {
					t.Errorf("%d changes, want the one of the first reading", changes)
				}
				c := s.Current(t.Context())
				if !c.Unreadable || c.ToolOn["mascot"] || c.Enabled("search", "query_sql") || c.Enabled("fs", "write") || c.Enabled("block", "delete") || !c.Enabled("fs", "read") {
					t.Errorf("with a copy that is too old: %+v", c)
				}
				if changes != 2 {
					t.Errorf("%d changes, want a second one", changes)
				}

				w.failWith(nil)
				w.writeFile(ownConfig, good)
				if c := s.Current(t.Context()); c.Unreadable || !c.Stale.IsZero() || c.Problem != nil || !c.Enabled("block", "delete") || changes != 3 {
					t.Errorf("repaired, %d changes: %+v", changes, c)
				}
			})
		})
	}
}

func TestUnreadableWithoutKnowledge(t *testing.T) {
	t.Parallel()
	w := newFakeKernel(map[string]string{ownConfig: "{"})
	c := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known}).Current(t.Context())
	for tool, on := range c.ToolOn {
		if on {
			t.Errorf("nobody said what writes, and %s is on", tool)
		}
	}
}

// TestConfigGivenUp: a caller that gives up waiting gets nothing turned on, and learns nothing about the files.
func TestConfigGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFakeKernel(map[string]string{ownConfig: noTag})
		w.delay = time.Second
		s := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known, Writes: writes, Changed: func(c *access.Config) {
			if c.Unreadable {
				t.Error("told as a change")
			}
		}})
		if c := s.Current(contextEndingAfter(t, time.Millisecond)); !c.Unreadable || c.Enabled("fs", "write") {
			t.Errorf("%+v", c)
		}
		if s.Last().Unreadable {
			t.Error("kept for others")
		}
		if c := s.Current(t.Context()); c.Unreadable || c.ToolOn["tag"] || !c.Enabled("fs", "write") {
			t.Errorf("the next one: %+v", c)
		}
	})
}

func TestEdit(t *testing.T) {
	t.Parallel()
	const plugin = `{"fs": {"enabled": true, "actions": {"rm": false, "future": true}, "extra": 12345678901234567890}, "extension": {"blockedTools": ["sql"]}, "新": [1]}`
	w := newFakeKernel(map[string]string{pluginConfig: plugin})
	var told int
	s := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known, Changed: func(*access.Config) { told++ }})
	s.Current(t.Context())
	c, err := s.Edit(t.Context(), func(raw map[string]any) error {
		raw["tag"].(map[string]any)["enabled"] = false
		raw["userRulesText"] = "<br> & 笔记"
		raw["file"].(map[string]any)["uploadLargeFileThresholdMB"] = 20
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Source != ownConfig || c.ToolOn["tag"] || c.UserRules != "<br> & 笔记" || c.UploadMB != 20 || c.Enabled("fs", "rm") || s.Last() != c || told != 2 {
		t.Errorf("told %d times: %+v", told, c)
	}
	if w.fileText(pluginConfig) != plugin {
		t.Error("the plugin's file was written")
	}
	if len(w.files) != 2 {
		t.Errorf("a file of today was backed up: %v", w.files)
	}
	own := w.fileText(ownConfig)
	for _, kept := range []string{`"extra": 12345678901234567890`, `"future": true`, `"blockedTools"`, `"新"`, `"compare_recent": false`, `"<br> & 笔记"`} {
		if !strings.Contains(own, kept) {
			t.Errorf("our file lacks %s:\n%s", kept, own)
		}
	}
	if c, err := s.Edit(t.Context(), func(map[string]any) error { return errors.New("no") }); err == nil || err.Error() != "no" || c.Source != ownConfig || w.fileText(ownConfig) != own {
		t.Errorf("an edit that was given up: %v", err)
	}
}

func TestEditFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		own  string
		fail func(string, string) (int, string)
		kind tool.ErrorKind
		puts int
	}{
		"corrupt":  {own: "{", kind: kernel.API},
		"no token": {own: "{}", fail: failEndpoint("getFile", "", 401, "{}"), kind: tool.Unauthorized},
		"refused":  {own: "{}", fail: failEndpoint("putFile", "", 200, `{"code":403,"msg":"no","data":null}`), kind: kernel.API, puts: 1},
		"lost":     {own: "{}", fail: failEndpoint("putFile", "", 502, ""), kind: kernel.OutcomeUnknown, puts: 1},
		"no backup": {own: `{"tag": false}`, fail: func(endpoint, path string) (int, string) {
			if strings.Contains(path, ".bak-") {
				return 200, `{"code":400,"msg":"no","data":null}`
			}
			return 0, ""
		}, kind: kernel.API, puts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFakeKernel(map[string]string{ownConfig: tc.own})
			w.failWith(tc.fail)
			s := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known})
			_, err := s.Edit(t.Context(), func(raw map[string]any) error { raw["userRulesText"] = "x"; return nil })
			if tool.KindOf(err) != tc.kind || w.takeCount("/api/file/putFile") != tc.puts || w.fileText(ownConfig) != tc.own {
				t.Errorf("%v, file %s", err, w.fileText(ownConfig))
			}
		})
	}
	w := newFakeKernel(nil)
	w.afterPut = func(path string) { w.files[path] = noMascot }
	s := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known})
	if _, err := s.Edit(t.Context(), func(map[string]any) error { return nil }); tool.KindOf(err) != kernel.Mismatch {
		t.Errorf("another program wrote in between: %v", err)
	}
	if _, err := s.Edit(t.Context(), func(raw map[string]any) error { raw["x"] = func() {}; return nil }); tool.KindOf(err) != tool.Internal {
		t.Errorf("what does not encode: %v", err)
	}
}

func TestParallelEdits(t *testing.T) {
	t.Parallel()
	w := newFakeKernel(nil)
	s := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if _, err := s.Edit(t.Context(), func(raw map[string]any) error { raw["x"+strings.Repeat("y", i)] = i; return nil }); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() { s.Current(t.Context()) })
	}
	wg.Wait()
	var raw map[string]any
	if err := json.Unmarshal([]byte(w.fileText(ownConfig)), &raw); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if _, ok := raw["x"+strings.Repeat("y", i)]; !ok {
			t.Errorf("edit %d was lost", i)
		}
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files map[string]string
		from  string
		done  bool
	}{
		"no file":         {files: nil},
		"ours, of today":  {files: map[string]string{ownConfig: noTag}, from: ownConfig},
		"plugin's, today": {files: map[string]string{pluginConfig: noTag}, from: pluginConfig},
		"ours, flat":      {files: map[string]string{ownConfig: `{"get_tag": true, "keep": 1, "get_sys_fonts": true}`}, from: ownConfig, done: true},
		"plugin's, list":  {files: map[string]string{pluginConfig: "\ufeff{\"tag\": [\"get_tag\"], \"keep\": 1}\n"}, from: pluginConfig, done: true},
		"old names":       {files: map[string]string{ownConfig: `{"tag": {"actions": {"rename": false, "remove": false}}, "block": {"actions": {"fold": true}}, "keep": 1}`}, from: ownConfig, done: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newFakeKernel(tc.files)
				before := w.fileText(tc.from)
				s := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known})
				was := s.Current(t.Context())
				m, err := s.Migrate(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if m.From != tc.from || (m.To != "") != tc.done || (m.Backup != "") != tc.done {
					t.Fatalf("%+v", m)
				}
				if diff := cmp.Diff(was.On, m.Config.On); diff != "" {
					t.Errorf("on (-before +after):\n%s", diff)
				}
				if !tc.done {
					if w.takeCount("/api/file/putFile") > 0 {
						t.Error("something was written")
					}
					return
				}
				if want := ownConfig + ".bak-20000101000000"; m.Backup != want || w.fileText(want) != strings.TrimSpace(strings.TrimPrefix(before, "\ufeff")) {
					t.Errorf("backup %s: %q", m.Backup, w.fileText(want))
				}
				if own := w.fileText(ownConfig); m.Config.Old() || m.Config.Format != "nested" || !strings.Contains(own, `"keep": 1`) || strings.Contains(own, "get_") && strings.Contains(own, "get_tag") || strings.Contains(own, `"fold"`) {
					t.Errorf("%+v\n%s", m.Config, own)
				}
				if enabledActions(m.Config, "tag") == nil || len(enabledActions(m.Config, "tag")) != 1 {
					t.Errorf("tag has %v", enabledActions(m.Config, "tag"))
				}
				if m, err := s.Migrate(t.Context()); err != nil || m.To != "" {
					t.Errorf("a second time: %+v, %v", m, err)
				}
			})
		})
	}
}
