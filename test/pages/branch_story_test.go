//go:build stories && linux

package pages_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"collie/test/fakellm/provider"
)

// A person uses what can be done with messages: other answers, other wordings, switching between them, a fork, a
// search, a draft and an attached file.
func TestBranches(t *testing.T) {
	t.Parallel()
	when := func(prompt, say string) provider.Conversation {
		return provider.Conversation{When: provider.When{Prompt: prompt}, Turns: []provider.Turn{{Say: say}}}
	}
	s := tellOf(t, when("哪种茶", "乌龙茶"), when("what is this", "a text with a dot"), when("", "green tea"))
	s.signIn()
	s.say("which tea?")
	s.shows("article.assistant", "green tea")
	s.click("article.assistant", "Regenerate")
	s.shows("article.assistant .acts", "2/2")
	s.click("article.assistant", "the one before")
	s.shows("article.assistant", "green tea")
	s.shows("article.assistant .acts", "1/2")
	s.click("article.user", "Edit")
	s.write("article.user textarea", "哪种茶？")
	s.click("article.user .edit", "Send")
	s.shows("article.assistant", "乌龙茶")
	s.shows("article.user .acts", "2/2")
	s.look("branches")
	s.click("article.user", "the one before")
	s.shows("article.assistant", "green tea")
	s.do(chromedp.Reload())
	s.shows("article.assistant", "green tea")

	s.write("[role=search] input", "龙茶")
	s.do(chromedp.KeyEvent("\r"))
	s.shows("aside", "Found")
	s.shows("aside .sessions", "乌龙茶")
	s.write("[role=search] input", "")
	s.eval(`window.before = location.hash`)
	s.click("article.assistant", "Fork")
	s.until(`location.hash !== window.before && document.querySelectorAll('aside .sessions li').length === 2`)
	s.shows("article.assistant", "green tea")

	s.write(".composer textarea", "half a thought")
	s.do(chromedp.Reload())
	s.until(`document.querySelector('.composer textarea')?.value === 'half a thought'`)
	s.click("aside", "+ New chat")
	s.until(`document.querySelector('.composer textarea').value === ''`)

	file := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(file, []byte("a dot"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.do(chromedp.SetUploadFiles(chromedp.CSS(".composer input[type=file]"), []string{file}))
	s.shows(".files", "notes.txt")
	s.say("what is this?")
	s.shows("article.user", "notes.txt")
	s.shows("article.assistant", "a text with a dot")
	s.clean()
}

// While an answer is written, a further message waits for its end. A person can stop the answer.
func TestQueueAndStop(t *testing.T) {
	t.Parallel()
	s := tell(t, provider.Turn{Say: long + long + long, Chunk: 2, Pace: pace}, provider.Turn{Say: long + long + long + long, Chunk: 2, Pace: pace})
	s.signIn()
	s.say("count")
	s.shows("article.assistant", "One two")
	s.until(`document.querySelector('.composer .primary').innerText === 'Queue'`)
	s.say("and again")
	s.shows("article.assistant", "waiting for the answer before")
	s.until(`[...document.querySelectorAll('article.assistant')].at(-1).innerText.includes('One two')`)
	s.click(".composer", "Stop")
	s.shows("article.assistant", "cancelled")
	s.until(`[...document.querySelectorAll('article.assistant')].at(0).innerText.includes('twenty')`)
	s.clean()
}

// Nothing is cut off on a telephone, in either language and theme.
func TestSmallScreen(t *testing.T) {
	t.Parallel()
	s := tell(t, provider.Turn{Say: "# A heading\n\n" + long + "\n\n```\n" + long + long + "\n```\n\n| a | b |\n|---|---|\n| " + long + " | x |"})
	s.do(chromedp.EmulateViewport(360, 640))
	s.signIn()
	s.say("https://example.com/" + long)
	s.shows("article.assistant", "A heading")
	for _, theme := range []string{"light", "dark"} {
		for _, language := range []string{"en", "zh"} {
			for _, choice := range []string{theme, language} {
				s.eval(`(e => { e.value = '` + choice + `'; e.dispatchEvent(new Event('change', { bubbles: true })) })([...document.querySelectorAll('header select')].find(e => e.querySelector('[value=` + choice + `]')))`)
			}
			s.until(`document.documentElement.lang === '` + map[string]string{"en": "en", "zh": "zh-CN"}[language] + `' && document.documentElement.dataset.theme === '` + theme + `'`)
			if wide := s.eval(`[...document.querySelectorAll('body, header, main, .messages, .composer, .about')].filter(e => e.scrollWidth > innerWidth).map(e => e.className + e.tagName + e.scrollWidth).join(' ')`); wide != "" {
				t.Errorf("%s, %s: wider than the screen: %v", theme, language, wide)
			}
			s.look("phone-" + theme + "-" + language)
		}
	}
	s.shows(".composer", "发送")
	s.press(`document.querySelector('header .menu')`)
	s.until(`getComputedStyle(document.querySelector('aside')).display !== 'none'`)
	s.look("phone-menu")
	s.clean()
}
