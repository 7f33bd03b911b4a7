package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/tool"
)

func (p *program) cacheVerifyCommand() *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use: "verify [FILE]", Short: "Check the cache file, and the hash of every list in it", Args: cobra.MaximumNArgs(1),
		Long: "Checks the cache file, or FILE (- is stdin). The exit code is 0 if nothing is wrong, 1 for\n" +
			"warnings with --strict, 2 for errors.",
		RunE: func(_ *cobra.Command, args []string) error { return p.cacheVerify(args, strict) },
	}
	c.Flags().BoolVar(&strict, "strict", false, "fail for warnings as well")
	return c
}

func (p *program) cacheVerify(args []string, strict bool) error {
	path, data, err := p.readCacheFile(args)
	if err != nil {
		return err
	}
	report := app.VerifyCache(data)
	faults := 0
	for _, f := range report.Findings {
		if f.Severity == "error" {
			faults++
		}
	}
	warnings := len(report.Findings) - faults
	if p.json {
		err = p.printJSON(map[string]any{"file": path, "report": report, "errors": faults, "warnings": warnings})
	} else {
		err = p.showReport(path, &report, faults, warnings)
	}
	switch {
	case err != nil:
		return err
	case faults > 0:
		return &exitError{exitUsage}
	case warnings > 0 && strict:
		return &exitError{exitFailed}
	}
	return nil
}

func (p *program) showReport(path string, r *app.CacheReport, faults, warnings int) error {
	for _, f := range r.Findings {
		place := path
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d:%d", path, f.Line, f.Column)
		}
		if f.Pointer != "" {
			place += " " + f.Pointer
		}
		if _, err := fmt.Fprintf(p.out, "%s %s\n", harmless(fmt.Sprintf("%s: %s: %s", place, f.Severity, f.Message)), p.dim("["+f.Rule+"]")); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(p.out, "%s, %s; format %s, %s, %d entries ever written, %s\n",
		count(faults, "error"), count(warnings, "warning"), first(r.Version, "unknown"), count(len(r.Servers), "server"), r.TotalWrites, sizeOf(int64(r.Bytes)))
	return err
}

func (p *program) cacheMigrateCommand() *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use: "migrate [FILE]", Short: "Bring a cache file of an older format to the one of now", Args: cobra.MaximumNArgs(1),
		Long: "Shows what the file would be in the format of now. A gateway reads older formats as they are\n" +
			"and writes the new one with its next change; this does so at once, and keeps a copy of the old file.",
		RunE: func(_ *cobra.Command, args []string) error { return p.cacheMigrate(args, dry) },
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would change and write nothing")
	return c
}

func (p *program) cacheMigrate(args []string, dry bool) error {
	path, data, err := p.readCacheFile(args)
	if err != nil {
		return err
	}
	m, err := app.MigrateCache(data)
	if err != nil {
		return err
	}
	written := !dry && m.Changed() && path != "-"
	if written {
		kept := path + ".v" + m.From + ".bak"
		if err := os.WriteFile(kept, data, 0o600); err != nil {
			return fmt.Errorf("keep the old file: %w", err)
		}
		if err := app.ReplaceFile(path, m.After); err != nil {
			return &tool.Error{Op: "cache migrate", Kind: tool.Unavailable, Subject: path, Err: err}
		}
	}
	switch {
	case p.json:
		return p.printJSON(map[string]any{"file": path, "from": m.From, "to": m.To, "changed": m.Changed(), "written": written})
	case !m.Changed():
		_, err = fmt.Fprintf(p.out, "%s has format %s, nothing is to be done\n", path, m.From)
	case written:
		_, err = fmt.Fprintf(p.out, "%s: %s is %s now, the old file is %s.v%s.bak\n", path, m.From, m.To, path, m.From)
	default:
		err = p.showLines(string(m.Before), string(m.After))
	}
	return err
}

// showLines prints the lines that only one of two texts has.
func (p *program) showLines(before, after string) error {
	had, has := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(before) {
		had[line] = true
	}
	for line := range strings.Lines(after) {
		has[line] = true
	}
	var b strings.Builder
	for line := range strings.Lines(before) {
		if !has[line] {
			b.WriteString("- " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	for line := range strings.Lines(after) {
		if !had[line] {
			b.WriteString("+ " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	_, err := fmt.Fprint(p.out, harmless(b.String()))
	return err
}
