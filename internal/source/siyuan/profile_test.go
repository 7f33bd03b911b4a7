package siyuan_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source"
	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// TestProfiles: the built-in profiles show fewer actions, in fewer bytes.
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

// TestHelpGoesByTheProfile: help counts only the notebooks that the caller may know of, by level.
func TestHelpGoesByTheProfile(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	one := kernel.ID(k.Notebook("One"))
	k.Notebook("Two")
	client := kernel.New(k.URL(), kernel.Options{Token: kerneltest.Token})
	t.Cleanup(client.Close)
	s := siyuan.New(siyuan.Options{Kernel: client, Ceiling: func(profile string) access.Ceiling {
		switch profile {
		case "":
			return access.Ceiling{Others: access.Delete}
		case "less":
			return access.Ceiling{Listed: map[kernel.ID]access.Level{one: access.None}, Others: access.Delete}
		}
		return access.Ceiling{}
	}})
	t.Cleanup(s.Close)
	catalog := source.New([]tool.Source{s}, source.Options{Profiles: map[string]source.Profile{"less": {}, "gone": {}}})
	t.Cleanup(catalog.Close)
	page := func(profile, uri string) string {
		call, err := catalog.Resolve(t.Context(), tool.Request{Kind: tool.KindRead, Name: uri, Profile: profile})
		if err != nil {
			t.Fatal(err)
		}
		res, err := call.Source.Run(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		return gjson.GetBytes(res.Raw, "contents.0.text").Str
	}
	for _, uri := range []string{"siyuan://help/fs/read", "siyuan://help/action/fs/read", "collie://help/fs/read"} {
		for profile, want := range map[string]string{"": "2 notebooks allow", "less": "1 notebook allows", "gone": "in no notebook"} {
			if got := page(profile, uri); !strings.Contains(got, want) {
				t.Errorf("%s for %q ends with %s, want %s", uri, profile, got[max(0, len(got)-200):], want)
			}
		}
	}
}

// TestLevelsAreAskedInOnePlace: only levelsOf reads the levels of the workspace, so that everything done for a caller goes
// by the levels of the caller's profile.
func TestLevelsAreAskedInOnePlace(t *testing.T) {
	t.Parallel()
	var found []string
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				if f, ok := n.(*ast.SelectorExpr); ok && f.Sel.Name == "Snapshot" {
					if x, ok := f.X.(*ast.SelectorExpr); ok && x.Sel.Name == "levels" {
						found = append(found, d.(*ast.FuncDecl).Name.Name)
					}
				}
				return true
			})
		}
	}
	if !slices.Equal(found, []string{"levelsOf"}) {
		t.Errorf("the levels of the workspace are asked in %v", found)
	}
}
