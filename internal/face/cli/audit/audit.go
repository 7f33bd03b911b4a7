// Package audit has the commands under collie audit, which show, follow, verify, export and remove the records of calls.
package audit

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/root"
	auditadmin "collie/internal/pipeline/audit/admin"
	"collie/internal/tool"
)

// commands holds the commands of this folder, which share one program.
type commands struct{ *root.Program }

// Command returns the command `collie audit`.
func Command(shared *root.Program) *cobra.Command {
	p := commands{shared}

	return root.Group("audit", "The record of all calls, and whether it is intact",
		p.tailCommand(),
		p.queryCommand(),
		p.verifyCommand(),
		p.exportCommand(),
		p.pruneCommand(),
	)
}

func (p commands) tailCommand() *cobra.Command {
	var n int
	var follow bool
	c := &cobra.Command{
		Use: "tail", Short: "Show the newest records", Args: cobra.NoArgs,
		Long: "Shows the newest records of all processes of this home. With --json the records are printed as\n" +
			"they are on disk, one per line.",
		RunE: func(c *cobra.Command, _ []string) error {
			if n < 0 {
				return root.Usage("-n is %d, expected a number of records", n)
			}
			r, err := p.records()
			if err != nil {
				return err
			}
			return p.showRecords(c.Context(), r.Tail(c.Context(), n, follow), follow)
		},
	}
	c.Flags().IntVarP(&n, "lines", "n", 20, "show the last `N` records")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "keep showing new lines until interrupted")
	return c
}

// queryFlags are the flags of `collie audit query`.
type queryFlags struct {
	auditadmin.Filter
	since, until string
}

func (p commands) queryCommand() *cobra.Command {
	var f queryFlags
	c := &cobra.Command{
		Use: "query", Short: "Show the records that match", Args: cobra.NoArgs,
		Long: "Shows the newest records that match all flags, oldest first. A time is a duration before now,\n" +
			"such as 10m or 7d, a past time of day (15:04), 2026-01-31, \"2026-01-31 15:04\" or RFC 3339. With\n" +
			"--json the records are printed as they are on disk, one per line.",
		Example: "  collie audit query --since 1h --outcome error\n  collie audit query --kind change",
		RunE:    func(c *cobra.Command, _ []string) error { return p.query(c.Context(), &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.since, "since", "", "from `TIME` on")
	flags.StringVar(&f.until, "until", "", "before `TIME`")
	flags.StringVar(&f.Tool, "tool", "", "of the tool, or server, `NAME`")
	flags.StringVar(&f.Action, "action", "", "of the action `NAME`")
	flags.StringVar(&f.Outcome, "outcome", "", "with this outcome: ok, error, refused, cancelled or unknown")
	flags.StringVar(&f.Origin, "origin", "", "of calls from direct, chat, cli-agent, mcp-local, mcp-remote or scheduled")
	flags.StringVar(&f.Session, "session", "", "of the session `ID`, or of its digest")
	flags.StringVar(&f.CallID, "call", "", "of the call `ID`")
	flags.StringVar(&f.Kind, "kind", "", "of a kind such as call, call.start, read or change")
	flags.StringVar(&f.Text, "text", "", "with `TEXT` in them, in any case")
	flags.IntVarP(&f.Limit, "lines", "n", 100, "show the newest `N`; 0 shows all")
	root.CompleteWith(c, "outcome", outcomes...)
	root.CompleteWith(c, "origin", origins...)
	root.CompleteWith(c, "kind", "call", "read", "prompt", "complete", "request", "change", "decision", "export", "prune", "chain")
	return c
}

// outcomes and origins are the values of --outcome and --origin.
var (
	outcomes = []string{string(tool.OK), string(tool.Failed), string(tool.Refused), string(tool.Cancelled), string(tool.NotKnown)}
	origins  = []string{
		string(tool.Direct), string(tool.Chat), string(tool.CLIAgent), string(tool.MCPLocal),
		string(tool.MCPRemote), string(tool.Scheduled),
	}
)

// query prints the newest records that match, and says if there are more.
func (p commands) query(ctx context.Context, f *queryFlags) error {
	var err error
	if f.Since, f.Until, err = root.Period(f.since, f.until, time.Now()); err != nil {
		return err
	}
	if f.Limit < 0 {
		return root.Usage("-n is %d, expected a number of records, or 0 for all", f.Limit)
	}
	if err := root.OneOf("--outcome", f.Outcome, outcomes); err != nil {
		return err
	}
	if err := root.OneOf("--origin", f.Origin, origins); err != nil {
		return err
	}
	r, err := p.records()
	if err != nil {
		return err
	}
	limit := f.Limit
	if limit > 0 {
		f.Limit++ // one more than wanted, to see whether there are more
	}
	seq := r.Query(ctx, f.Filter)
	if limit == 0 {
		return p.showRecords(ctx, seq, true) // as they come: there may be very many
	}
	found, err := collect(seq)
	if err != nil {
		return err
	}
	if len(found) > limit {
		p.Note("these are the newest %d records; -n 0 shows all that match", limit)
		found = found[1:] // the oldest one is too many
	}
	return p.showRecords(ctx, asSequence(found), false)
}

// records opens the audit of this home. Errors in the settings do not prevent that.
func (p commands) records() (auditadmin.Records, error) {
	cfg, _, err := p.Settings()
	if err != nil {
		return auditadmin.Records{}, err
	}
	return auditadmin.Open(cfg), nil
}

// collect returns all records of seq, or its error.
func collect(seq iter.Seq2[auditadmin.Entry, error]) ([]auditadmin.Entry, error) {
	var out []auditadmin.Entry
	for e, err := range seq {
		if err != nil {
			return out, fmt.Errorf("read the audit: %w", err)
		}
		out = append(out, e)
	}
	return out, nil
}

// asSequence returns the records of list as a sequence.
func asSequence(list []auditadmin.Entry) iter.Seq2[auditadmin.Entry, error] {
	return func(yield func(auditadmin.Entry, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}
