package mcp

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/process"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// This file has the command `collie mcp doctor`, which tries a server out step by step.

func (p commands) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor NAME", Short: "Try a server out, step by step", Args: root.NamedArgs("server"),
		Long: "Finds the program, shows the environment it gets (names, and PATH), starts it, performs the\n" +
			"handshake, fetches its lists and stops it, with the time of each step. Tools that the APIs of models\n" +
			"(OpenAI, Anthropic, Google and others) would refuse are named, with the limit that they break. If a\n" +
			"step fails, it shows what the server printed. A running gateway is not disturbed.",
		ValidArgsFunction: p.CompleteServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.doctor(c.Context(), args[0]) },
	}
}

// doctor prints the steps of a trial start. If a step fails, the error names the first one that did.
func (p commands) doctor(ctx context.Context, name string) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	steps := []tool.Step{}
	tell := func(s tool.Step) {
		steps = append(steps, s)
		if !p.JSON {
			p.showStep(&s)
		}
	}
	ok, err := serveradmin.Diagnose(ctx, cfg, serveradmin.DiagnoseOptions{
		Version: p.Version, Self: root.Self(), ReaperArgs: []string{process.ReaperCommand}, Env: p.Env,
	}, name, tell)
	if err != nil {
		return err
	}
	if p.JSON {
		if err := p.PrintJSON(map[string]any{"server": name, "ok": ok, "steps": steps}); err != nil {
			return err
		}
	}
	if ok {
		return nil
	}
	last := steps[len(steps)-1]
	for _, s := range steps {
		if !s.OK {
			last = s
			break
		}
	}
	kind := tool.Unavailable
	if last.Reason == "auth_required" {
		kind = tool.NeedsAuth
	}
	return &tool.Error{
		Op: "mcp doctor", Kind: kind, Subject: name,
		Message: fmt.Sprintf("the step %q failed (%s)", last.Name, last.Reason), Hint: last.Hint,
	}
}

// showStep prints a step with its notes and with what the server printed.
func (p commands) showStep(s *tool.Step) {
	mark := "ok  "
	if !s.OK {
		mark = "FAIL"
	}
	took := time.Duration(s.Seconds * float64(time.Second)).Round(time.Millisecond)
	fmt.Fprintf(p.Out, "%s  %-20s %8v  %s\n", p.Painter(p.Out).Mark(mark), s.Name, took, output.OneLine(locale.Sentence(s.Detail)))
	for _, note := range s.Notes {
		fmt.Fprintf(p.Out, "      - %s\n", output.OneLine(locale.Sentence(note)))
	}
	for _, line := range s.Said {
		fmt.Fprintf(p.Out, "      | %s\n", output.OneLine(line))
	}
}
