package cli

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/tool"
	"collie/internal/units"
)

func (p *program) auditCommand() *cobra.Command {
	return group("audit", "What was called, and whether somebody changed the record",
		p.auditTailCommand(),
		p.auditQueryCommand(),
		p.auditVerifyCommand(),
	)
}

func (p *program) auditTailCommand() *cobra.Command {
	var n int
	var follow bool
	c := &cobra.Command{
		Use: "tail", Short: "Show the newest records", Args: cobra.NoArgs,
		Long: "Shows the newest records of all processes of this home. With --json the records as they\n" +
			"are on disk, one a line.",
		RunE: func(c *cobra.Command, _ []string) error {
			if n < 0 {
				return usage("-n is %d, expected a number of records", n)
			}
			r, err := p.records()
			if err != nil {
				return err
			}
			return p.showRecords(c.Context(), r.Tail(c.Context(), n, follow), follow)
		},
	}
	c.Flags().IntVarP(&n, "lines", "n", 20, "show the last `N` records")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "show what comes as well, until interrupted")
	return c
}

type queryFlags struct {
	app.AuditFilter
	since, until string
}

func (p *program) auditQueryCommand() *cobra.Command {
	var f queryFlags
	c := &cobra.Command{
		Use: "query", Short: "Show the records that fit", Args: cobra.NoArgs,
		Long: "Shows the newest records that fit all flags, oldest first. Times are lengths such as 10m\n" +
			"or 7d before now, 15:04 of today, 2026-01-31, \"2026-01-31 15:04\" or RFC 3339. With --json\n" +
			"the records as they are on disk, one a line.",
		Example: "  collie audit query --since 1h --outcome error\n  collie audit query --kind change",
		RunE:    func(c *cobra.Command, _ []string) error { return p.auditQuery(c.Context(), &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.since, "since", "", "from `TIME` on")
	flags.StringVar(&f.until, "until", "", "before `TIME`")
	flags.StringVar(&f.Tool, "tool", "", "of the tool, or server, `NAME`")
	flags.StringVar(&f.Action, "action", "", "of the action `NAME`")
	flags.StringVar(&f.Outcome, "outcome", "", "that ended so: ok, error, refused, cancelled or unknown")
	flags.StringVar(&f.Origin, "origin", "", "of calls from direct, chat, cli-agent, mcp-local, mcp-remote or scheduled")
	flags.StringVar(&f.Session, "session", "", "of the session `ID`, or of its digest")
	flags.StringVar(&f.CallID, "call", "", "of the call `ID`")
	flags.StringVar(&f.Kind, "kind", "", "of a kind such as call, call.start, read or change")
	flags.StringVar(&f.Text, "text", "", "with `TEXT` in them, in any case")
	flags.IntVarP(&f.Limit, "lines", "n", 100, "show the newest `N`; 0 shows all")
	completeWith(c, "outcome", outcomes...)
	completeWith(c, "origin", origins...)
	completeWith(c, "kind", "call", "read", "prompt", "complete", "request", "change", "chain")
	return c
}

var (
	outcomes = []string{string(tool.OK), string(tool.Failed), string(tool.Refused), string(tool.Cancelled), string(tool.NotKnown)}
	origins  = []string{
		string(tool.Direct), string(tool.Chat), string(tool.CLIAgent), string(tool.MCPLocal),
		string(tool.MCPRemote), string(tool.Scheduled),
	}
)

func (p *program) auditQuery(ctx context.Context, f *queryFlags) error {
	now := time.Now()
	var err error
	if f.Since, err = moment("--since", f.since, now); err != nil {
		return err
	}
	if f.Until, err = moment("--until", f.until, now); err != nil {
		return err
	}
	if f.Limit < 0 {
		return usage("-n is %d, expected a number of records, or 0 for all", f.Limit)
	}
	if err := oneOf("--outcome", f.Outcome, outcomes); err != nil {
		return err
	}
	if err := oneOf("--origin", f.Origin, origins); err != nil {
		return err
	}
	r, err := p.records()
	if err != nil {
		return err
	}
	limit := f.Limit
	if limit > 0 {
		f.Limit++ // one more shows that there are more
	}
	seq := r.Query(ctx, f.AuditFilter)
	if limit == 0 {
		return p.showRecords(ctx, seq, true)
	}
	found, err := collect2(seq)
	if err != nil {
		return err
	}
	if len(found) > limit {
		p.note("these are the newest %d records; -n 0 shows all that fit", limit)
		found = found[1:]
	}
	return p.showRecords(ctx, each(found), false)
}

// records are those of this home. What is wrong with the settings of servers does not
// matter for reading them.
func (p *program) records() (app.Records, error) {
	cfg, _, err := p.settings()
	if err != nil {
		return app.Records{}, err
	}
	return app.OpenRecords(cfg), nil
}

// moment reads a point in time as people write it.
func moment(flag, s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := units.Duration(s); err == nil {
		return now.Add(-d), nil
	}
	if t, err := time.ParseInLocation("15:04", s, now.Location()); err == nil {
		return time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, now.Location()), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.DateTime, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usage("%s is %q, expected a time such as 10m, 15:04, 2026-01-31 or %s", flag, s, now.Format(time.RFC3339))
}

func oneOf(flag, value string, words []string) error {
	for _, w := range words {
		if value == "" || value == w {
			return nil
		}
	}
	return usage("%s is %q, expected one of %v%s", flag, value, words, didYouMean(value, words))
}

// collect2 takes all records.
func collect2(seq iter.Seq2[app.AuditEntry, error]) ([]app.AuditEntry, error) {
	var out []app.AuditEntry
	for e, err := range seq {
		if err != nil {
			return out, fmt.Errorf("read the audit: %w", err)
		}
		out = append(out, e)
	}
	return out, nil
}

func each(list []app.AuditEntry) iter.Seq2[app.AuditEntry, error] {
	return func(yield func(app.AuditEntry, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}
