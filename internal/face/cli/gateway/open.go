package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	"collie/internal/face/web"
	"collie/internal/tool"
)

// This file has the command `collie open`, which signs a browser in.

const opOpen = "open"

// OpenCommand returns the command `collie open`.
func OpenCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}
	var list, phone, show bool
	var end string
	c := &cobra.Command{
		Use: "open", Short: "Open the pages in your browser, signed in", Args: cobra.NoArgs,
		Long: "Opens the pages of the running gateway in your browser, with a link that signs that browser in.\n" +
			"Where no browser can be opened, the link is shown at the terminal. It is for one browser and for\n" +
			"two minutes. It never goes to stdout, where a program could read it. A browser stays signed in for\n" +
			"thirty days after it was last used, also when the gateway starts again.",
		Example: "  collie open\n  collie open --show\n  collie open --phone\n  collie open --list\n  collie open --end ID",
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := p.gatewayForPages(c.Context())
			switch {
			case err != nil:
				return err
			case list:
				return p.listBrowsers(c.Context(), api)
			case end != "":
				if _, err := api.Do(c.Context(), http.MethodDelete, "/browsers/"+url.PathEscape(end), nil); err != nil {
					return err
				}
				p.Note("signed out: %s", end)
				return nil
			}
			return p.open(c.Context(), api, phone, show)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "show the browsers that are signed in")
	c.Flags().StringVar(&end, "end", "", "sign out the browser with `ID`")
	c.Flags().BoolVar(&phone, "phone", false, "show a link for a browser on another machine, as a QR code")
	c.Flags().BoolVar(&show, "show", false, "show the link at the terminal, to paste it where a browser cannot be opened")
	c.MarkFlagsMutuallyExclusive("list", "end", "phone", "show")
	return c
}

// gatewayForPages returns a client for the running gateway of this home.
func (p commands) gatewayForPages(ctx context.Context) (*remote.Client, error) {
	cfg, err := p.Load()
	if err != nil {
		return nil, err
	}
	g, _, err := p.FindGateway(ctx, cfg)
	if err != nil {
		return nil, &tool.Error{
			Op: opOpen, Kind: tool.Unavailable, Message: "the gateway serves the pages",
			Hint: "run collie serve in another terminal, or collie service install", Err: err,
		}
	}
	return remote.New(cfg, g, nil), nil
}

// open gets a link from the gateway that signs a browser in, and opens or shows it. It does so only for a person at a
// terminal.
func (p commands) open(ctx context.Context, api *remote.Client, phone, show bool) error {
	terminal, err := p.OpenTerminal()
	if err != nil {
		return &tool.Error{
			Op: opOpen, Kind: tool.Unconfirmed, Message: "there is no terminal, and only a person at one may sign a browser in",
			Hint: "run it in a terminal yourself", Err: err,
		}
	}
	defer terminal.Close()
	raw, err := api.Do(ctx, http.MethodPost, "/browsers/links", fmt.Appendf(nil, `{"elsewhere":%t}`, phone))
	if err != nil {
		return err
	}
	var made web.Link
	if err := json.Unmarshal(raw, &made); err != nil {
		return err
	}
	if phone {
		_, err = fmt.Fprint(terminal, qrText(made.QR)+locale.Sprintf("Open this on the other machine within two minutes; it works once:\n  %s\n", made.Address))
		return err
	}
	if !show && p.OpenBrowser(ctx, made.Address) == nil {
		p.Note("opened the pages in your browser")
		return nil
	}
	_, err = fmt.Fprint(terminal, locale.Sprintf("Open this in your browser within two minutes; it works once:\n  %s\n", made.Address))
	return err
}

// qrText draws a QR code with a margin around it. Each line shows two rows of the code.
func qrText(rows []string) string {
	const margin = 2
	dark := func(x, y int) bool { return y >= 0 && y < len(rows) && x >= 0 && x < len(rows[y]) && rows[y][x] == '1' }
	var b strings.Builder
	for y := -margin; y < len(rows)+margin; y += 2 {
		b.WriteString("\x1b[30;107m") // black on white, whatever the terminal's own colors
		for x := -margin; x < len(rows)+margin; x++ {
			switch top, bottom := dark(x, y), dark(x, y+1); {
			case top && bottom:
				b.WriteString("█")
			case top:
				b.WriteString("▀")
			case bottom:
				b.WriteString("▄")
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteString("\x1b[0m\n")
	}
	return b.String()
}

// listBrowsers prints the browsers that are signed in.
func (p commands) listBrowsers(ctx context.Context, api *remote.Client) error {
	raw, err := api.Do(ctx, http.MethodGet, "/browsers", nil)
	if err != nil {
		return err
	}
	var got struct {
		Browsers []web.Browser `json:"browsers"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(got)
	}
	if len(got.Browsers) == 0 {
		p.Note("no browser is signed in")
		return nil
	}
	now, rows := time.Now(), make([][]string, len(got.Browsers))
	for i, b := range got.Browsers {
		rows[i] = []string{b.ID, output.OneLine(b.Name), output.OneLine(b.Host), output.Ago(b.Made, now), output.Ago(b.Used, now)}
	}
	return p.Table([]string{"ID", "BROWSER", "ADDRESS", "SIGNED IN", "USED"}, rows)
}
