//go:build stories && linux

package pages_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/tidwall/gjson"

	"collie/test/fakellm/provider"
	"collie/test/terminal"
)

const terminate = syscall.SIGTERM

// longSentence is a sentence for answers that take a while.
const longSentence = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty."

// A person signs in with a link, sees an answer grow, and finds everything again after the page was reloaded and the
// gateway restarted.
func TestSignInAndTalk(t *testing.T) {
	t.Parallel()
	rest := make(chan struct{})
	s := startStory(t,
		provider.Turn{Say: "# 茶\n\n乌龙 **at** four\n\n| a | b |\n|---|---|\n| 1 | 2 |"},
		provider.Turn{Say: strings.Repeat(longSentence+"\n\n", 4), Chunk: 4, Pace: pace, Until: rest},
		provider.Turn{Say: "welcome back"},
	)
	s.perform(chromedp.Navigate(s.gateway.URL + "/pages/"))
	s.awaitText("main", "collie open")
	s.signIn()
	if at := s.eval(`location.href`); strings.Contains(at.(string), "link") {
		t.Errorf("the link stays in the address: %s", at)
	}
	s.sendMessage("你好")
	s.awaitText("article.assistant h1", "茶")
	s.awaitTrue(`document.querySelector('article.assistant td')`)
	s.sendMessage("count")
	s.awaitText("article.assistant", "One two three four")
	if whole := s.eval(textOf("article.assistant")).(string); strings.Count(whole, "twenty") == 4 {
		t.Error("the answer came all at once")
	}
	s.perform(chromedp.Reload())
	s.awaitText("article.assistant", "One two three four")
	close(rest)
	s.awaitTrue(textOf("article.assistant") + `.split('twenty').length === 5`)
	s.awaitTrue(`!document.querySelector('[aria-busy=true]')`)
	want := strings.TrimSpace(strings.Repeat(longSentence+"\n\n", 4))
	if got := s.eval(`[...document.querySelectorAll('article.assistant .markdown')].at(-1).innerText`).(string); strings.TrimSpace(got) != want {
		t.Errorf("after the page was loaded anew in mid-stream the answer is %q", got)
	}
	s.awaitTrue(`!document.querySelector('.sessions .dot') && document.querySelector('.composer .primary').innerText === 'Send'`)
	s.restartGateway()
	s.awaitTrue(`!document.querySelector('.bar')`)
	s.sendMessage("still there?")
	s.awaitText("article.assistant", "welcome back")
	s.click("header", "Sign out")
	s.awaitText("main", "This browser is not signed in")
	s.wantCleanPage()
}

// A person who is not looking at the page gets a notification of the browser for a question, without the arguments of
// the call. A click on it leads to the question.
func TestNoticeOfQuestions(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Call: []provider.Call{{Tool: "fs", Args: json.RawMessage(`{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/Minutes"}`)}}}, provider.Turn{Say: "it is not"})
	s.perform(chromedp.Navigate(s.gateway.URL + "/pages/licenses.txt"))
	s.runBeforePages(`window.told = []; window.Notification = class {
		static permission = 'default'
		static async requestPermission() { return Notification.permission = 'granted' }
		constructor(title, more) { told.push(title + ': ' + more.body); window.notice = this }
		close() {}
	}`)
	s.signIn()
	s.clickElement(`document.querySelector('header .own input[type=checkbox]')`)
	s.awaitTrue(`localStorage.getItem('collie.notices') === 'on'`)
	s.eval(`Object.defineProperty(document, 'hidden', { value: true }); 0`)
	s.sendMessage("rename it")
	s.awaitText("article .question", "/Welcome/Minutes")
	s.awaitTrue(`told.length > 0`)
	if told := s.eval(`told.join()`); told != "Collie waits for your answer: fs mv" {
		t.Errorf("the notice says %q", told)
	}
	s.eval(`notice.onclick(); 0`)
	s.click(".tray", "Refuse")
	s.awaitText("article.assistant", "it is not")
	s.wantCleanPage()
}

// A call that needs a person is asked about in its conversation. The questions of other programs are in the tray, and
// may be answered at a terminal first.
func TestQuestionsInThePage(t *testing.T) {
	t.Parallel()
	move := json.RawMessage(`{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/Minutes"}`)
	again := `{"name":"fs/mv","args":{"from":"/Welcome/Minutes","to":"/Welcome/Writing"}}`
	back := json.RawMessage(`{"action":"mv","from":"/Welcome/Minutes","to":"/Welcome/Writing"}`)
	s := startStory(t,
		provider.Turn{Call: []provider.Call{{Tool: "fs", Args: move}}}, provider.Turn{Say: "it is moved"},
		provider.Turn{Call: []provider.Call{{Tool: "fs", Args: back}}}, provider.Turn{Say: "it is not"},
	)
	s.signIn()
	s.sendMessage("rename it")
	s.awaitText("article .question", "/Welcome/Minutes")
	s.click("article .question", "Allow once")
	s.awaitText("article.assistant", "it is moved")
	s.awaitTrue(`!document.querySelector('.question')`)
	s.sendMessage("and back")
	s.awaitText("article .question", "/Welcome/Writing")
	s.click("article .question", "Refuse")
	s.awaitText("article.assistant", "it is not")

	token, _, _ := s.gateway.Keys(t)
	b := &browser{T: t, gateway: s.gateway}
	asks := func() (code string) {
		t.Helper()
		_, answer := b.send(http.MethodPost, "/api/v1/calls", again, "Authorization", "Bearer "+token, "Collie-Browser-Key", "")
		code = gjson.Get(answer, "error.confirmationCode").String()
		if code == "" {
			t.Fatalf("the call does not wait: %s", answer)
		}
		return code
	}
	code := asks()
	s.awaitText("#tray-button", "1")
	s.click("header", "Questions")
	s.awaitText(".tray .question", "/Welcome/Writing")
	at := terminal.Run(t, terminal.Size{Columns: 100, Rows: 30}, s.programs.Collie, "confirm", code, "--home", s.gateway.Home, "--config", s.settings)
	at.WaitFor("[y/N]")
	at.Type("n\r")
	at.WaitForExit(5)
	s.awaitText(".tray", "Nothing waits for you")
	again = strings.Replace(again, "Writing", "Other", 1) // another call, because the refusal of the first one is remembered
	asks()
	s.awaitText("#tray-button", "1")
	s.click(".tray .question", "Allow once")
	s.awaitText("#tray-button", "0")
	if _, answer := b.send(http.MethodPost, "/api/v1/calls", again, "Authorization", "Bearer "+token, "Collie-Browser-Key", ""); gjson.Get(answer, "isError").Bool() || !gjson.Get(answer, "result").Exists() {
		t.Errorf("the call after a yes: %s", answer)
	}
	s.wantCleanPage()
}

// Texts of models and tools never run or load anything, and do not look like a part of the page.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	hostile := strings.Join([]string{
		"before", `<script>window.hacked=1</script>`, `<img src="http://evil.example/a" onerror="window.hacked=2">`, `<svg onload="window.hacked=3"><a href="javascript:1">x</a></svg>`,
		`<iframe srcdoc="<script>parent.hacked=4</script>"></iframe>`, `<style>body{display:none}</style>`, `<form action="http://evil.example"><button>Allow once</button></form>`,
		`![pixel](http://evil.example/pixel.png)`, `[run](javascript:window.hacked=5)`, `[data](data:text/html,<script>1</script>)`, `[fine](https://example.com/ "title")`,
		`[ref]: http://evil.example/ref`, `<http://evil.example/auto>`, "`<img src=x onerror=window.hacked=6>`", "```html\n<script>window.hacked=7</script>\n```",
		`<div class="question" id="tray-button" style="position:fixed;inset:0">x</div>`, `<math><mtext><mglyph><style><img src=x onerror=window.hacked=8>`, "pay \u202eevil\u202c and \u2067this\u2069", "```\nif admin \u202e{ // \u2066check\n```", "after",
	}, "\n\n")
	args, err := json.Marshal(map[string]string{"action": "write", "path": "/Welcome/Evil", "markdown": hostile})
	if err != nil {
		t.Fatal(err)
	}
	s := startStory(t, provider.Turn{Call: []provider.Call{{Tool: "fs", Args: args}}}, provider.Turn{Say: hostile, Chunk: 7})
	s.signIn()
	s.sendMessage(strings.ReplaceAll(hostile, "\n", " "))
	s.awaitTrue(`document.querySelector('article .tool')`)
	if s.eval(`!!document.querySelector('.question')`) == true {
		s.click("article .question", "Allow once")
	}
	s.awaitText("article.assistant .acts", "Regenerate")
	if whole := s.eval(textOf("article.assistant")).(string); !strings.Contains(whole, "\nafter\n") {
		t.Errorf("the answer is cut: %s", whole)
	}
	s.awaitTrue(`!document.querySelector('[aria-busy=true]')`)
	if hacked := s.eval(`window.hacked`); hacked != nil {
		t.Errorf("script %v ran", hacked)
	}
	if found := s.eval(`document.querySelectorAll('article :is(img, svg, iframe, script, style, form:not(.question), math, object, embed, [style], [id], [onload], [onerror])').length`); found != 0.0 {
		t.Errorf("%v elements are in messages that should not be: %s", found, s.eval(`document.querySelector('article.assistant').innerHTML`))
	}
	if turned := s.eval(`(document.body.innerText.match(/[\u202a-\u202e\u2066-\u2069]/g) ?? []).length`); turned != 0.0 {
		t.Errorf("%v characters turn the direction of what is shown", turned)
	}
	s.awaitText("article.assistant pre", `if admin \u{202e}{ // \u{2066}check`)
	links := s.eval(`[...document.querySelectorAll('article a')].map(a => a.getAttribute('href') + ' ' + a.rel + ' ' + a.target).join('\n')`).(string)
	for link := range strings.Lines(links) {
		if !strings.HasPrefix(link, "http") && !strings.HasPrefix(link, "null") || !strings.Contains(link, "noopener") {
			t.Errorf("a link: %s", link)
		}
	}
	if !strings.Contains(links, "https://example.com/") {
		t.Errorf("the good link is missing: %s", links)
	}
	s.wantCleanPage()
}
