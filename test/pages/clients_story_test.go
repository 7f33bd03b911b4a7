//go:build stories && linux

package pages_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"collie/test/await"
)

// A person connects a client with one click, over HTTP too, renews its token and sees that the client has the old one, and takes
// Collie out again.
func TestClients(t *testing.T) {
	t.Parallel()
	s := tell(t)
	file := filepath.Join(s.user, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	before := `{"mcpServers":{"tea":{"command":"tea"}}}`
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	written := func(text string) {
		t.Helper()
		await.Until(t, text, func() bool { raw, err := os.ReadFile(file); return err == nil && strings.Contains(string(raw), text) })
	}
	s.signIn()
	s.click("header nav", "Clients")
	s.shows("[data-client=cursor] summary", "not connected")
	s.shows("[data-profile=default]", "11")
	s.click("[data-client=cursor]", "Cursor")
	s.shows("[data-client=cursor] pre", `"stdio"`)
	if raw, err := os.ReadFile(file); err != nil || string(raw) != before {
		t.Fatalf("looking has changed the file: %s %v", raw, err)
	}
	s.click("[data-client=cursor]", "Write it")
	s.shows("[data-client=cursor]", "Done.")
	written(`"stdio"`)
	s.shows("[data-client=cursor] summary", "connected")

	s.press(`document.querySelectorAll('[data-client=cursor] [type=radio]')[1]`)
	s.shows("[data-client=cursor] pre", "Bearer collie_…")
	s.click("[data-client=cursor]", "Write it anew")
	s.shows("[data-token=cursor]", "opens: tools")
	s.shows("[data-client=cursor]", "Done.")
	written("Bearer collie_")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	secret := regexp.MustCompile(`collie_[\w-]+`).FindString(string(raw))
	if shown := s.eval(`document.body.innerText`).(string); strings.Contains(shown, secret) {
		t.Error("the page shows the token")
	}
	opens := func() int {
		b := &browser{T: t, gateway: s.gateway}
		return b.status("GET", "/api/v1/tools", "", "Authorization", "Bearer "+secret, "Collie-Browser-Key", "")
	}
	await.Until(t, "the token opens", func() bool { return opens() == 200 })
	s.page("clients")
	s.click("[data-token=cursor]", "Renew: cursor")
	s.click("[data-token=cursor]", "Renew")
	s.shows("[data-token=cursor]", "are to be written anew: cursor")
	await.Until(t, "the old token opens nothing", func() bool { return opens() == 401 })
	s.eval(`document.querySelector('[data-token=cursor]').scrollIntoView()`)
	s.look("clients-renewed")

	s.click("[data-token=cursor] .renewed", "cursor")
	s.click("[data-client=cursor]", "Write it anew")
	await.Until(t, "the client has a token that opens", func() bool {
		raw, err := os.ReadFile(file)
		secret = regexp.MustCompile(`collie_[\w-]+`).FindString(string(raw))
		return err == nil && opens() == 200
	})

	s.click("[data-client=cursor]", "Disconnect: Cursor")
	s.click("[data-client=cursor] [role=group]", "Disconnect")
	s.shows("[data-client=cursor] summary", "not connected")
	s.until(`!document.querySelector('[data-token=cursor]')`)
	if raw, err := os.ReadFile(file); err != nil || string(raw) != before {
		t.Errorf("the file is not what it was: %s %v", raw, err)
	}
	if all := records(t, s.gateway); !strings.Contains(all, `"connect"`) || !strings.Contains(all, "token rotate") || strings.Contains(all, secret) {
		t.Errorf("the records are %s", all)
	}
	s.until(`document.querySelector('[data-client=cursor] summary strong')`)
	s.choose("option[value=zh]", "zh")
	s.choose("option[value=dark]", "dark")
	s.do(chromedp.EmulateViewport(360, 800))
	s.look("clients-zh-dark-360")
	s.clean()
}
