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
	s := startStory(t, move("Writing", "Minutes"), provider.Turn{Say: "it is moved"}, move("Minutes", "Writing"), provider.Turn{Say: "it is back"}, move("Writing", "Notes"), provider.Turn{Say: "that was refused"})
	s.signIn()
	s.sendMessage("rename it")
	s.awaitText("article .question", "Or allow more")
	s.eval(`document.querySelector('article .question details').open = true; 0`)
	s.clickElement(`[...document.querySelectorAll('article .question details button')].find(b => b.innerText.includes('In this conversation: '))`)
	s.awaitText("article.assistant", "it is moved")
	s.sendMessage("and back")
	s.awaitText("article.assistant", "it is back")

	s.click("header nav", "Permissions")
	s.awaitText("[data-grant]", "fs mv")
	s.awaitText("[data-grant]", "In this conversation")
	s.awaitText("[data-grant] dl", "Used\n2")
	s.wantFitsScreens("permissions")
	s.click("[data-grant]", "Take back: fs mv")
	s.awaitText("main", "Nothing yet. When Collie asks")
	s.click("header nav", "Audit")
	s.awaitText("[data-record=grant]", "leave taken back")
	s.awaitText("[data-record=grant]", "leave given")
	s.click("header nav", "Permissions")

	s.click("main", "Make a link")
	s.awaitTrue(`document.querySelector('#link')?.innerText.includes('link=')`)
	_, secret, _ := strings.Cut(s.eval(`document.querySelector('#link').innerText`).(string), "link=")
	other := signIn(t, s.gateway, secret)
	s.click("main", "Refresh")
	s.awaitTrue(`document.querySelectorAll('[data-browser]').length === 2`)
	s.clickElement(`[...document.querySelectorAll('[data-browser] button')].find(b => b.getAttribute('aria-label').includes('Go-http'))`)
	s.awaitTrue(`document.querySelectorAll('[data-browser]').length === 1`)
	if status := other.sendForStatus(http.MethodGet, "/api/v1/grants", ""); status != http.StatusUnauthorized {
		t.Errorf("a browser that was signed out gets status %d", status)
	}
	s.click("header nav", "Chat")
	s.eval(`location.hash = document.querySelector('.sessions a').getAttribute('href'); 0`)
	s.sendMessage("once more")
	s.awaitText("article .question", "Or allow more")
	s.click("article .question", "Refuse")
	s.awaitText("article.assistant", "that was refused")
	s.wantCleanPage()
}

// The page of usage shows the tokens that answers have used, by day, agent and model.
func TestUsage(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Say: "tea", Usage: &provider.Usage{Input: 1200, Output: 34}})
	s.signIn()
	s.click("header nav", "Usage")
	s.awaitText("main", "No model has answered in this time.")
	s.click("header nav", "Chat")
	s.sendMessage("what?")
	s.awaitText("article.assistant .acts", "Regenerate")
	s.click("header nav", "Usage")
	s.awaitTrue(textOf("main tbody") + `.includes('m · fake')`)
	s.awaitText("main tbody", "1,200")
	s.awaitText("main", "Tokens by day")
	s.awaitTrue(`document.querySelectorAll('.chart rect').length === 30`)
	s.eval(`(e => { e.value = '7'; e.dispatchEvent(new Event('change', { bubbles: true })) })(document.querySelector('main select'))`)
	s.awaitTrue(`document.querySelectorAll('.chart rect').length === 7`)
	s.wantFitsScreens("usage")
	s.wantCleanPage()
}

// A person tests keys, adds a provider, and is told beside the fields what is wrong with one. The fields keep what
// was typed.
func TestModels(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	s.signIn()
	s.click("header nav", "Models")
	s.awaitText("[data-key=\"fake/a\"]", "works")
	s.click("[data-key=\"fake/a\"]", "Test")
	s.awaitText("[data-key=\"fake/a\"]", "It works.")
	s.eval(`document.querySelector('#default-model input').dispatchEvent(new Event('focus')); 0`)
	s.awaitTrue(`document.querySelector('#all-models option[value="fake/fake-1"]')`) // the models of the provider can be chosen from here on
	s.setField("#default-model input", "fake/other")
	s.click("#default-model", "Save")
	s.awaitTrue(`document.querySelector('#default-model input').value === 'fake/other'`)
	await.Until(t, "the settings name the model", func() bool {
		_, raw := s.gateway.Ask(t, "GET", "/settings", "")
		return strings.Contains(string(raw), `"fake/other"`)
	})
	s.click("[data-key=\"fake/a\"]", "Switch off")
	s.awaitText("[data-key=\"fake/a\"]", "switched off")
	s.click("[data-key=\"fake/a\"]", "Switch on")
	s.awaitText("[data-key=\"fake/a\"]", "works")

	s.click("main", "Add a provider")
	s.setField("main form input[placeholder=openai]", "near")
	s.setField("main form input[type=url]", "http://127.0.0.1:9/v1")
	s.setField("main form input[type=password]", "k")
	s.eval(`(e => { e.value = 'openai'; e.dispatchEvent(new Event('change', { bubbles: true })) })(document.querySelector('main form select')); 0`)
	s.click("main form", "Save")
	s.awaitText("main form [role=alert]", "127.0.0.1:9")
	if kept := s.eval(`document.querySelector('main form input[type=url]').value`); kept != "http://127.0.0.1:9/v1" {
		t.Errorf("after an error the address is %q", kept)
	}
	s.wantFitsScreens("models")

	// An unchanged list of providers is not sent again: the answer is 304.
	s.eval(`window.answers = []; (real => { window.fetch = async (...a) => { const got = await real(...a); if (String(a[0]).endsWith('/providers') && (a[1]?.method ?? 'GET') === 'GET') answers.push(got.status); return got } })(window.fetch); 0`)
	s.click("header nav", "Usage")
	s.click("header nav", "Models")
	s.awaitTrue(`answers.join() === '304'`)
	s.awaitText("[data-provider=fake]", "fake")
	s.click("main", "Add a provider")
	s.setField("main form input[placeholder=openai]", "near")
	s.setField("main form input[type=url]", "http://127.0.0.1:9/v1")
	s.setField("main form input[type=password]", "k")
	s.eval(`(e => { e.value = 'openai'; e.dispatchEvent(new Event('change', { bubbles: true })) })(document.querySelector('main form select')); 0`)
	s.clickElement(`document.querySelector('main form input[type=checkbox]')`)
	s.click("main form", "Save")
	s.awaitText("[data-provider=near]", "main")
	s.awaitTrue(`answers.includes(200)`)
	s.eval(`window.confirm = () => true; 0`)
	s.click("[data-provider=near]", "Remove: near")
	s.awaitTrue(`!document.querySelector('[data-provider=near]')`)
	all := auditText(t, s.gateway)
	for _, name := range []string{"provider add", "provider remove"} {
		if !strings.Contains(all, `"`+name+`"`) {
			t.Errorf("%s is not on record", name)
		}
	}
	s.wantCleanPage()
}

// A person allows writing in one notebook by typing its name, sees what a model changed there, and takes it back.
func TestNotebooks(t *testing.T) {
	t.Parallel()
	write := func(text string) provider.Turn {
		return provider.Turn{Call: []provider.Call{{Tool: "fs", Args: json.RawMessage(`{"action":"write","overwrite":true,"path":"/Welcome/Writing","markdown":"` + text + `"}`)}}}
	}
	s := startStory(t, write("all is **new**"), provider.Turn{Say: "it is written"})
	s.signIn()
	s.click("header nav", "Notebooks")
	level := func(name string) string {
		return fmt.Sprintf(`document.querySelector('[data-notebook=Welcome] input[value=%s]')`, name)
	}
	s.awaitTrue(level("rw"))
	s.clickElement(level("none"))
	s.awaitTrue(level("none") + `?.checked && !` + level("none") + `.disabled`)
	s.clickElement(level("rw"))
	s.awaitText("[data-notebook=Welcome] form", "type the name of the notebook")
	s.wantFitsScreens("notebooks")
	s.setField("[data-notebook=Welcome] form input", "Welcome")
	s.click("[data-notebook=Welcome]", "Allow")
	s.awaitTrue(`!document.querySelector('[data-notebook=Welcome] form') && ` + level("rw") + `.checked`)

	s.click("header nav", "Chat")
	s.sendMessage("write it anew")
	s.awaitTrue(`document.querySelector('article .question') || [...document.querySelectorAll('article.assistant')].some(e => e.innerText.includes('it is written'))`)
	if s.eval(`!!document.querySelector('article .question')`) == true {
		s.click("article .question", "Allow once")
	}
	s.awaitText("article.assistant", "it is written")
	s.click("header nav", "Notebooks")
	s.awaitText("[data-write]", "fs write")
	s.awaitText("[data-write]", "/Welcome/Writing")
	s.click("[data-write]", "What did it change?")
	s.awaitText("[data-write] .difference .fresh", "+ all is **new**")
	s.awaitTrue(`document.querySelector('[data-write] .difference .old')?.innerText.trim().length > 2`)
	s.wantFitsScreens("writes")
	s.click("[data-write]", "Take it back")
	s.awaitText("[data-write]", "taken back")
	out, stderr, code := s.programs.RunOn(t, s.gateway.Home, strings.NewReader(""), "fs", "read", "/Welcome/Writing", "--config", s.settings)
	if code != 0 || strings.Contains(out, "all is") {
		t.Errorf("after it was taken back the document is %s %s", out, stderr)
	}
	all := auditText(t, s.gateway)
	for _, name := range []string{"siyuan permission set", "siyuan undo"} {
		if !strings.Contains(all, `"`+name+`"`) {
			t.Errorf("%s is not on record", name)
		}
	}
	s.wantCleanPage()
}

// A person removes a note that a model added, on the page that shows the write, and takes the removal back.
func TestRemoveAnAddedNote(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Call: []provider.Call{{Tool: "fs", Args: json.RawMessage(`{"action":"write","path":"/Welcome/Tea","markdown":"Oolong at four."}`)}}}, provider.Turn{Say: "it is written"})
	s.signIn()
	s.sendMessage("note the tea")
	s.awaitTrue(`document.querySelector('article .question') || [...document.querySelectorAll('article.assistant')].some(e => e.innerText.includes('it is written'))`)
	if s.eval(`!!document.querySelector('article .question')`) == true {
		s.click("article .question", "Allow once")
	}
	s.awaitText("article.assistant", "it is written")
	s.click("header nav", "Notes")
	s.awaitText(".shelf", "Tea")
	s.click(".shelf", "Tea")
	s.awaitText(".markdown", "Oolong at four.")
	s.click("[data-write]", "What did it change?")
	s.awaitText("[data-write] .difference .fresh", "+ Oolong at four.")
	s.wantFitsScreens("added")
	s.click("[data-write]", "Remove this note")
	s.awaitTrue(`![...document.querySelectorAll('.shelf a')].some(e => e.innerText === 'Tea')`)
	s.awaitText("main", "document remove")
	s.clickElement(`document.querySelector('[data-write] button[aria-expanded]')`)
	s.awaitText("[data-write] .difference .old", "- Oolong at four.")
	s.click("[data-write]", "Take it back")
	s.awaitTrue(`[...document.querySelectorAll('.shelf a')].some(e => e.innerText === 'Tea')`)

	// Blocks that were added to a note can be removed in the same way.
	s.click(".shelf", "Tea")
	s.awaitText(".markdown", "Oolong at four.")
	s.eval(`(async () => {
		const ask = async (path, body) => (await fetch('/api/v1' + path, { method: body ? 'POST' : 'GET', body: body && JSON.stringify(body), headers: { 'Content-Type': 'application/json', 'Collie-Browser-Key': localStorage.getItem('collie.browser.key') } })).json()
		const write = (await ask('/notes/writes')).writes.find((w) => w.tool === 'fs')
		const { added } = await ask('/notes/writes/' + write.requestId)
		await ask('/calls', { name: 'block', args: { action: 'append', parentID: added, dataType: 'markdown', data: 'Green at five.\n\nWhite at six.' } })
		window.appended = true
	})(); 0`)
	s.awaitTrue(`window.appended`)
	s.click("header nav", "Chat")
	s.click("header nav", "Notes")
	s.click(".shelf", "Tea")
	s.awaitText(".markdown", "White at six.")
	s.awaitText("[data-write]", "block append")
	s.clickElement(`document.querySelector('[data-write] button[aria-expanded]')`)
	s.awaitText("[data-write] .difference .fresh", "+ White at six.")
	s.awaitText("[data-write]", "It added this.")
	s.click("[data-write]", "Remove it")
	s.awaitText("main", "block delete")
	s.awaitTrue(`document.querySelector('.markdown').innerText.includes('at four') && !document.querySelector('.markdown').innerText.includes('at six')`)
	s.wantCleanPage()
}

// A person reads what a model wrote in its place in the notes, finds it by Chinese words, sees what it changed, and
// takes it back.
func TestNotes(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Call: []provider.Call{{Tool: "fs", Args: json.RawMessage(`{"action":"write","overwrite":true,"path":"/Welcome/Writing","markdown":"# 茶\n\n怎么泡乌龙茶？\n\n<script>window.hacked = 1</script>"}`)}}}, provider.Turn{Say: "it is written"})
	s.signIn()
	s.click("header nav", "Notes")
	s.awaitText(".shelf", "Writing") // notebooks are unfolded at first
	s.click(".shelf", "Welcome")
	s.awaitTrue(`!document.querySelector('.shelf').innerText.includes('Writing')`)
	s.click(".shelf", "Welcome")
	s.click(".shelf", "AGENTS.md")
	s.awaitText("main", "This is what models keep for later")
	s.setField(".shelf input", "agents.md")
	s.eval(`document.querySelector('.shelf form').requestSubmit(); 0`)
	s.awaitText(".hits", "/AGENTS.md")
	s.setField(".shelf input", "")
	s.click(".shelf", "Writing")
	s.awaitText("main h1", "Writing")
	s.awaitTrue(`document.querySelector('.notes .markdown .katex')`) // the formula comes last
	before := s.eval(textOf(".notes .markdown")).(string)
	s.awaitText("main", "Nothing was written.")
	s.wantFitsScreens("notes")

	s.click("header nav", "Chat")
	s.sendMessage("write it anew")
	s.awaitTrue(`document.querySelector('article .question') || [...document.querySelectorAll('article.assistant')].some(e => e.innerText.includes('it is written'))`)
	if s.eval(`!!document.querySelector('article .question')`) == true {
		s.click("article .question", "Allow once")
	}
	s.awaitText("article.assistant", "it is written")
	s.click("header nav", "Notes")
	s.setField(".shelf input", "乌龙")
	s.eval(`document.querySelector('.shelf form').requestSubmit(); 0`)
	s.awaitText(".hits mark", "乌龙")
	s.click(".hits", "/Welcome/Writing")
	s.awaitText(".notes .markdown", "怎么泡乌龙茶？")
	s.click("[data-write]", "What did it change?")
	s.awaitText("[data-write] .difference .fresh", "+ 怎么泡乌龙茶？")
	s.wantFitsScreens("note")
	s.click("[data-write]", "Take it back")
	s.awaitTrue(`!document.querySelector('.notes .markdown')?.innerText.includes('乌龙')`)
	s.perform(chromedp.Reload())
	s.awaitTrue(`document.querySelector('.notes .markdown .katex')`) // the formula comes last
	if now := s.eval(textOf(".notes .markdown")).(string); now != before {
		t.Errorf("after it was taken back the page shows\n%s\nbefore it was\n%s", now, before)
	}
	s.eval(`location.hash = '#/notes/' + encodeURIComponent('/Welcome/Nowhere'); 0`)
	s.awaitText("main [role=alert]", "Nowhere")
	if hacked := s.eval(`window.hacked`); hacked != nil {
		t.Error("a script in a note ran")
	}
	s.wantCleanPage()
}

// A person writes an agent and a context entry, is told the line of a mistake while the text stays, tries which
// entries a text brings in, and deletes an agent.
func TestAgentFilesInThePage(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	s.signIn()
	s.click("header nav", "Agents")
	s.awaitText("main", "None yet.")
	s.clickElement(`document.querySelector('[data-new=agents]')`)
	s.setField(".editor input", "brief")
	s.setField(".editor textarea", "---\ndescription: answers briefly\nengine: steam\n---\n\nBe brief.")
	s.click(".editor", "Save")
	s.awaitText(".editor [role=alert]", "line 3: engine: ")
	if kept := s.eval(`document.querySelector('.editor textarea').value`).(string); !strings.Contains(kept, "steam") {
		t.Errorf("after an error the text is %q", kept)
	}
	s.wantFitsScreens("agents")
	s.setField(".editor textarea", "---\ndescription: answers briefly\n---\n\nBe brief.")
	s.click(".editor", "Save")
	s.awaitText("[data-item='agents/brief']", "answers briefly")
	s.clickElement(`document.querySelector('[data-new=context]')`)
	s.setField(".editor input", "tea")
	s.setField(".editor textarea", "---\nkeywords: [茶, oolong]\n---\n\nFour minutes.")
	s.click(".editor", "Save")
	s.awaitText("[data-item='context/tea']", "茶, oolong")
	s.setField("main form:has(select) textarea", "怎么泡茶？")
	s.click("main form", "Try it")
	s.awaitText("#found mark", "茶")
	s.awaitText("#found", "tea: 茶")
	s.wantFitsScreens("entries")
	s.eval(`window.confirm = () => true; 0`)
	s.click("[data-item=\"agents/brief\"]", "Delete: brief")
	s.awaitTrue(`!document.querySelector('[data-item="agents/brief"]')`)
	s.wantCleanPage()
}

// A person connects a SiYuan kernel with its token, sees that it is reachable, goes back to the vault, and removes
// the connection. If the kernel does not answer, the form says so. No token is shown or written into the settings.
func TestConnectionsToSiYuan(t *testing.T) {
	t.Parallel()
	kernel := kerneltest.New(t)
	kernel.Notebook("Tea")
	s := startStory(t)
	s.signIn()
	s.click("header nav", "Notebooks")
	s.awaitText("[data-kernel=vault]", "The built-in vault")
	s.awaitTrue(`document.querySelector('[data-kernel=vault] input').checked`)
	s.click("main", "Connect a SiYuan")
	s.setField("[data-kernel-form] [name=name]", "work")
	s.setField("[data-kernel-form] [name=url]", "http://"+freePort(t))
	s.setField("[data-kernel-form] [name=token]", kerneltest.Token)
	s.click("[data-kernel-form]", "Save")
	s.awaitTrue(`document.querySelector('[data-kernel-form] [role=alert]')?.innerText`)
	s.loadAxe()
	s.setField("[data-kernel-form] [name=url]", kernel.URL())
	s.click("[data-kernel-form]", "Save")
	s.awaitText("[data-kernel=work]", "reachable, SiYuan")
	s.awaitText("[data-kernel=work]", "token: ${secret:siyuan_work}")
	s.awaitTrue(`document.querySelector('[data-kernel=work] input').checked`)
	s.awaitText("main", "Tea") // its notebooks
	s.wantFitsScreens("kernels")
	raw, err := os.ReadFile(s.settings)
	if err != nil || !strings.Contains(string(raw), "siyuan_work") || strings.Contains(string(raw), kerneltest.Token) {
		t.Errorf("the settings: %s (%v)", raw, err)
	}
	if _, list := s.gateway.Ask(t, http.MethodGet, "/siyuan/connections", ""); strings.Contains(string(list), kerneltest.Token) {
		t.Errorf("the token is shown: %s", list)
	}
	s.click("[data-kernel=work]", "Test")
	s.awaitText("[data-kernel=work]", "notebooks: 1")
	s.clickElement(`document.querySelector('[data-kernel=vault] input')`)
	s.awaitTrue(`document.querySelector('[data-kernel=vault] input').checked`)
	s.awaitText("main", "Welcome")
	s.click("[data-kernel=work]", "Remove")
	s.click("[data-kernel=work]", "Really remove it")
	s.awaitTrue(`!document.querySelector('[data-kernel=work]')`)
	if all := auditText(t, s.gateway); !strings.Contains(all, "siyuan connection set") || !strings.Contains(all, "siyuan connection use") || !strings.Contains(all, "siyuan connection remove") {
		t.Errorf("it is not on record: %s", all)
	}
	s.wantCleanPage()
}
