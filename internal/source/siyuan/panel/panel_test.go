package panel_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/source/siyuan/panel"
	"collie/internal/tool"
)

// Where SiYuan looks for the plugin.
const (
	plugin = "collie-panel"
	folder = "/data/plugins/collie-panel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newClient(t *testing.T, k *kerneltest.Kernel) *kernel.Client {
	t.Helper()
	c := kernel.New(k.URL(), kernel.Options{})
	t.Cleanup(c.Close)
	return c
}

var place = panel.Place{Address: "http://127.0.0.1:7420", Origins: []string{"http://127.0.0.1:6806"}}

// countState returns how many files have a state.
func countState(r panel.Report, state string) (n int) {
	for _, f := range r.Files {
		if f.State == state {
			n++
		}
	}
	return n
}

func TestInstallAndRemove(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	c := newClient(t, k)
	r, err := panel.Install(t.Context(), c, place, "v1.4.0-3-gabcdef")
	if err != nil || countState(r, panel.Written) != len(r.Files) || len(r.Files) < 6 {
		t.Fatalf("%v %+v", err, r)
	}
	if r.Files[0].Path != "/data/plugins/collie-panel/plugin.json" || !k.Plugins()[plugin] || !r.Untrusted {
		t.Errorf("%+v, switched: %v", r, k.Plugins())
	}
	var told panel.Place
	raw, err := c.ReadFile(t.Context(), folder+"/panel.json")
	if err != nil || json.Unmarshal(raw, &told) != nil || told.Address != place.Address || len(told.Origins) != 1 {
		t.Errorf("%v %s", err, raw)
	}
	raw, err = c.ReadFile(t.Context(), folder+"/plugin.json")
	var said struct{ Name, Version, Author string }
	if err != nil || json.Unmarshal(raw, &said) != nil || said.Version != "1.4.0" || said.Name != plugin {
		t.Errorf("%v %s", err, raw)
	}

	k.ResetCalls()
	r, err = panel.Install(t.Context(), c, place, "v1.4.0-3-gabcdef")
	if err != nil || countState(r, "unchanged") != len(r.Files) {
		t.Errorf("again: %v %+v", err, r)
	}
	for _, w := range k.Writes() {
		if w.Path == "/api/file/putFile" {
			t.Errorf("a file that is as it should be is written again")
		}
	}
	moved := place
	moved.Address = "http://127.0.0.1:7421"
	r, err = panel.Install(t.Context(), c, moved, "v1.5.0")
	if err != nil || countState(r, panel.Written) != 2 { // the manifest with the version, and panel.json with the address
		t.Errorf("upgrade: %v %+v", err, r)
	}

	k.File(folder+"/notes of mine.txt", []byte("keep"))
	r, err = panel.Remove(t.Context(), c)
	if err != nil || countState(r, "left") != 1 || countState(r, panel.Removed) != len(r.Files)-1 || k.Plugins()[plugin] {
		t.Errorf("remove: %v %+v, switched: %v", err, r, k.Plugins())
	}
	if raw, err := c.ReadFile(t.Context(), folder+"/notes of mine.txt"); err != nil || string(raw) != "keep" {
		t.Errorf("somebody's file: %v %q", err, raw)
	}
	// The folder with somebody's file is left and belongs to no plugin.
	if _, err := panel.Install(t.Context(), c, place, ""); tool.KindOf(err) != tool.Conflict {
		t.Errorf("into a folder of somebody else: %v", err)
	}
}

func TestRemoveLeavesNothing(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	c := newClient(t, k)
	k.File("/data/plugins/other/plugin.json", []byte(`{"name":"other"}`))
	if r, err := panel.Remove(t.Context(), c); err != nil || len(r.Files) != 0 {
		t.Errorf("there is nothing to remove: %v %+v", err, r)
	}
	if _, err := panel.Install(t.Context(), c, place, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := panel.Remove(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	entries, err := c.ReadDir(t.Context(), "/data/plugins")
	if err != nil || len(entries) != 1 || entries[0].Name != "other" {
		t.Errorf("left: %v %+v", err, entries)
	}
}

// A removal that was interrupted can be completed, and so can an installation.
func TestCutOff(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	c := newClient(t, k)
	k.Fail("/api/file/putFile", 3, kerneltest.FailMessage("no space left"))
	for range 3 {
		if _, err := panel.Install(t.Context(), c, place, ""); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Fatalf("no error: %v", err)
		}
	}
	if _, err := panel.Install(t.Context(), c, place, ""); err != nil {
		t.Fatal(err)
	}
	k.Fail("/api/file/removeFile", 1, kerneltest.FailMessage("busy"))
	if _, err := panel.Remove(t.Context(), c); err == nil {
		t.Fatal("no error")
	}
	if r, err := panel.Remove(t.Context(), c); err != nil || r.Files[len(r.Files)-1].Path != folder {
		t.Errorf("%v %+v", err, r)
	}
}

func TestForeignPlugin(t *testing.T) {
	t.Parallel()
	for name, manifest := range map[string]string{
		"another author": `{"name":"collie-panel","author":"Somebody"}`, "another name": `{"name":"x","author":"Collie"}`, "no JSON": `{`, "a list": `[]`, "empty": ``,
	} {
		k := kerneltest.New(t)
		c := newClient(t, k)
		k.File(folder+"/plugin.json", []byte(manifest))
		k.File(folder+"/index.js", []byte("theirs"))
		k.ResetCalls()
		if _, err := panel.Install(t.Context(), c, place, ""); tool.KindOf(err) != tool.Conflict {
			t.Errorf("%s: install: %v", name, err)
		}
		if _, err := panel.Remove(t.Context(), c); tool.KindOf(err) != tool.Conflict {
			t.Errorf("%s: remove: %v", name, err)
		}
		if w := k.Writes(); len(w) > 0 {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

func TestReadOnlyKernel(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	k.ReadOnly(true)
	if r, err := panel.Install(t.Context(), newClient(t, k), place, ""); err == nil || countState(r, panel.Written) > 0 {
		t.Errorf("%v %+v", err, r)
	}
}

// The plugin is small, is one script without modules, and asks nobody but the kernel and Collie.
func TestBundle(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("panel.zip")
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		sum += len(content)
		if f.Name == "index.js" && (!bytes.Contains(content, []byte("module.exports")) || bytes.Contains(content, []byte("import(")) || bytes.Contains(content, []byte("https://"))) {
			t.Errorf("the script: %.300s", content)
		}
	}
	t.Logf("%d files of %d bytes, %d packed", len(z.File), sum, len(raw))
	if limit := 30_000; sum > limit || len(raw) > 12_000 {
		t.Errorf("%d bytes, %d packed; at most %d and 12,000", sum, len(raw), limit)
	}
}
