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

// pixel is a PNG of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

// What a person puts together for a model reaches it: the text, a picture, another model than the usual one.
func TestSend(t *testing.T) {
	t.Parallel()
	s := tell(t, provider.Turn{Say: "a red dot"})
	s.signIn()
	data, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "红点.png")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s.write(".pick input[list=models]", "fake/gpt-4o")
	s.do(chromedp.SetUploadFiles(chromedp.CSS(".composer input[type=file]"), []string{file}))
	s.shows(".files", "红点.png")
	s.say("what is 这个?")
	s.shows("article.assistant", "a red dot")
	asked := s.model.Requests()[0]
	if body := string(asked.Body); asked.Model != "gpt-4o" || !strings.Contains(body, pixel) || !strings.Contains(body, "what is 这个?") {
		t.Errorf("the model %s was asked %s", asked.Model, body)
	}
	s.clean()
}

// seen is the most that a person may wait for a message of theirs to stand in the conversation, five times what is aimed at.
const seen = 5 * 50 * time.Millisecond

// A message stands in the conversation at once, however slow the gateway is, and stays there to be sent again where it was refused.
func TestSlowAndFailingGateway(t *testing.T) {
	t.Parallel()
	s := tell(t, provider.Turn{Say: "first"}, provider.Turn{Say: "second"}, provider.Turn{Say: "third"})
	s.signIn()
	s.say("one")
	s.shows("article.assistant", "first")

	s.eval(`window.real = window.fetch; window.slowed = false
		window.fetch = async (...a) => {
			if (a[1]?.method === 'POST' && a[0].endsWith('/turns')) { window.slowed = true; await new Promise(go => window.letGo = go) }
			return window.real(...a)
		}; 0`)
	s.write(".composer textarea", "two")
	s.eval(`new MutationObserver((_, o) => { if ([...document.querySelectorAll('article.user')].some(e => e.innerText.startsWith('two'))) { window.shown = performance.now(); o.disconnect() } }).observe(document.body, { subtree: true, childList: true, characterData: true })
		window.sent = performance.now(); document.querySelector('.composer').requestSubmit(); 0`)
	s.until(`window.slowed && window.shown`)
	took := time.Duration(s.eval(`window.shown - window.sent`).(float64) * float64(time.Millisecond))
	t.Logf("the message is shown after %s", took.Round(time.Microsecond))
	if took > seen {
		t.Errorf("the message is shown after %s, at most %s", took, seen)
	}
	s.eval(`window.letGo(); 0`)
	s.shows("article.assistant", "second")
	s.until(`[...document.querySelectorAll('article.user')].filter(e => e.innerText.startsWith('two')).length === 1`)

	s.eval(`window.fetch = async (...a) => a[1]?.method === 'POST' && a[0].endsWith('/turns')
		? new Response('{"error":{"type":"internal_error","message":"the disk is full","hint":"make room"}}', { status: 500 }) : window.real(...a); 0`)
	s.say("three")
	s.shows("article.user", "Not sent: the disk is full – make room")
	s.shows("article.user", "three")
	s.eval(`window.fetch = window.real; 0`)
	s.click("article.user", "Try again")
	s.shows("article.assistant", "third")
	await.Until(t, "the model was asked three times", func() bool { return len(s.model.Requests()) == 3 })
	s.clean()
}

// What one tab does the others see, and what is written there as well.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	s := tell(t, provider.Turn{Say: long + "\n\n" + long, Chunk: 4, Pace: pace}, provider.Turn{Say: "and yours"})
	s.signIn()
	other, end := chromedp.NewContext(s.tab)
	defer end()
	if err := chromedp.Do(other); err != nil { // which opens it
		t.Fatal(err)
	}
	first := s.tab
	s.say("count")
	s.until(`location.hash.length > 8`)
	at := s.eval(`location.href`).(string)
	s.tab = other
	s.do(chromedp.Navigate(at))
	s.shows("article.assistant", "One two")
	s.until(text("article.assistant") + `.split('twenty').length === 3`)
	s.shows("article.assistant .acts", "Regenerate")
	s.say("mine")
	s.shows("article.assistant", "and yours")
	s.tab = first
	s.shows("article.user", "mine")
	s.shows("article.assistant", "and yours")
	s.until(text("article.assistant") + `.split('twenty').length === 3`)
	s.clean()
}
