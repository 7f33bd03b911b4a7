//go:build stories && linux

package pages_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// A person finds what was refused, sees what was asked for, goes back page by page, takes it along, and sees where a record was changed.
func TestAudit(t *testing.T) {
	t.Parallel()
	s := tell(t)
	call := func(n int, path string) {
		t.Helper()
		s.gateway.Ask(t, "POST", "/calls", fmt.Sprintf(`{"name":"fs/read","args":{"path":%q,"blockLimit":%d}}`, path, n))
	}
	for i := range 60 {
		call(i+1, "/Welcome/Writing")
	}
	call(1, "/Welcome/Nowhere")
	s.signIn()
	s.click("header nav", "Audit")
	s.shows("[data-record='call.result'] summary", "fs.read")
	failed := `[...document.querySelectorAll('[data-record="call.result"]')]`
	before := s.eval(failed + `.length`).(float64)
	s.click("main", "Earlier records")
	s.until(failed + fmt.Sprintf(`.length > %v`, before))
	s.page("audit")

	s.choose("[data-field=outcome] option[value=refused]", "refused")
	s.until(failed + `.length === 1`)
	s.click("[data-record^=call]", "refused")
	s.shows("[data-record='call.result'] pre", "/Welcome/Nowhere")
	s.click("[data-record^=call]", "All records of this call")
	s.shows("main", "begun")
	s.until(`document.querySelectorAll('[data-record^="call."]').length === 2`)
	s.click("main", "Everything again")
	s.write("[data-field=text]", "nothing has this text")
	s.click("main", "Show")
	s.shows("main", "No record is like that.")

	// The text stays where a person has been to another page, and what is shown can be taken along.
	s.click("header nav", "Tools")
	s.shows("main", "fs")
	s.click("header nav", "Audit")
	s.until(`document.querySelector('[data-field=text]')?.value === 'nothing has this text'`)
	s.write("[data-field=text]", "Nowhere")
	s.click("main", "Show")
	s.until(failed + `.length === 1`)
	s.eval(`URL.createObjectURL = (data) => { data.text().then((text) => window.saved = text); return '#' }; HTMLAnchorElement.prototype.click = () => {}; 0`)
	s.press(`[...document.querySelectorAll('main button')].find(e => e.innerText.startsWith('Download'))`)
	s.until(`window.saved?.trim().split('\n').every(line => JSON.stringify(JSON.parse(line)).includes('Nowhere'))`)

	s.click("main", "Is it intact?")
	s.until(`document.querySelector('[data-verdict=intact]')`)
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
	s.shows("[data-verdict=broken]", "000001.jsonl, line")
	s.do(chromedp.EmulateViewport(360, 800))
	s.look("audit-broken-360")
	s.clean()
}
