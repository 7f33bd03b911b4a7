//go:build stories && linux

package pages_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"collie/test/fakellm/provider"
)

// A line that begins with a slash is completed with the keys, and Enter sends it. While an input method composes a
// word, Enter belongs to the input method.
func TestCommandsAndComposition(t *testing.T) {
	t.Parallel()
	green := provider.Turn{Say: "green"}
	s := startStory(t, green, green, green) // the fake model chooses its turn by the answers before it, and a command has one
	s.signIn()
	s.setField(".composer textarea", "/noteb")
	s.awaitText("#commands", "/notebook")
	s.takePicture("commands")
	s.perform(chromedp.KeyEvent("\t"))
	s.awaitTrue(`document.querySelector('.composer textarea').value === '/notebook '`)
	s.setField(".composer textarea", "/notebook lis")
	s.awaitText("#commands", "/notebook list")
	s.perform(chromedp.KeyEvent(kb.ArrowDown))
	s.awaitTrue(`document.querySelector('#commands [aria-selected=true]')`)
	s.perform(chromedp.KeyEvent("\r"))
	s.awaitTrue(`document.querySelector('.composer textarea').value.trim() === '/notebook list'`)
	s.perform(chromedp.KeyEvent("\r"))
	s.awaitText("article.assistant", "Welcome")
	if asked := len(s.model.Requests()); asked != 0 {
		t.Errorf("the model was asked %d times for a command", asked)
	}

	s.awaitTrue(`document.querySelector('.composer textarea').value.trim() === ''`)
	s.perform(chromedp.Focus(chromedp.CSS(".composer textarea")))
	if _, err := chromedp.Call(s.tab, input.ImeSetComposition, input.ImeSetCompositionParams{Text: "lvcha", SelectionStart: 5, SelectionEnd: 5}); err != nil {
		t.Fatal(err)
	}
	s.eval(`document.querySelector('.composer textarea').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, isComposing: true, bubbles: true, cancelable: true })); 0`)
	if _, err := chromedp.Call(s.tab, input.InsertText, input.InsertTextParams{Text: "绿茶"}); err != nil {
		t.Fatal(err)
	}
	s.awaitTrue(`document.querySelector('.composer textarea').value.trim() === '绿茶'`)
	if rows := s.eval(`document.querySelectorAll('article.user').length`); rows != 1.0 {
		t.Errorf("%v messages: Enter sent what was being composed", rows)
	}
	s.click("main", "More about this conversation")
	s.setSelect(".sheet option[value=ctrl]", "ctrl")
	s.perform(chromedp.Focus(chromedp.CSS(".composer textarea")), chromedp.KeyEvent("\r"))
	s.awaitTrue(`document.querySelector('.composer textarea').value.includes('\n')`)
	s.eval(`document.querySelector('.composer textarea').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true })); 0`)
	s.awaitText("article.assistant", "green")
	s.wantCleanPage()
}

// A conversation is exported, written to a note and pruned. Chosen messages are copied and deleted while the others
// stay.
func TestChooseExportPrune(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Say: "one"}, provider.Turn{Say: "three"})
	s.signIn()
	s.sendMessage("first?")
	s.awaitText("article.assistant", "one")
	s.click("article.assistant", "Regenerate")
	s.awaitText("article.assistant .acts", "2/2")
	s.sendMessage("second?")
	s.awaitText("article.assistant", "three")
	s.awaitTrue(`document.querySelectorAll('.acts').length === 4`)

	s.eval(`window.files = []; URL.createObjectURL = b => { b.text().then(x => window.files.push(x)); return '#' }; HTMLAnchorElement.prototype.click = function () {}
		window.confirm = () => true; window.prompt = () => '/Welcome/Talk'; navigator.clipboard.writeText = async x => { window.copied = x }; 0`)
	for i, want := range []string{"Export: Markdown", "Export: JSON", "Export: HTML"} {
		s.eval(`document.querySelector('.talk').open = true; 0`)
		s.click(".sheet", want)
		s.awaitTrue(`window.files.length === ` + string(rune('1'+i)))
	}
	files := s.eval(`window.files`).([]any)
	for i, want := range []string{"second?", `"collie.session"`, "<html"} {
		if text := files[i].(string); !strings.Contains(text, want) || !strings.Contains(text, "three") {
			t.Errorf("file %d: %s", i, text)
		}
	}
	s.eval(`document.querySelector('.talk').open = true; 0`)
	s.click(".sheet", "Write to a note")
	s.awaitText(".about", "Written: /Welcome/Talk")
	s.eval(`document.querySelector('.talk').open = true; 0`)
	s.click(".sheet", "Prune branches")
	s.awaitTrue(`!document.querySelector('[aria-label=branch]')`)

	s.eval(`document.querySelector('.talk').open = true; 0`)
	s.click(".sheet", "Choose messages")
	s.awaitTrue(`document.querySelectorAll('.pickone input').length === 4`)
	s.clickElement(`document.querySelectorAll('.pickone input')[2]`)
	s.clickElement(`document.querySelectorAll('.pickone input')[3]`)
	s.takePicture("picked")
	s.click(".picked", "Copy")
	s.awaitTrue(`window.copied?.includes('second?') && window.copied.includes('three') && !window.copied.includes('first?')`)
	s.click(".picked", "Delete")
	s.awaitTrue(`document.querySelectorAll('article').length === 2`)
	s.awaitText("article.assistant", "one")
	s.wantCleanPage()
}

// A person who is about to choose a model is offered the models of the providers. The providers are not asked for
// them before.
func TestModelsAreOffered(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	s.signIn()
	if n := len(s.model.Requests()); n != 0 {
		t.Errorf("the provider was asked %d times before anybody wanted it", n)
	}
	s.perform(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return err
	}))
	s.eval(`document.querySelector("input[list=models]").focus(); 0`)
	s.awaitTrue(`document.querySelector('#models option[value="fake/fake-1"]')`)
	s.click("header nav", "Models")
	s.awaitTrue(`document.querySelector('#default-model input')`)
	s.eval(`document.querySelector('#default-model input').focus(); 0`)
	s.awaitTrue(`document.querySelector('#all-models option[value="fake/fake-1"]')`)
	s.wantCleanPage()
}
