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

// seen is how long it may take until a message of the person is shown: five times the goal.
const seen = 5 * 50 * time.Millisecond

// A message is shown at once, however slow the gateway is. If the gateway refuses it, it stays there and can be sent
// again.
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

// Two tabs with the same conversation both show its answers and messages, whichever tab they come from.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	s := tell(t, provider.Turn{Say: long + "\n\n" + long, Chunk: 4, Pace: pace}, provider.Turn{Say: "and yours"})
	s.signIn()
	other, end := chromedp.NewContext(s.tab)
	defer end()
	if err := chromedp.Do(other); err != nil { // opens the tab
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
