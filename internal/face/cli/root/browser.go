package root

import (
	"context"
	"errors"
	"runtime"
	"time"

	"collie/internal/process"
)

// This file opens pages in the person's browser.

// browserTime is how long the system's program for opening pages may take to report a failure.
const browserTime = 3 * time.Second

// OpenBrowser opens a page in the user's browser. address must be a checked URL, because the system's program
// opens anything. An error means that the page was not opened.
func (p *Program) OpenBrowser(_ context.Context, address string) error {
	c := process.Command{Label: "browser", Env: p.Env.List()}
	switch runtime.GOOS {
	case "darwin":
		c.Name, c.Args = "/usr/bin/open", []string{address}
	case "windows":
		c.Name, c.Args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	default:
		if p.Env.First("DISPLAY", "WAYLAND_DISPLAY", "BROWSER") == "" {
			return errors.New("there is no display")
		}
		c.Name, c.Args = "xdg-open", []string{address}
	}
	return process.Launch(c, browserTime)
}
