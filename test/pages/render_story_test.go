//go:build stories && linux

package pages_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"collie/test/await"
	"collie/test/fakellm/provider"
)

// Bounds for the cost of rendering. Times are five times the goal, because the machine may be busy.
const (
	mostRows  = 80     // messages in the page at once
	longTask  = 5 * 50 // milliseconds; one task may take longer
	mostDelay = 5 * 50 // milliseconds from the gateway to the page, of 19 in 20 pieces
)

// importTalkScript is a script that imports a conversation of n messages through the API. window.imported is then its id.
const importTalkScript = `(async n => {
	const messages = []
	for (let i = 0; i < n; i++) messages.push({ id: 'm' + i, parentId: i ? 'm' + (i - 1) : 'root', role: i % 2 ? 'assistant' : 'user', status: 'complete', index: 0, of: 1,
		createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z', parts: [{ type: 'text', text: 'row ' + i + (i % 2 ? '\n\n- one\n- **two**\n\n' + 'and a sentence. '.repeat(i % 17) : '') }] })
	const answer = await fetch('/api/v1/sessions/import', { method: 'POST', headers: { 'Content-Type': 'application/json', 'Collie-Browser-Key': localStorage.getItem('collie.browser.key') },
		body: JSON.stringify({ format: 'collie.session', version: 1, session: { title: 'long', config: {} }, messages }) })
	window.imported = (await answer.json()).id || 'failed'
})`

// A conversation of 10,000 messages is as quick as a short one: few rows are in the page, its end stays in view while an
// answer grows, and that answer changes its own row alone. The test does not run beside other stories, because other
// browsers would slow it down.
//
//nolint:paralleltest // see above
func TestLongConversation(t *testing.T) {
	answer := strings.Repeat("word ", 999) + "end!."
	s := startStory(t, provider.Turn{Say: answer, Chunk: 5, Pace: pace / 20})
	s.signIn()
	s.eval(importTalkScript + `(10000); 0`)
	s.awaitTrue(`window.imported`)
	s.eval(`location.hash = '#/chat/' + window.imported; 0`)
	s.awaitText("article.assistant", "row 9999")
	s.awaitTrue(`(l => l.scrollHeight - l.scrollTop - l.clientHeight < 40)(document.querySelector('.messages'))`)

	s.eval(`window.tasks = []; new PerformanceObserver(l => window.tasks.push(...l.getEntries().map(e => e.duration))).observe({ type: 'longtask' });
		(l => { let n = 0; window.rows = 0; const step = () => { l.scrollTop -= l.scrollHeight / 120; window.rows = Math.max(window.rows, document.querySelectorAll('article').length)
			if (++n < 100) requestAnimationFrame(step); else setTimeout(() => window.scrolled = true, 300) }; requestAnimationFrame(step) })(document.querySelector('.messages')); 0`)
	s.awaitTrue(`window.scrolled`)
	rows, tasks := s.eval(`window.rows`).(float64), s.eval(`window.tasks`).([]any)
	t.Logf("scrolling 100 frames through 10,000 messages: at most %v rows, %d tasks over 50 ms %v", rows, len(tasks), tasks)
	if rows > mostRows || rows < 2 {
		t.Errorf("more than %d rows, or too few", mostRows)
	}
	tasks = slices.DeleteFunc(tasks, func(took any) bool { return took.(float64) <= longTask })
	if len(tasks) > 1 {
		t.Errorf("tasks over %d ms: %v", longTask, tasks)
	}
	s.click("main", "↓ Jump to the latest")
	s.awaitText("article.assistant", "row 9999")

	s.eval(`window.others = 0; window.pieces = []; window.seen = []; const parse = JSON.parse
		JSON.parse = (...a) => { const v = parse(...a); if (v?.type === 'text.delta') window.pieces.push([v.ts, (window.pieces.at(-1)?.[1] ?? 0) + v.data.text.length]); return v }
		new MutationObserver(all => {
			const growing = document.querySelector('[aria-busy=true]')
			if (growing) window.seen.push([Date.now(), [...growing.querySelectorAll('.markdown')].at(-1)?.textContent.trim().length ?? 0])
			for (const m of all) { const row = (m.target.closest ? m.target : m.target.parentElement)?.closest('article'); if (row && growing && window.pieces.length && row !== growing) window.others++ }
		}).observe(document.querySelector('.messages'), { subtree: true, childList: true, characterData: true, attributes: true }); 0`)
	s.sendMessage("count")
	s.awaitTrue(`document.querySelector('[aria-busy=true]')?.innerText.includes('word')`)
	s.awaitTrue(`!document.querySelector('[aria-busy=true]')`)
	if got := s.eval(`[...document.querySelectorAll('article.assistant .markdown')].at(-1).innerText`).(string); strings.TrimSpace(got) != strings.TrimSpace(answer) {
		t.Errorf("the answer is %d letters long, not %d", len(got), len(answer))
	}
	delay := s.eval(`(d => d[Math.floor(d.length * 0.95)])(window.pieces.map(([at, n]) => (window.seen.find(s => s[1] >= n - 1)?.[0] ?? Infinity) - at).filter(isFinite).sort((a, b) => a - b)) ?? -1`).(float64)
	pieces, others := s.eval(`window.pieces.length`), s.eval(`window.others`)
	t.Logf("%v pieces, 19 of 20 shown within %v ms; other rows changed %v times", pieces, delay, others)
	if delay > mostDelay || delay < 0 || others != 0.0 {
		t.Errorf("at most %d ms, and no change in other rows", mostDelay)
	}
	if !s.eval(`(l => l.scrollHeight - l.scrollTop - l.clientHeight < 40)(document.querySelector('.messages'))`).(bool) {
		t.Error("the end was not followed")
	}
	s.wantCleanPage()
}

// A listing has buttons that copy, wrap and download it.
func TestCode(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Say: "so:\n\n```go\nfunc main() { println(\"茶 <b>\") }\n```\n\nthat\n\n```\nplain\n```"})
	s.signIn()
	s.sendMessage("code?")
	s.awaitText("article.assistant .acts", "Regenerate")
	s.awaitText("figure.code figcaption", "go")
	s.eval(`navigator.clipboard.writeText = async text => { window.copied = text }; URL.createObjectURL = b => { b.text().then(x => window.kept = x); return '#' }
		HTMLAnchorElement.prototype.click = function () { window.name_ = this.download }; 0`)
	s.click("figure.code", "Copy")
	s.click("figure.code", "Wrap")
	s.click("figure.code", "Download")
	s.awaitTrue(`window.copied && window.kept`)
	want := "func main() { println(\"茶 <b>\") }"
	if got := []any{s.eval(`window.copied`), s.eval(`window.kept`), s.eval(`window.name_`)}; got[0] != want || got[1] != want || got[2] != "code.go" {
		t.Errorf("copied, kept and named %v", got)
	}
	s.awaitTrue(`document.querySelector('figure.code pre.wrap') && getComputedStyle(document.querySelector('figure.code pre')).whiteSpace === 'pre-wrap'`)
	s.wantCleanPage()
}

// The page puts an answer together from its pieces, and compares it at the end of each turn with what the gateway
// keeps. If they differ it warns in the console, which fails every story; see clean.
func TestFold(t *testing.T) {
	t.Parallel()
	first, second, third := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := startStory(t,
		provider.Turn{Say: "first I look", Call: []provider.Call{{Tool: "fs", Args: json.RawMessage(`{"action":"ls","path":"/"}`)}}},
		provider.Turn{Say: strings.Repeat("茶 **and** `cups` ", 60), Chunk: 3, Pace: pace / 10, Until: first},
		provider.Turn{Say: strings.Repeat("more ", 40), Chunk: 3, Pace: pace / 10, Until: second},
		provider.Turn{Say: strings.Repeat("other ", 40), Chunk: 3, Pace: pace / 10, Until: third},
	)
	s.signIn()
	// A page compares an answer that it has followed piece by piece, so the second half comes once it shows the first.
	folded := func(n int, half string, rest chan struct{}) {
		t.Helper()
		s.awaitText("article.assistant", half)
		close(rest)
		s.awaitTrue(fmt.Sprintf(`performance.getEntriesByName('folded').length === %d`, n))
	}
	s.sendMessage("look")
	folded(1, strings.Repeat("茶 and cups ", 25), first)
	s.sendMessage("and more")
	folded(2, strings.Repeat("more ", 18), second)
	s.awaitTrue(`performance.getEntriesByName('folded').every(e => e.detail === true)`)
	s.wantCleanPage()

	s.eval(`(real => { window.fetch = async (...a) => {
		const got = await real(...a)
		if ((a[1]?.method ?? 'GET') !== 'GET' || !/\/sessions\/[^/]+$/.test(String(a[0]))) return got
		return new Response((await got.text()).replaceAll('other other', 'other another'), { status: got.status, headers: got.headers })
	} })(window.fetch); 0`)
	s.sendMessage("and other")
	folded(3, strings.Repeat("other ", 18), third)
	s.awaitTrue(`performance.getEntriesByName('folded').at(-1).detail === false`)
	await.Until(t, "the mismatch is noticed", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.ContainsFunc(s.strange, func(one string) bool { return strings.Contains(one, "not what is kept") })
	})
}

// An answer that has ended is compared with the load of the conversation that was begun last, however many loads are
// under way and in whatever order they are answered, because an earlier load may have only half of the answer.
func TestFoldOfTheLastLoad(t *testing.T) {
	t.Parallel()
	rest := make(chan struct{})
	s := startStory(t, provider.Turn{Say: strings.Repeat("word ", 200) + "end!", Chunk: 5, Pace: pace / 4, Until: rest})
	s.signIn()
	s.sendMessage("count")
	s.awaitText("article.assistant", strings.Repeat("word ", 90))
	s.eval(`window.held = []; (real => { window.fetch = async (...a) => {
		if ((a[1]?.method ?? 'GET') === 'GET' && /\/sessions\/[^/]+$/.test(String(a[0]))) await new Promise(done => window.held.push(done))
		return real(...a)
	} })(window.fetch); 0`)
	held := func(n int) { t.Helper(); s.awaitTrue(fmt.Sprintf(`window.held.length === %d`, n)) }
	close(rest)
	held(2) // for the end of the answer, and for the change of the conversation
	s.eval(`window.held[0](); 0`)
	session := s.eval(`location.hash.split('/').at(-1)`).(string)
	if status, raw := s.gateway.Ask(t, http.MethodPatch, "/sessions/"+session, `{"title":"changed"}`); status != http.StatusOK {
		t.Fatalf("change: %d %s", status, raw)
	}
	held(3)
	s.eval(`window.held[1](); 0`)
	s.awaitTrue(`performance.getEntriesByType('resource').filter(e => /\/sessions\/[^/]+$/.test(e.name)).length >= 3`)
	s.eval(`window.held[2](); 0`)
	s.awaitTrue(`performance.getEntriesByName('folded').length === 1`)
	s.wantCleanPage()
}
