package conversation

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/agent/library"
	"collie/internal/app"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// This file has the commands `collie agent list`, show, new and import, which manage named agents.

func (p commands) agentsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "Show agents, skills and context entries", Args: cobra.NoArgs,
		Long: "Shows what stands in the folders agents, skills and context of your settings, and in .collie of a\n" +
			"project that you trust (collie mcp trust), and which files are wrong.",
		RunE: func(*cobra.Command, []string) error { return p.listAgents() },
	}
}

// library reads the files of agents, skills and context entries as a turn of a conversation reads them.
func (p commands) library() (*library.Library, error) {
	cfg, _, err := p.Settings()
	if err != nil {
		return nil, err
	}
	return app.Library(cfg, p.Env), nil
}

func (p commands) listAgents() error {
	l, err := p.library()
	if err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{
			"agents": append([]library.Agent{}, l.Agents...), "skills": append([]library.Skill{}, l.Skills...),
			"context": append([]library.Entry{}, l.Entries...), "rules": l.RulesFile, "problems": append([]library.Problem{}, l.Problems...),
		})
	}
	where := map[bool]string{false: locale.T("own"), true: locale.T("project")}
	var rows [][]string
	for _, a := range l.Agents {
		at := where[a.Project]
		if a.File == "" {
			at, a.Description = "PATH", locale.Sentence(a.Description)
		}
		rows = append(rows, []string{"agent", a.Name, at, a.Description})
	}
	for _, s := range l.Skills {
		rows = append(rows, []string{"skill", s.Name, where[s.Project], s.Description})
	}
	for _, e := range l.Entries {
		rows = append(rows, []string{"context", e.Name, where[e.Project], strings.Join(e.Keywords, ", ")})
	}
	if l.RulesFile != "" {
		rows = append(rows, []string{"rules", filepath.Base(l.RulesFile), where[true], output.FirstLine(l.Rules)})
	}
	for _, w := range l.Problems {
		p.Warn("%s", w.Place()+": "+locale.Sentence(w.Message))
	}
	if len(rows) == 0 && len(l.Problems) == 0 {
		p.Note("there are none yet; collie agent new NAME begins one, collie agent import takes over those of Claude Code and opencode")
	}
	return p.Table([]string{"KIND", "NAME", "WHERE", "DESCRIPTION"}, rows)
}

func (p commands) showAgentCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show an agent and what it may do", Args: root.NamedArgs("name"),
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := p.library()
			if err != nil {
				return err
			}
			a, err := l.Agent(args[0])
			if err != nil {
				return err
			}
			if p.JSON {
				return p.PrintJSON(a)
			}
			p.Note("%s", p.Dim(a.File))
			_, err = fmt.Fprint(p.Out, p.Safe(p.Out, library.Text(a)))
			return err
		},
	}
}

func (p commands) newAgentCommand() *cobra.Command {
	var about string
	var force bool
	c := &cobra.Command{
		Use: "new NAME", Short: "Begin the file of an agent", Args: root.NamedArgs("name"),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, _, err := p.Settings()
			if err != nil {
				return err
			}
			a := library.Agent{Name: args[0], Description: output.FirstNonEmpty(about, locale.T("What this agent is for")), Prompt: locale.T("Describe here how it should work.")}
			if a.File, err = library.Begin(cfg.Paths.Config, &a, force); err != nil {
				return err
			}
			p.OnRecord(c.Context(), cfg, "agent new", map[string]any{"agent": a.Name, "file": a.File})
			if p.JSON {
				return p.PrintJSON(a)
			}
			_, err = fmt.Fprintln(p.Out, a.File)
			return err
		},
	}
	c.Flags().StringVar(&about, "description", "", "say in `TEXT` what it is for")
	c.Flags().BoolVar(&force, "force", false, "overwrite the file that is there")
	return c
}

func (p commands) importAgentsCommand() *cobra.Command {
	var yes, force bool
	c := &cobra.Command{
		Use: "import [NAME...]", Short: "Take over the agents and skills of Claude Code and opencode", Args: cobra.ArbitraryArgs,
		Long: "Shows what is in ~/.claude and ~/.config/opencode and what would be another thing here, asks, and\n" +
			"writes the files. Those of the other programs stay as they are. An agent may do no more here than\n" +
			"there: one that could only read gets the level r.",
		Example: "  collie agent import\n  collie agent import reviewer --yes",
		RunE:    func(c *cobra.Command, args []string) error { return p.importAgents(c.Context(), args, yes, force) },
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&force, "force", false, "overwrite files that are there")
	return c
}

// importAgents finds the agents and skills of other programs, shows them, asks the person unless yes is set, and writes
// the files.
func (p commands) importAgents(ctx context.Context, names []string, yes, force bool) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	home := p.Env.First("HOME", "USERPROFILE")
	from := library.Programs{Claude: p.Env.Get("CLAUDE_CONFIG_DIR")}
	if from.Claude == "" && home != "" {
		from.Claude = filepath.Join(home, ".claude")
	}
	if dir := p.Env.Get("XDG_CONFIG_HOME"); dir != "" {
		from.OpenCode = filepath.Join(dir, "opencode")
	} else if home != "" {
		from.OpenCode = filepath.Join(home, ".config", "opencode")
	}
	found, err := selectImports(library.Foreign(from, cfg.Paths.Config), names)
	if err != nil {
		return err
	}
	if err := p.showImports(found, force); err != nil {
		return err
	}
	open := 0
	for i := range found {
		if found[i].Problem == "" && (!found[i].Exists || force) {
			open++
		}
	}
	if open > 0 && !yes {
		if !p.CanAsk() {
			if p.JSON {
				return p.PrintJSON(map[string]any{"found": found})
			}
			return root.Usage("nothing was written; say --yes to write %d of them", open)
		}
		if agreed, err := p.AskYesNo(ctx, locale.Sprintf("Write %d of them?", open), true); err != nil || !agreed {
			return err
		}
	}
	saved := 0
	for i := range found {
		if found[i].Problem != "" || found[i].Exists && !force {
			continue
		}
		if err := found[i].Save(force); err != nil {
			return err
		}
		saved++
	}
	if saved > 0 {
		p.OnRecord(ctx, cfg, "agent import", map[string]any{"saved": saved})
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"found": append([]library.Import{}, found...)})
	}
	_, err = locale.Fprintf(p.Out, "saved %d of %d\n", saved, len(found))
	return err
}

// selectImports returns the imports with these names; no names mean all.
func selectImports(found []library.Import, names []string) (out []library.Import, err error) {
	if len(names) == 0 {
		return found, nil
	}
	for _, name := range names {
		before := len(out)
		for _, i := range found {
			if i.Name == name {
				out = append(out, i)
			}
		}
		if len(out) == before {
			return nil, root.Usage("there is no agent or skill %q to take over", name)
		}
	}
	return out, nil
}

// showImports prints a table of what was found and what each import leaves out. With --json it prints nothing.
func (p commands) showImports(found []library.Import, force bool) error {
	if p.JSON {
		return nil
	}
	var rows [][]string
	for _, i := range found {
		state := locale.T("new")
		switch {
		case i.Problem != "":
			state = locale.Sentence(i.Problem)
		case i.Exists && force:
			state = locale.T("overwrites")
		case i.Exists:
			state = locale.T("there already")
		}
		rows = append(rows, []string{i.Kind, i.Name, i.Program, state})
	}
	if len(rows) == 0 {
		p.Note("nothing was found: no agents and no skills of Claude Code or opencode")
		return nil
	}
	if err := p.Table([]string{"KIND", "NAME", "FROM", "STATE"}, rows); err != nil {
		return err
	}
	for _, i := range found {
		for _, left := range i.Left {
			p.Note("%s", locale.Sprintf("%s: not taken over: %s", i.Name, output.OneLine(locale.Sentence(left))))
		}
	}
	return nil
}
