//go:build stories && linux

package pages_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/test/await"
	"collie/test/fakellm/provider"
)

// This file tests the pages on which a person manages things: permissions, usage, models, notebooks, notes, agents
// and connections.

// A person sees and takes back a grant, and signs another browser out.
func TestPermissions(t *testing.T) {
	t.Parallel()
	move := func(from, to string) provider.Turn {
		return provider.Turn{Call: []provider.Call{{Tool: "fs", Args: json.RawMessage(fmt.Sprintf(`{"action":"mv","from":"/Welcome/%s","to":"/Welcome/%s"}`, from, to))}}}
	}
	s := tell(t, move("Writing", "Minutes"), provider.Turn{Say: "it is moved"}, move("Minutes", "Writing"), provider.Turn{Say: "it is back"}, move("Writing", "Notes"), provider.Turn{Say: "that was refused"})
	s.signIn()
	s.say("rename it")
	s.shows("article .question", "Or allow more")
	s.eval(`document.querySelector('article .question details').open = true; 0`)
	s.press(`[...document.querySelectorAll('article .question details button')].find(b => b.innerText.includes('In this conversation: '))`)
	s.shows("article.assistant", "it is moved")
	s.say("and back")
	s.shows("article.assistant", "it is back")

	s.click("header nav", "Permissions")
	s.shows("[data-grant]", "fs mv")
	s.shows("[data-grant]", "In this conversation")
	s.shows("[data-grant] dl", "Used\n2")
	s.page("permissions")
	s.click("[data-grant]", "Take back: fs mv")
	s.shows("main", "Nothing yet. When Collie asks")
	s.click("header nav", "Audit")
	s.shows("[data-record=grant]", "leave taken back")
	s.shows("[data-record=grant]", "leave given")
	s.click("header nav", "Permissions")

	s.click("main", "Make a link")
	s.until(`document.querySelector('#link')?.innerText.includes('link=')`)
	_, secret, _ := strings.Cut(s.eval(`document.querySelector('#link').innerText`).(string), "link=")
	other := signIn(t, s.gateway, secret)
	s.click("main", "Refresh")
	s.until(`document.querySelectorAll('[data-browser]').length === 2`)
	s.press(`[...document.querySelectorAll('[data-browser] button')].find(b => b.getAttribute('aria-label').includes('Go-http'))`)
	s.until(`document.querySelectorAll('[data-browser]').length === 1`)
	if status := other.status(http.MethodGet, "/api/v1/grants", ""); status != http.StatusUnauthorized {
		t.Errorf("a browser that was signed out gets status %d", status)
	}
	s.click("header nav", "Chat")
	s.eval(`location.hash = document.querySelector('.sessions a').getAttribute('href'); 0`)
	s.say("once more")
	s.shows("article .question", "Or allow more")
	s.click("article .question", "Refuse")
	s.shows("article.assistant", "that was refused")
	s.clean()
}

// The page of usage shows the tokens that answers have used, by day, agent and model.
func TestUsage(t *testing.T) {
	t.Parallel()
	s := tell(t, provider.Turn{Say: "tea", Usage: &provider.Usage{Input: 1200, Output: 34}})
	s.signIn()
	s.click("header nav", "Usage")
	s.shows("main", "No model has answered in this time.")
	s.click("header nav", "Chat")
	s.say("what?")
	s.shows("article.assistant .acts", "Regenerate")
	s.click("header nav", "Usage")
	s.until(text("main tbody") + `.includes('m · fake')`)
	s.shows("main tbody", "1,200")
	s.shows("main", "Tokens by day")
	s.until(`document.querySelectorAll('.chart rect').length === 30`)
	s.eval(`(e => { e.value = '7'; e.dispatchEvent(new Event('change', { bubbles: true })) })(document.querySelector('main select'))`)
	s.until(`document.querySelectorAll('.chart rect').length === 7`)
	s.page("usage")
	s.clean()
}

// A person tests keys, adds a provider, and is told beside the fields what is wrong with one. The fields keep what
// was typed.
func TestModels(t *testing.T) {
	t.Parallel()
	s := tell(t)
	s.signIn()
	s.click("header nav", "Models")
	s.shows("[data-key=\"fake/a\"]", "works")
	s.click("[data-key=\"fake/a\"]", "Test")
	s.shows("[data-key=\"fake/a\"]", "It works.")
	s.eval(`document.querySelector('#default-model input').dispatchEvent(new Event('focus')); 0`)
	s.until(`document.querySelector('#all-models option[value="fake/fake-1"]')`) // the models of the provider can be chosen from here on
	s.write("#default-model input", "fake/other")
	s.click("#default-model", "Save")
	s.until(`document.querySelector('#default-model input').value === 'fake/other'`)
	await.Until(t, "the settings name the model", func() bool {
		_, raw := s.gateway.Ask(t, "GET", "/settings", "")
		return strings.Contains(string(raw), `"fake/other"`)
	})
	s.click("[data-key=\"fake/a\"]", "Switch off")
	s.shows("[data-key=\"fake/a\"]", "switched off")
	s.click("[data-key=\"fake/a\"]", "Switch on")
	s.shows("[data-key=\"fake/a\"]", "works")

	s.click("main", "Add a provider")
	s.write("main form input[placeholder=openai]", "near")
	s.write("main form input[type=url]", "http://127.0.0.1:9/v1")
	s.write("main form input[type=password]", "k")
	s.eval(`(e => { e.value = 'openai'; e.dispatchEvent(new Event('change', { bubbles: true })) })(document.querySelector('main form select')); 0`)
	s.click("main form", "Save")
	s.shows("main form [role=alert]", "127.0.0.1:9")
	if kept := s.eval(`document.querySelector('main form input[type=url]').value`); kept != "http://127.0.0.1:9/v1" {
		t.Errorf("after an error the address is %q", kept)
	}
	s.page("models")

	// An unchanged list of providers is not sent again: the answer is 304.
	s.eval(`window.answers = []; (real => { window.fetch = async (...a) => { const got = await real(...a); if (String(a[0]).endsWith('/providers') && (a[1]?.method ?? 'GET') === 'GET') answers.push(got.status); return got } })(window.fetch); 0`)
	s.click("header nav", "Usage")
	s.click("header nav", "Models")
	s.until(`answers.join() === '304'`)
	s.shows("[data-provider=fake]", "fake")
	s.click("main", "Add a provider")
	s.write("main form input[placeholder=openai]", "near")
	s.write("main form input[type=url]", "http://127.0.0.1:9/v1")
	s.write("main form input[type=password]", "k")
	s.eval(`(e => { e.value = 'openai'; e.dispatchEvent(new Event('change', { bubbles: true })) })(document.querySelector('main form select')); 0`)
	s.press(`document.querySelector('main form input[type=checkbox]')`)
	s.click("main form", "Save")
	s.shows("[data-provider=near]", "main")
	s.until(`answers.includes(200)`)
	s.eval(`window.confirm = () => true; 0`)
	s.click("[data-provider=near]", "Remove: near")
	s.until(`!document.querySelector('[data-provider=near]')`)
	all := records(t, s.gateway)
	for _, name := range []string{"provider add", "provider remove"} {
		if !strings.Contains(all, `"`+name+`"`) {
			t.Errorf("%s is not on record", name)
		}
	}
	s.clean()
}

// A person allows writing in one notebook by typing its name, sees what a model changed there, and takes it back.
func TestNotebooks(t *testing.T) {
	t.Parallel()
	write := func(text string) provider.Turn {
		return provider.Turn{Call: []provider.Call{{Tool: "fs", Args: json.RawMessage(`{"action":"write","overwrite":true,"path":"/Welcome/Writing","markdown":"` + text + `"}`)}}}
	}
	s := tell(t, write("all is **new**"), provider.Turn{Say: "it is written"})
	s.signIn()
	s.click("header nav", "Notebooks")
	level := func(name string) string {
		return fmt.Sprintf(`document.querySelector('[data-notebook=Welcome] input[value=%s]')`, name)
	}
	s.until(level("rw"))
	s.press(level("none"))
	s.until(level("none") + `?.checked && !` + level("none") + `.disabled`)
	s.press(level("rw"))
	s.shows("[data-notebook=Welcome] form", "type the name of the notebook")
	s.page("notebooks")
	s.write("[data-notebook=Welcome] form input", "Welcome")
	s.click("[data-notebook=Welcome]", "Allow")
	s.until(`!document.querySelector('[data-notebook=Welcome] form') && ` + level("rw") + `.checked`)

	s.click("header nav", "Chat")
	s.say("write it anew")
	s.until(`document.querySelector('article .question') || [...document.querySelectorAll('article.assistant')].some(e => e.innerText.includes('it is written'))`)
	if s.eval(`!!document.querySelector('article .question')`) == true {
		s.click("article .question", "Allow once")
	}
	s.shows("article.assistant", "it is written")
	s.click("header nav", "Notebooks")
	s.shows("[data-write]", "fs write")
	s.shows("[data-write]", "/Welcome/Writing")
	s.click("[data-write]", "What did it change?")
	s.shows("[data-write] .difference .fresh", "+ all is **new**")
	s.until(`document.querySelector('[data-write] .difference .old')?.innerText.trim().length > 2`)
	s.page("writes")
	s.click("[data-write]", "Take it back")
	s.shows("[data-write]", "taken back")
	out, stderr, code := s.programs.RunOn(t, s.gateway.Home, strings.NewReader(""), "fs", "read", "/Welcome/Writing", "--config", s.settings)
	if code != 0 || strings.Contains(out, "all is") {
		t.Errorf("after it was taken back the document is %s %s", out, stderr)
	}
	all := records(t, s.gateway)
	for _, name := range []string{"siyuan permission set", "siyuan undo"} {
		if !strings.Contains(all, `"`+name+`"`) {
			t.Errorf("%s is not on record", name)
		}
	}
	s.clean()
}

// A person removes a note that a model added, on the page that shows the write, and takes the removal back.
func TestRemoveAnAddedNote(t *testing.T) {
	t.Parallel()
	s := tell(t, provider.Turn{Call: []provider.Call{{Tool: "fs", Args: json.RawMessage(`{"action":"write","path":"/Welcome/Tea","markdown":"Oolong at four."}`)}}}, provider.Turn{Say: "it is written"})
	s.signIn()
	s.say("note the tea")
	s.until(`document.querySelector('article .question') || [...document.querySelectorAll('article.assistant')].some(e => e.innerText.includes('it is written'))`)
	if s.eval(`!!document.querySelector('article .question')`) == true {
		s.click("article .question", "Allow once")
	}
	s.shows("article.assistant", "it is written")
	s.click("header nav", "Notes")
	s.shows(".shelf", "Tea")
	s.click(".shelf", "Tea")
	s.shows(".markdown", "Oolong at four.")
	s.click("[data-write]", "What did it change?")
	s.shows("[data-write] .difference .fresh", "+ Oolong at four.")
	s.page("added")
	s.click("[data-write]", "Remove this note")
	s.until(`![...document.querySelectorAll('.shelf a')].some(e => e.innerText === 'Tea')`)
	s.shows("main", "document remove")
	s.press(`document.querySelector('[data-write] button[aria-expanded]')`)
	s.shows("[data-write] .difference .old", "- Oolong at four.")
	s.click("[data-write]", "Take it back")
	s.until(`[...document.querySelectorAll('.shelf a')].some(e => e.innerText === 'Tea')`)

	// Blocks that were added to a note can be removed in the same way.
	s.click(".shelf", "Tea")
	s.shows(".markdown", "Oolong at four.")
	s.eval(`(async () => {
		const ask = async (path, body) => (await fetch('/api/v1' + path, { method: body ? 'POST' : 'GET', body: body && JSON.stringify(body), headers: { 'Content-Type': 'application/json', 'Collie-Browser-Key': localStorage.getItem('collie.browser.key') } })).json()
		const write = (await ask('/notes/writes')).writes.find((w) => w.tool === 'fs')
		const { added } = await ask('/notes/writes/' + write.requestId)
		await ask('/calls', { name: 'block', args: { action: 'append', parentID: added, dataType: 'markdown', data: 'Green at five.\n\nWhite at six.' } })
		window.appended = true
	})(); 0`)
	s.until(`window.appended`)
	s.click("header nav", "Chat")
	s.click("header nav", "Notes")
	s.click(".shelf", "Tea")
	s.shows(".markdown", "White at six.")
	s.shows("[data-write]", "block append")
	s.press(`document.querySelector('[data-write] button[aria-expanded]')`)
	s.shows("[data-write] .difference .fresh", "+ White at six.")
	s.shows("[data-write]", "It added this.")
	s.click("[data-write]", "Remove it")
	s.shows("main", "block delete")
	s.until(`document.querySelector('.markdown').innerText.includes('at four') && !document.querySelector('.markdown').innerText.includes('at six')`)
	s.clean()
}

// A person reads what a model wrote in its place in the notes, finds it by Chinese words, sees what it changed, and
// takes it back.
func TestNotes(t *testing.T) {
	t.Parallel()
	s := tell(t, provider.Turn{Call: []provider.Call{{Tool: "fs", Args: json.RawMessage(`{"action":"write","overwrite":true,"path":"/Welcome/Writing","markdown":"# 茶\n\n怎么泡乌龙茶？\n\n<script>window.hacked = 1</script>"}`)}}}, provider.Turn{Say: "it is written"})
	s.signIn()
	s.click("header nav", "Notes")
	s.shows(".shelf", "Writing") // notebooks are unfolded at first
	s.click(".shelf", "Welcome")
	s.until(`!document.querySelector('.shelf').innerText.includes('Writing')`)
	s.click(".shelf", "Welcome")
	s.click(".shelf", "AGENTS.md")
	s.shows("main", "This is what models keep for later")
	s.write(".shelf input", "agents.md")
	s.eval(`document.querySelector('.shelf form').requestSubmit(); 0`)
	s.shows(".hits", "/AGENTS.md")
	s.write(".shelf input", "")
	s.click(".shelf", "Writing")
	s.shows("main h1", "Writing")
	s.until(`document.querySelector('.notes .markdown .katex')`) // the formula comes last
	before := s.eval(text(".notes .markdown")).(string)
	s.shows("main", "Nothing was written.")
	s.page("notes")

	s.click("header nav", "Chat")
	s.say("write it anew")
	s.until(`document.querySelector('article .question') || [...document.querySelectorAll('article.assistant')].some(e => e.innerText.includes('it is written'))`)
	if s.eval(`!!document.querySelector('article .question')`) == true {
		s.click("article .question", "Allow once")
	}
	s.shows("article.assistant", "it is written")
	s.click("header nav", "Notes")
	s.write(".shelf input", "乌龙")
	s.eval(`document.querySelector('.shelf form').requestSubmit(); 0`)
	s.shows(".hits mark", "乌龙")
	s.click(".hits", "/Welcome/Writing")
	s.shows(".notes .markdown", "怎么泡乌龙茶？")
	s.click("[data-write]", "What did it change?")
	s.shows("[data-write] .difference .fresh", "+ 怎么泡乌龙茶？")
	s.page("note")
	s.click("[data-write]", "Take it back")
	s.until(`!document.querySelector('.notes .markdown')?.innerText.includes('乌龙')`)
	s.do(chromedp.Reload())
	s.until(`document.querySelector('.notes .markdown .katex')`) // the formula comes last
	if now := s.eval(text(".notes .markdown")).(string); now != before {
		t.Errorf("after it was taken back the page shows\n%s\nbefore it was\n%s", now, before)
	}
	s.eval(`location.hash = '#/notes/' + encodeURIComponent('/Welcome/Nowhere'); 0`)
	s.shows("main [role=alert]", "Nowhere")
	if hacked := s.eval(`window.hacked`); hacked != nil {
		t.Error("a script in a note ran")
	}
	s.clean()
}

// A person writes an agent and a context entry, is told the line of a mistake while the text stays, tries which
// entries a text brings in, and deletes an agent.
func TestAgentFilesInThePage(t *testing.T) {
	t.Parallel()
	s := tell(t)
	s.signIn()
	s.click("header nav", "Agents")
	s.shows("main", "None yet.")
	s.press(`document.querySelector('[data-new=agents]')`)
	s.write(".editor input", "brief")
	s.write(".editor textarea", "---\ndescription: answers briefly\nengine: steam\n---\n\nBe brief.")
	s.click(".editor", "Save")
	s.shows(".editor [role=alert]", "line 3: engine: ")
	if kept := s.eval(`document.querySelector('.editor textarea').value`).(string); !strings.Contains(kept, "steam") {
		t.Errorf("after an error the text is %q", kept)
	}
	s.page("agents")
	s.write(".editor textarea", "---\ndescription: answers briefly\n---\n\nBe brief.")
	s.click(".editor", "Save")
	s.shows("[data-item='agents/brief']", "answers briefly")
	s.press(`document.querySelector('[data-new=context]')`)
	s.write(".editor input", "tea")
	s.write(".editor textarea", "---\nkeywords: [茶, oolong]\n---\n\nFour minutes.")
	s.click(".editor", "Save")
	s.shows("[data-item='context/tea']", "茶, oolong")
	s.write("main form:has(select) textarea", "怎么泡茶？")
	s.click("main form", "Try it")
	s.shows("#found mark", "茶")
	s.shows("#found", "tea: 茶")
	s.page("entries")
	s.eval(`window.confirm = () => true; 0`)
	s.click("[data-item=\"agents/brief\"]", "Delete: brief")
	s.until(`!document.querySelector('[data-item="agents/brief"]')`)
	s.clean()
}

// A person connects a SiYuan kernel with its token, sees that it is reachable, goes back to the vault, and removes
// the connection. If the kernel does not answer, the form says so. No token is shown or written into the settings.
func TestConnectionsToSiYuan(t *testing.T) {
	t.Parallel()
	kernel := kerneltest.New(t)
	kernel.Notebook("Tea")
	s := tell(t)
	s.signIn()
	s.click("header nav", "Notebooks")
	s.shows("[data-kernel=vault]", "The built-in vault")
	s.until(`document.querySelector('[data-kernel=vault] input').checked`)
	s.click("main", "Connect a SiYuan")
	s.write("[data-kernel-form] [name=name]", "work")
	s.write("[data-kernel-form] [name=url]", "http://"+freePort(t))
	s.write("[data-kernel-form] [name=token]", kerneltest.Token)
	s.click("[data-kernel-form]", "Save")
	s.until(`document.querySelector('[data-kernel-form] [role=alert]')?.innerText`)
	s.axe()
	s.write("[data-kernel-form] [name=url]", kernel.URL())
	s.click("[data-kernel-form]", "Save")
	s.shows("[data-kernel=work]", "reachable, SiYuan")
	s.shows("[data-kernel=work]", "token: ${secret:siyuan_work}")
	s.until(`document.querySelector('[data-kernel=work] input').checked`)
	s.shows("main", "Tea") // its notebooks
	s.page("kernels")
	raw, err := os.ReadFile(s.settings)
	if err != nil || !strings.Contains(string(raw), "siyuan_work") || strings.Contains(string(raw), kerneltest.Token) {
		t.Errorf("the settings: %s (%v)", raw, err)
	}
	if _, list := s.gateway.Ask(t, http.MethodGet, "/siyuan/connections", ""); strings.Contains(string(list), kerneltest.Token) {
		t.Errorf("the token is shown: %s", list)
	}
	s.click("[data-kernel=work]", "Test")
	s.shows("[data-kernel=work]", "notebooks: 1")
	s.press(`document.querySelector('[data-kernel=vault] input')`)
	s.until(`document.querySelector('[data-kernel=vault] input').checked`)
	s.shows("main", "Welcome")
	s.click("[data-kernel=work]", "Remove")
	s.click("[data-kernel=work]", "Really remove it")
	s.until(`!document.querySelector('[data-kernel=work]')`)
	if all := records(t, s.gateway); !strings.Contains(all, "siyuan connection set") || !strings.Contains(all, "siyuan connection use") || !strings.Contains(all, "siyuan connection remove") {
		t.Errorf("it is not on record: %s", all)
	}
	s.clean()
}
