package mcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// This file has the command `collie mcp logs`.

// logFlags are the flags of `collie mcp logs`.
type logFlags struct {
	tool.LogFilter
	since string
}

func (p commands) logsCommand() *cobra.Command {
	var f logFlags
	c := &cobra.Command{
		Use: "logs NAME", Short: "Show what a server wrote to stderr", Args: root.NamedArgs("server"),
		Long: "Shows what a server wrote to stderr (stream stderr), what it wrote to stdout that is not a message\n" +
			"(noise), and what Collie logged about it (collie). The lines come from the running gateway, or\n" +
			"from the log file if none runs. Control characters are shown as \uFFFD, in a pipe too; with --json,\n" +
			"which prints one JSON object per line, they are kept and escaped.\n\n" +
			"TIME is a duration before now, such as 10m, or a point in time, such as 15:04 or 2026-01-31.",
		Example:           "  collie mcp logs files -f\n  collie mcp logs files --since 10m --stream stderr",
		ValidArgsFunction: p.CompleteServers,
		RunE: func(c *cobra.Command, args []string) error {
			if f.since != "" && !c.Flags().Changed("lines") {
				f.Last = 0 // a time was given, so the number of lines does not apply
			}
			return p.logs(c.Context(), args[0], &f)
		},
	}
	flags := c.Flags()
	flags.IntVarP(&f.Last, "lines", "n", 100, "show the last `N` lines; 0 shows all")
	flags.BoolVarP(&f.Follow, "follow", "f", false, "keep showing new lines until interrupted")
	flags.StringVar(&f.since, "since", "", "from `TIME` on")
	flags.StringArrayVar(&f.Streams, "stream", nil, "of the `STREAM` stderr, noise, rpc or collie (repeatable)")
	root.CompleteWith(c, "stream", logStreams...)
	return c
}

// logStreams are the streams in the log of a server.
var logStreams = []string{"stderr", "noise", "rpc", "collie"}

// logs prints the log of a server, from the running gateway if there is one, otherwise from the log file.
func (p commands) logs(ctx context.Context, name string, f *logFlags) error {
	if f.Last < 0 {
		return root.Usage("-n is %d, expected a number of lines, or 0 for all", f.Last)
	}
	for _, stream := range f.Streams {
		if err := root.OneOf("--stream", stream, logStreams); err != nil {
			return err
		}
	}
	now := time.Now()
	var err error
	if f.Since, err = root.Moment("--since", f.since, now); err != nil {
		return err
	}
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	r, _, err := p.Gateway(ctx, cfg)
	if err == nil {
		defer r.Close()
		err = p.showLog(r.Logs(ctx, name, f.LogFilter), now)
		if tool.KindOf(err) == tool.NotFound {
			return root.UnknownServerError("mcp logs", name, root.ServerNames(cfg)) // names of these settings, although the gateway may have others
		}
		return err
	}
	lines, err := p.logFile(ctx, cfg, name, f.LogFilter, root.ErrorText(err))
	if err != nil {
		return err
	}
	return p.showLog(lines, now)
}

// logFile reads the log file of a server, which may have been removed from the settings. why says why no gateway was asked.
func (p commands) logFile(ctx context.Context, cfg *config.Config, name string, f tool.LogFilter, why string) (iter.Seq2[tool.LogLine, error], error) {
	known := slices.Contains(root.ServerNames(cfg), name)
	path := serveradmin.ServerLog(cfg.Paths, name)
	switch _, err := os.Stat(path); {
	case err == nil:
		p.Note("%s; this is the log file %s", why, path)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, &tool.Error{Op: "read log", Kind: tool.Internal, Subject: path, Err: err}
	case !known:
		return nil, root.UnknownServerError("mcp logs", name, root.ServerNames(cfg))
	default:
		p.Note("%s, and %s has written nothing yet; its log will be %s", why, name, path)
	}
	return serveradmin.TailServerLog(ctx, cfg.Paths, name, f), nil
}

// showLog prints lines as they come. Without --json they are made harmless, because people may read them in a
// pager.
func (p commands) showLog(lines iter.Seq2[tool.LogLine, error], now time.Time) error {
	for l, err := range lines {
		if err != nil {
			return err
		}
		if p.JSON {
			if err := p.PrintJSON(l); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(p.Out, "%s %s %s\n", logTime(l.Time, now), l.Stream, output.Harmless(l.Text)); err != nil {
			return err
		}
	}
	return nil
}

// logTime returns a time in a short form: without the date if it is today.
func logTime(t, now time.Time) string {
	t = t.In(now.Location())
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05.000")
	}
	return t.Format("2006-01-02 15:04:05.000")
}
