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

// A person connects a client with one click, first over stdio and then over HTTP, renews its token, sees that the
// client still has the old one, writes it again, and disconnects the client.
func TestClients(t *testing.T) {
	t.Parallel()
	s := startStory(t)
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
	s.awaitText("[data-client=cursor] summary", "not connected")
	s.awaitText("[data-profile=default]", "11")
	s.click("[data-client=cursor]", "Cursor")
	s.awaitText("[data-client=cursor] pre", `"stdio"`)
	if raw, err := os.ReadFile(file); err != nil || string(raw) != before {
		t.Fatalf("looking has changed the file: %s %v", raw, err)
	}
	s.click("[data-client=cursor]", "Write it")
	s.awaitText("[data-client=cursor]", "Done.")
	written(`"stdio"`)
	s.awaitText("[data-client=cursor] summary", "connected")

	s.clickElement(`document.querySelectorAll('[data-client=cursor] [type=radio]')[1]`)
	s.awaitText("[data-client=cursor] pre", "Bearer collie_…")
	s.eval(`Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => void (window.copied = text) } }); 0`)
	s.click("[data-client=cursor]", "Make a token and copy")
	s.awaitTrue(`/Bearer collie_[A-Za-z0-9_-]{20}/.test(window.copied ?? '')`)
	s.awaitText("[data-token=cursor-copy]", "tools")
	s.click("[data-client=cursor]", "Write it anew")
	s.awaitText("[data-token=cursor]", "opens: tools")
	s.awaitText("[data-client=cursor]", "Done.")
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
		return b.sendForStatus("GET", "/api/v1/tools", "", "Authorization", "Bearer "+secret, "Collie-Browser-Key", "")
	}
	await.Until(t, "the token opens", func() bool { return opens() == 200 })
	s.wantFitsScreens("clients")
	s.click("[data-token=cursor]", "Renew: cursor")
	s.click("[data-token=cursor]", "Renew")
	s.awaitText("[data-token=cursor]", "are to be written anew: cursor")
	await.Until(t, "the old token opens nothing", func() bool { return opens() == 401 })
	s.eval(`document.querySelector('[data-token=cursor]').scrollIntoView()`)
	s.takePicture("clients-renewed")

	s.click("[data-token=cursor] .renewed", "cursor")
	s.click("[data-client=cursor]", "Write it anew")
	await.Until(t, "the client has a token that opens", func() bool {
		raw, err := os.ReadFile(file)
		secret = regexp.MustCompile(`collie_[\w-]+`).FindString(string(raw))
		return err == nil && opens() == 200
	})

	s.click("[data-client=cursor]", "Disconnect: Cursor")
	s.click("[data-client=cursor] [role=group]", "Disconnect")
	s.awaitText("[data-client=cursor] summary", "not connected")
	s.awaitTrue(`!document.querySelector('[data-token=cursor]')`)
	if raw, err := os.ReadFile(file); err != nil || string(raw) != before {
		t.Errorf("the file is not what it was: %s %v", raw, err)
	}
	if all := auditText(t, s.gateway); !strings.Contains(all, `"connect"`) || !strings.Contains(all, "token rotate") || strings.Contains(all, secret) {
		t.Errorf("the records are %s", all)
	}
	s.awaitTrue(`document.querySelector('[data-client=cursor] summary strong')`)
	s.setSelect("option[value=zh]", "zh")
	s.setSelect("option[value=dark]", "dark")
	s.perform(chromedp.EmulateViewport(360, 800))
	s.takePicture("clients-zh-dark-360")
	s.wantCleanPage()
}

// A person makes a token, whose secret is shown once, and ends it, and narrows and widens a profile. A change that
// lets clients see or do more requires that its name is typed.
func TestTokensAndProfiles(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	s.signIn()
	s.click("header nav", "Clients")
	s.click("main", "Add a token")
	s.setField("[data-add=token] [data-field=name]", "laptop")
	s.click("[data-add=token]", "Add")
	s.awaitText("[data-made=laptop]", "collie_")
	secret := s.eval(`document.querySelector('[data-made] code').innerText`).(string)
	s.awaitText("[data-token=laptop]", "opens: tools")
	opens := func() int {
		b := &browser{T: t, gateway: s.gateway}
		return b.sendForStatus("GET", "/api/v1/tools", "", "Authorization", "Bearer "+secret, "Collie-Browser-Key", "")
	}
	await.Until(t, "the token opens", func() bool { return opens() == 200 })
	s.wantFitsScreens("token")
	s.click("main", "Add a token")
	s.awaitTrue(`!document.querySelector('[data-made]')`)
	s.setField("[data-add=token] [data-field=name]", "laptop")
	s.click("[data-add=token]", "Add")
	s.awaitText("[data-add=token] [role=alert]", "there is a token of that name")
	s.setField("[data-add=token] [data-field=name]", "phone")
	s.clickElement(`document.querySelector('[data-add=token] [value=approve]')`)
	s.awaitTrue(`document.querySelector('[data-add=token] .primary').disabled`)
	if status, raw := s.gateway.Ask(t, "POST", "/tokens", `{"name":"phone","scopes":["approve"]}`); status != 409 && status != 403 || !strings.Contains(string(raw), "type: phone") {
		t.Errorf("a token that approves, which nobody typed: %d %s", status, raw)
	}
	s.setField("[data-add=token] [data-field=typed]", "phone")
	s.click("[data-add=token]", "Add")
	s.awaitText("[data-token=phone]", "opens: tools, approve")
	s.click("[data-token=laptop]", "End: laptop")
	s.click("[data-token=laptop]", "End")
	s.awaitTrue(`!document.querySelector('[data-token=laptop]')`)
	await.Until(t, "the token opens nothing", func() bool { return opens() == 401 })

	s.click("main", "Add a profile")
	s.setField("[data-form=profile] [data-field=name]", "reader")
	s.setField("[data-form=profile] [data-field=tools]", "fs\ntag")
	s.eval(`(e => { e.value = 'r'; e.dispatchEvent(new Event('change', { bubbles: true })) })(document.querySelector('[data-form=profile] [data-notebook=Welcome]'))`)
	s.wantFitsScreens("profile")
	s.click("[data-form=profile]", "Save")
	s.awaitTrue(`!document.querySelector('[data-form=profile]')`)
	s.awaitText("[data-profile=reader]", "2")
	raw, err := os.ReadFile(s.settings)
	if err != nil || !strings.Contains(string(raw), `"reader"`) {
		t.Errorf("it is not in the settings: %s (%v)", raw, err)
	}
	s.click("[data-profile=reader]", "Edit: reader")
	s.awaitTrue(`document.querySelector('[data-form=profile] [data-notebook=Welcome]')?.value === 'r'`)
	s.setField("[data-form=profile] [data-field=tools]", "fs")
	s.click("[data-form=profile]", "Save")
	s.awaitTrue(`!document.querySelector('[data-form=profile]')`)
	s.awaitText("[data-profile=reader]", "1")
	s.click("[data-profile=reader]", "Edit: reader")
	s.setField("[data-form=profile] [data-field=tools]", "")
	s.click("[data-form=profile]", "Save")
	s.awaitText("[data-form=profile]", "To agree, type: reader")
	s.awaitTrue(`document.querySelector('[data-form=profile] .primary').disabled`)
	s.setField("[data-form=profile] [data-field=typed]", "reader")
	s.click("[data-form=profile]", "Save")
	s.awaitText("[data-profile=reader]", "11")
	s.click("[data-profile=reader]", "Edit: reader")
	s.click("[data-form=profile]", "Remove: reader")
	s.setField("[data-form=profile] [data-field=typed]", "reader")
	s.click("[data-form=profile]", "Remove")
	s.awaitTrue(`!document.querySelector('[data-profile=reader]')`)
	if all := auditText(t, s.gateway); !strings.Contains(all, "token add") || !strings.Contains(all, "profiles") || strings.Contains(all, secret) {
		t.Errorf("the records are %s", all)
	}
	s.wantCleanPage()
}
