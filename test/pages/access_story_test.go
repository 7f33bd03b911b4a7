//go:build stories && linux

package pages_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/tidwall/gjson"

	"collie/test/binary"
	"collie/test/fakellm/provider"
)

// Every page, in both languages and themes, on a wide and a narrow screen, passes the checks of axe, an accessibility
// checker, and is not wider than the screen.
func TestAccess(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Say: "# 茶\n\nA [link](https://example.org), `code` and\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\nfunc main() {}\n```"})
	s.signIn()
	s.sendMessage("which tea?")
	s.awaitText("article.assistant .acts", "Regenerate")
	talk := s.eval(`location.hash`).(string)
	for _, language := range []string{"en", "zh"} {
		for _, theme := range []string{"light", "dark"} {
			s.setSelect("option[value=zh]", language)
			s.setSelect("option[value=dark]", theme)
			for _, width := range []int64{1200, 360} {
				s.perform(chromedp.EmulateViewport(width, 800))
				for _, page := range s.allPages(talk) {
					name := fmt.Sprintf("%s-%s-%s-%d", strings.Split(page, "/")[1], language, theme, width)
					s.visit(page)
					s.takePicture(name)
					s.loadAxe()
					s.wantAccessible(name)
					if wide := s.eval(`document.documentElement.scrollWidth`).(float64); wide > float64(width) {
						t.Errorf("%s: %v pixels wide", name, wide)
					}
				}
			}
		}
	}
	s.wantCleanPage()
}

// allPages returns the addresses of all pages. talk is the address of a conversation, which stands for the page of the
// chat.
func (s *story) allPages(talk string) []string {
	s.Helper()
	links := strings.Fields(s.eval(`[...document.querySelectorAll('nav a')].map(a => a.getAttribute('href')).join(' ')`).(string))
	for i, link := range links {
		if link == "#/chat" {
			links[i] = talk
		}
	}
	if len(links) == 0 {
		s.Fatal("the pages are not linked")
	}
	return links
}

// visit goes to a page and waits until it has loaded what it shows.
func (s *story) visit(page string) {
	s.Helper()
	s.eval(fmt.Sprintf(`location.hash = %q`, page))
	s.awaitTrue(fmt.Sprintf(`location.hash === %q && document.querySelector('main')?.innerText.trim() && !document.querySelector('main [role=status]')`, page))
	s.awaitTrue(`document.getAnimations().every(a => a.playState !== 'running' || a.effect.getTiming().iterations === Infinity)`)
}

// setSelect sets a select element to value. other is a selector of any option of that element.
func (s *story) setSelect(other, value string) {
	s.Helper()
	s.eval(fmt.Sprintf(`(e => { e.value = %q; e.dispatchEvent(new Event('change', { bubbles: true })) })(document.querySelector(%q).closest('select'))`, value, other))
}

// loadAxe loads the accessibility checker axe-core into the page.
func (s *story) loadAxe() {
	s.Helper()
	axe, err := os.ReadFile(filepath.Join(binary.Packages(s.T, "axe"), "axe-core", "axe.min.js"))
	if err != nil {
		s.Fatal(err)
	}
	s.eval(string(axe) + ";0")
}

// wantAccessible reports each violation that axe finds. The page must have it loaded.
func (s *story) wantAccessible(name string) {
	s.Helper()
	s.eval(`window.found = undefined; axe.run(document, { resultTypes: ['violations'] }).then(r => window.found = JSON.stringify(r.violations.map(v => ({ id: v.id, help: v.help, nodes: v.nodes.map(n => n.html + ' ' + n.failureSummary) }))), e => window.found = '[{"id":"' + e + '"}]'); 0`)
	s.awaitTrue(`window.found`)
	for _, v := range gjson.Parse(s.eval(`window.found`).(string)).Array() {
		s.Errorf("%s: %s: %s\n%s", name, v.Get("id"), v.Get("help"), strings.Join(strings.Fields(v.Get("nodes.0").String()), " "))
	}
}
