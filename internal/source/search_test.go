package source_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
	"collie/test/await"
	"collie/test/catalogs"
)

// catalogOf returns a catalog of recorded servers, all shown by search.
func catalogOf(t *testing.T, servers []catalogs.Server, about string) *source.Catalog {
	t.Helper()
	var sources []tool.Source
	for _, s := range servers {
		tl := s.Tool()
		tl.View, tl.About = tool.Search, about
		sources = append(sources, tooltest.NewFake(s.Name, tool.Offer{Tools: []tool.Tool{tl}}))
	}
	return openCatalog(t, source.Options{}, sources...)
}

// callSearchTool calls one of the three search tools and returns the text of its result.
func callSearchTool(t *testing.T, c *source.Catalog, name, args string) (string, error) {
	t.Helper()
	call, err := c.Resolve(t.Context(), tool.Request{Kind: tool.KindCall, Name: name, Args: json.RawMessage(args)})
	if err != nil {
		return "", err
	}
	r, err := call.Source.Run(t.Context(), call)
	return gjson.GetBytes(r.Raw, "content.0.text").String(), err
}

// TestSearchList: however many servers are shown by search, the list has three tools and stays within the allowed
// bytes.
func TestSearchList(t *testing.T) {
	t.Parallel()
	all := catalogs.Servers()
	step := 7
	if await.Race {
		step = 35
	}
	for _, about := range []string{"", "a", strings.Repeat("what it is for ", 40), strings.Repeat("笔记和日历的工具", 30), strings.Repeat(`"<\`, 200)} {
		for n := 1; n <= 60; n += step {
			var servers []catalogs.Server
			for i := range n {
				s := all[i%len(all)]
				s.Name = fmt.Sprintf("%s-%d", s.Name, i)
				servers = append(servers, s)
			}
			raw, _ := catalogOf(t, servers, about).List(t.Context(), tool.ListTools, "")
			var got []string
			size := 0
			for _, d := range gjson.GetBytes(raw, "tools").Array() {
				got = append(got, d.Get("name").String())
				size += len(d.Raw)
			}
			if strings.Join(got, " ") != "collie_find collie_describe collie_call" {
				t.Fatalf("%d servers: the tools are %v", n, got)
			}
			if most := 2<<10 + 32*n; size > most {
				t.Errorf("%d servers, about of %d bytes: the list has %d bytes, want %d at most", n, len(about), size, most)
			}
			if !json.Valid(raw) {
				t.Errorf("%d servers: the list is not JSON", n)
			}
			for _, s := range servers {
				if description := gjson.GetBytes(raw, "tools.0.description").String(); n <= 40 && !strings.Contains(description, s.Name) {
					t.Errorf("%d servers: %s is not named in %q", n, s.Name, description)
				}
			}
		}
	}
}

// TestSearchReaches: every action that is shown by search is found, described as its author wrote it, and called.
func TestSearchReaches(t *testing.T) {
	t.Parallel()
	servers := catalogs.Servers()
	c := catalogOf(t, servers, "")
	for _, s := range servers {
		for _, def := range s.Tools {
			original := gjson.GetBytes(def, "name").String()
			name := s.Name + "__" + original
			found, err := callSearchTool(t, c, "collie_find", fmt.Sprintf(`{"query":%q,"server":%q,"limit":20}`, original, s.Name))
			if err != nil || !strings.Contains(found, name+"(") {
				if !strings.Contains(found, original[:min(len(original), 20)]) { // a long name is cut
					t.Errorf("%s is not found by its name: %v\n%s", name, err, found)
				}
				continue
			}
			described, err := callSearchTool(t, c, "collie_describe", fmt.Sprintf(`{"name":%q}`, name))
			if err != nil || gjson.Get(described, "inputSchema").Raw != gjson.GetBytes(def, "inputSchema").Raw || gjson.Get(described, "name").String() != name {
				t.Errorf("%s is described as %.200q, %v", name, described, err)
			}
			call, err := c.Resolve(t.Context(), tool.Request{Kind: tool.KindCall, Name: "collie_call", Args: json.RawMessage(fmt.Sprintf(`{"name":%q,"args":{"a":1}}`, name))})
			if err != nil || call.Source.Name() != s.Name || call.Target != original || string(call.Args) != `{"a":1}` {
				t.Errorf("%s is called as %+v, %v", name, call, err)
			}
			if direct, err := c.Resolve(t.Context(), tool.Request{Kind: tool.KindCall, Name: name, Args: json.RawMessage(`{}`)}); err != nil || direct.Target != original {
				t.Errorf("%s is not called by its own name: %v", name, err)
			}
		}
	}
}

// TestSearchHides: hidden and disabled actions cannot be found, described or called.
func TestSearchHides(t *testing.T) {
	t.Parallel()
	off := tooltest.Action("off")
	off.Off = "switched off"
	fake := tooltest.NewFake("git", tooltest.Offer("git", tooltest.Action("push"), tooltest.Action("pull"), off))
	c := openCatalog(t, source.Options{Profiles: map[string]source.Profile{"": {View: tool.Search, Hide: []string{"git/push"}}}}, fake)
	for _, name := range []string{"push", "off"} {
		if found, err := callSearchTool(t, c, "collie_find", fmt.Sprintf(`{"query":%q,"limit":20}`, name)); err != nil || strings.Contains(found, name) {
			t.Errorf("%s is found: %q, %v", name, found, err)
		}
	}
	for _, name := range []string{"git__push", "git/push", "git.push", "collie_call", "collie_find", "", "nothing"} {
		if _, err := callSearchTool(t, c, "collie_call", fmt.Sprintf(`{"name":%q,"args":{}}`, name)); err == nil {
			t.Errorf("%q is called", name)
		}
		if _, err := callSearchTool(t, c, "collie_describe", fmt.Sprintf(`{"name":%q}`, name)); err == nil {
			t.Errorf("%q is described", name)
		}
	}
	for _, args := range []string{`{}`, `{"name":1}`, `{"name":"git__pull","args":"x"}`, `{"name":"git__pull","args":[1]}`} {
		if _, err := callSearchTool(t, c, "collie_call", args); err == nil || tool.KindOf(err) != tool.Invalid {
			t.Errorf("%s gives %v, want an error of kind invalid", args, err)
		}
	}
	if text, err := callSearchTool(t, c, "collie_call", `{"name":"git__pull"}`); err != nil || len(fake.Calls()) != 1 {
		t.Errorf("a call without args is not made: %q, %v", text, err)
	}
	if _, err := callSearchTool(t, c, "collie_find", `{"query":"pull","server":"nowhere"}`); err == nil || !strings.Contains(fmt.Sprint(err), "nowhere") {
		t.Errorf("a server that is not there gives %v", err)
	}
}

// TestSearchBesideOthers: a search finds only what the profile shows by search, and no source may use the names of the
// search tools.
func TestSearchBesideOthers(t *testing.T) {
	t.Parallel()
	web, git := tooltest.Offer("web", tooltest.Action("get")), tooltest.Offer("git", tooltest.Action("push"))
	web.Tools[0].Prefix, git.Tools[0].View = "", tool.Search
	web.Tools[0].Actions = append(web.Tools[0].Actions, tooltest.Action("collie_find"))
	c := openCatalog(t, source.Options{}, tooltest.NewFake("web", web), tooltest.NewFake("git", git))
	if got := strings.Join(listedNames(t, c, tool.ListTools, ""), " "); got != "get web__collie_find collie_find collie_describe collie_call" {
		t.Errorf("the tools are %s", got)
	}
	if found, err := callSearchTool(t, c, "collie_find", `{"query":"get push"}`); err != nil || strings.Contains(found, "get(") || !strings.Contains(found, "git__push(") {
		t.Errorf("found are %q, %v", found, err)
	}
}

// TestSearchLanguage: the result of a Chinese query says when the descriptions are in English.
func TestSearchLanguage(t *testing.T) {
	t.Parallel()
	c := catalogOf(t, catalogs.Servers(), "")
	for args, want := range map[string]bool{
		`{"query":"查看提交历史","server":"git"}`:      true,
		`{"query":"commit history"}`:             false,
		`{"query":"创建共享日历","server":"lark-zh"}`:  false,
		`{"query":"完全无关的话","server":"context7"}`: false, // nothing fits
	} {
		text, err := callSearchTool(t, c, "collie_find", args)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text, "English keywords find most"); got != want {
			t.Errorf("%s is told that English finds most: %t, want %t:\n%s", args, got, want, text)
		}
	}
}
