package notes

import (
	"context"
	"encoding/json"
	"net"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/tool"
)

// This file has the command `collie siyuan panel`, which puts a window with Collie into SiYuan.

// frameOrigins is the setting that lists the origins whose pages may show the panel in a frame.
const frameOrigins = "web.frameOrigins"

func (p commands) siyuanPanelCommand() *cobra.Command {
	return root.Group("panel", "Collie in SiYuan's own window: a dock and the puppy",
		p.siyuanPanelInstallCommand(),
		p.siyuanPanelRemoveCommand(),
	)
}

func (p commands) siyuanPanelInstallCommand() *cobra.Command {
	var address, origin string
	c := &cobra.Command{
		Use: "install", Short: "Put the panel into the workspace, or bring it up to date", Args: cobra.NoArgs,
		Long: "Writes a small plugin into the workspace, /data/plugins/collie-panel, through SiYuan's kernel, and\n" +
			"switches it on. In SiYuan it shows switches, levels and settings in a dock, and the puppy. The\n" +
			"origin of that window is added to the setting web.frameOrigins: pages of that origin alone may show\n" +
			"the panel in a frame. Load SiYuan's window again to see it.",
		Example: "  collie siyuan panel install\n  collie siyuan panel install --origin https://siyuan.example.org --address https://collie.example.org",
		RunE: func(c *cobra.Command, _ []string) error {
			return p.siyuanPanelInstall(c.Context(), address, origin)
		},
	}
	c.Flags().StringVar(&address, "address", "", "where SiYuan's window reaches the gateway, as a `URL`; default: where it runs, or would")
	c.Flags().StringVar(&origin, "origin", "", "the `ORIGIN` of SiYuan's window; default: that of the kernel")
	p.KernelFlags(c)
	return c
}

// siyuanPanelInstall writes the plugin into the workspace, and allows the origin of SiYuan's window in the settings.
func (p commands) siyuanPanelInstall(ctx context.Context, address, origin string) error {
	return p.withWindow(ctx, func(a *app.App, notes *notesadmin.Notes, cfg *config.Config) error {
		var err error
		if address, err = originOf("--address", output.FirstNonEmpty(address, p.gatewayAddress(ctx, cfg))); err != nil {
			return err
		}
		if origin, err = originOf("--origin", output.FirstNonEmpty(origin, notes.KernelAddress())); err != nil {
			return err
		}
		origins := slices.Clone(cfg.Web.FrameOrigins)
		if !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
		report, err := notes.InstallPanel(ctx, notesadmin.PanelPlace{Address: address, Origins: origins}, p.Version)
		if err != nil {
			p.panelFiles(report)
			return err
		}
		p.workspaceChanged(ctx, a, "siyuan panel install", map[string]any{"address": address, "origin": origin, "files": report.Files})
		file, err := p.setFrameOrigins(ctx, cfg, "siyuan panel install", origins)
		if err != nil {
			return err
		}
		if p.JSON {
			return p.PrintJSON(struct {
				notesadmin.PanelReport
				Address string   `json:"address"`
				Origins []string `json:"frameOrigins"`
				File    string   `json:"file,omitempty"`
			}{report, address, origins, file})
		}
		if err := p.panelTable(report); err != nil {
			return err
		}
		if file != "" {
			p.Note("%s in %s now has %s: pages of that origin may show the panel in a frame", frameOrigins, file, origin)
		}
		if report.Untrusted {
			p.Note("SiYuan loads no plugins yet: open Settings - Marketplace there, and trust or enable plugins")
		}
		if !followsCalls(cfg) {
			p.Note("the puppy there sees no calls yet: collie config set siyuan.mascot.sync true")
		}
		p.Note("load SiYuan's window again to see it; the dock is called Collie, and collie open --show gives the link to sign it in")
		return nil
	})
}

func (p commands) siyuanPanelRemoveCommand() *cobra.Command {
	var origin string
	c := &cobra.Command{
		Use: "remove", Short: "Take the panel out of the workspace", Args: cobra.NoArgs,
		Long: "Switches the plugin off and removes its files. What else lies in its folder stays and is listed. The\n" +
			"origin of SiYuan's window leaves the setting web.frameOrigins, so that no page may show the panel\n" +
			"in a frame from there.",
		RunE: func(c *cobra.Command, _ []string) error { return p.siyuanPanelRemove(c.Context(), origin) },
	}
	c.Flags().StringVar(&origin, "origin", "", "the `ORIGIN` of SiYuan's window; default: that of the kernel")
	p.KernelFlags(c)
	return c
}

// siyuanPanelRemove removes the plugin from the workspace, and the origin from the settings.
func (p commands) siyuanPanelRemove(ctx context.Context, origin string) error {
	return p.withWindow(ctx, func(a *app.App, notes *notesadmin.Notes, cfg *config.Config) error {
		origin, err := originOf("--origin", output.FirstNonEmpty(origin, notes.KernelAddress()))
		if err != nil {
			return err
		}
		report, err := notes.RemovePanel(ctx)
		if err != nil {
			p.panelFiles(report)
			return err
		}
		if len(report.Files) > 0 {
			p.workspaceChanged(ctx, a, "siyuan panel remove", map[string]any{"origin": origin, "files": report.Files})
		}
		origins := slices.DeleteFunc(slices.Clone(cfg.Web.FrameOrigins), func(o string) bool { return o == origin })
		file, err := p.setFrameOrigins(ctx, cfg, "siyuan panel remove", origins)
		if err != nil {
			return err
		}
		if p.JSON {
			return p.PrintJSON(struct {
				notesadmin.PanelReport
				Origins []string `json:"frameOrigins"`
				File    string   `json:"file,omitempty"`
			}{report, append([]string{}, origins...), file})
		}
		if len(report.Files) == 0 {
			p.Note("the panel is not in this workspace")
		} else if err := p.panelTable(report); err != nil {
			return err
		}
		if file != "" {
			p.Note("%s in %s no longer has %s", frameOrigins, file, origin)
		}
		return nil
	})
}

// withWindow is like withNotes for commands that need SiYuan's own window. It refuses the built-in
// vault, which has none.
func (p commands) withWindow(ctx context.Context, do func(*app.App, *notesadmin.Notes, *config.Config) error) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	return p.withNotes(ctx, func(a *app.App, notes *notesadmin.Notes) error {
		if a.Notes.Vault() != "" {
			return &tool.Error{
				Op: "show the panel", Kind: tool.Unavailable, Code: "no_window", Message: "the notes are in the built-in vault, which has no window to show it in",
				Hint: "collie siyuan init connects SiYuan; without it, collie open has the same pages",
			}
		}
		return do(a, notes, cfg)
	})
}

// gatewayAddress returns the URL of the running gateway of this home, or the one that the settings give it.
func (p commands) gatewayAddress(ctx context.Context, cfg *config.Config) string {
	if g, _, err := p.FindGateway(ctx, cfg); err == nil {
		return g.URL
	}
	host, port, err := net.SplitHostPort(cfg.HTTP.Addr)
	if err != nil {
		return cfg.HTTP.Addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme := "http://"
	if cfg.HTTP.TLSCert != "" {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, port)
}

// originOf returns the origin of an address: its scheme, host and port. flag names the flag in the usage error.
func originOf(flag, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", root.Usage("%s: expected http:// or https://, a name and perhaps a port, got %q", flag, address)
	}
	return u.Scheme + "://" + u.Host, nil
}

// setFrameOrigins writes the setting if it changes, and returns the file; empty for no change.
func (p commands) setFrameOrigins(ctx context.Context, cfg *config.Config, command string, origins []string) (file string, err error) {
	if slices.Equal(origins, cfg.Web.FrameOrigins) {
		return "", nil
	}
	file = root.SettingsFile(cfg)
	change := unsetting(frameOrigins)
	if len(origins) > 0 {
		raw, err := json.Marshal(origins)
		if err != nil {
			return "", err
		}
		change = config.Setting(frameOrigins, raw)
	}
	if err := cfg.Edit(ctx, file, change); err != nil {
		return file, root.NotWrittenError(command, file, err)
	}
	p.RecordChange(ctx, cfg, command, map[string]any{"setting": frameOrigins, "value": origins, "file": file})
	return file, nil
}

// followsCalls reports whether calls are written into the workspace, where the mascot in SiYuan's window, a puppy, sees them.
func followsCalls(cfg *config.Config) bool {
	var set struct {
		Mascot struct {
			Sync bool `json:"sync"`
		} `json:"mascot"`
	}
	return json.Unmarshal(cfg.SiYuan.Raw, &set) == nil && set.Mascot.Sync
}

// panelTable prints the outcome for each file of the panel.
func (p commands) panelTable(r notesadmin.PanelReport) error {
	rows := make([][]string, len(r.Files))
	for i, f := range r.Files {
		rows[i] = []string{output.OneLine(f.Path), f.State}
	}
	return p.Table([]string{"FILE", "STATE"}, rows)
}

// panelFiles prints which files were changed before an error.
func (p commands) panelFiles(r notesadmin.PanelReport) {
	for _, f := range r.Files {
		if f.State == notesadmin.PanelWritten || f.State == notesadmin.PanelRemoved {
			p.Note("%s: %s", f.State, output.OneLine(f.Path))
		}
	}
}
