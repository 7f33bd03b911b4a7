//go:build stories && linux

package pages_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/tidwall/gjson"

	"collie/test/fakellm/provider"
)

// requestCounterScript is a script that counts the requests of a page to the API, by method and path, and lets a test cut
// the event stream.
const requestCounterScript = `window.asked = {}; window.cuts = 0; (real => { window.fetch = (to, o = {}) => {
	const what = (o.method ?? 'GET') + ' ' + String(to).replace(/^\/api\/v1/, '').replace(/\?.*/, '')
	window.asked[what] = (window.asked[what] ?? 0) + 1
	window.last = performance.now()
	if (what !== 'GET /events') return real(to, o)
	const cut = new AbortController()
	o.signal?.addEventListener('abort', () => cut.abort())
	window.cut = () => { window.cuts++; cut.abort() }
	return real(to, { ...o, signal: cut.signal })
} })(window.fetch)`

// beginSession begins a conversation through the API, as another program would.
func (s *story) beginSession(title string) (id string) {
	s.Helper()
	status, raw := s.gateway.Ask(s.T, http.MethodPost, "/sessions", fmt.Sprintf(`{"title":%q}`, title))
	if status != http.StatusCreated {
		s.Fatalf("a conversation: %d %s", status, raw)
	}
	return gjson.GetBytes(raw, "id").String()
}

// While an answer is written, a thousand changes to another conversation neither move the list nor lose text. When
// the answer is done, the list is requested once.
func TestSessionProtection(t *testing.T) {
	t.Parallel()
	answer := strings.Repeat("word ", 3000) + "end!"
	rest := make(chan struct{})
	s := startStory(t, provider.Turn{Say: answer, Chunk: 5, Pace: pace / 4, Until: rest})
	s.perform(chromedp.Navigate(s.gateway.URL + "/pages/licenses.txt"))
	s.runBeforePages(requestCounterScript)
	other := s.beginSession("other")
	s.signIn()
	s.sendMessage("count")
	s.awaitText("article.assistant", "word word")
	s.awaitTrue(`document.querySelectorAll('.sessions li').length === 2`)
	s.eval(`window.list = document.querySelector('.sessions').innerText; window.asked = {}; window.moved = 0
		new MutationObserver(() => window.moved++).observe(document.querySelector('.sessions'), { subtree: true, childList: true, characterData: true }); 0`)
	for i := range 1000 {
		if status, raw := s.gateway.Ask(t, http.MethodPatch, "/sessions/"+other, fmt.Sprintf(`{"title":"other %d"}`, i)); status != http.StatusOK {
			t.Fatalf("change %d: %d %s", i, status, raw)
		}
	}
	busy := s.eval(`!!document.querySelector('[aria-busy=true]')`).(bool)
	asked, moved := s.eval(`window.asked['GET /sessions'] ?? 0`), s.eval(`window.moved`)
	if !busy {
		t.Error("the answer was done before the changes were: nothing was tried")
	}
	if asked != 0.0 || moved != 0.0 {
		t.Errorf("while an answer is written the list was asked for %v times and changed %v times", asked, moved)
	}
	close(rest)
	s.awaitTrue(`!document.querySelector('[aria-busy=true]')`)
	s.awaitText(".sessions", "other 999")
	if got := s.eval(`[...document.querySelectorAll('article.assistant .markdown')].at(-1).innerText`).(string); strings.TrimSpace(got) != answer {
		t.Errorf("the answer is %d letters long, not %d", len(got), len(answer))
	}
	if asked := s.eval(`window.asked['GET /sessions']`).(float64); asked != 1 {
		t.Errorf("afterwards the list was asked for %v times", asked)
	}
	s.beginSession("new") // a new conversation is listed at once
	s.awaitText(".sessions", "new")
	s.wantCleanPage()
}

// The event stream breaks twenty times while an answer is written. At the end the page shows exactly the answer, with
// no gap and nothing twice.
func TestTwentyBreaks(t *testing.T) {
	t.Parallel()
	var say strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&say, "w%d ", i)
	}
	answer := strings.TrimSpace(say.String())
	rest := make(chan struct{})
	s := startStory(t, provider.Turn{Say: answer, Chunk: 4, Pace: pace, Until: rest})
	s.perform(chromedp.Navigate(s.gateway.URL + "/pages/licenses.txt"))
	s.runBeforePages(requestCounterScript)
	s.signIn()
	s.eval(`window.points = []; (function again() { setTimeout(() => {
		const growing = document.querySelector('[aria-busy=true] .markdown')
		if (growing && window.cuts < 20) { window.points.push(growing.innerText.length); window.cut() }
		if (window.cuts < 20) again()
	}, 100 + Math.random() * 500) })(); 0`)
	s.sendMessage("count")
	s.awaitTrue(`window.cuts === 20`)
	points := s.eval(`window.points`).([]any)
	if !s.eval(`!!document.querySelector('[aria-busy=true]')`).(bool) {
		t.Error("the answer was done before the last break")
	}
	close(rest)
	s.awaitTrue(`!document.querySelector('[aria-busy=true]') && document.querySelector('article.assistant .acts')`)
	if got := s.eval(`[...document.querySelectorAll('article.assistant .markdown')].at(-1).innerText`).(string); strings.TrimSpace(got) != answer {
		t.Errorf("after breaks at %v the answer is %s", points, got)
	}
	t.Logf("broken at %v of %d letters", points, len(answer))
	s.wantCleanPage()
}

// A conversation that was shown before is there without a request, unless it has changed. Drafts, opened cards and
// the reading position are kept when the page is reloaded.
func TestWhatThePageKeeps(t *testing.T) {
	t.Parallel()
	s := startStoryOf(t,
		provider.Conversation{When: provider.When{Prompt: "first?"}, Turns: []provider.Turn{{Call: []provider.Call{{Tool: "fs", Args: []byte(`{"action":"ls","path":"/"}`)}}}, {Say: strings.Repeat(longSentence+"\n\n", 30)}}},
		provider.Conversation{When: provider.When{Prompt: "second?"}, Turns: []provider.Turn{{Say: "second"}}})
	s.perform(chromedp.Navigate(s.gateway.URL + "/pages/licenses.txt"))
	s.runBeforePages(requestCounterScript)
	s.signIn()
	s.sendMessage("first?")
	s.awaitText("article.assistant", "twenty")
	s.awaitTrue(`!document.querySelector('[aria-busy=true]')`)
	first := s.eval(`location.hash`).(string)
	s.click("aside", "+ New chat")
	s.awaitTrue(`!document.querySelector('article')`)
	s.sendMessage("second?")
	s.awaitText("article.assistant .acts", "Regenerate")
	s.awaitText("article.assistant", "second")

	s.awaitTrue(`document.querySelectorAll('.tabs a').length === 2 && performance.now() - window.last > 500`) // no request of the previous answer is under way
	s.eval(`window.asked = {}; window.began = performance.now(); new MutationObserver((_, o) => { if (document.body.innerText.includes('first?') && document.querySelector('article.user')?.innerText.includes('first?')) { window.took = performance.now() - window.began; o.disconnect() } }).observe(document.body, { subtree: true, childList: true, characterData: true })
		location.hash = ` + "`" + first + "`" + `; 0`)
	s.awaitTrue(`window.took`)
	took, requests := s.eval(`window.took`).(float64), s.eval(`Object.keys(window.asked).filter(k => k.startsWith('GET /sessions')).join()`)
	t.Logf("a conversation that was shown before is there after %.0f ms", took)
	if requests != "" || took > 5*100 {
		t.Errorf("it took %v ms (at most 500) and the requests %v", took, requests)
	}
	id := first[strings.LastIndex(first, "/")+1:]
	s.eval(`location.hash = document.querySelector('.tabs span:not(.current) a').getAttribute('href'); 0`)
	s.awaitText("article.assistant", "second")
	if status, raw := s.gateway.Ask(t, http.MethodPatch, "/sessions/"+id, `{"title":"renamed elsewhere"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, raw)
	}
	s.awaitText(".sessions", "renamed elsewhere")
	s.eval(`location.hash = ` + "`" + first + "`" + `; 0`)
	s.awaitTrue(`document.querySelector('.about input')?.value === 'renamed elsewhere'`)

	s.clickElement(`document.querySelector('article .tool summary')`)
	s.awaitTrue(`document.querySelector('article .tool').open`)
	s.eval(`document.querySelector('.messages').scrollTop = 300; 0`)
	s.awaitTrue(`document.querySelector('.jump')`)
	s.setField(".composer textarea", "半句话")
	kept := `new Promise(done => { const r = indexedDB.open('collie', 1); r.onsuccess = () => { const g = r.result.transaction('drafts').objectStore('drafts').getAll(); g.onsuccess = () => { done(JSON.stringify(g.result)); r.result.close() } } })`
	s.eval(`window.kept = ''; setInterval(async () => window.kept = await ` + kept + `, 50); 0`)
	s.awaitTrue(`window.kept.includes('"by":') && window.kept.includes('":true')`)
	s.awaitTrue(`Math.abs(document.querySelector('.messages').scrollTop - 300) < 50`)
	s.perform(chromedp.Reload())
	s.awaitTrue(`document.querySelector('article .tool')?.open && document.querySelector('.composer textarea')?.value === '半句话'`)
	s.awaitTrue(`Math.abs(document.querySelector('.messages').scrollTop - 300) < 50`)
	s.takePicture("tabs")
	s.click(".tabs", "Close: renamed elsewhere")
	s.awaitText("article.assistant", "second")
	s.awaitTrue(`!document.querySelector('.tabs')`)
	s.wantCleanPage()
}

// A person gets with a few keys to a page, to a conversation and to the composer.
func TestKeysAndPalette(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	first, second := s.beginSession("绿茶"), s.beginSession("black")
	s.signIn()
	s.awaitText(".sessions", "绿茶")
	s.eval(`window.keys = (code, key, more) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { code, key, bubbles: true, cancelable: true, ...more })); 0`)
	s.eval(`keys('KeyK', 'k', { ctrlKey: true }); 0`)
	s.awaitTrue(`document.activeElement?.matches('.palette input')`)
	s.wantFitsScreens("palette")
	s.setField(".palette input", "绿茶")
	s.awaitTrue(`document.querySelectorAll('.palette li').length === 1`)
	s.perform(chromedp.KeyEvent("\r"))
	s.awaitTrue(`location.hash.endsWith('` + first + `') && !document.querySelector('dialog')`)
	s.eval(`keys('ArrowUp', 'ArrowUp', { altKey: true }); 0`)
	s.awaitTrue(`location.hash.endsWith('` + second + `')`)
	s.eval(`keys('ArrowDown', 'ArrowDown', { altKey: true }); 0`)
	s.awaitTrue(`location.hash.endsWith('` + first + `')`)
	s.eval(`keys('KeyK', 'k', { metaKey: true }); 0`)
	s.awaitTrue(`document.activeElement?.matches('.palette input')`)
	s.setField(".palette input", "doct")
	s.perform(chromedp.KeyEvent("\r"))
	s.awaitTrue(`location.hash === '#/doctor'`)
	s.eval(`keys('KeyN', 'n', { altKey: true }); 0`)
	s.awaitTrue(`location.hash === '#/chat' && document.querySelector('.composer textarea')`)
	s.eval(`keys('KeyM', 'm', { altKey: true }); 0`)
	s.awaitTrue(`document.activeElement?.matches('.composer textarea')`)
	s.eval(`keys('KeyK', 'k', { ctrlKey: true, isComposing: true }); 0`)
	if s.eval(`!!document.querySelector('dialog')`) == true {
		t.Error("a key of an input method opens the palette")
	}
	s.wantCleanPage()
}
