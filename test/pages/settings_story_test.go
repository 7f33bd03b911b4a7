//go:build stories && linux

package pages_test

import (
	"os"
	"strings"
	"testing"
)

// A person changes a setting, which is in effect at once, sees what is wrong with a value beside its field with nothing typed lost, and
// goes back to the default.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := tell(t)
	file := func() string {
		t.Helper()
		raw, err := os.ReadFile(s.settings)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	s.signIn()
	s.click("header nav", "Settings")
	s.shows(`[data-setting="http.addr"]`, "set by --http "+"127.0.0.1")
	s.write(`[data-setting="context.budget"] input`, "a lot")
	s.click(`[data-setting="context.budget"]`, "Save")
	s.until(`document.querySelector('[data-setting="context.budget"] [role=alert]')?.innerText`)
	s.until(`document.querySelector('[data-setting="context.budget"] input').value === 'a lot'`)
	if strings.Contains(file(), "a lot") {
		t.Error("a wrong value is written")
	}
	s.page("settings")
	s.write(`[data-setting="context.budget"] input`, "8KiB")
	s.click(`[data-setting="context.budget"]`, "Save")
	s.shows(`[data-setting="context.budget"]`, "Saved.")
	s.shows(`[data-setting="context.budget"]`, "set by "+s.settings)
	if !strings.Contains(file(), "8KiB") {
		t.Errorf("it is not in the file: %s", file())
	}
	s.click(`[data-setting="context.budget"]`, "Back to the default")
	s.until(`document.querySelector('[data-setting="context.budget"] input').value === '16KiB'`)
	s.choose(`[data-setting="guard.mode"] option:nth-of-type(2)`, "log")
	s.click(`[data-setting="guard.mode"]`, "Save")
	s.shows(`[data-setting="guard.mode"]`, "Saved.")
	s.write(`[data-setting="http.addr"] input`, "nowhere")
	s.click(`[data-setting="http.addr"]`, "Save")
	s.until(`document.querySelector('[data-setting="http.addr"] [role=alert]')?.innerText`)
	if status, _ := s.gateway.Ask(t, "PUT", "/settings/http.noAuth", `{"value":true}`); status != 404 {
		t.Errorf("a setting that is not shown is changed: %d", status)
	}
	if all := records(t, s.gateway); !strings.Contains(all, "config set") || !strings.Contains(all, "config unset") {
		t.Errorf("it is not on record: %s", all)
	}
	s.choose("option[value=zh]", "zh")
	s.look("settings-zh")
	s.clean()
}
