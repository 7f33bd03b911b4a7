//go:build stories && linux

package pages_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"collie/test/binary"
)

// The documents as a site, opened as files: a person searches in English and in Chinese, changes the language of a
// page, and reads on a narrow screen. axe finds nothing, nothing is wider than the screen, and no request leaves the
// site.
func TestSite(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "site")
	make := exec.CommandContext(t.Context(), "go", "run", "./site", "-root", "..", "-out", out, "-version", "v1.2.3")
	make.Dir = filepath.Join(binary.Root(t), "tools")
	if said, err := make.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	s := &story{T: t}
	s.browse()
	if err := chromedp.Listen(s.tab, func(event any) {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, "file://"+out+"/") {
				s.strange = append(s.strange, e.Request.URL)
			}
		case *runtime.EventExceptionThrown:
			s.strange = append(s.strange, e.ExceptionDetails.Text)
		}
	}); err != nil {
		t.Fatal(err)
	}
	open := func(page string) {
		t.Helper()
		s.do(chromedp.Navigate("file://" + out + "/" + page))
		s.until(`document.readyState === 'complete'`)
	}

	open("index.html") // leads to the English pages, because the language of the browser is English
	s.shows("h1", "Collie")
	s.until(`location.pathname.endsWith('/en/index.html')`)
	s.write("#words", "token laptop rotate")
	s.shows("#hits", "Who may come in")
	s.look("site-search-en")
	s.write("#words", "xyzzy")
	s.shows("#hits", "Nothing was found.")
	s.write("#words", "笔记") // a search on an English page finds Chinese pages
	s.shows("#hits", "你的笔记")
	s.write("#words", "")
	s.until(`document.querySelector('#hits').hidden`)

	open("en/guide/vault.html")
	s.click("header", "中文")
	s.until(`location.pathname.endsWith('/zh/guide/vault.html')`)
	s.shows("h1", "笔记库")
	s.write("#words", "笔记")
	s.shows("#hits a", "你的笔记：思源笔记就是工具")
	s.shows("#hits mark", "笔记")
	s.look("site-search-zh")
	s.write("#words", "笔记本权限")
	s.shows("#hits a", "权限：每个笔记本里可以做什么")
	s.click("#hits", "你的笔记：思源笔记就是工具 · 权限")
	s.until(`location.pathname.endsWith('/zh/guide/notes.html') && decodeURIComponent(location.hash).startsWith('#权限')`)
	s.until(`(e => e && e.getBoundingClientRect().top < innerHeight && e.getBoundingClientRect().top >= 0)([...document.querySelectorAll('h2')].find(e => e.innerText.startsWith('权限')))`)
	s.write("#words", "turnId")
	s.shows("#hits", "Accepted") // a search on a Chinese page finds pages that exist in English only
	s.click("#hits", "The API of a gateway · Accepted")
	s.until(`location.pathname.endsWith('/zh/reference/api.html')`)
	s.shows("main", "这一页只有英文。")

	for _, page := range []string{"en/index.html", "zh/guide/notes.html", "en/reference/api.html", "zh/reference/siyuan/fs.html", "en/guide/servers.html"} {
		for _, theme := range []string{"light", "dark"} {
			for _, width := range []int64{1280, 360} {
				name := fmt.Sprintf("site-%s-%s-%d", strings.TrimSuffix(strings.ReplaceAll(page, "/", "-"), ".html"), theme, width)
				s.do(chromedp.EmulateViewport(width, 800))
				open(page)
				s.until(`document.querySelector('#theme:not([hidden])')`)
				if s.eval(`document.documentElement.dataset.theme ?? ''`).(string) != theme {
					s.eval(fmt.Sprintf(`localStorage.setItem('theme', %q)`, theme))
					open(page)
				}
				if width == 360 {
					s.click("header", map[bool]string{true: "菜单", false: "Menu"}[strings.HasPrefix(page, "zh")])
					s.until(`document.querySelector('nav').offsetHeight > 100`)
					s.look(name + "-menu")
					s.click("header", map[bool]string{true: "菜单", false: "Menu"}[strings.HasPrefix(page, "zh")])
				}
				s.look(name)
				s.axe()
				s.accessible(name)
				if wide := s.eval(`document.documentElement.scrollWidth`).(float64); wide > float64(width) {
					t.Errorf("%s: %v pixels wide", name, wide)
				}
			}
		}
	}
	s.clean()
}
