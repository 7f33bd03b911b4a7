package siyuan_test

import (
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source"
	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// TestProfiles: less of the tools, in fewer bytes, without settings.
func TestProfiles(t *testing.T) {
	t.Parallel()
	s := siyuan.New(siyuan.Options{Kernel: kernel.New("http://127.0.0.1:1", kernel.Options{})})
	t.Cleanup(s.Close)
	profiles := map[string]source.Profile{}
	for name, hide := range s.Profiles() {
		profiles[name] = source.Profile{Hide: hide}
	}
	catalog := source.New([]tool.Source{s}, source.Options{Profiles: profiles})
	t.Cleanup(catalog.Close)
	size := map[string]int{}
	for _, name := range siyuan.ProfileNames() {
		raw, _ := catalog.List(t.Context(), tool.ListTools, name)
		size[name] = len(raw)
		t.Logf("%s: %d bytes", name, len(raw))
	}
	if !(size["minimal"] < size["core"] && size["core"] < size["full"]) {
		t.Errorf("sizes %v", size)
	}
	raw, _ := catalog.List(t.Context(), tool.ListTools, "minimal")
	var names []string
	for _, def := range gjson.GetBytes(raw, "tools").Array() {
		names = append(names, def.Get("name").String())
	}
	if !slices.Equal(names, []string{"fs", "search"}) {
		t.Errorf("minimal shows %v", names)
	}
	if got := gjson.GetBytes(raw, `tools.#(name=="search").inputSchema.properties.action.enum`).Raw; got != `["fulltext","help"]` {
		t.Errorf("minimal shows of search %s", got)
	}
}
