//go:build stories && linux

package pages_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"collie/test/await"
	"collie/test/fakellm/provider"
)

// pixel is a PNG of one pixel, in Base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

// The text, the picture and the choice of model of a message reach the model.
func TestSend(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Say: "a red dot"})
	s.signIn()
	data, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "红点.png")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s.setField(".pick input[list=models]", "fake/gpt-4o")
	s.attachFile(file)
	s.sendMessage("what is 这个?")
	s.awaitText("article.assistant", "a red dot")
	asked := s.model.Requests()[0]
	if body := string(asked.Body); asked.Model != "gpt-4o" || !strings.Contains(body, pixel) || !strings.Contains(body, "what is 这个?") {
		t.Errorf("the model %s was asked %s", asked.Model, body)
	}
	s.wantCleanPage()
}

// attachFile picks a file for the message.
func (s *story) attachFile(file string) {
	s.Helper()
	s.perform(chromedp.SetUploadFiles(chromedp.CSS(".composer input[type=file]"), []string{file}))
	s.awaitText(".files", filepath.Base(file))
}

// shownWithin is how long it may take until a message of the person is shown: five times the goal.
const shownWithin = 5 * 50 * time.Millisecond

// A message is shown at once, however slow the gateway is. If the gateway refuses it, it stays there and can be sent
// again.
func TestSlowAndFailingGateway(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Say: "first"}, provider.Turn{Say: "second"}, provider.Turn{Say: "third"})
	s.signIn()
	s.sendMessage("one")
	s.awaitText("article.assistant", "first")

	s.eval(`window.real = window.fetch; window.slowed = false
		window.fetch = async (...a) => {
			if (a[1]?.method === 'POST' && a[0].endsWith('/turns')) { window.slowed = true; await new Promise(go => window.letGo = go) }
			return window.real(...a)
		}; 0`)
	s.setField(".composer textarea", "two")
	s.eval(`new MutationObserver((_, o) => { if ([...document.querySelectorAll('article.user')].some(e => e.innerText.startsWith('two'))) { window.shown = performance.now(); o.disconnect() } }).observe(document.body, { subtree: true, childList: true, characterData: true })
		window.sent = performance.now(); document.querySelector('.composer').requestSubmit(); 0`)
	s.awaitTrue(`window.slowed && window.shown`)
	took := time.Duration(s.eval(`window.shown - window.sent`).(float64) * float64(time.Millisecond))
	t.Logf("the message is shown after %s", took.Round(time.Microsecond))
	if took > shownWithin {
		t.Errorf("the message is shown after %s, at most %s", took, shownWithin)
	}
	s.eval(`window.letGo(); 0`)
	s.awaitText("article.assistant", "second")
	s.awaitTrue(`[...document.querySelectorAll('article.user')].filter(e => e.innerText.startsWith('two')).length === 1`)

	s.eval(`window.fetch = async (...a) => a[1]?.method === 'POST' && a[0].endsWith('/turns')
		? new Response('{"error":{"type":"internal_error","message":"the disk is full","hint":"make room"}}', { status: 500 }) : window.real(...a); 0`)
	s.sendMessage("three")
	s.awaitText("article.user", "Not sent: the disk is full – make room")
	s.awaitText("article.user", "three")
	s.eval(`window.fetch = window.real; 0`)
	s.click("article.user", "Try again")
	s.awaitText("article.assistant", "third")
	await.Until(t, "the model was asked three times", func() bool { return len(s.model.Requests()) == 3 })
	s.wantCleanPage()
}

// Two tabs with the same conversation both show its answers and messages, whichever tab they come from.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	rest := make(chan struct{})
	s := startStory(t, provider.Turn{Say: longSentence + "\n\n" + longSentence, Chunk: 4, Pace: pace, Until: rest}, provider.Turn{Say: "and yours"})
	s.signIn()
	other, end := chromedp.NewContext(s.tab)
	defer end()
	if err := chromedp.Do(other); err != nil { // opens the tab
		t.Fatal(err)
	}
	first := s.tab
	s.sendMessage("count")
	s.awaitTrue(`location.hash.length > 8`)
	at := s.eval(`location.href`).(string)
	s.tab = other
	s.perform(chromedp.Navigate(at))
	s.awaitText("article.assistant", "One two")
	close(rest)
	s.awaitTrue(textOf("article.assistant") + `.split('twenty').length === 3`)
	s.awaitText("article.assistant .acts", "Regenerate")
	s.sendMessage("mine")
	s.awaitText("article.assistant", "and yours")
	s.tab = first
	s.awaitText("article.user", "mine")
	s.awaitText("article.assistant", "and yours")
	s.awaitTrue(textOf("article.assistant") + `.split('twenty').length === 3`)
	s.wantCleanPage()
}
