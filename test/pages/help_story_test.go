//go:build stories && linux

package pages_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/tidwall/gjson"

	"collie/test/fakellm/provider"
)

// A person searches the guides in both languages, opens the section that was found, and follows a link from one guide
// to another.
func TestHelp(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	s.signIn()
	s.click("header nav", "Help")
	s.awaitText(".shelf", "Pages in the browser")
	s.awaitText(".shelf", "mascot")
	s.awaitText("main h1", "Where to begin")
	s.wantFitsScreens("help")
	s.setField(".shelf input", "puppy arrow keys")
	s.awaitText(".hits mark", "arrow")
	s.click(".hits", "Pages in the browser · The puppy")
	s.awaitText("main h2", "The puppy")
	s.awaitTrue(`(e => e && e.getBoundingClientRect().top < innerHeight)([...document.querySelectorAll('main h2')].find(e => e.innerText === 'The puppy'))`)
	s.setField(".shelf input", "xyzzy")
	s.awaitText(".shelf", "Nothing was found.")
	s.setField(".shelf input", "")
	s.click("main section", "agents, context entries and skills")
	s.awaitTrue(`location.hash === '#/help/guide%2Fagents'`)
	s.awaitTrue(`document.querySelector('main h1')?.innerText && !document.querySelector('main h1').innerText.includes('Pages')`)
	if out := s.eval(`[...document.querySelectorAll('main section a')].filter(a => !a.getAttribute('href')?.match(/^(https?:|#\/help(\/|$))/)).map(a => a.outerHTML).join('\n')`).(string); out != "" {
		t.Errorf("links that lead nowhere: %s", out)
	}

	s.setSelect("option[value=zh]", "zh")
	s.awaitText(".shelf h2", "指南")
	s.setField(".shelf input", "小狗 方向键")
	s.awaitText(".hits mark", "小狗")
	s.perform(chromedp.EmulateViewport(360, 800))
	if least := s.eval(`Math.min(...[...document.querySelectorAll('.hits a')].map(e => e.getBoundingClientRect().height))`).(float64); least < 44 {
		t.Errorf("a hit is %v pixels high on a phone, too small for a finger", least)
	}
	s.perform(chromedp.EmulateViewport(1200, 800))
	s.click(".hits", "浏览器中的页面")
	s.awaitText("main h2", "小狗")
	s.eval(`location.hash = '#/help/guide%2Fnowhere'; 0`)
	s.awaitText("main [role=alert]", "guide/nowhere")
	s.wantCleanPage()
}

// A question on the help page is answered by a model that gets the sections of the guides about it, and no tools.
func TestAskCollie(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Say: "Run collie open. It stands in the guide Pages in the browser."})
	s.signIn()
	s.click("header nav", "Help")
	s.awaitText(".shelf", "Pages in the browser")
	s.setField("#ask textarea", "How do I sign a browser out?")
	s.wantFitsScreens("ask")
	s.click("#ask", "Ask")
	s.awaitText("article.assistant", "Run collie open.")
	body := string(s.model.Requests()[0].Body)
	if !strings.Contains(body, "collie open --end ID") || !strings.Contains(body, "You are Collie") || gjson.Get(body, "tools").Exists() {
		t.Errorf("the model was asked %s", body)
	}
	s.setSelect("option[value=zh]", "zh")
	s.click("header nav", "帮助")
	s.setField("#ask textarea", "怎样允许删除笔记本？")
	s.click("#ask", "提问")
	s.awaitTrue(`location.hash.startsWith('#/chat/') && document.querySelector('article.assistant .acts')`)
	all := s.model.Requests()
	if body := string(all[len(all)-1].Body); !strings.Contains(body, "笔记本") || !strings.Contains(body, "“笔记本”页") {
		t.Errorf("the model was asked %s", body)
	}
	s.wantCleanPage()
}
