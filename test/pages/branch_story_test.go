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
	s := startStoryOf(t, when("哪种茶", "乌龙茶"), when("what is this", "a text with a dot"), when("", "green tea"))
	s.signIn()
	s.sendMessage("which tea?")
	s.awaitText("article.assistant", "green tea")
	s.click("article.assistant", "Regenerate")
	s.awaitText("article.assistant .acts", "2/2")
	s.click("article.assistant", "the one before")
	s.awaitText("article.assistant", "green tea")
	s.awaitText("article.assistant .acts", "1/2")
	s.click("article.user", "Edit")
	s.setField("article.user textarea", "哪种茶？")
	s.click("article.user .edit", "Send")
	s.awaitText("article.assistant", "乌龙茶")
	s.awaitText("article.user .acts", "2/2")
	s.takePicture("branches")
	s.click("article.user", "the one before")
	s.awaitText("article.assistant", "green tea")
	s.perform(chromedp.Reload())
	s.awaitText("article.assistant", "green tea")

	s.setField("[role=search] input", "龙茶")
	s.perform(chromedp.KeyEvent("\r"))
	s.awaitText("aside", "Found")
	s.awaitText("aside .sessions", "乌龙茶")
	s.setField("[role=search] input", "")
	s.eval(`window.before = location.hash`)
	s.click("article.assistant", "Fork")
	s.awaitTrue(`location.hash !== window.before && document.querySelectorAll('aside .sessions li').length === 2`)
	s.awaitText("article.assistant", "green tea")

	s.setField(".composer textarea", "half a thought")
	s.perform(chromedp.Reload())
	s.awaitTrue(`document.querySelector('.composer textarea')?.value === 'half a thought'`)
	s.click("aside", "+ New chat")
	s.awaitTrue(`document.querySelector('.composer textarea').value === ''`)

	file := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(file, []byte("a dot"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.attachFile(file)
	s.sendMessage("what is this?")
	s.awaitText("article.user", "notes.txt")
	s.awaitText("article.assistant", "a text with a dot")
	s.wantCleanPage()
}

// While an answer is written, a further message waits for its end. A person can stop the answer.
func TestQueueAndStop(t *testing.T) {
	t.Parallel()
	first, never := make(chan struct{}), make(chan struct{})
	s := startStory(t,
		provider.Turn{Say: longSentence + longSentence + longSentence, Chunk: 2, Pace: pace, Until: first},
		provider.Turn{Say: longSentence + longSentence + longSentence + longSentence, Chunk: 2, Pace: pace, Until: never})
	s.signIn()
	s.sendMessage("count")
	s.awaitText("article.assistant", "One two")
	s.awaitTrue(`document.querySelector('.composer .primary').innerText === 'Queue'`)
	s.sendMessage("and again")
	s.awaitText("article.assistant", "waiting for the answer before")
	close(first)
	s.awaitTrue(`[...document.querySelectorAll('article.assistant')].at(-1).innerText.includes('One two')`)
	s.click(".composer", "Stop")
	s.awaitText("article.assistant", "cancelled")
	s.awaitTrue(`[...document.querySelectorAll('article.assistant')].at(0).innerText.includes('twenty')`)
	s.wantCleanPage()
}

// Nothing is cut off on a telephone, in either language and theme.
func TestSmallScreen(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Say: "# A heading\n\n" + longSentence + "\n\n```\n" + longSentence + longSentence + "\n```\n\n| a | b |\n|---|---|\n| " + longSentence + " | x |"})
	s.perform(chromedp.EmulateViewport(360, 640))
	s.signIn()
	s.sendMessage("https://example.com/" + longSentence)
	s.awaitText("article.assistant", "A heading")
	for _, theme := range []string{"light", "dark"} {
		for _, language := range []string{"en", "zh"} {
			for _, choice := range []string{theme, language} {
				s.eval(`(e => { e.value = '` + choice + `'; e.dispatchEvent(new Event('change', { bubbles: true })) })([...document.querySelectorAll('header select')].find(e => e.querySelector('[value=` + choice + `]')))`)
			}
			s.awaitTrue(`document.documentElement.lang === '` + map[string]string{"en": "en", "zh": "zh-CN"}[language] + `' && document.documentElement.dataset.theme === '` + theme + `'`)
			if wide := s.eval(`[...document.querySelectorAll('body, header, main, .messages, .composer, .about')].filter(e => e.scrollWidth > innerWidth).map(e => e.className + e.tagName + e.scrollWidth).join(' ')`); wide != "" {
				t.Errorf("%s, %s: wider than the screen: %v", theme, language, wide)
			}
			s.takePicture("phone-" + theme + "-" + language)
		}
	}
	s.awaitText(".composer", "发送")
	s.clickElement(`document.querySelector('header .menu')`)
	s.awaitTrue(`getComputedStyle(document.querySelector('aside')).display !== 'none'`)
	s.takePicture("phone-menu")
	s.wantCleanPage()
}
