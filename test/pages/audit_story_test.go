//go:build stories && linux

package pages_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A person goes back to earlier records, finds a refused call and its arguments, downloads what is shown, and sees which
// record somebody has changed in the file.
func TestAudit(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	call := func(n int, path string) {
		t.Helper()
		s.gateway.Ask(t, "POST", "/calls", fmt.Sprintf(`{"name":"fs/read","args":{"path":%q,"blockLimit":%d}}`, path, n))
	}
	for i := range 60 {
		call(i+1, "/Welcome/Writing")
	}
	call(1, "/Welcome/Nowhere")
	s.signIn()
	s.click("header nav", "Notes")
	s.awaitText(".shelf", "Writing")
	s.click("header nav", "Audit")
	s.awaitText("[data-record='call.result'] summary", "fs.read")
	results := `[...document.querySelectorAll('[data-record="call.result"]')]`
	before := s.eval(results + `.length`).(float64)
	s.click("main", "Earlier records")
	s.awaitTrue(results + fmt.Sprintf(`.length > %v`, before))
	s.wantFitsScreens("audit")

	// The records of what the pages read themselves are shown on request only.
	own := `[...document.querySelectorAll('[data-record="call.result"] summary')].some(e => /fs.ls[^]*in these pages/.test(e.innerText))`
	if s.eval(own) == true {
		t.Error("the reads of the pages are among the records")
	}
	s.clickElement(`document.querySelector('[data-field=own]')`)
	s.awaitTrue(own)
	s.clickElement(`document.querySelector('[data-field=own]')`)
	s.awaitTrue(`!` + own)

	s.setSelect("[data-field=outcome] option[value=refused]", "refused")
	s.awaitTrue(results + `.length === 1`)
	s.awaitText("[data-record^=call] .badge.refused", "⊘ refused")
	s.clickElement(`document.querySelector('[data-record^=call] summary')`)
	s.awaitText("[data-record='call.result'] dd", "refused before it ran")
	s.awaitText("[data-record='call.result'] pre", "/Welcome/Nowhere")
	s.click("[data-record^=call]", "All records of this call")
	s.awaitText("main", "begun")
	s.awaitTrue(`document.querySelectorAll('[data-record^="call."]').length === 2`)
	s.click("main", "Everything again")
	s.setField("[data-field=text]", "nothing has this text")
	s.click("main", "Show")
	s.awaitText("main", "No record is like that.")

	// The text of the search is still there after a visit to another page, and what is shown can be downloaded. The page
	// offers the file as a link to a blob, which a script of the test reads.
	s.click("header nav", "Tools")
	s.awaitText("main", "fs")
	s.click("header nav", "Audit")
	s.awaitTrue(`document.querySelector('[data-field=text]')?.value === 'nothing has this text'`)
	s.setField("[data-field=text]", "Nowhere")
	s.click("main", "Show")
	s.awaitTrue(results + `.length === 1`)
	s.eval(`URL.createObjectURL = (data) => { data.text().then((text) => window.saved = text); return '#' }; HTMLAnchorElement.prototype.click = () => {}; 0`)
	s.clickElement(`[...document.querySelectorAll('main button')].find(e => e.innerText.startsWith('Download'))`)
	s.awaitTrue(`window.saved?.trim().split('\n').every(line => JSON.stringify(JSON.parse(line)).includes('Nowhere'))`)
	s.eval(`window.saved = ''; 0`)
	s.click("main", "Download with a signed proof")
	s.awaitTrue(`window.saved.includes('/Welcome/Nowhere')`)
	signed := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(signed, []byte(s.eval(`window.saved`).(string)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, problem, code := s.programs.Run(t, s.gateway.Home, "audit", "verify", "--export", signed, "--config", s.settings); code != 0 || !strings.Contains(out, "intact") {
		t.Errorf("the signed export: %d %s %s", code, out, problem)
	}

	s.click("main", "Is it intact?")
	s.awaitTrue(`document.querySelector('[data-verdict=intact]')`)
	changed := false
	chains, err := filepath.Glob(filepath.Join(s.gateway.Home, "state", "audit", "*", "000001.jsonl"))
	for _, chain := range chains {
		raw, rerr := os.ReadFile(chain)
		if rerr != nil {
			t.Fatal(rerr)
		}
		if other := bytes.Replace(raw, []byte("/Welcome/Nowhere"), []byte("/Welcome/Somehow"), 1); !bytes.Equal(raw, other) {
			changed, err = true, os.WriteFile(chain, other, 0o600)
		}
	}
	if err != nil || !changed {
		t.Fatalf("no record was changed in %v: %v", chains, err)
	}
	s.click("main", "Is it intact?")
	s.awaitText("[data-verdict=broken]", "000001.jsonl, line")
	s.perform(chromedp.EmulateViewport(360, 800))
	s.takePicture("audit-broken-360")
	s.wantCleanPage()
}
