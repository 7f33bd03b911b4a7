package cache

import (
	"fmt"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
)

// This file has the command `collie cache verify`, which checks the cache file.

func (p commands) verifyCommand() *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use: "verify [FILE]", Short: "Check the cache file, and the hash of every list in it", Args: cobra.MaximumNArgs(1),
		Long: "Checks the cache file, or FILE (- is stdin). The exit code is 0 if nothing is wrong, 1 for\n" +
			"warnings with --strict, 2 for errors.",
		RunE: func(_ *cobra.Command, args []string) error { return p.verify(args, strict) },
	}
	c.Flags().BoolVar(&strict, "strict", false, "fail for warnings as well")
	return c
}

// verify checks the file and prints what it finds. Errors, and warnings if strict is set, set the exit code.
func (p commands) verify(args []string, strict bool) error {
	path, data, err := p.readCacheFile(args)
	if err != nil {
		return err
	}
	report := cacheadmin.Verify(data)
	faults := 0
	for _, f := range report.Findings {
		if f.Severity == "error" {
			faults++
		}
	}
	warnings := len(report.Findings) - faults
	if p.JSON {
		err = p.PrintJSON(map[string]any{"file": path, "report": report, "errors": faults, "warnings": warnings})
	} else {
		err = p.showReport(path, &report, faults, warnings)
	}
	switch {
	case err != nil:
		return err
	case faults > 0:
		return root.Exit(root.ExitUsage)
	case warnings > 0 && strict:
		return root.Exit(root.ExitFailed)
	}
	return nil
}

// showReport prints one finding per line, and a summary.
func (p commands) showReport(path string, r *cacheadmin.Report, faults, warnings int) error {
	for _, f := range r.Findings {
		place := path
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d:%d", path, f.Line, f.Column)
		}
		if f.Pointer != "" {
			place += " " + f.Pointer
		}
		if _, err := fmt.Fprintf(p.Out, "%s %s\n", output.Harmless(fmt.Sprintf("%s: %s: %s", place, f.Severity, locale.Sentence(f.Message))), p.Dim("["+f.Rule+"]")); err != nil {
			return err
		}
	}
	_, err := locale.Fprintf(p.Out, "%s, %s; format %s, %s, %s ever written, %s\n",
		locale.Count(faults, "error"), locale.Count(warnings, "warning"), output.FirstNonEmpty(r.Version, "unknown"), locale.Count(len(r.Servers), "server"), entriesOf(r.TotalWrites), output.BinarySize(int64(r.Bytes)))
	return err
}

// entriesOf returns "1 entry" or "2 entries".
func entriesOf(n uint64) string {
	if n == 1 {
		return "1 entry"
	}
	return locale.Sprintf("%d entries", n)
}
