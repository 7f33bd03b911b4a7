package pages_test

import (
	"net/http"
	"regexp"
	"testing"

	"collie/test/await"
	"collie/test/gateway"
	"collie/test/terminal"
)

// If there is no display, `collie open` prints the link at the terminal. The link works once.
func TestOpenAtATerminal(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	t.Setenv("BROWSER", "")
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, nil)
	g := p.Serve(t, settings)
	s := terminal.Run(t, terminal.Size{Columns: 120, Rows: 24}, p.Collie, "open", "--home", g.Home, "--config", settings)
	shown := s.WaitForMatch(regexp.MustCompile(`#link=(\S+)`))
	s.WaitForExit(0)
	b := signIn(t, g, shown)
	if got := b.sendForStatus(http.MethodGet, "/api/v1/questions", ""); got != http.StatusOK {
		t.Errorf("signed in: %d", got)
	}
	if got := b.sendForStatus(http.MethodPost, "/pages/session", `{"link":"`+shown+`"}`); got != http.StatusForbidden {
		t.Errorf("the link again: %d", got)
	}
}

// `collie open --phone` shows a QR code if http.publicURL is set. If not, it says to set it.
func TestOpenForAPhone(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, nil)
	g := p.Serve(t, settings)
	open := func() *terminal.Screen {
		return terminal.Run(t, terminal.Size{Columns: 200, Rows: 60}, p.Collie, "open", "--phone", "--home", g.Home, "--config", settings)
	}
	s := open()
	s.WaitFor("http.publicURL")
	s.WaitForExit(1)
	p.SettingsAt(t, settings, nil, `"http":{"publicURL":"https://collie.example.org:8443"}`)
	await.Until(t, "the setting is in effect", func() bool {
		status, _ := g.Ask(t, http.MethodPost, "/browsers/links", `{"elsewhere":true}`)
		return status == http.StatusCreated
	})
	s = open()
	s.WaitFor("█▀▀▀▀▀█", "https://collie.example.org:8443/pages/#link=")
	s.WaitForExit(0)
}
