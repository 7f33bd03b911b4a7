//go:build stories && linux

package pages_test

import (
	"net"
	"os"
	"strings"
	"testing"

	"collie/test/await"
)

// A person changes a setting, which takes effect at once, is told beside the field what is wrong with a value,
// without losing what was typed, and goes back to the default.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := startStory(t)
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
	s.awaitText(`[data-setting="http.addr"]`, "set by --http "+"127.0.0.1")
	s.awaitTrue(`(at => at.innerText.includes('--http ' + at.querySelector('input').value + ' '))(document.querySelector('[data-setting="http.addr"]'))`) // the address in effect, not the one in the file
	s.setField(`[data-setting="context.budget"] input`, "a lot")
	s.click(`[data-setting="context.budget"]`, "Save")
	s.awaitTrue(`document.querySelector('[data-setting="context.budget"] [role=alert]')?.innerText`)
	s.awaitTrue(`document.querySelector('[data-setting="context.budget"] input').value === 'a lot'`)
	if strings.Contains(file(), "a lot") {
		t.Error("a wrong value is written")
	}
	s.wantFitsScreens("settings")
	s.setField(`[data-setting="context.budget"] input`, "8KiB")
	s.click(`[data-setting="context.budget"]`, "Save")
	s.awaitText(`[data-setting="context.budget"]`, "Saved.")
	s.awaitText(`[data-setting="context.budget"]`, "set by "+s.settings)
	if !strings.Contains(file(), "8KiB") {
		t.Errorf("it is not in the file: %s", file())
	}
	s.click(`[data-setting="context.budget"]`, "Back to the default")
	s.awaitTrue(`document.querySelector('[data-setting="context.budget"] input').value === '16KiB'`)
	s.setSelect(`[data-setting="guard.mode"] option:nth-of-type(2)`, "log")
	s.click(`[data-setting="guard.mode"]`, "Save")
	s.awaitText(`[data-setting="guard.mode"]`, "Saved.")
	if status, _ := s.gateway.Ask(t, "PUT", "/settings/http.noAuth", `{"value":true}`); status != 404 {
		t.Errorf("a setting that is not shown is changed: %d", status)
	}
	if all := auditText(t, s.gateway); !strings.Contains(all, "config set") || !strings.Contains(all, "config unset") {
		t.Errorf("it is not on record: %s", all)
	}
	s.setSelect("option[value=zh]", "zh")
	s.takePicture("settings-zh")
	s.wantCleanPage()
}

// freePort returns an address of this machine, with a port, that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A person gives the gateway another address. If the address is taken, nothing changes and the page says why. If it
// is free, the page moves there and stays signed in, the command line finds the gateway, and the old address is
// closed.
func TestTheListenerMoves(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	s.restartWhereSettingsSay()
	s.signIn()
	before := s.gateway.URL
	s.click("header nav", "Settings")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s.setField("[data-listener] [name=addr]", taken.Addr().String())
	s.click("[data-listener]", "Listen there")
	s.awaitText("[data-listener] [role=alert]", "the address is in use by")
	s.wantFitsScreens("settings-taken")
	s.loadAxe()
	if raw, err := os.ReadFile(s.settings); err != nil || strings.Contains(string(raw), taken.Addr().String()) {
		t.Errorf("an address that cannot be opened is written: %s (%v)", raw, err)
	}
	s.setField("[data-listener] [name=addr]", "nowhere")
	s.click("[data-listener]", "Listen there")
	s.awaitTrue(`!document.querySelector('[data-listener] [role=alert]')?.innerText.includes('in use')`)
	s.awaitTrue(`document.querySelector('[data-listener] [role=alert]')?.innerText`)

	to := freePort(t)
	s.allowHost(to)
	s.setField("[data-listener] [name=addr]", to)
	s.click("[data-listener]", "Listen there")
	s.awaitTrue(`location.host === '` + to + `'`)
	s.awaitText("main", "The listener")
	s.awaitTrue(`document.querySelector('[data-listener] [name=addr]').value === '` + to + `'`)
	s.gateway.URL = "http://" + to
	if out, problem, code := s.programs.Run(t, s.gateway.Home, "tools", "--config", s.settings); code != 0 || !strings.Contains(out, "fs") {
		t.Errorf("the command line does not find it: %d %s %s", code, out, problem)
	}
	await.Until(t, "the old address is closed", func() bool {
		c, err := net.Dial("tcp", strings.TrimPrefix(before, "http://"))
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	s.click("header nav", "Tools")
	s.awaitText("main", "fs")

	after := freePort(t)
	s.allowHost(after)
	if status, raw := s.gateway.Ask(t, "PUT", "/listener", `{"addr":"`+after+`"}`); status != 200 {
		t.Fatalf("another move, which this page did not ask for: %d %s", status, raw)
	}
	s.awaitTrue(`location.host === '` + after + `'`)
	s.awaitText("main", "fs") // still the same page
	s.gateway.URL = "http://" + after
	if all := auditText(t, s.gateway); !strings.Contains(all, to) {
		t.Errorf("it is not on record: %s", all)
	}
	s.wantCleanPage()
}

// allowHost allows the page to ask a further host, such as the next address of the gateway.
func (s *story) allowHost(to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moreHosts = append(s.moreHosts, to)
}

// restartWhereSettingsSay restarts the gateway so that it listens where its settings say, not where a flag says.
func (s *story) restartWhereSettingsSay() {
	s.Helper()
	s.gateway.Signal(terminate)
	if code := s.gateway.ExitCode(); code != 0 {
		s.Fatalf("serve ended with %d", code)
	}
	s.sections = append(s.sections, `"http":{"addr":"`+freePort(s.T)+`"}`)
	s.programs.SettingsAt(s, s.settings, nil, s.sections...)
	s.gateway = s.programs.ServeIn(s.T, s.gateway.Home, s.settings, "--http", "")
}
