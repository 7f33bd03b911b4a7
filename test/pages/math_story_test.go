//go:build stories && linux

package pages_test

import (
	"strings"
	"testing"

	"collie/test/fakellm/provider"
)

// Formulas are typeset, inline and as blocks, and prices stay as they are. The code that typesets them is loaded with
// the first formula.
func TestFormulas(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Say: strings.Join([]string{
		"inline $e^{i\\pi} = -1$ and \\(a_1\\), but $5 and $6 are prices", "$$\n\\int_0^1 x^2\\,dx = \\frac13\n$$", "$\\nonsense{$",
	}, "\n\n"), Chunk: 9})
	s.signIn()
	if loaded := s.eval(`performance.getEntriesByType('resource').filter(r => /katex/i.test(r.name)).length`); loaded != 0.0 {
		t.Errorf("%v files for formulas are loaded before there is one", loaded)
	}
	s.sendMessage("formulas?")
	s.awaitText("article.assistant .acts", "Regenerate")
	s.awaitTrue(`document.querySelectorAll('article.assistant .katex').length >= 3`)
	s.awaitText("article.assistant .markdown", "but $5 and $6 are prices")
	s.awaitTrue(`document.querySelector('.math.display .katex-display math')`)
	s.takePicture("formulas")
	s.wantCleanPage()
}

// Hostile formulas run no script, load nothing, and put no link or image into the page.
func TestHostileFormulas(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Say: strings.Join([]string{
		"before", `$\href{javascript:window.hacked=1}{x}$ $\includegraphics{http://evil.example/a.png}$ $\htmlStyle{position:fixed}{x}$ $\htmlId{tray-button}{x}$`,
		`$\url{http://evil.example/u}$ $<img src=x onerror=window.hacked=2>$ $\rule{9999em}{9999em}$`, `$$\def\a{\a\a}\a$$`, "$$</span><script>window.hacked=3</script>$$",
		"after",
	}, "\n\n")})
	s.signIn()
	s.sendMessage("formulas?")
	s.awaitText("article.assistant .acts", "Regenerate")
	s.awaitText("article.assistant .markdown", "after")
	s.awaitTrue(`document.querySelector('.katex')`)
	if hacked := s.eval(`window.hacked`); hacked != nil {
		t.Errorf("script %v ran", hacked)
	}
	if found := s.eval(`document.querySelectorAll('.katex :is(a, img, script, iframe, [id]), article :is(script, img, iframe)').length`); found != 0.0 {
		t.Errorf("%v elements are in the answer that should not be", found)
	}
	if wide := s.eval(`document.documentElement.scrollWidth > innerWidth || document.querySelector('article.assistant').getBoundingClientRect().height > 20000`); wide == true {
		t.Error("a formula is larger than the page")
	}
	s.wantCleanPage()
}
