package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/process"
	"collie/internal/sorting"
)

func (p *program) mcpValidateCommand() *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use: "validate [FILE]", Short: "Check the settings, and every server in them", Args: cobra.MaximumNArgs(1),
		Long: "Shows whatever is wrong with the settings, or with FILE alone, one finding a line. The exit\n" +
			"code is 0 if nothing is, 1 for warnings with --strict, 2 for errors.",
		RunE: func(_ *cobra.Command, args []string) error { return p.mcpValidate(args, strict) },
	}
	c.Flags().BoolVar(&strict, "strict", false, "fail for warnings as well")
	return c
}

func (p *program) mcpValidate(files []string, strict bool) error {
	if len(files) > 0 {
		p.files = files
	}
	cfg, wrong, err := p.settings()
	if err != nil {
		return err
	}
	found := inOrder(cfg, append(findings(cfg, wrong, p.env), missing(cfg, p.env)...))
	faults := 0
	for _, f := range found {
		if f.Severity == config.SeverityError {
			faults++
		}
	}
	warnings := len(found) - faults
	if p.json {
		err = p.printJSON(map[string]any{"files": append([]string{}, cfg.Files...), "findings": found, "errors": faults, "warnings": warnings})
	} else {
		err = p.showFindings(cfg, found, faults, warnings)
	}
	switch {
	case err != nil:
		return err
	case faults > 0:
		return exit(exitUsage)
	case warnings > 0 && strict:
		return exit(exitFailed)
	}
	return nil
}

// findings is all that is wrong with the settings, in the order of the files.
func findings(cfg *config.Config, wrong *config.Error, env config.Env) []config.Finding {
	found := append([]config.Finding{}, cfg.Warnings...)
	if wrong != nil {
		found = slices.Clone(wrong.Findings)
	}
	_, ofServers := app.Specs(cfg, env)
	return inOrder(cfg, append(found, ofServers...))
}

// inOrder sorts findings by their places, a project's last.
func inOrder(cfg *config.Config, found []config.Finding) []config.Finding {
	file := func(f config.Finding) int {
		if i := slices.Index(cfg.Files, f.File); i >= 0 {
			return i
		}
		return len(cfg.Files)
	}
	sorting.Stable(found, func(a, b config.Finding) int {
		return cmp.Or(cmp.Compare(file(a), file(b)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return found
}

// missing are warnings about programs and folders that are not there now. They may be on the
// machine, or at the time, at which the servers start.
func missing(cfg *config.Config, env config.Env) []config.Finding {
	var out []config.Finding
	for _, prog := range app.Programs(cfg, env) {
		i := slices.Index(serverNames(cfg), prog.Server)
		if prog.Err == nil || i < 0 || cfg.Servers[i].Untrusted {
			continue
		}
		at, text := "/command", prog.Err.Error()
		if e, ok := errors.AsType[*process.StartError](prog.Err); ok && e.Reason == process.BadDir {
			at = "/cwd"
		}
		if prog.Hint != "" {
			text += "; " + prog.Hint
		}
		out = append(out, cfg.Servers[i].Finding(at, "missing", config.SeverityWarning, text))
	}
	return out
}

func (p *program) showFindings(cfg *config.Config, found []config.Finding, faults, warnings int) error {
	for _, f := range found {
		line := fmt.Sprintf("%s: %s: %s", f.Place(), f.Severity, f.Text())
		if _, err := fmt.Fprintf(p.out, "%s %s\n", harmless(line), p.dim("["+f.Rule+"]")); err != nil {
			return err
		}
	}
	summary := "there are no settings yet: " + cfg.Paths.ConfigFile + " does not exist"
	if n := len(cfg.Files); n > 0 {
		summary = fmt.Sprintf("%s, %s in %s; %s", count(faults, "error"), count(warnings, "warning"), count(n, "file"), count(len(cfg.Servers), "server"))
	}
	_, err := fmt.Fprintln(p.out, summary)
	return err
}

// dim makes a text less important on a terminal that has colours.
func (p *program) dim(text string) string {
	if _, plain := p.env.Lookup("NO_COLOR"); plain || !terminal(p.out) || p.env.Get("TERM") == "dumb" {
		return text
	}
	return "\x1b[2m" + text + "\x1b[0m"
}

// count reads "1 server" or "2 servers".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
