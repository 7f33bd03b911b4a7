package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/tool"
)

func (p *program) mcpLogsCommand() *cobra.Command {
	var n int
	var follow bool
	c := &cobra.Command{
		Use: "logs NAME", Short: "Show what a running server wrote to stderr", Args: named("server"),
		Long: "Shows the last lines that a server of the running gateway wrote to stderr, or to stdout\n" +
			"without being a message. With --json one JSON object a line.",
		ValidArgsFunction: p.completeServers,
		RunE: func(c *cobra.Command, args []string) error {
			return p.mcpLogs(c.Context(), args[0], n, follow)
		},
	}
	c.Flags().IntVarP(&n, "lines", "n", 100, "show the last `N` lines")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "show what comes as well, until interrupted")
	return c
}

// logPoll is how often the gateway is asked for new lines.
const logPoll = time.Second

func (p *program) mcpLogs(ctx context.Context, name string, n int, follow bool) error {
	if n < 0 {
		return usage("-n is %d, expected a number of lines", n)
	}
	cfg, _, err := p.settings()
	if err != nil {
		return err
	}
	r, _, err := p.gateway(ctx, cfg)
	if err != nil {
		return err
	}
	defer r.Close()
	lines, err := r.Logs(ctx, name)
	if err != nil {
		return err
	}
	shown := lines[max(0, len(lines)-n):]
	for {
		if err := p.logLines(shown); err != nil {
			return err
		}
		if !follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(logPoll):
		}
		now, err := r.Logs(ctx, name)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		shown, lines = unseen(lines, now), now
	}
}

// unseen are the lines of now that come after those of before. Both are the end of one
// growing list.
func unseen(before, now []tool.LogLine) []tool.LogLine {
	if len(before) == 0 {
		return now
	}
	last := before[len(before)-1].Time
	known := 0 // lines of the moment of the last one
	for i := len(before) - 1; i >= 0 && before[i].Time.Equal(last); i-- {
		known++
	}
	for i, l := range now {
		switch {
		case l.Time.After(last):
			return now[i:]
		case l.Time.Equal(last) && known == 0:
			return now[i:]
		case l.Time.Equal(last):
			known--
		}
	}
	return nil
}

func (p *program) logLines(lines []tool.LogLine) error {
	for _, l := range lines {
		if p.json {
			if err := p.printJSON(l); err != nil {
				return err
			}
			continue
		}
		text := p.safe(p.out, l.Text)
		if _, err := fmt.Fprintf(p.out, "%s %s %s\n", l.Time.Local().Format("15:04:05.000"), l.Stream, text); err != nil {
			return err
		}
	}
	return nil
}
