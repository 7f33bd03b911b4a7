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
	s := tell(t,
		provider.Turn{Call: []provider.Call{call(`{"action":"tree","path":"/Welcome"}`), call(`{"action":"read","path":"/Welcome/Writing"}`)}},
		provider.Turn{
			Say:  "Your notebook has three documents. **Writing** says how to link and tag:\n\n| what | how |\n|---|---|\n| a link | `((id 'text'))` |\n| a tag | `#tea#` |\n\nIt belongs to your guides, so I would move it there.",
			Call: []provider.Call{call(`{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/How to write"}`)},
		},
		provider.Turn{Say: "Done."},
	)
	s.do(chromedp.EmulateViewport(1200, 1000))
	s.signIn()
	s.say("What is in my Welcome notebook, and where does Writing belong?")
	s.shows("article .question", "/Welcome/How to write")
	s.until(`document.querySelector('article.assistant td')`)
	s.look("chat")
	s.choose("option[value=dark]", "dark")
	s.click("header nav", "Tools")
	s.shows("main", "fs")
	s.eval(`document.querySelector('main details.tools').open = true; 0`)
	s.shows("main", "write")
	s.look("tools")
	s.clean()
}
