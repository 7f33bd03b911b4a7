package main

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

func built(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := Build(os.DirFS("../.."), "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestSite builds the site of this repository, which fails for a link that leads nowhere. Then it checks that everything that
// the pages link to or load exists.
func TestSite(t *testing.T) {
	t.Parallel()
	files := built(t)
	link := regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	id := regexp.MustCompile(` id="([^"]*)"`)
	ids := map[string]map[string]bool{}
	for name, data := range files {
		ids[name] = map[string]bool{}
		for _, m := range id.FindAllSubmatch(data, -1) {
			if ids[name][string(m[1])] {
				t.Errorf("%s: two elements have the id %s", name, m[1])
			}
			ids[name][string(m[1])] = true
		}
	}
	links := 0
	for name, data := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, m := range link.FindAllSubmatch(data, -1) {
			to := string(m[1])
			if strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(to, "#")
			if file == "" {
				file = name
			} else {
				file = path.Join(path.Dir(name), file)
			}
			anchor, err := url.PathUnescape(anchor)
			if err != nil {
				t.Error(err)
			}
			if _, there := files[file]; !there || anchor != "" && !ids[file][anchor] {
				t.Errorf("%s: the link %s leads nowhere", name, to)
			}
		}
		if outside := regexp.MustCompile(`<(?:script|link|img)[^>]*(?:src|href)="https?:`).Find(data); outside != nil {
			t.Errorf("%s loads from elsewhere: %s", name, outside)
		}
	}
	if links < 10000 {
		t.Errorf("only %d links found", links)
	}
}

// Every page exists in both languages at the same path. A page whose document is written in English only says so.
func TestTwins(t *testing.T) {
	t.Parallel()
	files := built(t)
	pages := 0
	for name, data := range files {
		english, isEnglish := strings.CutPrefix(name, "en/")
		if !isEnglish {
			continue
		}
		pages++
		twin, there := files["zh/"+english]
		if !there {
			t.Errorf("%s is missing in Chinese", english)
			continue
		}
		if says, foreign := bytes.Contains(twin, []byte("这一页只有英文。")), bytes.Contains(twin, []byte(`<article lang="en">`)); says != foreign || foreign == (strings.HasPrefix(english, "guide/") || english == "index.html") {
			t.Errorf("zh/%s: in English: %v, and says so: %v", english, foreign, says)
		}
		if !bytes.Contains(data, []byte(`lang="zh-CN" hreflang="zh-CN" href="`+strings.Repeat("../", strings.Count(english, "/")+1)+"zh/"+english)) {
			t.Errorf("%s does not lead to the same page in Chinese", name)
		}
	}
	if pages < 50 {
		t.Errorf("only %d pages", pages)
	}
}

// Lines of Chinese are joined without a space, all others with one, also before a link or code.
func TestLines(t *testing.T) {
	t.Parallel()
	files := built(t)
	for name, data := range files {
		if m := regexp.MustCompile(`[a-z]<(?:a href|code)[^>]*>`).Find(data); m != nil && path.Ext(name) == ".html" && !strings.Contains(name, "api.html") {
			t.Errorf("%s: no space before %s", name, m)
		}
		if m := regexp.MustCompile(`\p{Han}\n\p{Han}`).Find(data); m != nil && strings.HasPrefix(name, "zh/guide/") {
			t.Errorf("%s: a space in %s", name, m)
		}
	}
}

// Building the site twice gives the same bytes.
func TestSame(t *testing.T) {
	t.Parallel()
	one, two := built(t), built(t)
	if len(one) != len(two) {
		t.Fatalf("%d files, then %d", len(one), len(two))
	}
	for name := range one {
		if !bytes.Equal(one[name], two[name]) {
			t.Errorf("%s is another one the second time", name)
		}
	}
}

// The search index has the sections of all documents, the Chinese ones too, and the routes and types of the API.
func TestIndex(t *testing.T) {
	t.Parallel()
	files := built(t)
	for name, want := range map[string][]string{
		"search-en.js": {"guide/vault.html", "GET /api/v1/mcp/servers", "ServerList", "collie vault backup"},
		"search-zh.js": {"guide/vault.html", "笔记库", "小狗"},
	} {
		_, text, _ := strings.Cut(string(files[name]), " = ")
		if !json.Valid([]byte(text)) {
			t.Errorf("%s is not JSON", name)
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s has no %q", name, w)
			}
		}
	}
}

// Build reports each kind of mistake in documents, with the file.
func TestMistakes(t *testing.T) {
	t.Parallel()
	const readme = "# Collie\n\n[a](docs/guide/a.md)\n"
	base := map[string]string{
		"README.md": readme, "README.zh-CN.md": readme, "docs/guide/a.md": "# A\n\n## One\n", "docs/guide/a.zh-CN.md": "# 甲\n\n## 一\n",
		"docs/reference/api.md": "# The API\n\nWords.\n\n## GET /api/v1/x\n", "web/src/icon.svg": "<svg/>",
		openapiFile: `{"paths":{"/api/v1/x":{"get":{"summary":"X","responses":{}}}},"components":{"schemas":{}}}`,
	}
	build := func(file, text string) error {
		root := fstest.MapFS{}
		for name, is := range base {
			root[name] = &fstest.MapFile{Data: []byte(is)}
		}
		if text == "" {
			delete(root, file)
		} else {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		_, err := Build(root, "")
		return err
	}
	if err := build("docs/guide/a.md", base["docs/guide/a.md"]); err != nil {
		t.Fatalf("there is nothing wrong, but: %v", err)
	}
	for _, c := range []struct{ file, text, want string }{
		{"docs/guide/a.md", "# A\n\n[b](b.md)\n", "docs/guide/a.md: the link b.md"},
		{"docs/guide/a.md", "# A\n\n[b](#two)\n", "docs/guide/a.md: the link #two"},
		{"docs/guide/a.md", "# A\n\n[b](../reference/api.md#get-apiv1y)\n", "no such heading"},
		{"docs/guide/a.md", "# A\n\n[b](/etc/passwd)\n", `a link to "/etc/passwd"`},
		{"docs/guide/a.md", "# A\n\n![b](b.png)\n", "b.png"},
		{"docs/guide/a.md", "# A\n\nput <NAME> here\n", `HTML in a document would be left out: "<NAME>"`},
		{"docs/guide/a.zh-CN.md", "", "docs/guide/a.md: it has no twin"},
		{"docs/guide/b.zh-CN.md", "# 乙\n", "docs/guide/b.zh-CN.md: it has no twin"},
		{"docs/guide/a.md", "words\n", "docs/guide/a.md: it has no heading"},
		{openapiFile, `{"paths":{},"components":{"schemas":{}}}`, "has nothing for its heading"},
		{openapiFile, `{`, "openapi.json"},
	} {
		if err := build(c.file, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %q: %v, want %q", c.file, c.text, err, c.want)
		}
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for heading, want := range map[string]string{
		"When it runs: `lifecycle`": "when-it-runs-lifecycle", "GET /api/v1/mcp/servers/{name}": "get-apiv1mcpserversname", "小狗 2": "小狗-2", "a_b - c": "a_b---c",
	} {
		if got := slug(heading); got != want {
			t.Errorf("slug(%q) = %q, want %q", heading, got, want)
		}
	}
}
