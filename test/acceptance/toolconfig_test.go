package acceptance_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel/kerneltest"
)

// readConfigForEachCall makes the gateway read the tool config for each call.
const readConfigForEachCall = `"configTTLSeconds":-1`

// defaultActions returns the actions of a tool that are on by default, in order.
func defaultActions(name string) []string {
	var out []string
	for _, tl := range siyuan.Tools() {
		for _, a := range tl.Actions {
			if tl.Name == name && !tl.Off && !a.Off {
				out = append(out, a.Name)
			}
		}
	}
	return out
}

// defaultActionsWithout returns the default actions of a tool, except the named ones.
func defaultActionsWithout(name string, off ...string) []string {
	return slices.DeleteFunc(defaultActions(name), func(act string) bool { return slices.Contains(off, act) })
}

// TestConfigFormats loads the three formats of the tool config through the running gateway, for
// clients of both eras. TestFormats of package access covers the formats in full.
func TestConfigFormats(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file, text string
		want       map[string][]string // of the tools that differ from the defaults
	}{
		"none": {file: ownFolder, text: ``},
		"nested": {
			file: ownFolder, text: `{"tag":{"enabled":true,"actions":{"remove":false,"rename":false}},"mascot":{"enabled":false,"actions":{}},"block":{"actions":{"delete":true}}}`,
			want: map[string][]string{"tag": defaultActionsWithout("tag", "remove", "rename"), "mascot": {}, "block": append(defaultActions("block"), "delete")},
		},
		"by category": {
			file: pluginFolder, text: `{"notebook":["list","create","get_notebook_conf"],"tag":false}`,
			want: map[string][]string{"notebook": {"list", "create", "get_conf"}, "tag": {}},
		},
		"flat": {
			file: pluginFolder, text: `{"list_notebooks":true,"open_notebook":true,"create_document":false}`,
			want: map[string][]string{"notebook": {"list", "set_open_state"}, "document": {}},
		},
		"nested wins": {
			file: ownFolder, text: `{"list_notebooks":true,"tag":{"actions":{"list":true,"rename":false,"remove":false}}}`,
			want: map[string][]string{"tag": defaultActionsWithout("tag", "remove", "rename")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, readConfigForEachCall)
			if tt.text != "" {
				w.File(tt.file+configFile, []byte(tt.text))
			}
			g := w.serve(t)
			for _, version := range []string{legacy, modern} {
				v := openSession(t, g, version, nobody)
				v.call(t, "mascot", `{"action":"get_balance"}`) // whatever comes of it, the config has been read
				for _, tl := range siyuan.Tools() {
					if tl.Off {
						continue
					}
					want := defaultActions(tl.Name)
					if said, ok := tt.want[tl.Name]; ok {
						want = slices.Clone(said)
					}
					got := v.actionsOf(t, tl.Name)
					slices.Sort(got)
					slices.Sort(want)
					if !slices.Equal(got, want) {
						t.Errorf("%s of %s: %v, want %v", tl.Name, version, got, want)
					}
				}
			}
			w.wantNoWrites(t) // an old file is read, not migrated
		})
	}
}

// TestConfigChangeIsTold changes the file while clients of both eras are connected: they are notified, and the list and
// the calls follow the new config.
func TestConfigChangeIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, readConfigForEachCall)
	g := w.serve(t)
	var clients []*sdkClient
	for _, version := range []string{legacy, modern} {
		v := openSession(t, g, version, nobody)
		v.mustCall(t, "tag", `{"action":"list"}`)
		clients = append(clients, v)
	}
	for _, step := range []struct {
		config string
		want   []string
	}{
		{`{"tag":{"actions":{"list":true,"rename":false,"remove":false}}}`, defaultActionsWithout("tag", "remove", "rename")},
		{`{"tag":false}`, nil},
		{`{"tag":["list","rename"]}`, []string{"list", "rename"}},
	} {
		for _, v := range clients {
			for len(v.changed) > 0 {
				<-v.changed
			}
		}
		w.File(ownFolder+configFile, []byte(step.config))
		clients[0].mustCall(t, "notebook", `{"action":"list"}`) // a call finds out
		for i, v := range clients {
			select {
			case <-v.changed:
			case <-time.After(waitLimit):
				t.Fatalf("client %d was not told of %s", i, step.config)
			}
			if got := v.actionsOf(t, "tag"); !slices.Equal(got, step.want) {
				t.Errorf("client %d sees %v, want %v", i, got, step.want)
			}
		}
		if len(step.want) == 0 {
			got := clients[1].wantRefused(t, "tag", `{"action":"list"}`, "disabled_error")
			wantWords(t, "a tool that is off", got.text, "switched off", "collie siyuan config set tag on")
		} else {
			clients[1].wantRefused(t, "tag", `{"action":"remove","label":"x"}`, "disabled_error")
		}
	}
}

// TestFailedReadsNeverWiden lets the reading of the config fail, at first and later: what
// was off stays off, and without any good config nothing writes.
func TestFailedReadsNeverWiden(t *testing.T) {
	t.Parallel()
	t.Run("later", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, readConfigForEachCall)
		w.File(ownFolder+configFile, []byte(`{"tag":{"actions":{"list":true,"rename":false,"remove":false}},"block":{"actions":{"append":false}}}`))
		v := openSession(t, w.serve(t), modern, nobody)
		v.mustCall(t, "notebook", `{"action":"list"}`)
		before := len(listedActions(t, v))
		for _, broken := range []string{`{"tag":`, `<html>`} {
			w.File(ownFolder+configFile, []byte(broken))
			v.mustCall(t, "notebook", `{"action":"list"}`)
			v.wantRefused(t, "block", `{"action":"append","dataType":"markdown","data":"x","parentID":"`+w.plan+`"}`, "disabled_error")
			if after := listedActions(t, v); len(after) != before {
				t.Errorf("%s: %d actions are on, %d were", broken, len(after), before)
			}
		}
		w.wantNoWrites(t)
	})
	t.Run("from the start", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, readConfigForEachCall)
		w.File(ownFolder+configFile, []byte(`{"tag":`))
		v := openSession(t, w.serve(t), legacy, nobody)
		v.mustCall(t, "notebook", `{"action":"list"}`) // reads go on
		writes := map[string]bool{}
		for _, tl := range siyuan.Tools() {
			for _, a := range tl.Actions {
				writes[tl.Name+"."+a.Name] = a.Class != action.Reads
			}
		}
		for _, name := range listedActions(t, v) {
			if writes[name] {
				t.Errorf("%s is on", name)
			}
		}
		got := v.wantRefused(t, "fs", `{"action":"write","path":"/Work/New","markdown":"x"}`, "disabled_error")
		wantWords(t, "the reason", got.text, "cannot be read")
		w.wantNoWrites(t)

		// With the file repaired, everything works again.
		w.File(ownFolder+configFile, []byte(`{}`))
		v.mustCall(t, "fs", `{"action":"write","path":"/Work/New","markdown":"x"}`)
	})
	t.Run("the kernel fails", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, readConfigForEachCall)
		w.File(ownFolder+configFile, []byte(`{"fs":{"actions":{"write":false}}}`))
		v := openSession(t, w.serve(t), modern, nobody)
		v.mustCall(t, "notebook", `{"action":"list"}`)
		w.Fail("/api/file/getFile", 8, kerneltest.FailServer)
		v.wantRefused(t, "fs", `{"action":"write","path":"/Work/New","markdown":"x"}`, "disabled_error")
		w.wantNoWrites(t)
	})
}

// listedActions are all actions that are listed, as tool.action.
func listedActions(t *testing.T, v *sdkClient) []string {
	t.Helper()
	var out []string
	for _, tl := range siyuan.Tools() {
		for _, name := range v.actionsOf(t, tl.Name) {
			out = append(out, tl.Name+"."+name)
		}
	}
	return out
}

// TestConfigIsKeptForItsTime checks that the config is cached: calls within 30 s do not read it again.
func TestConfigIsKeptForItsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t) // 30 s
	v := openSession(t, w.serve(t), modern, nobody)
	v.mustCall(t, "fs", `{"action":"ls","path":"/Work"}`)
	w.ResetCalls()
	for range 5 {
		v.mustCall(t, "fs", `{"action":"ls","path":"/Work"}`)
	}
	reads := 0
	for _, c := range w.Calls() {
		if strings.HasSuffix(c.Get("path").String(), configFile) {
			reads++
		}
	}
	if reads != 0 {
		t.Errorf("the config was read %d times within its time", reads)
	}
}

// TestReadOnlyTools sets readOnlyTools: only actions that read are offered, and the tools are annotated as read-only.
func TestReadOnlyTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t, readConfigForEachCall)
	w.File(ownFolder+configFile, []byte(`{"readOnlyTools":true}`))
	g := w.serve(t)
	eachEra(t, func(t *testing.T, version string) {
		v := openSession(t, g, version, agrees)
		v.mustCall(t, "fs", `{"action":"read","path":"/Work/Plan"}`)
		list, err := v.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, def := range list.Tools {
			if def.Annotations == nil || !def.Annotations.ReadOnlyHint {
				t.Errorf("%s does not say that it only reads", def.Name)
			}
		}
		for _, tt := range [][2]string{
			{"fs", `{"action":"write","path":"/Work/New","markdown":"x"}`},
			{"fs", `{"action":"rm","path":"/Work/Plan"}`},
			{"block", `{"action":"append","dataType":"markdown","data":"x","parentID":"` + w.plan + `"}`},
		} {
			wantWords(t, tt[1], v.wantRefused(t, tt[0], tt[1], "disabled_error").text, "read-only")
		}
		// Actions that only read, except with one of their arguments.
		v.wantRefused(t, "av", `{"action":"render","id":"20240101120000-abcdefg","blockID":"`+w.plan+`","createIfNotExist":true}`, "disabled_error")
		w.wantNoWrites(t)
	})
}
