package gateway

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/face/web"
)

// This file has the command `collie doctor`.

// DoctorCommand returns the command `collie doctor`.
func DoctorCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}

	return &cobra.Command{
		Use: "doctor", Short: "Look for what could keep the gateway from working", Args: cobra.NoArgs,
		Long: "Checks the settings, folders, token, a running gateway, the port, the programs that servers\n" +
			"need, and the audit. It starts no server and makes no connections outside this machine. The exit code is\n" +
			"1 if something needs to be repaired.",
		RunE: func(c *cobra.Command, _ []string) error { return p.doctor(c.Context()) },
	}
}

// health is the verdict of a check.
type health string

const (
	healthy health = "ok"
	odd     health = "warn" // works, but may surprise
	broken  health = "fail"
)

// check is the result of one check.
type check struct {
	Name   string `json:"name"`
	Health health `json:"health"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

// doctor prints the results of all checks. The exit code is 1 if one is broken.
func (p commands) doctor(ctx context.Context) error {
	checks := p.examine(ctx)
	n := map[health]int{}
	for _, c := range checks {
		n[c.Health]++
	}
	if p.JSON {
		if err := p.PrintJSON(map[string]any{"ok": n[broken] == 0, "checks": checks}); err != nil {
			return err
		}
	} else if err := p.showChecks(checks, n); err != nil {
		return err
	}
	if n[broken] > 0 {
		return root.Exit(root.ExitFailed)
	}
	return nil
}

func (p commands) showChecks(checks []check, n map[health]int) error {
	mark := map[health]string{healthy: "✓", odd: "!", broken: "✗"}
	for _, c := range checks {
		text := c.Detail
		if c.Hint != "" {
			text += "; " + c.Hint
		}
		if _, err := fmt.Fprintf(p.Out, "%s %s: %s\n", p.Painter(p.Out).Mark(mark[c.Health]), locale.Sentence(c.Name), output.OneLine(locale.Sentence(text))); err != nil {
			return err
		}
	}
	_, err := locale.Fprintf(p.Out, "%d ok, %s, %d to repair\n", n[healthy], locale.Count(n[odd], "warning"), n[broken])
	return err
}

// checks returns the results of all checks for the pages.
func (s *serving) checks(ctx context.Context) (out []web.Check) {
	for _, c := range s.examine(ctx) {
		out = append(out, web.Check{Name: c.Name, Health: string(c.Health), Detail: c.Detail, Hint: c.Hint})
	}
	return out
}
