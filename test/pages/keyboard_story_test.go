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
	s := startStory(t, provider.Turn{Call: []provider.Call{{Tool: "fs", Args: move}}}, provider.Turn{Say: "it is moved"})
	s.signIn()
	s.tabTo(`e.matches('.composer textarea')`)
	s.pressKeys("rename it\r")
	s.awaitText("article .question", "/Welcome/Minutes")
	s.tabTo(`e.matches('article .question button') && e.innerText.trim() === 'Allow once'`)
	s.pressKeys("\r")
	s.awaitText("article.assistant", "it is moved")
	s.awaitFocus()

	s.tabTo(`e.matches('nav a') && e.innerText === 'Servers'`)
	s.pressKeys("\r")
	s.tabTo(`e.matches('main a') && e.innerText.startsWith('Add a server')`)
	s.pressKeys("\r")
	s.awaitText("main", "Command line")
	s.tabTo(`e.matches('.form input[autocomplete]:not([data-field])')`)
	s.pressKeys(s.programs.Fake + " --offer echo")
	s.tabTo(`e.matches('[data-field=name]')`)
	s.pressKeys("tea\r")
	s.awaitText(".preview", "To agree, type: tea")
	s.tabTo(`e.matches('[data-field=typed]')`)
	s.pressKeys("tea\r")
	s.awaitTrue(`location.hash === '#/servers/tea'`)
	s.awaitText("main", "It runs, and can be called.")
	s.awaitFocus()

	s.tabTo(`e.matches('nav a') && e.innerText === 'Notebooks'`)
	s.pressKeys("\r")
	s.tabTo(`e.matches('[data-notebook=Welcome] [type=radio]')`)
	s.pressKeys(kb.ArrowRight)
	s.tabTo(`e.matches('[data-notebook=Welcome] form input')`)
	s.pressKeys("Welcome\r")
	s.awaitTrue(`document.querySelector('[data-notebook=Welcome] [value=rwd]').checked && !document.querySelector('[data-notebook=Welcome] form')`)
	s.awaitFocus()

	s.eval(`window.before = document.activeElement; document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { code: 'KeyK', key: 'k', ctrlKey: true, bubbles: true, cancelable: true })); 0`)
	s.awaitTrue(`document.activeElement?.matches('.palette input')`)
	s.pressKeys(kb.Escape)
	s.awaitTrue(`!document.querySelector('dialog') && document.activeElement === window.before`)

	s.perform(chromedp.EmulateViewport(360, 800))
	s.tabTo(`e.matches('button.menu')`)
	s.pressKeys("\r")
	s.awaitTrue(`document.querySelector('button.menu').getAttribute('aria-expanded') === 'true'`)
	s.tabTo(`e.matches('nav a') && e.innerText === 'Audit'`)
	s.pressKeys("\r")
	s.awaitTrue(`location.hash === '#/audit' && document.querySelector('button.menu').getAttribute('aria-expanded') === 'false'`)
	s.awaitText("main", "All calls and changes")
	s.awaitFocus()
	s.wantCleanPage()
}

// pressKeys presses the keys of a text.
func (s *story) pressKeys(text string) {
	s.Helper()
	s.perform(chromedp.KeyEvent(text))
}

// tabTo presses Tab until the focus is on an element e that satisfies a condition. Each element on the way must have
// a visible outline and be on the screen.
func (s *story) tabTo(condition string) {
	s.Helper()
	await.Until(s, condition, func() bool {
		s.pressKeys(kb.Tab)
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

// awaitFocus waits until an element has the focus.
func (s *story) awaitFocus() {
	s.Helper()
	s.awaitTrue(`document.activeElement && document.activeElement !== document.body`)
}
