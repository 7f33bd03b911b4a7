package notes

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
)

// This file has the command `collie siyuan telemetry`, which shows the report that would be sent.

func (p commands) siyuanTelemetryCommand() *cobra.Command {
	return root.Group("telemetry", "Usage reports, which are off unless you turn them on",
		p.siyuanTelemetryShowCommand(),
	)
}

func (p commands) siyuanTelemetryShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show everything the next report would contain", Args: cobra.NoArgs,
		Long: "Shows the next report exactly as it would be sent, on one line with --json. It counts calls and\n" +
			"contains no texts, ids or names of yours: your own servers are counted as \"other\".\n\n" +
			"Nothing is sent unless telemetry.enabled is true and telemetry.endpoint is a URL; there is no\n" +
			"default. A running gateway then sends it every telemetry.intervalHours; commands never do.",
		RunE: func(c *cobra.Command, _ []string) error { return p.siyuanTelemetryShow(c.Context()) },
	}
}

// siyuanTelemetryShow prints the next report, and whether it will be sent.
func (p commands) siyuanTelemetryShow(ctx context.Context) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	t := app.OpenTelemetry(cfg, p.Version)
	payload, err := t.Next(ctx)
	if err != nil {
		return err
	}
	due, err := t.Due()
	if err != nil {
		return err
	}
	p.Note("%s", describeDestination(cfg, due, time.Now()))
	if p.JSON {
		return p.PrintJSON(payload)
	}
	e := json.NewEncoder(p.Out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(payload)
}

// describeDestination describes what happens to the report.
func describeDestination(cfg *config.Config, due, now time.Time) string {
	switch t := cfg.Telemetry; {
	case !cfg.Analytics.Enabled:
		return locale.T("analytics.enabled is false: calls are not counted, and nothing is sent")
	case !t.Enabled && t.Endpoint == "":
		return locale.T("telemetry is off and has no endpoint, so this is not sent")
	case !t.Enabled:
		return locale.T("telemetry is off, so this is not sent")
	case t.Endpoint == "":
		return locale.T("telemetry has no endpoint, so this is not sent: set telemetry.endpoint")
	case due.After(now):
		return locale.Sprintf("telemetry is on: a running gateway sends the next report at %s", due.Local().Format("2006-01-02 15:04"))
	}
	return locale.T("telemetry is on: the report is due, and a running gateway sends it")
}
