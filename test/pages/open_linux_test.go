package pages_test

import (
	"net/http"
	"regexp"
	"testing"

	"collie/test/gateway"
	"collie/test/terminal"
)

// Where there is no display, a person gets the link at the terminal, and it works once.
func TestOpenAtATerminal(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	t.Setenv("BROWSER", "")
	p := gateway.Place(t)
	settings := p.Settings(t, nil)
	g := p.Serve(t, settings)
	s := terminal.Run(t, terminal.Size{Columns: 120, Rows: 24}, p.Collie, "open", "--home", g.Home, "--config", settings)
	shown := s.Finds(regexp.MustCompile(`#link=(\S+)`))
	s.Ends(0)
	b := signIn(t, g, shown)
	if got := b.status(http.MethodGet, "/api/v1/questions", ""); got != http.StatusOK {
		t.Errorf("signed in: %d", got)
	}
	if got := b.status(http.MethodPost, "/pages/session", `{"link":"`+shown+`"}`); got != http.StatusForbidden {
		t.Errorf("the link again: %d", got)
	}
}
