//go:build stories && linux

package pages_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"collie/test/fakellm/provider"
)

// awaitPuppy waits until the puppy shows a state.
func (s *story) awaitPuppy(doing string) {
	s.Helper()
	s.awaitTrue(fmt.Sprintf(`document.querySelector('.puppy .drawing')?.dataset.doing === %q`, doing))
}

// numberIn returns the text of the element that matches a selector, as a number.
func (s *story) numberIn(selector string) float64 {
	s.Helper()
	return s.eval(fmt.Sprintf(`Number(document.querySelector(%q).innerText)`, selector)).(float64)
}

// fsCall returns a turn in which the model calls the tool fs.
func fsCall(args string) provider.Turn {
	return provider.Turn{Call: []provider.Call{{Tool: "fs", Args: json.RawMessage(args)}}}
}

// The puppy shows what a model does and that a question waits, earns coins for calls, and eats what a person buys for
// them.
func TestPuppy(t *testing.T) {
	t.Parallel()
	s := startStory(t,
		fsCall(`{"action":"ls","path":"/"}`), fsCall(`{"action":"write","path":"/Welcome/Bone","markdown":"dig"}`), provider.Turn{Say: "it is written"},
		fsCall(`{"action":"read","path":"/Welcome/Nowhere"}`), provider.Turn{Say: "so far"},
		fsCall(`{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/Minutes"}`), provider.Turn{Say: "it is moved"},
		fsCall(`{"action":"rm","path":"/Welcome/Bone"}`), provider.Turn{Say: "that is not allowed"})
	s.signIn()
	s.awaitPuppy("idle")
	s.eval(`window.shown = []; window.hearts = 0; Math.random = () => 0.1
		new MutationObserver(() => {
			const now = document.querySelector('.puppy .drawing')
			if (now && now.dataset.doing !== shown.at(-1)) shown.push(now.dataset.doing)
			hearts += document.querySelectorAll('.puppy .hearts').length
		}).observe(document.body, { subtree: true, childList: true, attributes: true }); 0`)
	s.sendMessage("look around")
	s.awaitText("article.assistant", "it is written")
	s.awaitTrue(`shown.includes("writing")`)
	s.sendMessage("and read")
	s.awaitText("article.assistant", "so far")
	s.awaitTrue(`shown.slice(shown.lastIndexOf("writing")).includes("error")`)
	s.awaitPuppy("idle") // the error is shown for a while

	s.sendMessage("move it")
	s.awaitPuppy("dangerous")
	s.awaitTrue(`document.querySelector('.puppy .pup').ariaLabel.includes('wants your answer (fs')`)
	s.click(".puppy", "Puppy: wants your answer")
	s.click(".tray", "Allow once")
	s.awaitText("article.assistant", "it is moved")
	s.awaitTrue(`shown.slice(shown.lastIndexOf("moving")).includes("success")`)
	s.sendMessage("and delete the other")
	s.awaitText("article.assistant", "that is not allowed")
	s.awaitTrue(`shown.slice(shown.lastIndexOf("deleting")).includes("error")`)
	got := s.eval(`shown.join(' ')`).(string)
	for _, doing := range []string{"reading", "writing", "error", "idle", "dangerous", "moving", "deleting", "success"} {
		if !strings.Contains(" "+got+" ", " "+doing+" ") {
			t.Errorf("the puppy never showed %q, but %s", doing, got)
		}
	}
	if s.eval(`hearts`).(float64) == 0 {
		t.Error("no hearts, although chance was with them")
	}

	s.awaitPuppy("idle")
	s.click(".puppy", "Puppy: has nothing to do")
	s.awaitText(".wages .facts", "fs/rm")
	balance, calls := s.numberIn(".wages .facts dd"), s.numberIn(".wages .facts dd:nth-of-type(3)")
	if balance < 3 || calls < balance+2 {
		t.Errorf("%v coins were earned in %v calls, expected at least 3, and 2 calls more that earned none", balance, calls)
	}
	s.click("[data-item=milk]", "Buy")
	s.awaitTrue(fmt.Sprintf(`Number(document.querySelector('.wages .facts dd').innerText) === %v`, balance-3))
	s.click("[data-item=milk]", "Feed")
	s.awaitTrue(`document.querySelector('.puppy .item .food')`)
	s.awaitTrue(`![...document.querySelectorAll('.wages button')].some(b => b.innerText.startsWith('Feed'))`)
	s.wantCleanPage()
}

// The position of the puppy is kept over a reload, and so is that it is hidden. Its test mode shows every state, also
// without a sign-in.
func TestPuppyIsKept(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	s.signIn()
	s.awaitPuppy("idle")
	s.eval(`Math.random = () => 0.99; 0`)
	s.awaitTrue(`document.querySelector('.puppy .drawing[data-pose=sleep][data-eyes=closed] .snore')`) // it falls asleep if nothing happens
	left := func() float64 {
		return s.eval(`document.querySelector('.puppy').getBoundingClientRect().left`).(float64)
	}
	before := left()
	s.perform(chromedp.Focus(chromedp.CSS(".puppy .pup")), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft))
	s.awaitTrue(fmt.Sprintf(`document.querySelector('.puppy').getBoundingClientRect().left < %f`, before-20))
	at := s.eval(`(r => [r.left + r.width / 2, r.top + r.height / 2])(document.querySelector('.puppy').getBoundingClientRect())`).([]any)
	x, y := at[0].(float64), at[1].(float64)
	s.perform(chromedp.DragAndDropXY(x, y, 300, 200))
	s.awaitTrue(`Math.abs(document.querySelector('.puppy').getBoundingClientRect().left + 48 - 300) < 3`)
	if s.eval(`!!document.querySelector('.wages')`).(bool) {
		t.Error("dragging counts as a click")
	}
	s.perform(chromedp.Reload())
	s.awaitPuppy("idle")
	if now := left() + 48; now < 297 || now > 303 {
		t.Errorf("after a reload it is at %v, not at 300", now)
	}

	s.click("header nav", "Puppy")
	for _, doing := range []string{"idle", "reading", "writing", "deleting", "moving", "dangerous", "success", "error"} {
		s.clickElement(fmt.Sprintf(`document.querySelector('[data-test=%s]')`, doing))
		s.awaitPuppy(doing)
	}
	for _, pose := range []string{"stand", "sit", "look", "groom", "lie", "sleep"} {
		s.awaitTrue(fmt.Sprintf(`document.querySelector('.kennel figure .drawing[data-pose=%s]')`, pose))
	}
	s.wantFitsScreens("puppy")
	s.clickElement(`document.querySelector('[data-test=error]')`)
	s.perform(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}})
		return err
	}))
	s.awaitTrue(`document.getAnimations().length === 0`)

	s.click(".puppy", "Hide the puppy")
	s.awaitTrue(`!document.querySelector('.puppy')`)
	s.perform(chromedp.Reload())
	s.awaitText("main", "Test mode")
	s.awaitTrue(`!document.querySelector('main input[type=checkbox]').checked`)
	s.clickElement(`document.querySelector('main input[type=checkbox]')`)
	s.awaitPuppy("idle")

	s.click("header", "Sign out")
	s.awaitTrue(`!document.querySelector('header')`)
	s.awaitText("main", "Choose a state to see it")
	s.clickElement(`document.querySelector('[data-test=moving]')`)
	s.awaitTrue(`document.querySelector('[data-test=moving]').ariaPressed === 'true'`)
	s.wantCleanPage()
}
