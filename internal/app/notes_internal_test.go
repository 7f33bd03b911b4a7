package app

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
	"collie/internal/source/siyuan/connection"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestNotebooksAreFoundByIDAndName(t *testing.T) {
	t.Parallel()
	all := []NotebookLevel{{ID: "1", Name: "工作"}, {ID: "2", Name: "Home"}, {ID: "3", Name: "home"}, {ID: "4", Name: "Twice"}, {ID: "5", Name: "Twice"}, {ID: "6", Name: "1"}}
	for given, want := range map[string]string{"工作": "1", "Home": "2", "home": "3", "2": "2", "1": "1", " 工作 ": "1"} {
		if got, err := findNotebook(all, given); err != nil || got.ID != want {
			t.Errorf("%q is %v, %v, want %s", given, got, err, want)
		}
	}
	for given, kind := range map[string]tool.ErrorKind{"Twice": tool.Ambiguous, "HOME": tool.Ambiguous, "none": tool.Unknown, "": tool.Unknown} {
		if got, err := findNotebook(all, given); tool.KindOf(err) != kind {
			t.Errorf("%q is %v, %v, want %s", given, got, err, kind)
		}
	}
}

func TestSwitching(t *testing.T) {
	t.Parallel()
	const off = `{"mascot":{"enabled":false,"actions":{"get_balance":false}},"tag":{"enabled":true,"actions":{"list":true,"remove":true}},"x":1}`
	for _, tt := range []struct {
		name string
		on   bool
		want map[string]any // members that differ, by path
	}{
		{"tag", false, map[string]any{"tag.enabled": false}},
		{"tag.remove", false, map[string]any{"tag.actions.remove": false}},
		{"mascot.get_balance", true, map[string]any{"mascot.enabled": true, "mascot.actions.get_balance": true}},
		{"mascot.get-balance", true, map[string]any{"mascot.enabled": true, "mascot.actions.get_balance": true}},
		{"readOnlyTools", true, map[string]any{"readOnlyTools": true}},
		{"writeSafety.strictMode", true, map[string]any{"writeSafety.strictMode": true}},
		{"debug.slimResponses", false, map[string]any{"debug.slimResponses": false}},
	} {
		edit, err := switching(tt.name, tt.on)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var raw map[string]any
		if err := json.Unmarshal([]byte(off), &raw); err != nil {
			t.Fatal(err)
		}
		before := paths(raw, "")
		if err := edit(raw); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		after := paths(raw, "")
		maps.DeleteFunc(after, func(k string, v any) bool { return before[k] == v })
		if diff := cmp.Diff(tt.want, after); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	for name, near := range map[string]string{"tga": "tag", "tag.remve": "tag.remove", "readOnlyTool": "readOnlyTools", "": "", "tag.": ""} {
		if _, err := switching(name, true); tool.KindOf(err) != tool.Unknown || near != "" && !strings.Contains(err.(*tool.Error).Hint, near) { //nolint:errorlint // it is made here
			t.Errorf("%q: %v", name, err)
		}
	}
}

// paths are the leaves of an object by their paths.
func paths(v map[string]any, prefix string) map[string]any {
	out := map[string]any{}
	for k, m := range v {
		if o, ok := m.(map[string]any); ok {
			maps.Copy(out, paths(o, prefix+k+"."))
			continue
		}
		out[prefix+k] = m
	}
	return out
}

// A whole tool that has nothing on gets what is on by default, and no more.
func TestSwitchingAToolOn(t *testing.T) {
	t.Parallel()
	edit, err := switching("notebook", true)
	if err != nil {
		t.Fatal(err)
	}
	raw := map[string]any{}
	if err := edit(raw); err != nil {
		t.Fatal(err)
	}
	got := paths(raw, "")
	if got["notebook.enabled"] != true || got["notebook.actions.list"] != true || got["notebook.actions.set_permission"] == true {
		t.Errorf("%v", got)
	}
}

// The token is for SiYuan alone: whoever else has that port never sees it.
func TestTokenIsForSiYuanAlone(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"a page":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>hi")) },
		"nothing":  func(http.ResponseWriter, *http.Request) {},
		"refusal":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) },
		"not here": func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := make(chan string, 10)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if a := r.Header.Get("Authorization"); a != "" {
					told <- a
				}
				h(w, r)
			}))
			defer s.Close()
			_, err := TryKernel(t.Context(), s.URL, "hidden", nil)
			e, ok := err.(*tool.Error) //nolint:errorlint // nothing wraps it
			if !ok || e.Code != NotAKernel || e.Kind != tool.Unavailable {
				t.Errorf("got %v", err)
			}
			if len(told) > 0 {
				t.Errorf("was told %q", <-told)
			}
		})
	}
}

func TestTryKernel(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	k.SetToken(true)
	k.Notebook("工作")
	got, err := TryKernel(t.Context(), k.URL(), kerneltest.Token, nil)
	if err != nil || got != (KernelFacts{Version: kerneltest.Version, Workspace: "/workspace", Notebooks: 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	k.ReadOnly(true)
	got, err = TryKernel(t.Context(), k.URL(), kerneltest.Token, nil)
	if err != nil || got != (KernelFacts{Version: kerneltest.Version, Notebooks: 1, ReadOnly: true}) {
		t.Errorf("read-only: %+v, %v", got, err)
	}
	recorded := verifyWorkspace(connection.Choice{URL: k.URL(), Workspace: "/workspace"})
	client := kernel.New(k.URL(), kernel.Options{Token: kerneltest.Token})
	defer client.Close()
	if err := recorded(t.Context(), client); err != nil {
		t.Errorf("a read-only kernel is not used: %v", err)
	}
	k.ReadOnly(false)
	if got, err = TryKernel(t.Context(), k.URL(), "wrong", nil); tool.KindOf(err) != tool.Unauthorized || got.Version == "" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err = TryKernel(t.Context(), "http://127.0.0.1:1", "", nil); tool.KindOf(err) != tool.Unavailable {
		t.Error(err)
	}
}

func TestWhyThereAreNoNotes(t *testing.T) {
	t.Parallel()
	const server = `fs` // a server with the name of a tool for notes
	for _, tt := range []struct {
		raw, env string
		server   string
		off      bool
		vault    bool
		flags    KernelFlags
		kind     tool.ErrorKind // empty: there are
		offered  bool
	}{
		{kind: tool.Unavailable},
		{vault: true, offered: true},
		{vault: true, server: "mine", offered: true},
		{vault: true, server: server, offered: true}, // which is not offered itself
		{vault: true, off: true, kind: tool.Disabled},
		{server: server, kind: tool.Unavailable},
		{server: server, vault: true, env: "http://k", offered: true},
		{off: true, env: "http://k", kind: tool.Disabled},
		{env: "http://k", offered: true},
		{env: "k", kind: tool.Invalid, offered: true},
		{flags: KernelFlags{Token: "x"}, kind: tool.Invalid, offered: true},
		{flags: KernelFlags{Connection: "x"}, kind: tool.Unknown, offered: true},
		{raw: `{"connections":{"a":{"url":"http://k"}}}`, offered: true},
		{raw: `{"connections":{"a":{"url":"ftp://k"}}}`, kind: tool.Invalid, offered: true},
		{raw: `{"connections":{"a":{"url":"http://k"}},"writeSafety":"maybe"}`, kind: tool.Invalid, offered: true},
		{vault: true, raw: `{"writeSafety":"maybe"}`, kind: tool.Invalid, offered: true},
	} {
		cfg := &config.Config{SiYuan: config.SiYuan{Enabled: !tt.off, Raw: []byte(tt.raw)}, Vault: config.Vault{Enabled: tt.vault}}
		if tt.server != "" {
			cfg.Servers = []config.ServerEntry{{Name: tt.server}}
		}
		env := config.EnvOf("SIYUAN_API_URL=" + tt.env)
		err := NotesMissing(t.Context(), cfg, env, tt.flags)
		if (err == nil) != (tt.kind == "") || err != nil && tool.KindOf(err) != tt.kind {
			t.Errorf("%+v: %v", tt, err)
		}
		if got := NotesOffered(cfg, env, tt.flags); got != tt.offered {
			t.Errorf("%+v: offered %t", tt, got)
		}
	}
}

func TestNamesOfNotesTools(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"fs": "fs", "fs/read": "fs", "fs__read": "fs", "fsx": "", "": "", "filesystem": "", "my/fs": ""} {
		if got, ok := NotesTool(name); ok != (want != "") || ok && got != want {
			t.Errorf("NotesTool(%q) is %q, %t", name, got, ok)
		}
	}
	for _, s := range SwitchNames() {
		if name, _, action := strings.Cut(s, "."); action && !slices.Contains(NotesTools(), name) && name != "writeSafety" && name != "debug" && name != "errorReporting" {
			t.Errorf("%s is a tool and not among the names", name)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	r := &NotesReport{Checks: []NotesCheck{{Name: "kernel", Status: CheckOK}, {Name: "levels", Status: CheckOK, Issue: "nothing_writable"}}}
	if r.Judge(); !r.Ready || r.Status != "ready" || r.Access.Reads != "available" || len(r.Issues) != 1 {
		t.Errorf("%+v", r)
	}
	r.Checks = append(r.Checks, NotesCheck{Name: "gateway", Status: CheckFailed, Issue: "x"}, NotesCheck{Name: "a", Status: CheckFailed, Issue: "x"})
	if r.Judge(); r.Ready || r.Status != "degraded" || r.Access.Reads != "available" || len(r.Issues) != 2 {
		t.Errorf("%+v", r)
	}
	r.Checks[0].Status = CheckFailed
	if r.Judge(); r.Access.Reads != "unavailable" {
		t.Errorf("%+v", r)
	}
}
