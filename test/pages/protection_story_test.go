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

// countRequests is a script that counts the requests of a page to the API, by method and path, and lets a test cut
// the event stream.
const countRequests = `window.asked = {}; window.cuts = 0; (real => { window.fetch = (to, o = {}) => {
	const what = (o.method ?? 'GET') + ' ' + String(to).replace(/^\/api\/v1/, '').replace(/\?.*/, '')
	window.asked[what] = (window.asked[what] ?? 0) + 1
	window.last = performance.now()
	if (what !== 'GET /events') return real(to, o)
	const cut = new AbortController()
	o.signal?.addEventListener('abort', () => cut.abort())
	window.cut = () => { window.cuts++; cut.abort() }
	return real(to, { ...o, signal: cut.signal })
} })(window.fetch)`

// session begins a conversation through the API, as another program would.
func (s *story) session(title string) (id string) {
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
	s := tell(t, provider.Turn{Say: answer, Chunk: 5, Pace: pace / 4})
	s.do(chromedp.Navigate(s.gateway.URL + "/pages/licenses.txt"))
	s.before(countRequests)
	other := s.session("other")
	s.signIn()
	s.say("count")
	s.shows("article.assistant", "word word")
	s.until(`document.querySelectorAll('.sessions li').length === 2`)
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
	s.until(`!document.querySelector('[aria-busy=true]')`)
	s.shows(".sessions", "other 999")
	if got := s.eval(`[...document.querySelectorAll('article.assistant .markdown')].at(-1).innerText`).(string); strings.TrimSpace(got) != answer {
		t.Errorf("the answer is %d letters long, not %d", len(got), len(answer))
	}
	if asked := s.eval(`window.asked['GET /sessions']`).(float64); asked != 1 {
		t.Errorf("afterwards the list was asked for %v times", asked)
	}
	s.session("new") // a new conversation is listed at once
	s.shows(".sessions", "new")
	s.clean()
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
	s := tell(t, provider.Turn{Say: answer, Chunk: 4, Pace: pace})
	s.do(chromedp.Navigate(s.gateway.URL + "/pages/licenses.txt"))
	s.before(countRequests)
	s.signIn()
	s.eval(`window.points = []; (function again() { setTimeout(() => {
		const growing = document.querySelector('[aria-busy=true] .markdown')
		if (growing && window.cuts < 20) { window.points.push(growing.innerText.length); window.cut() }
		if (window.cuts < 20) again()
	}, 100 + Math.random() * 500) })(); 0`)
	s.say("count")
	s.until(`window.cuts === 20`)
	points := s.eval(`window.points`).([]any)
	if !s.eval(`!!document.querySelector('[aria-busy=true]')`).(bool) {
		t.Error("the answer was done before the last break")
	}
	s.until(`!document.querySelector('[aria-busy=true]') && document.querySelector('article.assistant .acts')`)
	if got := s.eval(`[...document.querySelectorAll('article.assistant .markdown')].at(-1).innerText`).(string); strings.TrimSpace(got) != answer {
		t.Errorf("after breaks at %v the answer is %s", points, got)
	}
	t.Logf("broken at %v of %d letters", points, len(answer))
	s.clean()
}

// A conversation that was shown before is there without a request, unless it has changed. Drafts, opened cards and
// the reading position are kept when the page is reloaded.
func TestWhatThePageKeeps(t *testing.T) {
	t.Parallel()
	s := tellOf(t,
		provider.Conversation{When: provider.When{Prompt: "first?"}, Turns: []provider.Turn{{Call: []provider.Call{{Tool: "fs", Args: []byte(`{"action":"ls","path":"/"}`)}}}, {Say: strings.Repeat(long+"\n\n", 30)}}},
		provider.Conversation{When: provider.When{Prompt: "second?"}, Turns: []provider.Turn{{Say: "second"}}})
	s.do(chromedp.Navigate(s.gateway.URL + "/pages/licenses.txt"))
	s.before(countRequests)
	s.signIn()
	s.say("first?")
	s.shows("article.assistant", "twenty")
	s.until(`!document.querySelector('[aria-busy=true]')`)
	first := s.eval(`location.hash`).(string)
	s.click("aside", "+ New chat")
	s.until(`!document.querySelector('article')`)
	s.say("second?")
	s.shows("article.assistant .acts", "Regenerate")
	s.shows("article.assistant", "second")

	s.until(`document.querySelectorAll('.tabs a').length === 2 && performance.now() - window.last > 500`) // no request of the previous answer is under way
	s.eval(`window.asked = {}; window.began = performance.now(); new MutationObserver((_, o) => { if (document.body.innerText.includes('first?') && document.querySelector('article.user')?.innerText.includes('first?')) { window.took = performance.now() - window.began; o.disconnect() } }).observe(document.body, { subtree: true, childList: true, characterData: true })
		location.hash = ` + "`" + first + "`" + `; 0`)
	s.until(`window.took`)
	took, requests := s.eval(`window.took`).(float64), s.eval(`Object.keys(window.asked).filter(k => k.startsWith('GET /sessions')).join()`)
	t.Logf("a conversation that was shown before is there after %.0f ms", took)
	if requests != "" || took > 5*100 {
		t.Errorf("it took %v ms (at most 500) and the requests %v", took, requests)
	}
	id := first[strings.LastIndex(first, "/")+1:]
	s.eval(`location.hash = document.querySelector('.tabs span:not(.current) a').getAttribute('href'); 0`)
	s.shows("article.assistant", "second")
	if status, raw := s.gateway.Ask(t, http.MethodPatch, "/sessions/"+id, `{"title":"renamed elsewhere"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, raw)
	}
	s.shows(".sessions", "renamed elsewhere")
	s.eval(`location.hash = ` + "`" + first + "`" + `; 0`)
	s.until(`document.querySelector('.about input')?.value === 'renamed elsewhere'`)

	s.press(`document.querySelector('article .tool summary')`)
	s.until(`document.querySelector('article .tool').open`)
	s.eval(`document.querySelector('.messages').scrollTop = 300; 0`)
	s.until(`document.querySelector('.jump')`)
	s.write(".composer textarea", "半句话")
	kept := `new Promise(done => { const r = indexedDB.open('collie', 1); r.onsuccess = () => { const g = r.result.transaction('drafts').objectStore('drafts').getAll(); g.onsuccess = () => { done(JSON.stringify(g.result)); r.result.close() } } })`
	s.eval(`window.kept = ''; setInterval(async () => window.kept = await ` + kept + `, 50); 0`)
	s.until(`window.kept.includes('"by":') && window.kept.includes('":true')`)
	s.until(`Math.abs(document.querySelector('.messages').scrollTop - 300) < 50`)
	s.do(chromedp.Reload())
	s.until(`document.querySelector('article .tool')?.open && document.querySelector('.composer textarea')?.value === '半句话'`)
	s.until(`Math.abs(document.querySelector('.messages').scrollTop - 300) < 50`)
	s.look("tabs")
	s.click(".tabs", "Close: renamed elsewhere")
	s.shows("article.assistant", "second")
	s.until(`!document.querySelector('.tabs')`)
	s.clean()
}

// A person gets with a few keys to a page, to a conversation and to the composer.
func TestKeysAndPalette(t *testing.T) {
	t.Parallel()
	s := tell(t)
	first, second := s.session("绿茶"), s.session("black")
	s.signIn()
	s.shows(".sessions", "绿茶")
	s.eval(`window.keys = (code, key, more) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { code, key, bubbles: true, cancelable: true, ...more })); 0`)
	s.eval(`keys('KeyK', 'k', { ctrlKey: true }); 0`)
	s.until(`document.activeElement?.matches('.palette input')`)
	s.page("palette")
	s.write(".palette input", "绿茶")
	s.until(`document.querySelectorAll('.palette li').length === 1`)
	s.do(chromedp.KeyEvent("\r"))
	s.until(`location.hash.endsWith('` + first + `') && !document.querySelector('dialog')`)
	s.eval(`keys('ArrowUp', 'ArrowUp', { altKey: true }); 0`)
	s.until(`location.hash.endsWith('` + second + `')`)
	s.eval(`keys('ArrowDown', 'ArrowDown', { altKey: true }); 0`)
	s.until(`location.hash.endsWith('` + first + `')`)
	s.eval(`keys('KeyK', 'k', { metaKey: true }); 0`)
	s.until(`document.activeElement?.matches('.palette input')`)
	s.write(".palette input", "doct")
	s.do(chromedp.KeyEvent("\r"))
	s.until(`location.hash === '#/doctor'`)
	s.eval(`keys('KeyN', 'n', { altKey: true }); 0`)
	s.until(`location.hash === '#/chat' && document.querySelector('.composer textarea')`)
	s.eval(`keys('KeyM', 'm', { altKey: true }); 0`)
	s.until(`document.activeElement?.matches('.composer textarea')`)
	s.eval(`keys('KeyK', 'k', { ctrlKey: true, isComposing: true }); 0`)
	if s.eval(`!!document.querySelector('dialog')`) == true {
		t.Error("a key of an input method opens the palette")
	}
	s.clean()
}
