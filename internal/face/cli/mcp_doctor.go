package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/process"
	"collie/internal/tool"
)

func (p *program) mcpDoctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor NAME", Short: "Try a server out, step by step", Args: named("server"),
		Long: "Finds the program, shows the environment that it gets (names, and PATH), starts it, shakes\n" +
			"hands, fetches its lists and stops it, with the time of each step. Where a step fails, it\n" +
			"shows what the server said. A running gateway is not disturbed.",
		ValidArgsFunction: p.completeServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.mcpDoctor(c.Context(), args[0]) },
	}
}

func (p *program) mcpDoctor(ctx context.Context, name string) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	steps := []tool.Step{}
	tell := func(s tool.Step) {
		steps = append(steps, s)
		if !p.json {
			p.showStep(&s)
		}
	}
	ok, err := app.Diagnose(ctx, cfg, app.Options{
		Version: p.version, Self: self(), GuardArgs: []string{process.GuardCommand}, Brief: true, Env: p.env,
	}, name, tell)
	if err != nil {
		return err
	}
	if p.json {
		if err := p.printJSON(map[string]any{"server": name, "ok": ok, "steps": steps}); err != nil {
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

func (p *program) showStep(s *tool.Step) {
	mark := "ok  "
	if !s.OK {
		mark = "FAIL"
	}
	took := time.Duration(s.Seconds * float64(time.Second)).Round(time.Millisecond)
	fmt.Fprintf(p.out, "%s  %-20s %8v  %s\n", p.painter(p.out).mark(mark), s.Name, took, oneLine(s.Detail))
	for _, line := range s.Said {
		fmt.Fprintf(p.out, "      | %s\n", oneLine(line))
	}
}
