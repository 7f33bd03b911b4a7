//go:build stories && linux

package pages_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"collie/test/fakellm/provider"
)

// A newcomer does what people come for, from the first screen on, guided by the visible texts alone.
func TestNewcomer(t *testing.T) {
	t.Parallel()
	s := startStory(t,
		fsCall(`{"action":"write","overwrite":true,"path":"/Welcome/Writing","markdown":"Oolong at four."}`), provider.Turn{Say: "it is written"},
		fsCall(`{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/Minutes"}`), provider.Turn{Say: "then not"})
	cursor := filepath.Join(s.user, ".cursor", "mcp.json")
	err := os.MkdirAll(filepath.Dir(cursor), 0o700)
	if err == nil {
		err = os.WriteFile(cursor, []byte(`{}`), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.signIn()

	// Connect a client.
	s.clickVisible("Clients")
	s.clickVisible("Cursor")
	s.clickVisible("Write it")
	s.awaitMainText("Done.")

	// Add a server.
	s.clickVisible("Servers")
	s.clickVisible("Add a server")
	s.fillField("Command line", s.programs.Fake+" --offer echo")
	if proposed := s.eval(`document.querySelector('[data-field=name]').value`); proposed == "" {
		t.Error("no name is proposed for a server")
	}
	s.fillField("Server name", "tea")
	s.clickVisible("Check")
	s.fillField("To agree, type: tea", "tea")
	s.clickVisible("Add")
	s.awaitMainText("It runs, and can be called.")

	// Allow more in one notebook.
	s.clickVisible("Notebooks")
	s.clickLabelled("read, write and delete")
	s.fillField("To allow more, type the name of the notebook: Welcome", "Welcome")
	s.clickVisible("Allow")
	s.awaitTrue(`[...document.querySelectorAll('label')].some(e => e.innerText.trim() === 'read, write and delete' && e.control.checked)`)

	// Find what a model changed, and undo it.
	s.clickVisible("Chat")
	s.sendMessage("note the tea")
	s.awaitTrue(`document.querySelector('article .question') || document.querySelector('main').innerText.includes('it is written')`)
	if s.eval(`!!document.querySelector('article .question')`) == true {
		s.clickVisible("Allow once")
	}
	s.awaitMainText("it is written")
	s.clickVisible("Notes")
	s.clickVisible("What tools wrote recently")
	s.awaitMainText("/Welcome/Writing")
	s.clickVisible("What did it change?")
	s.awaitMainText("Oolong at four.")
	s.clickVisible("Take it back")
	s.awaitMainText("taken back")

	// Refuse a tool.
	s.clickVisible("Chat")
	s.clickVisible("note the tea")
	s.awaitMainText("it is written")
	s.sendMessage("and rename the other")
	s.awaitMainText("/Welcome/Minutes")
	s.clickVisible("Refuse")
	s.awaitMainText("then not")

	// See what that cost.
	s.clickVisible("Usage")
	s.awaitMainText("Tokens in")
	s.awaitMainText("Requests")

	// Find a note.
	s.clickVisible("Notes")
	s.fillField("Find in the notes", "Writing")
	s.eval(`document.activeElement.form.requestSubmit(); 0`)
	s.clickVisible("/Welcome/Writing")
	s.awaitTrue(`document.querySelector('main h1')?.innerText === 'Writing'`)

	// Take the record elsewhere.
	s.clickVisible("Audit")
	s.eval(`URL.createObjectURL = (data) => { data.text().then((text) => window.saved = text); return '#' }; window.clicked = HTMLAnchorElement.prototype.click; HTMLAnchorElement.prototype.click = () => {}; 0`)
	s.clickElement(`[...document.querySelectorAll('main button')].find(e => e.innerText.trim() === 'Download what is shown')`)
	s.awaitTrue(`window.saved?.includes('fs')`)
	s.eval(`HTMLAnchorElement.prototype.click = window.clicked; 0`)

	// Another language and theme.
	s.pickOption("Language", "中文")
	s.awaitMainText("审计")
	s.pickOption("语言", "English")
	s.pickOption("Theme", "Dark")
	s.awaitTrue(`document.documentElement.dataset.theme === 'dark'`)

	// On a phone.
	s.clickVisible("Sign a phone in")
	s.awaitMainText("Another browser, or a phone")
	s.awaitMainText("A phone cannot sign in yet") // no other machine can reach this gateway, and the page leads to the setting for that
	if s.eval(`[...document.querySelectorAll('main button')].some(e => e.innerText.trim() === 'Sign a phone in')`) == true {
		t.Error("a phone is offered to sign in, which cannot work")
	}
	s.clickVisible("set the address of the proxy")
	s.awaitTrue(`document.activeElement?.id === 'setting-http.publicURL'`)

	// Help.
	s.clickVisible("Help")
	s.awaitMainText("Where to begin")
	s.fillField("Find in the guides", "how do i undo")
	s.awaitTrue(`document.querySelector('.hits mark')`)
	if marked := s.eval(`[...new Set([...document.querySelectorAll('.hits mark')].map(e => e.innerText.toLowerCase()))].join()`); marked != "undo" {
		t.Errorf("these words were looked for: %v", marked)
	}
	if raw := s.eval(`[...document.querySelectorAll('.hits a .dim')].map(e => e.innerText).filter(p => /\*\*|\]\(|` + "`" + `|^#/.test(p)).join('\n')`); raw != "" {
		t.Errorf("excerpts have signs of Markdown: %v", raw)
	}
	s.wantCleanPage()
}

// A newcomer with a phone, in Chinese, answers a question, finds what a model changed, and takes it back. What has to
// be touched is large enough for a finger and on the screen.
func TestNewcomerOnAPhone(t *testing.T) {
	t.Parallel()
	s := startStory(t,
		fsCall(`{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/会议记录"}`), provider.Turn{Say: "已改名"},
		fsCall(`{"action":"write","overwrite":true,"path":"/Welcome/Flashcards","markdown":"四点喝乌龙茶。"}`), provider.Turn{Say: "已写好"})
	s.perform(chromedp.EmulateViewport(390, 844))
	s.signIn()
	s.setSelect("option[value=zh]", "zh")
	s.fillField("消息", "把 Writing 改名为会议记录")
	s.clickVisible("发送")
	s.awaitMainText("/Welcome/会议记录")
	s.awaitMainText("风险\n高")
	s.takePicture("phone-zh-question")
	s.wantTappable("article .question button, article .question summary")
	s.clickElement(`document.querySelector('article .question summary')`)
	s.awaitMainText("在此对话中：")
	s.takePicture("phone-zh-grants")
	s.clickVisible("允许一次")
	s.awaitMainText("已改名")

	s.fillField("消息", "写上喝茶的时间")
	s.clickVisible("发送")
	s.awaitTrue(`document.querySelector('article .question') || document.querySelector('main').innerText.includes('已写好')`)
	if s.eval(`!!document.querySelector('article .question')`) == true {
		s.clickVisible("允许一次")
	}
	s.awaitMainText("已写好")
	s.takePicture("phone-zh-written")
	s.clickElement(`[...document.querySelectorAll('button')]` + seenOnly + `.find(e => (e.ariaLabel || e.innerText).includes('菜单'))`)
	s.takePicture("phone-zh-menu")
	s.clickVisible("笔记")
	s.takePicture("phone-zh-notes")
	s.clickVisible("工具最近几天写过的内容")
	s.awaitMainText("/Welcome/Flashcards")
	s.takePicture("phone-zh-writes")
	s.clickVisible("改了什么")
	s.awaitText("[data-write] h4", "/Welcome/Flashcards")
	s.awaitMainText("四点喝乌龙茶。")
	s.takePicture("phone-zh-changed")
	s.wantTappable("[data-write] button")
	s.clickVisible("撤销")
	s.awaitMainText("已撤销")
	s.takePicture("phone-zh-undone")
	s.wantCleanPage()
}

// wantTappable fails the test for each element that is lower than 24 pixels or not within the width of the screen.
func (s *story) wantTappable(selector string) {
	s.Helper()
	small := s.eval(fmt.Sprintf(`[...document.querySelectorAll(%q)]`+seenOnly+`.filter(e => { const r = e.getBoundingClientRect(); return r.height < 24 || r.left < 0 || r.right > innerWidth }).map(e => e.outerHTML).join('\n')`, selector))
	if small != "" {
		s.Errorf("these are hard to touch: %v", small)
	}
}

// seenOnly filters a list of elements in an expression for the visible ones.
const seenOnly = `.filter(e => e.checkVisibility() && e.getClientRects().length)`

// clickVisible clicks the first visible button or link with this text, or else the first one whose text begins with it.
func (s *story) clickVisible(name string) {
	s.Helper()
	quoted, _ := json.Marshal(name)
	all := `[...document.querySelectorAll('main button, main a, main summary, .sessions a, nav a, nav button, .own a, .own button')]` + seenOnly
	s.clickElement(fmt.Sprintf(`(all => all.find(e => e.innerText.trim() === %[1]s) ?? all.find(e => e.innerText.trim().startsWith(%[1]s)))(%[2]s)`, quoted, all))
}

// awaitMainText waits until the main part of the page contains a text.
func (s *story) awaitMainText(text string) { s.Helper(); s.awaitText("main", text) }

// fieldLabelled returns an expression for the field whose visible label begins with name.
func fieldLabelled(name string) string {
	quoted, _ := json.Marshal(name)
	return fmt.Sprintf(`[...document.querySelectorAll('label')]`+seenOnly+`.find(e => e.innerText.replace(/\s+/g, ' ').trim().startsWith(%s))?.control`, quoted)
}

// fillField writes into the field with a label or, if there is none, with that name or placeholder.
func (s *story) fillField(name, text string) {
	s.Helper()
	quoted, _ := json.Marshal(name)
	field := fmt.Sprintf(`(%s ?? [...document.querySelectorAll('input, textarea')]`+seenOnly+`.find(e => (e.ariaLabel || e.placeholder).startsWith(%s)))`, fieldLabelled(name), quoted)
	s.awaitTrue(field)
	value, _ := json.Marshal(text)
	s.eval(fmt.Sprintf(`(e => { e.focus(); e.value = %s; e.dispatchEvent(new Event('input', { bubbles: true })) })(%s); 0`, value, field))
}

// clickLabelled clicks the control with a label.
func (s *story) clickLabelled(name string) { s.Helper(); s.clickElement(fieldLabelled(name)) }

// pickOption chooses an option, by its text, in the list with a label.
func (s *story) pickOption(name, choice string) {
	s.Helper()
	s.awaitTrue(fieldLabelled(name))
	s.eval(fmt.Sprintf(`(e => { e.value = [...e.options].find(o => o.innerText === %q).value; e.dispatchEvent(new Event('change', { bubbles: true })) })(%s); 0`, choice, strings.TrimSpace(fieldLabelled(name))))
}
