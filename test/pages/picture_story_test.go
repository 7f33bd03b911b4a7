//go:build stories && linux

package pages_test

import (
	"encoding/json"
	"testing"

	"github.com/chromedp/chromedp"

	"collie/test/fakellm/provider"
)

// TestPictures takes the pictures of the README, with the flags -args -shots docs/pictures: a model that works with
// notes and asks before it moves one, and the page of tools in the dark theme.
func TestPictures(t *testing.T) {
	t.Parallel()
	call := func(args string) provider.Call { return provider.Call{Tool: "fs", Args: json.RawMessage(args)} }
	s := startStory(t,
		provider.Turn{Call: []provider.Call{call(`{"action":"tree","path":"/Welcome"}`), call(`{"action":"read","path":"/Welcome/Writing"}`)}},
		provider.Turn{
			Say:  "Your notebook has three documents. **Writing** says how to link and tag:\n\n| what | how |\n|---|---|\n| a link | `((id 'text'))` |\n| a tag | `#tea#` |\n\nIt belongs to your guides, so I would move it there.",
			Call: []provider.Call{call(`{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/How to write"}`)},
		},
		provider.Turn{Say: "Done."},
	)
	s.perform(chromedp.EmulateViewport(1200, 1000))
	s.signIn()
	s.sendMessage("What is in my Welcome notebook, and where does Writing belong?")
	s.awaitText("article .question", "/Welcome/How to write")
	s.awaitTrue(`document.querySelector('article.assistant td')`)
	s.takePicture("chat")
	s.setSelect("option[value=dark]", "dark")
	s.click("header nav", "Tools")
	s.awaitText("main", "fs")
	s.eval(`document.querySelector('main details.tools').open = true; 0`)
	s.awaitText("main", "write")
	s.takePicture("tools")
	s.wantCleanPage()
}
