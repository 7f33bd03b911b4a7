package audit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
	auditadmin "collie/internal/pipeline/audit/admin"
)

// This file has the command `collie audit verify`, which checks that no record was changed or removed.

func (p commands) verifyCommand() *cobra.Command {
	var exported string
	c := &cobra.Command{
		Use: "verify", Short: "Find records that were changed, removed or moved", Args: cobra.NoArgs,
		Long: "Checks the hash chain of every process that wrote records, its signed head, and what the\n" +
			"chains record about each other. The exit code is 0 if all is intact, 1 if not. A last line torn\n" +
			"by a crash and records newer than the head are reported, but are not faults.\n\n" +
			"It detects records that were edited, removed, swapped or cut off by someone without the signing\n" +
			"key. It cannot detect records rewritten by someone who can read the key, which lies in the same\n" +
			"folder, readable by every program of your account; removal of the newest chains together with\n" +
			"all that began after them; or removal of the whole folder, or its replacement by a backup. The\n" +
			"last two show if audit.anchor names a file outside the folder: signed heads are appended to it,\n" +
			"and this command compares them with the chains. Let that file lie on another machine or disk, or\n" +
			"make it append-only (chattr +a), so that whoever changes the folder cannot change it as well.\n\n" +
			"With --export it checks a file that `collie audit export` wrote, on any machine; compare the\n" +
			"fingerprint of the key with the one that the export told.",
		RunE: func(c *cobra.Command, _ []string) error {
			if exported != "" {
				return p.verifyExport(exported)
			}
			return p.verify(c.Context())
		},
	}
	c.Flags().StringVar(&exported, "export", "", "check the export `FILE` (- is stdin) in place of the records of this home")
	return c
}

// verify checks the records of this home and prints the verdict. The exit code is 1 if something is wrong.
func (p commands) verify(ctx context.Context) error {
	r, err := p.records()
	if err != nil {
		return err
	}
	report, err := r.Verify(ctx)
	if err != nil {
		return err
	}
	if p.JSON {
		err = p.PrintJSON(report.Verdict(r.Dir()))
	} else {
		_, err = fmt.Fprint(p.Out, p.Painter(p.Out).Marked(Verdict(r.Dir(), &report)))
	}
	if err == nil && !report.OK() {
		return root.Exit(root.ExitFailed)
	}
	return err
}

// Verdict returns one line for each problem and each remark, and a summary.
func Verdict(dir string, report *auditadmin.Report) string {
	var b strings.Builder
	var first, last time.Time
	faults, broken := 0, 0
	for i := range report.Chains {
		c := &report.Chains[i]
		for _, problem := range c.Problems {
			fmt.Fprintf(&b, "✗ %s\n", locale.Sentence(problem.String()))
		}
		if c.Torn {
			locale.Fprintf(&b, "· %s: the last line was cut short by a crash; its record was never confirmed\n", c.Chain)
		}
		if c.Uncovered > 0 {
			locale.Fprintf(&b, "· %s: %s newer than its head: valid, but their removal would not be detected\n", c.Chain, locale.Count(int(c.Uncovered), "record"))
		}
		if faults += len(c.Problems); !c.OK() {
			broken++
		}
		if !c.First.IsZero() && (first.IsZero() || c.First.Before(first)) {
			first = c.First
		}
		if c.Last.After(last) {
			last = c.Last
		}
	}
	for _, problem := range report.Anchor.Problems {
		fmt.Fprintf(&b, "✗ %s\n", locale.Sentence(problem.String()))
	}
	if n := report.Anchor.Unnamed; n > 0 && !report.Anchor.Missing {
		locale.Fprintf(&b, "· %s: %s missing from the anchor: it could not be written then, or lines were removed from it\n", report.Anchor.Path, locale.Count(n, "chain"))
	}
	switch {
	case len(report.Chains) == 0 && report.Anchor.OK():
		locale.Fprintf(&b, "no records yet in %s\n", dir)
	case broken == 0 && !report.Anchor.OK():
		locale.Fprintf(&b, "✗ BROKEN: the anchor %s does not fit the records in %s\n", report.Anchor.Path, dir)
	case broken > 0:
		locale.Fprintf(&b, "✗ BROKEN: %s in %d of %s in %s\n", locale.Count(faults, "problem"), broken, locale.Count(len(report.Chains), "chain"), dir)
	default:
		locale.Fprintf(&b, "✓ intact: %s in %s, from %s to %s\n", locale.Count(report.Records(), "record"), locale.Count(len(report.Chains), "chain"),
			first.Local().Format(time.DateTime), last.Local().Format(time.DateTime))
		if report.Anchor.Chains > 0 {
			locale.Fprintf(&b, "✓ anchored: %s in %s\n", locale.Count(report.Anchor.Chains, "chain"), report.Anchor.Path)
		}
	}
	return b.String()
}
