package cli

import (
	"context"
	"errors"
	"runtime"
	"time"

	"collie/internal/process"
)

// browserTime is how long the system's opener may take to say that it cannot.
const browserTime = 3 * time.Second

// openBrowser opens a page in the user's browser. address is one that was checked: the opener
// takes anything. An error means that nobody will see the page.
func (p *program) openBrowser(_ context.Context, address string) error {
	c := process.Command{Label: "browser", Env: p.env.List()}
	switch runtime.GOOS {
	case "darwin":
		c.Name, c.Args = "/usr/bin/open", []string{address}
	case "windows":
		c.Name, c.Args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	default:
		if p.env.First("DISPLAY", "WAYLAND_DISPLAY", "BROWSER") == "" {
			return errors.New("there is no display")
		}
		c.Name, c.Args = "xdg-open", []string{address}
	}
	return process.Launch(c, browserTime)
}
