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
	s := tell(t,
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
	s.follow("Clients")
	s.follow("Cursor")
	s.follow("Write it")
	s.reads("Done.")

	// Add a server.
	s.follow("Servers")
	s.follow("Add a server")
	s.fill("Command line", s.programs.Fake+" --offer echo")
	if proposed := s.eval(`document.querySelector('[data-field=name]').value`); proposed == "" {
		t.Error("no name is proposed for a server")
	}
	s.fill("Server name", "tea")
	s.follow("Check")
	s.fill("To agree, type: tea", "tea")
	s.follow("Add")
	s.reads("It runs, and can be called.")

	// Allow more in one notebook.
	s.follow("Notebooks")
	s.tick("read, write and delete")
	s.fill("To allow more, type the name of the notebook: Welcome", "Welcome")
	s.follow("Allow")
	s.until(`[...document.querySelectorAll('label')].some(e => e.innerText.trim() === 'read, write and delete' && e.control.checked)`)

	// Find what a model changed, and undo it.
	s.follow("Chat")
	s.say("note the tea")
	s.until(`document.querySelector('article .question') || document.querySelector('main').innerText.includes('it is written')`)
	if s.eval(`!!document.querySelector('article .question')`) == true {
		s.follow("Allow once")
	}
	s.reads("it is written")
	s.follow("Notes")
	s.follow("What tools wrote recently")
	s.reads("/Welcome/Writing")
	s.follow("What did it change?")
	s.reads("Oolong at four.")
	s.follow("Take it back")
	s.reads("taken back")

	// Refuse a tool.
	s.follow("Chat")
	s.follow("note the tea")
	s.reads("it is written")
	s.say("and rename the other")
	s.reads("/Welcome/Minutes")
	s.follow("Refuse")
	s.reads("then not")

	// See what that cost.
	s.follow("Usage")
	s.reads("Tokens in")
	s.reads("Requests")

	// Find a note.
	s.follow("Notes")
	s.fill("Find in the notes", "Writing")
	s.eval(`document.activeElement.form.requestSubmit(); 0`)
	s.follow("/Welcome/Writing")
	s.until(`document.querySelector('main h1')?.innerText === 'Writing'`)

	// Take the record elsewhere.
	s.follow("Audit")
	s.eval(`URL.createObjectURL = (data) => { data.text().then((text) => window.saved = text); return '#' }; window.clicked = HTMLAnchorElement.prototype.click; HTMLAnchorElement.prototype.click = () => {}; 0`)
	s.press(`[...document.querySelectorAll('main button')].find(e => e.innerText.trim() === 'Download what is shown')`)
	s.until(`window.saved?.includes('fs')`)
	s.eval(`HTMLAnchorElement.prototype.click = window.clicked; 0`)

	// Another language and theme.
	s.pick("Language", "中文")
	s.reads("审计")
	s.pick("语言", "English")
	s.pick("Theme", "Dark")
	s.until(`document.documentElement.dataset.theme === 'dark'`)

	// On a phone.
	s.follow("Sign a phone in")
	s.reads("Another browser, or a phone")
	s.reads("A phone cannot sign in yet") // no other machine can reach this gateway, and the page leads to the setting for that
	if s.eval(`[...document.querySelectorAll('main button')].some(e => e.innerText.trim() === 'Sign a phone in')`) == true {
		t.Error("a phone is offered to sign in, which cannot work")
	}
	s.follow("set the address of the proxy")
	s.until(`document.activeElement?.id === 'setting-http.publicURL'`)

	// Help.
	s.follow("Help")
	s.reads("Where to begin")
	s.fill("Find in the guides", "how do i undo")
	s.until(`document.querySelector('.hits mark')`)
	if marked := s.eval(`[...new Set([...document.querySelectorAll('.hits mark')].map(e => e.innerText.toLowerCase()))].join()`); marked != "undo" {
		t.Errorf("these words were looked for: %v", marked)
	}
	if raw := s.eval(`[...document.querySelectorAll('.hits a .dim')].map(e => e.innerText).filter(p => /\*\*|\]\(|` + "`" + `|^#/.test(p)).join('\n')`); raw != "" {
		t.Errorf("excerpts have signs of Markdown: %v", raw)
	}
	s.clean()
}

// A newcomer with a phone, in Chinese, answers a question, finds what a model changed, and takes it back. What has to
// be touched is large enough for a finger and on the screen.
func TestNewcomerOnAPhone(t *testing.T) {
	t.Parallel()
	s := tell(t,
		fsCall(`{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/会议记录"}`), provider.Turn{Say: "已改名"},
		fsCall(`{"action":"write","overwrite":true,"path":"/Welcome/Flashcards","markdown":"四点喝乌龙茶。"}`), provider.Turn{Say: "已写好"})
	s.do(chromedp.EmulateViewport(390, 844))
	s.signIn()
	s.choose("option[value=zh]", "zh")
	s.fill("消息", "把 Writing 改名为会议记录")
	s.follow("发送")
	s.reads("/Welcome/会议记录")
	s.reads("风险\n高")
	s.look("phone-zh-question")
	s.tallEnough("article .question button, article .question summary")
	s.press(`document.querySelector('article .question summary')`)
	s.reads("在此对话中：")
	s.look("phone-zh-grants")
	s.follow("允许一次")
	s.reads("已改名")

	s.fill("消息", "写上喝茶的时间")
	s.follow("发送")
	s.until(`document.querySelector('article .question') || document.querySelector('main').innerText.includes('已写好')`)
	if s.eval(`!!document.querySelector('article .question')`) == true {
		s.follow("允许一次")
	}
	s.reads("已写好")
	s.look("phone-zh-written")
	s.press(`[...document.querySelectorAll('button')]` + seenOnly + `.find(e => (e.ariaLabel || e.innerText).includes('菜单'))`)
	s.look("phone-zh-menu")
	s.follow("笔记")
	s.look("phone-zh-notes")
	s.follow("工具最近几天写过的内容")
	s.reads("/Welcome/Flashcards")
	s.look("phone-zh-writes")
	s.follow("改了什么")
	s.shows("[data-write] h4", "/Welcome/Flashcards")
	s.reads("四点喝乌龙茶。")
	s.look("phone-zh-changed")
	s.tallEnough("[data-write] button")
	s.follow("撤销")
	s.reads("已撤销")
	s.look("phone-zh-undone")
	s.clean()
}

// tallEnough fails the test for each element that is lower than 24 pixels or not within the width of the screen.
func (s *story) tallEnough(selector string) {
	s.Helper()
	small := s.eval(fmt.Sprintf(`[...document.querySelectorAll(%q)]`+seenOnly+`.filter(e => { const r = e.getBoundingClientRect(); return r.height < 24 || r.left < 0 || r.right > innerWidth }).map(e => e.outerHTML).join('\n')`, selector))
	if small != "" {
		s.Errorf("these are hard to touch: %v", small)
	}
}

// seenOnly filters a list of elements in an expression for the visible ones.
const seenOnly = `.filter(e => e.checkVisibility() && e.getClientRects().length)`

// follow clicks the first visible button or link with this text, or else the first one whose text begins with it.
func (s *story) follow(name string) {
	s.Helper()
	quoted, _ := json.Marshal(name)
	all := `[...document.querySelectorAll('main button, main a, main summary, .sessions a, nav a, nav button, .own a, .own button')]` + seenOnly
	s.press(fmt.Sprintf(`(all => all.find(e => e.innerText.trim() === %[1]s) ?? all.find(e => e.innerText.trim().startsWith(%[1]s)))(%[2]s)`, quoted, all))
}

// reads waits until the main part of the page contains a text.
func (s *story) reads(text string) { s.Helper(); s.shows("main", text) }

// label returns an expression for the field whose visible label begins with name.
func label(name string) string {
	quoted, _ := json.Marshal(name)
	return fmt.Sprintf(`[...document.querySelectorAll('label')]`+seenOnly+`.find(e => e.innerText.replace(/\s+/g, ' ').trim().startsWith(%s))?.control`, quoted)
}

// fill writes into the field with a label or, if there is none, with that name or placeholder.
func (s *story) fill(name, text string) {
	s.Helper()
	quoted, _ := json.Marshal(name)
	field := fmt.Sprintf(`(%s ?? [...document.querySelectorAll('input, textarea')]`+seenOnly+`.find(e => (e.ariaLabel || e.placeholder).startsWith(%s)))`, label(name), quoted)
	s.until(field)
	value, _ := json.Marshal(text)
	s.eval(fmt.Sprintf(`(e => { e.focus(); e.value = %s; e.dispatchEvent(new Event('input', { bubbles: true })) })(%s); 0`, value, field))
}

// tick clicks the control with a label.
func (s *story) tick(name string) { s.Helper(); s.press(label(name)) }

// pick chooses an option, by its text, in the list with a label.
func (s *story) pick(name, choice string) {
	s.Helper()
	s.until(label(name))
	s.eval(fmt.Sprintf(`(e => { e.value = [...e.options].find(o => o.innerText === %q).value; e.dispatchEvent(new Event('change', { bubbles: true })) })(%s); 0`, choice, strings.TrimSpace(label(name))))
}
