//go:build stories && linux

package pages_test

import (
	"testing"
)

// A person searches the guides in both languages, comes to the section that was found, and follows a link from one guide to another.
func TestHelp(t *testing.T) {
	t.Parallel()
	s := tell(t)
	s.signIn()
	s.click("header nav", "Help")
	s.shows(".shelf", "Pages in the browser")
	s.shows(".shelf", "mascot")
	s.page("help")
	s.write(".shelf input", "puppy arrow keys")
	s.shows(".hits mark", "arrow")
	s.click(".hits", "Pages in the browser · The puppy")
	s.shows("main h2", "The puppy")
	s.until(`(e => e && e.getBoundingClientRect().top < innerHeight / 2)([...document.querySelectorAll('main h2')].find(e => e.innerText === 'The puppy'))`)
	s.write(".shelf input", "xyzzy")
	s.shows(".shelf", "Nothing was found.")
	s.write(".shelf input", "")
	s.click("main section", "agents, context entries and skills")
	s.until(`location.hash === '#/help/guide%2Fagents'`)
	s.until(`document.querySelector('main h1')?.innerText && !document.querySelector('main h1').innerText.includes('Pages')`)
	if out := s.eval(`[...document.querySelectorAll('main section a')].filter(a => !a.getAttribute('href')?.match(/^(https?:|#\/help\/)/)).map(a => a.outerHTML).join('\n')`).(string); out != "" {
		t.Errorf("links that lead nowhere: %s", out)
	}

	s.choose("option[value=zh]", "zh")
	s.shows(".shelf h2", "指南")
	s.write(".shelf input", "小狗 方向键")
	s.shows(".hits mark", "小狗")
	s.click(".hits", "浏览器中的页面")
	s.shows("main h2", "小狗")
	s.eval(`location.hash = '#/help/guide%2Fnowhere'; 0`)
	s.shows("main [role=alert]", "guide/nowhere")
	s.clean()
}
