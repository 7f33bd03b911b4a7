package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/process"
	"collie/internal/sorting"
	serveradmin "collie/internal/source/upstream/admin"
)

// This file has the command `collie mcp validate`, which prints what is wrong in the settings.

func (p commands) validateCommand() *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use: "validate [FILE]", Short: "Check the settings, and every server in them", Args: cobra.MaximumNArgs(1),
		Long: "Shows everything wrong with the settings, or with FILE alone, one finding per line. The exit code\n" +
			"is 0 if there is nothing, 1 for warnings with --strict, 2 for errors.",
		RunE: func(_ *cobra.Command, args []string) error { return p.validate(args, strict) },
	}
	c.Flags().BoolVar(&strict, "strict", false, "fail for warnings as well")
	return c
}

// validate prints all findings about the settings, or about the one file in files, and chooses the exit code.
func (p commands) validate(files []string, strict bool) error {
	if len(files) > 0 {
		p.Files = files
	}
	cfg, wrong, err := p.Settings()
	if err != nil {
		return err
	}
	found := inOrder(cfg, append(Findings(cfg, wrong, p.Env), missingPrograms(cfg, p.Env)...))
	faults := 0
	for _, f := range found {
		if f.Severity == config.SeverityError {
			faults++
		}
	}
	warnings := len(found) - faults
	if p.JSON {
		err = p.PrintJSON(map[string]any{"files": append([]string{}, cfg.Files...), "findings": found, "errors": faults, "warnings": warnings})
	} else {
		err = p.showFindings(cfg, found, faults, warnings)
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

// Findings returns all problems of the settings, in the order of the files.
func Findings(cfg *config.Config, wrong *config.Error, env config.Env) []config.Finding {
	found := append([]config.Finding{}, cfg.Warnings...)
	if wrong != nil {
		found = slices.Clone(wrong.Findings)
	}
	_, ofServers := serveradmin.Specs(cfg, env)
	return inOrder(cfg, append(found, ofServers...))
}

// inOrder sorts findings by file, in the order in which the files are read, and by place in it. Files of projects come last.
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

// missingPrograms returns warnings about programs and folders that do not exist now. They may exist where, or when,
// the servers start.
func missingPrograms(cfg *config.Config, env config.Env) []config.Finding {
	var out []config.Finding
	for _, prog := range serveradmin.Programs(cfg, env) {
		i := slices.Index(root.ServerNames(cfg), prog.Server)
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

// showFindings prints one finding per line, and a summary.
func (p commands) showFindings(cfg *config.Config, found []config.Finding, faults, warnings int) error {
	for _, f := range found {
		line := fmt.Sprintf("%s: %s: %s", f.Place(), f.Severity, locale.Sentence(f.Text()))
		if _, err := fmt.Fprintf(p.Out, "%s %s\n", output.Harmless(line), p.Dim("["+f.Rule+"]")); err != nil {
			return err
		}
	}
	summary := locale.Sprintf("there are no settings yet: %s does not exist", cfg.Paths.ConfigFile)
	if n := len(cfg.Files); n > 0 {
		summary = locale.Sprintf("%s, %s in %s; %s", locale.Count(faults, "error"), locale.Count(warnings, "warning"), locale.Count(n, "file"), locale.Count(len(cfg.Servers), "server"))
	}
	_, err := fmt.Fprintln(p.Out, summary)
	return err
}
