package audit

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
	auditadmin "collie/internal/pipeline/audit/admin"
	"collie/internal/units"
)

// This file has the command `collie audit prune`, which removes old records.

// leastAge is the minimum age of records that may be removed. Newer ones may still be needed to find out what just
// happened.
const leastAge = 24 * time.Hour

// pruneFlags are the flags of `collie audit prune`.
type pruneFlags struct {
	olderThan   string
	dryRun, yes bool
}

func (p commands) pruneCommand() *cobra.Command {
	var f pruneFlags
	c := &cobra.Command{
		Use: "prune --older-than TIME", Short: "Remove old records, and put that on record", Args: cobra.NoArgs,
		Long: "Removes whole segments (up to 8 MiB or a day) all of whose records are older than that, the oldest\n" +
			"of each chain first, after asking. A record says what was removed, so that `collie audit verify`\n" +
			"can tell it from records that somebody else removed. Chains in which it finds problems are kept.\n" +
			"The setting audit.keep does the same once a day. Export first what you may need later.",
		Example: "  collie audit prune --older-than 90d --dry-run",
		RunE:    func(c *cobra.Command, _ []string) error { return p.prune(c.Context(), &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.olderThan, "older-than", "", "remove what is older than `TIME`, such as 90d")
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "only say what would be removed")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return c
}

// prune finds out what would be removed, asks unless --yes is set, and removes it.
func (p commands) prune(ctx context.Context, f *pruneFlags) error {
	age, err := units.Duration(f.olderThan)
	switch {
	case f.olderThan == "":
		return root.Usage("say --older-than TIME, such as 90d")
	case err != nil || age < leastAge:
		return root.Usage("--older-than is %q, expected a length of time of at least 1d, such as 90d", f.olderThan)
	}
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	before := time.Now().Add(-age)
	const tryOut, remove = true, false // what PruneRecords calls dryRun
	report, err := app.PruneRecords(ctx, cfg, p.auditOptions(), before, tryOut)
	if err != nil {
		return err
	}
	if report.Segments > 0 && !f.dryRun {
		if !f.yes {
			if _, err := p.RequireYes(ctx, locale.Sprintf("remove %s for good?", locale.Count(report.Records, "record"))); err != nil {
				return err
			}
		}
		if report, err = app.PruneRecords(ctx, cfg, p.auditOptions(), before, remove); err != nil {
			return err
		}
	}
	return p.showPruned(&report, f.dryRun)
}

// prunedJSON is the result as JSON.
type prunedJSON struct {
	DryRun   bool     `json:"dryRun"`
	Chains   int      `json:"chains"`
	Segments int      `json:"segments"`
	Records  int      `json:"records"`
	Bytes    int64    `json:"bytes"`
	Kept     []string `json:"kept"`
}

func (p commands) showPruned(r *auditadmin.Pruned, dryRun bool) error {
	if p.JSON {
		return p.PrintJSON(prunedJSON{dryRun, r.Chains, r.Segments, r.Records, r.Bytes, append([]string{}, r.Kept...)})
	}
	for _, chain := range r.Kept {
		p.Warn("chain %s is kept: collie audit verify finds problems in it", chain)
	}
	records, size := locale.Count(r.Records, "record"), units.SizeText(r.Bytes)
	switch {
	case r.Segments == 0:
		p.Note("nothing is that old")
	case dryRun:
		p.Note("would remove %s (%s)", records, size)
	default:
		p.Note("removed %s (%s)", records, size)
	}
	return nil
}
