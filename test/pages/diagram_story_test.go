//go:build stories && linux

package pages_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"collie/test/fakellm/provider"
)

// A diagram is drawn in a frame without the origin of the page, in the theme of the page, and its code can be shown.
// What is not a valid diagram stays a listing.
func TestDiagrams(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Say: "so:\n\n```mermaid\ngraph LR\n  A[茶] --> B{four minutes?}\n  B -->|yes| C[drink]\n```\n\nand\n\n```mermaid\nnonsense here\n```\n\nafter", Chunk: 9, Pace: pace / 10})
	s.signIn()
	s.sendMessage("draw it")
	s.awaitText("article.assistant .acts", "Regenerate")
	s.awaitTrue(`parseInt(document.querySelector('.diagram:not(.waiting) iframe')?.style.height) > 40`)
	s.awaitText("article.assistant", "This cannot be drawn as a diagram:")
	s.awaitText("article.assistant figure.code", "nonsense here")
	if reached := s.eval(`(f => { try { return f.contentDocument?.body ? 'its document' : '' } catch { return '' } })(document.querySelector('.diagram iframe'))`); reached != "" {
		t.Errorf("the page reaches %v: the frame has its origin", reached)
	}
	s.wantFitsScreens("diagram")
	s.setSelect("option[value=dark]", "dark")
	s.wantFitsScreens("diagram-dark")
	s.click("article.assistant", "Code")
	s.awaitText("article.assistant figure.code", "four minutes?")
	s.awaitTrue(`document.querySelector('.diagram.waiting')`)
	s.wantCleanPage()
}

// A diagram runs no script in the page and loads nothing, whatever its kind, and its links lead nowhere.
func TestHostileDiagrams(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	evil := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	t.Cleanup(evil.Close)
	diagrams := []string{
		`graph LR
  A["<img src=EVIL/a onerror=parent.hacked=1>"] --> B["<script>parent.hacked=2</script>"]
  click A href "javascript:parent.hacked=3"
  click B href "EVIL/click" _top
  style A fill:#f00,background-image:url('EVIL/style')`,
		`graph LR
  A@{ img: "EVIL/picture.png", label: "x", w: 60, h: 60 }
  A --> B`,
		"%%{init: {\"securityLevel\": \"loose\", \"themeCSS\": \"@import url(EVIL/theme.css); * { background: url(EVIL/css) }\", \"theme\": \"base\"}}%%\ngraph LR\n  A[\"<iframe srcdoc='<script>top.hacked=4</script>'></iframe>\"] --> B\n  click A call parent.eval(\"hacked=5\")",
		"sequenceDiagram\n  participant A as <svg onload=parent.hacked=6>\n  A->>B: <a href='javascript:parent.hacked=7'>$$x$$</a>\n  link A: go @ EVIL/link",
		"---\nconfig:\n  fontFamily: \"x;} * { background: url(EVIL/font) } \"\n---\ngraph TD\n  X[\"<style>*{background:url(EVIL/label)}</style>x\"] --> Y",
	}
	var say strings.Builder
	for _, one := range diagrams {
		say.WriteString("```mermaid\n" + strings.ReplaceAll(one, "EVIL", evil.URL) + "\n```\n\n")
	}
	s := startStory(t, provider.Turn{Say: say.String() + "after"})
	s.mu.Lock()
	s.moreHosts = append(s.moreHosts, strings.TrimPrefix(evil.URL, "http://")) // the browser reports requests that the security policy stops, too; hits counts those that are sent
	s.mu.Unlock()
	s.perform(chromedp.EmulateViewport(1200, 5000)) // a high window, because diagrams out of sight are not drawn
	s.signIn()
	s.sendMessage("draw it")
	s.awaitText("article.assistant .acts", "Regenerate")
	s.awaitTrue(`document.querySelectorAll('.diagram').length === 5 && [...document.querySelectorAll('.diagram')].every(d => !d.matches('.waiting') || document.body.innerText.includes('This cannot be drawn'))`)
	s.awaitTrue(`[...document.querySelectorAll('.diagram:not(.waiting)')].length >= 3`)
	before := s.eval(`location.href`)
	s.takePicture("hostile-diagrams")
	for _, at := range s.eval(`[...document.querySelectorAll('.diagram:not(.waiting)')].map(d => d.getBoundingClientRect()).flatMap(r => [0.3, 0.5, 0.7].map(x => [r.left + r.width * x, r.top + r.height / 2]))`).([]any) {
		s.perform(chromedp.MouseClickXY(at.([]any)[0].(float64), at.([]any)[1].(float64)))
	}
	if hacked, now := s.eval(`window.hacked`), s.eval(`location.href`); hacked != nil || now != before {
		t.Errorf("script %v ran, and the page is %v", hacked, now)
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests reached another host", n)
	}
	s.wantCleanPage()
}
