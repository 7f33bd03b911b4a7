//go:build stories && linux

package pages_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

// setOnlyServer makes g the only MCP server in the settings, and waits until it runs.
func (s *story) setOnlyServer(g gateway.Server) {
	s.Helper()
	s.setServers(g)
	s.click("header nav", "Servers")
	s.awaitText(fmt.Sprintf("[data-server=%s]", g.Name), "running")
	s.click("header nav", "Chat")
}

// A question that a server asks during a call (elicitation) is a form in the conversation and in the tray. The values
// reach the server in the types that it wants. A page that the server wants to be opened is a link. Decline answers
// no.
func TestFormsOfServers(t *testing.T) {
	t.Parallel()
	form := `{"message":"How do you take your tea?\u202e <b>now</b>","requestedSchema":{"type":"object","properties":{"name":{"type":"string","title":"Your name","minLength":2},` +
		`"cups":{"type":"integer","minimum":1,"maximum":9,"default":2},"hot":{"type":"boolean","title":"Hot","default":true},"kind":{"type":"string","enum":["green","black"],"enumNames":["绿茶","红茶"]},` +
		`"mail":{"type":"string","format":"email","description":"where to tell you"},"with":{"type":"array","items":{"type":"string","enum":["milk","sugar"]}}},"required":["name","kind"]}}`
	ask := func(params string) provider.Turn {
		return provider.Turn{Call: []provider.Call{{Tool: "ask", Args: json.RawMessage(`{"what":"elicitation","params":` + params + `}`)}}}
	}
	page := `{"mode":"url","message":"Sign in over there","url":"https://example.com/in","elicitationId":"e"}`
	s := startStory(t, ask(form), provider.Turn{Say: "it said $RESULTS"}, ask(form), provider.Turn{Say: "then: $RESULTS"}, ask(page), provider.Turn{Say: "and: $RESULTS"})
	s.signIn()
	s.setOnlyServer(gateway.Server{Name: "side", More: `"lifecycle":"eager"`})
	s.sendMessage("ask me")
	allow := func() {
		t.Helper()
		s.awaitTrue(`document.querySelector('article form.question')`)
		if s.eval(`!document.querySelector('article form.question.form')`) == true { // the gate may ask before the call
			s.click("article .question", "Allow once")
		}
		s.awaitTrue(`document.querySelector('article form.question.form')`)
	}
	allow()
	s.awaitText("article .question", `How do you take your tea?\u{202e} <b>now</b>`)
	s.wantFitsScreens("form")
	s.click("article .question", "Send to the server")
	s.awaitTrue(`document.querySelector('article .question input[name=name]:invalid')`)
	s.setField("article .question input[name=name]", "Ann 茶")
	s.eval(`(e => { e.value = 'black'; e.dispatchEvent(new Event('change', { bubbles: true })) })(document.querySelector('article .question select[name=kind]'))
		for (const one of document.querySelectorAll('article .question input[name=with]')) one.click(); 0`)
	s.click("article .question", "Send to the server")
	s.awaitText("article.assistant", "it said")
	said := s.eval(textOf("article.assistant .markdown")).(string)
	for _, want := range []string{`"action":"accept"`, `"name":"Ann 茶"`, `"cups":2`, `"hot":true`, `"kind":"black"`, `"milk","sugar"`} {
		if !strings.Contains(strings.ReplaceAll(said, " ", ""), strings.ReplaceAll(want, " ", "")) {
			t.Errorf("the server got %s without %s", said, want)
		}
	}
	if strings.Contains(said, "mail") {
		t.Errorf("a field that was left empty is in %s", said)
	}

	s.sendMessage("ask me again")
	allow()
	s.click("header", "Questions")
	s.click(".tray .question", "Decline")
	s.awaitText("article.assistant", "then:")
	s.awaitText("article.assistant", "decline")
	s.sendMessage("and where do I sign in?")
	allow()
	s.awaitTrue(`document.querySelector('article .question a')?.href === 'https://example.com/in' && document.querySelector('article .question a').rel.includes('noopener')`)
	s.click("article .question", "I have opened it")
	s.awaitText("article.assistant", "and:")
	s.wantCleanPage()
}

// A message can bring along a prompt of a server with its arguments, a resource, and a document of the notes that was
// found by a Chinese word.
func TestPromptsAndMentions(t *testing.T) {
	t.Parallel()
	s := startStory(t,
		provider.Turn{Call: []provider.Call{{Tool: "fs", Args: json.RawMessage(`{"action":"write","overwrite":true,"path":"/Welcome/Writing","markdown":"怎么泡乌龙茶：four minutes"}`)}}}, provider.Turn{Say: "written"},
		provider.Turn{Say: "hello Ada"}, provider.Turn{Say: "that is item one"}, provider.Turn{Say: "four minutes, it says"})
	s.signIn()
	s.setOnlyServer(gateway.Server{Name: "side", More: `"lifecycle":"eager"`})
	s.sendMessage("write it")
	s.awaitTrue(`document.querySelector('article .question') || [...document.querySelectorAll('article.assistant')].some(e => e.innerText.includes('written'))`)
	if s.eval(`!!document.querySelector('article .question')`) == true {
		s.click("article .question", "Allow once")
	}
	s.awaitText("article.assistant .acts", "Regenerate")
	last := func() string {
		t.Helper()
		all := s.model.Requests()
		return string(all[len(all)-1].Body)
	}

	s.setField(".composer textarea", "/side:gr")
	s.awaitText("#commands", "/side:greet")
	s.awaitText("#commands", "Greets somebody.")
	s.perform(chromedp.KeyEvent("\t"))
	s.awaitTrue(`document.activeElement?.name === 'name'`)
	s.wantFitsScreens("prompt")
	s.setField(".prompt input[name=name]", "Ada")
	s.click(".prompt", "Attach the prompt")
	s.awaitText(".files", "side_greet.md")
	s.perform(chromedp.Focus(chromedp.CSS(".composer textarea")), chromedp.KeyEvent("\r"))
	s.awaitText("article.assistant", "hello Ada")
	if body := last(); !strings.Contains(body, "Greet Ada in a plain style.") {
		t.Errorf("the model was asked %s", body)
	}

	s.setField(".composer textarea", "what is @static/hel")
	s.awaitText("#commands", "hello")
	s.perform(chromedp.KeyEvent("\r"))
	s.awaitTrue(`document.querySelector('.files li')`)
	s.awaitTrue(`document.querySelector('.composer textarea').value.includes('://static/hello')`)
	s.perform(chromedp.KeyEvent("\r"))
	s.awaitText("article.assistant", "that is item one")

	s.setField(".composer textarea", "how long, says @乌龙")
	s.awaitText("#commands", "/Welcome/Writing")
	s.takePicture("mention")
	s.perform(chromedp.KeyEvent("\r"))
	s.awaitText(".files", "Writing")
	if value := s.eval(`document.querySelector('.composer textarea').value.trim()`); value != "how long, says @/Welcome/Writing" {
		t.Errorf("the message is %q", value)
	}
	s.perform(chromedp.KeyEvent("\r"))
	s.awaitText("article.assistant", "four minutes, it says")
	if body := last(); !strings.Contains(body, "怎么泡乌龙茶：four minutes") {
		t.Errorf("the model was asked %s", body)
	}
	s.wantCleanPage()
}

// Files can be attached by pasting and by dropping them, and removed again before the message is sent.
func TestPasteAndDrop(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Say: "two texts"})
	s.signIn()
	s.eval(`window.give = (kind, name) => {
		const data = new DataTransfer()
		data.items.add(new File(['text of ' + name], name, { type: 'text/plain' }))
		const e = kind === 'paste' ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }) : new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true })
		document.querySelector('.composer textarea').dispatchEvent(e)
	}; 0`)
	s.eval(`give('paste', 'pasted.txt'); give('dragover', 'x.txt'); 0`)
	s.awaitTrue(`document.querySelector('.composer.over')`)
	s.eval(`give('drop', 'dropped.txt'); give('drop', 'not-this.txt'); 0`)
	s.awaitTrue(`document.querySelectorAll('.files li').length === 3 && !document.querySelector('.composer.over')`)
	s.click(".files", "Remove: not-this.txt")
	s.sendMessage("what is there?")
	s.awaitText("article.assistant", "two texts")
	body := string(s.model.Requests()[0].Body)
	if !strings.Contains(body, "text of pasted.txt") || !strings.Contains(body, "text of dropped.txt") || strings.Contains(body, "not-this") {
		t.Errorf("the model was asked %s", body)
	}
	s.wantCleanPage()
}

// A word that brought a context entry into a conversation is marked in the message, also after further messages.
func TestMarkedKeywords(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Say: "four minutes"}, provider.Turn{Say: "yes, still"})
	s.signIn()
	if status, raw := s.gateway.Ask(t, "PUT", "/agents/context/tea", `{"text":"---\nkeywords: [乌龙, oolong]\n---\n\nFour minutes."}`); status >= 300 {
		t.Fatalf("an entry: %d %s", status, raw)
	}
	s.sendMessage("how long do I brew 乌龙 tea?")
	s.awaitText("article.assistant", "four minutes")
	s.awaitText("article.user mark", "乌龙")
	s.awaitTrue(`document.querySelector('article.user mark').title.includes('tea')`)
	s.wantFitsScreens("marked")
	s.sendMessage("sure?")
	s.awaitText("article.assistant", "yes, still")
	s.awaitTrue(`document.querySelectorAll('article.user mark').length === 1`)
	s.perform(chromedp.Reload())
	s.awaitText("article.user mark", "乌龙")
	s.wantCleanPage()
}
