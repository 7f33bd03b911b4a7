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
		"none":                  {"-", "-", "", true, true},
		"the plugin's":          {"-", noTag, pluginConfig, false, true},
		"ours wins":             {noMascot, noTag, ownConfig, true, false},
		"ours is empty":         {" ", noTag, pluginConfig, false, true},
		"ours is not an object": {"[]", noTag, pluginConfig, false, true},
		"neither is one":        {"null", "3", "", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(nil)
			for path, text := range map[string]string{ownConfig: tc.own, pluginConfig: tc.plugin} {
				if text != "-" {
					w.set(path, text)
				}
			}
			c := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known}).Current(t.Context())
			if c.Source != tc.source || c.ToolOn["tag"] != tc.tag || c.ToolOn["mascot"] != tc.mascot || c.Unreadable || !c.Stale.IsZero() {
				t.Errorf("%+v", c)
			}
			if w.asked("/api/file/putFile") > 0 {
				t.Error("a read wrote something")
			}
		})
	}
}

func TestTTL(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace(map[string]string{ownConfig: noTag})
		var changes []bool
		s := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known, Changed: func(c *access.Config) { changes = append(changes, c.ToolOn["tag"]) }})
		if !s.Last().ToolOn["tag"] || w.asked("/api/file/getFile") > 0 {
			t.Error("something was read before it was needed")
		}
		step := func(requests int, tag bool) {
			t.Helper()
			c := s.Current(t.Context())
			if n := w.asked("/api/file/getFile"); n != requests || c.ToolOn["tag"] != tag || s.Last() != c {
				t.Errorf("%d requests, tag %t; want %d, %t", n, c.ToolOn["tag"], requests, tag)
			}
		}
		step(1, false)
		w.set(ownConfig, `{"userRulesText": "x"}`)
		await.Sleep(30*time.Second - 1)
		step(0, false)
		await.Sleep(1)
		step(1, true)
		w.set(ownConfig, `{"userRulesText": "y"}`)
		s.Forget()
		step(1, true)
		w.remove(ownConfig)
		s.Forget()
		step(2, true)
		if diff := cmp.Diff([]bool{false, true}, changes); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		always := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known, TTL: -1})
		for range 3 {
			always.Current(t.Context())
		}
		if n := w.asked("/api/file/getFile"); n != 6 {
			t.Errorf("without a cache: %d requests, want 6", n)
		}
	})
}

func TestConfigSingleFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace(map[string]string{ownConfig: noTag})
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
		if n := w.asked("/api/file/getFile"); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// TestConfigUnreadable: the last good copy is used until it is too old.
func TestConfigUnreadable(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(w *workspace){
		"corrupt":    func(w *workspace) { w.set(ownConfig, `{"tag": `) },
		"two values": func(w *workspace) { w.set(ownConfig, `{} {}`) },
		"202":        func(w *workspace) { w.failing(on("getFile", ownConfig, 202, `{"code":403,"msg":"no","data":null}`)) },
		"status 500": func(w *workspace) { w.failing(on("getFile", "", 500, "")) },
		"no token":   func(w *workspace) { w.failing(on("getFile", "", 401, "{}")) },
		"no kernel":  func(w *workspace) { w.failing(on("getFile", "", -1, "")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				// What is off is a tool, a read and a write, and a write that is off by default is on.
				const good = `{"mascot": {"enabled": false}, "search": {"actions": {"query_sql": false}}, "fs": {"actions": {"write": false}}, "block": {"actions": {"delete": true}}}`
				w := newWorkspace(map[string]string{ownConfig: good})
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

				w.failing(nil)
				w.set(ownConfig, good)
				if c := s.Current(t.Context()); c.Unreadable || !c.Stale.IsZero() || c.Problem != nil || !c.Enabled("block", "delete") || changes != 3 {
					t.Errorf("repaired, %d changes: %+v", changes, c)
				}
			})
		})
	}
}

func TestUnreadableWithoutKnowledge(t *testing.T) {
	t.Parallel()
	w := newWorkspace(map[string]string{ownConfig: "{"})
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
		w := newWorkspace(map[string]string{ownConfig: noTag})
		w.delay = time.Second
		s := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known, Writes: writes, Changed: func(c *access.Config) {
			if c.Unreadable {
				t.Error("told as a change")
			}
		}})
		if c := s.Current(contextOf(t, time.Millisecond)); !c.Unreadable || c.Enabled("fs", "write") {
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
	w := newWorkspace(map[string]string{pluginConfig: plugin})
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
	if w.get(pluginConfig) != plugin {
		t.Error("the plugin's file was written")
	}
	if len(w.files) != 2 {
		t.Errorf("a file of today was backed up: %v", w.files)
	}
	own := w.get(ownConfig)
	for _, kept := range []string{`"extra": 12345678901234567890`, `"future": true`, `"blockedTools"`, `"新"`, `"compare_recent": false`, `"<br> & 笔记"`} {
		if !strings.Contains(own, kept) {
			t.Errorf("our file lacks %s:\n%s", kept, own)
		}
	}
	if c, err := s.Edit(t.Context(), func(map[string]any) error { return errors.New("no") }); err == nil || err.Error() != "no" || c.Source != ownConfig || w.get(ownConfig) != own {
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
		"corrupt":  {"{", nil, kernel.API, 0},
		"no token": {"{}", on("getFile", "", 401, "{}"), tool.Unauthorized, 0},
		"refused":  {"{}", on("putFile", "", 200, `{"code":403,"msg":"no","data":null}`), kernel.API, 1},
		"lost":     {"{}", on("putFile", "", 502, ""), kernel.OutcomeUnknown, 1},
		"no backup": {`{"tag": false}`, func(endpoint, path string) (int, string) {
			if strings.Contains(path, ".bak-") {
				return 200, `{"code":400,"msg":"no","data":null}`
			}
			return 0, ""
		}, kernel.API, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(map[string]string{ownConfig: tc.own})
			w.failing(tc.fail)
			s := access.NewSwitches(w.client(), access.SwitchesOptions{Known: known})
			_, err := s.Edit(t.Context(), func(raw map[string]any) error { raw["userRulesText"] = "x"; return nil })
			if tool.KindOf(err) != tc.kind || w.asked("/api/file/putFile") != tc.puts || w.get(ownConfig) != tc.own {
				t.Errorf("%v, file %s", err, w.get(ownConfig))
			}
		})
	}
	w := newWorkspace(nil)
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
	w := newWorkspace(nil)
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
	if err := json.Unmarshal([]byte(w.get(ownConfig)), &raw); err != nil {
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
		"no file":         {nil, "", false},
		"ours, of today":  {map[string]string{ownConfig: noTag}, ownConfig, false},
		"plugin's, today": {map[string]string{pluginConfig: noTag}, pluginConfig, false},
		"ours, flat":      {map[string]string{ownConfig: `{"get_tag": true, "keep": 1, "get_sys_fonts": true}`}, ownConfig, true},
		"plugin's, list":  {map[string]string{pluginConfig: "\ufeff{\"tag\": [\"get_tag\"], \"keep\": 1}\n"}, pluginConfig, true},
		"old names":       {map[string]string{ownConfig: `{"tag": {"actions": {"rename": false, "remove": false}}, "block": {"actions": {"fold": true}}, "keep": 1}`}, ownConfig, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorkspace(tc.files)
				before := w.get(tc.from)
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
					if w.asked("/api/file/putFile") > 0 {
						t.Error("something was written")
					}
					return
				}
				if want := ownConfig + ".bak-20000101000000"; m.Backup != want || w.get(want) != strings.TrimSpace(strings.TrimPrefix(before, "\ufeff")) {
					t.Errorf("backup %s: %q", m.Backup, w.get(want))
				}
				if own := w.get(ownConfig); m.Config.Old() || m.Config.Format != "nested" || !strings.Contains(own, `"keep": 1`) || strings.Contains(own, "get_") && strings.Contains(own, "get_tag") || strings.Contains(own, `"fold"`) {
					t.Errorf("%+v\n%s", m.Config, own)
				}
				if enabled(m.Config, "tag") == nil || len(enabled(m.Config, "tag")) != 1 {
					t.Errorf("tag has %v", enabled(m.Config, "tag"))
				}
				if m, err := s.Migrate(t.Context()); err != nil || m.To != "" {
					t.Errorf("a second time: %+v, %v", m, err)
				}
			})
		})
	}
}
