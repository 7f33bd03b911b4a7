//go:build stories && linux

package pages_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"collie/test/await"
	"collie/test/fakellm/provider"
)

// A person with a keyboard alone signs in, sends a message, answers a question, adds a server, allows more in a
// notebook and opens the menu of a phone. The focus is always visible, and never lost.
func TestByKeyboard(t *testing.T) {
	t.Parallel()
	move := json.RawMessage(`{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/Minutes"}`)
	s := tell(t, provider.Turn{Call: []provider.Call{{Tool: "fs", Args: move}}}, provider.Turn{Say: "it is moved"})
	s.signIn()
	s.tabTo(`e.matches('.composer textarea')`)
	s.keys("rename it\r")
	s.shows("article .question", "/Welcome/Minutes")
	s.tabTo(`e.matches('article .question button') && e.innerText.trim() === 'Allow once'`)
	s.keys("\r")
	s.shows("article.assistant", "it is moved")
	s.held()

	s.tabTo(`e.matches('nav a') && e.innerText === 'Servers'`)
	s.keys("\r")
	s.tabTo(`e.matches('main a') && e.innerText.startsWith('Add a server')`)
	s.keys("\r")
	s.shows("main", "Command line")
	s.tabTo(`e.matches('.form input[autocomplete]:not([data-field])')`)
	s.keys(s.programs.Fake + " --offer echo")
	s.tabTo(`e.matches('[data-field=name]')`)
	s.keys("tea\r")
	s.shows(".preview", "To agree, type: tea")
	s.tabTo(`e.matches('[data-field=typed]')`)
	s.keys("tea\r")
	s.until(`location.hash === '#/servers/tea'`)
	s.shows("main", "It runs, and can be called.")
	s.held()

	s.tabTo(`e.matches('nav a') && e.innerText === 'Notebooks'`)
	s.keys("\r")
	s.tabTo(`e.matches('[data-notebook=Welcome] [type=radio]')`)
	s.keys(kb.ArrowRight)
	s.tabTo(`e.matches('[data-notebook=Welcome] form input')`)
	s.keys("Welcome\r")
	s.until(`document.querySelector('[data-notebook=Welcome] [value=rwd]').checked && !document.querySelector('[data-notebook=Welcome] form')`)
	s.held()

	s.eval(`window.before = document.activeElement; document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { code: 'KeyK', key: 'k', ctrlKey: true, bubbles: true, cancelable: true })); 0`)
	s.until(`document.activeElement?.matches('.palette input')`)
	s.keys(kb.Escape)
	s.until(`!document.querySelector('dialog') && document.activeElement === window.before`)

	s.do(chromedp.EmulateViewport(360, 800))
	s.tabTo(`e.matches('button.menu')`)
	s.keys("\r")
	s.until(`document.querySelector('button.menu').getAttribute('aria-expanded') === 'true'`)
	s.tabTo(`e.matches('nav a') && e.innerText === 'Audit'`)
	s.keys("\r")
	s.until(`location.hash === '#/audit' && document.querySelector('button.menu').getAttribute('aria-expanded') === 'false'`)
	s.shows("main", "All calls and changes")
	s.held()
	s.clean()
}

// keys presses the keys of a text.
func (s *story) keys(text string) {
	s.Helper()
	s.do(chromedp.KeyEvent(text))
}

// tabTo presses Tab until the focus is on an element e that satisfies a condition. Each element on the way must have
// a visible outline and be on the screen.
func (s *story) tabTo(condition string) {
	s.Helper()
	await.Until(s, condition, func() bool {
		s.keys(kb.Tab)
		found := s.eval(`(e => {
			if (e === document.body) return ''
			const style = getComputedStyle(e), box = e.getBoundingClientRect()
			if (e.tagName !== 'MAIN' && !(style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0)) return 'no outline: ' + e.outerHTML.slice(0, 200)
			if (box.width < 1 || box.height < 1 || box.bottom < 0 || box.top > innerHeight) return 'out of sight: ' + e.outerHTML.slice(0, 200)
			return (` + condition + `) ? 'here' : ''
		})(document.activeElement)`).(string)
		if found != "" && found != "here" {
			s.Errorf("focus: %s", found)
		}
		return found == "here"
	}, func() string { return fmt.Sprint(s.eval(`document.activeElement.outerHTML.slice(0, 300)`)) })
}

// held waits until an element has the focus.
func (s *story) held() {
	s.Helper()
	s.until(`document.activeElement && document.activeElement !== document.body`)
}
