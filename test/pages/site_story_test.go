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
	s.openChromium()
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
		s.perform(chromedp.Navigate("file://" + out + "/" + page))
		s.awaitTrue(`document.readyState === 'complete'`)
	}

	open("index.html") // leads to the English pages, because the language of the browser is English
	s.awaitText("h1", "Collie")
	s.awaitTrue(`location.pathname.endsWith('/en/index.html')`)
	s.setField("#words", "token laptop rotate")
	s.awaitText("#hits", "Who may come in")
	s.takePicture("site-search-en")
	s.setField("#words", "xyzzy")
	s.awaitText("#hits", "Nothing was found.")
	s.setField("#words", "笔记") // a search on an English page finds Chinese pages
	s.awaitText("#hits", "你的笔记")
	s.setField("#words", "")
	s.awaitTrue(`document.querySelector('#hits').hidden`)

	open("en/guide/vault.html")
	s.click("header", "中文")
	s.awaitTrue(`location.pathname.endsWith('/zh/guide/vault.html')`)
	s.awaitText("h1", "笔记库")
	s.setField("#words", "笔记")
	s.awaitText("#hits a", "你的笔记：思源笔记就是工具")
	s.awaitText("#hits mark", "笔记")
	s.takePicture("site-search-zh")
	s.setField("#words", "笔记本权限")
	s.awaitText("#hits a", "权限：每个笔记本里可以做什么")
	s.click("#hits", "你的笔记：思源笔记就是工具 · 权限")
	s.awaitTrue(`location.pathname.endsWith('/zh/guide/notes.html') && decodeURIComponent(location.hash).startsWith('#权限')`)
	s.awaitTrue(`(e => e && e.getBoundingClientRect().top < innerHeight && e.getBoundingClientRect().top >= 0)([...document.querySelectorAll('h2')].find(e => e.innerText.startsWith('权限')))`)
	s.setField("#words", "turnId")
	s.awaitText("#hits", "Accepted") // a search on a Chinese page finds pages that exist in English only
	s.click("#hits", "The API of a gateway · Accepted")
	s.awaitTrue(`location.pathname.endsWith('/zh/reference/api.html')`)
	s.awaitText("main", "这一页只有英文。")

	for _, page := range []string{"en/index.html", "zh/guide/notes.html", "en/reference/api.html", "zh/reference/siyuan/fs.html", "en/guide/servers.html"} {
		for _, theme := range []string{"light", "dark"} {
			for _, width := range []int64{1280, 360} {
				name := fmt.Sprintf("site-%s-%s-%d", strings.TrimSuffix(strings.ReplaceAll(page, "/", "-"), ".html"), theme, width)
				s.perform(chromedp.EmulateViewport(width, 800))
				open(page)
				s.awaitTrue(`document.querySelector('#theme:not([hidden])')`)
				if s.eval(`document.documentElement.dataset.theme ?? ''`).(string) != theme {
					s.eval(fmt.Sprintf(`localStorage.setItem('theme', %q)`, theme))
					open(page)
				}
				if width == 360 {
					s.click("header", map[bool]string{true: "菜单", false: "Menu"}[strings.HasPrefix(page, "zh")])
					s.awaitTrue(`document.querySelector('nav').offsetHeight > 100`)
					s.takePicture(name + "-menu")
					s.click("header", map[bool]string{true: "菜单", false: "Menu"}[strings.HasPrefix(page, "zh")])
				}
				s.takePicture(name)
				s.loadAxe()
				s.wantAccessible(name)
				if wide := s.eval(`document.documentElement.scrollWidth`).(float64); wide > float64(width) {
					t.Errorf("%s: %v pixels wide", name, wide)
				}
			}
		}
	}
	s.wantCleanPage()
}
