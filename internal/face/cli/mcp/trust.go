package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	entryadmin "collie/internal/source/upstream/entry/admin"
	"collie/internal/tool"
)

// This file has the command `collie mcp trust`, with which a person allows the servers of a project's settings.

// trustFlags are the flags of `collie mcp trust`.
type trustFlags struct{ yes, revoke, list bool }

func (p commands) trustCommand() *cobra.Command {
	var f trustFlags
	c := &cobra.Command{
		Use: "trust [DIR]", Short: "Review a project's servers and let them run", Args: cobra.MaximumNArgs(1),
		Long: "A folder may bring its own servers in .collie/collie.json. They are listed but never started\n" +
			"until you have reviewed them: this command shows them and asks. The answer holds for this\n" +
			"folder and for the file as it is now; if the file changes, you are asked again. Unless --config\n" +
			"or COLLIE_CONFIG names a file, collie then uses these servers beside your own whenever it is\n" +
			"started in DIR. Everything else in such a file is ignored.",
		Example: "  collie mcp trust .\n  collie mcp trust --list\n  collie mcp trust ~/work/site --revoke",
		RunE:    func(c *cobra.Command, args []string) error { return p.trust(c.Context(), args, &f) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.yes, "yes", false, "do not ask")
	flags.BoolVar(&f.revoke, "revoke", false, "revoke the trust")
	flags.BoolVar(&f.list, "list", false, "show which projects are trusted")
	return c
}

const opTrust = "mcp trust"

// trust checks the flags and lists the trusted projects, revokes the trust, or asks the person about a project.
func (p commands) trust(ctx context.Context, args []string, f *trustFlags) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	switch {
	case f.list && (f.yes || f.revoke), f.yes && f.revoke:
		return root.Usage("--yes, --revoke and --list exclude each other; keep one")
	case f.list && len(args) > 0:
		return root.Usage("--list shows all projects; leave out %s", args[0])
	case f.list:
		return p.listTrust(cfg)
	}
	dir := "."
	if len(args) == 1 {
		dir = projectDir(args[0])
	}
	if f.revoke {
		return p.revokeTrust(ctx, cfg, config.ProjectPath(dir))
	}
	project, err := config.FindProject(cfg.Paths, dir)
	switch {
	case errors.Is(err, config.ErrNoProject):
		return &tool.Error{
			Op: opTrust, Kind: tool.NotFound, Subject: config.ProjectPath(dir),
			Message: "this folder has no settings of its own", Hint: "name the folder that holds " + filepath.ToSlash(config.ProjectFile),
		}
	case project == nil:
		return root.Usage("%v", err)
	case err != nil: // the stored decisions cannot be read and must not be overwritten
		return &tool.Error{Op: opTrust, Kind: tool.Invalid, Message: err.Error()}
	}
	return p.askTrust(ctx, cfg, project, f.yes)
}

// projectDir returns the folder of a project, given the folder or its settings file.
func projectDir(path string) string {
	clean := filepath.Clean(path)
	for _, tail := range []string{config.ProjectFile, filepath.Dir(config.ProjectFile)} {
		if clean == tail {
			return "."
		}
		if dir, ok := strings.CutSuffix(clean, string(filepath.Separator)+tail); ok {
			return dir
		}
	}
	return path
}

// askTrust shows what a project would start and asks whether it may.
func (p commands) askTrust(ctx context.Context, cfg *config.Config, project *config.Project, yes bool) error {
	for _, f := range project.Findings {
		if f.Severity == config.SeverityError {
			return &config.Error{Findings: project.Findings}
		}
		p.Warn("%s: %s", f.Place(), locale.Sentence(f.Text()))
	}
	servers := entryadmin.ProjectServers(project, ownNames(cfg, project), app.Redacted)
	trusted := project.State == config.Trusted
	if !p.JSON {
		if _, err := fmt.Fprint(p.Out, projectText(project, servers)); err != nil {
			return err
		}
	}
	var refused error
	if !trusted {
		if refused = p.confirmTrust(ctx, project, yes); refused == nil {
			if err := project.Trust(ctx, cfg.Paths, time.Now()); err != nil {
				return asTrustFailure(project.File, err)
			}
			names := make([]string, len(servers))
			for i := range servers {
				names[i] = servers[i].Name
			}
			p.OnRecord(ctx, cfg, opTrust, map[string]any{"servers": names, "file": project.File, "sha256": project.SHA256})
		}
	}
	if p.JSON {
		err := p.PrintJSON(map[string]any{
			"file": project.File, "dir": project.Dir, "sha256": project.SHA256, "state": project.State, "servers": servers,
		})
		if err == nil && refused != nil {
			p.Note("%s", root.ErrorText(refused))
			err = root.Exit(root.ExitUnconfirmed)
		}
		return err
	}
	switch {
	case refused != nil:
		return refused
	case trusted:
		_, err := locale.Fprintf(p.Out, "this file is trusted already\n")
		return err
	}
	if len(p.Files) > 0 || p.Env.Get("COLLIE_CONFIG") != "" {
		p.Warn("with a file named by --config or COLLIE_CONFIG, projects are ignored")
	}
	_, err := locale.Fprintf(p.Out, "trusted; collie uses them when it is started in %s\n", output.Harmless(project.Dir))
	return err
}

// asTrustFailure returns the error for a decision that could not be written.
func asTrustFailure(file string, err error) error {
	if root.IsConfig(err) {
		return err
	}
	return &tool.Error{Op: opTrust, Kind: tool.Invalid, Subject: file, Message: "the decision was not written", Err: err}
}

// ownNames returns the names of servers that do not come from the project.
func ownNames(cfg *config.Config, project *config.Project) []string {
	var out []string
	for _, s := range cfg.Servers {
		if s.File != project.File {
			out = append(out, s.Name)
		}
	}
	return out
}

// projectText describes the project in full: long lines are not cut, so that nothing can be hidden in them.
func projectText(project *config.Project, servers []entryadmin.ProjectServer) string {
	var b strings.Builder
	say := func(format string, args ...any) {
		b.WriteString(output.Harmless(locale.Sprintf(format, args...)) + "\n")
	}
	say("%s", output.OneLine(project.File))
	if project.State == config.Changed {
		say("This file has changed since you trusted it.")
	}
	if len(servers) == 0 {
		say("It starts nothing.")
		return b.String()
	}
	say("would start or reach %s:", locale.Count(len(servers), "server"))
	for _, s := range servers {
		say("\n  %s", output.OneLine(s.Name))
		say("    %s", output.OneLine(s.Command))
		for _, e := range s.Effects {
			say("    - %s", output.OneLine(locale.Sentence(e)))
		}
		for _, wrong := range s.Problems {
			say("    - does not work: %s", output.OneLine(locale.Sentence(wrong)))
		}
	}
	b.WriteString("\n")
	return b.String()
}

// confirmTrust asks for a yes, unless --yes was given.
func (p commands) confirmTrust(ctx context.Context, project *config.Project, yes bool) error {
	if yes {
		return nil
	}
	_, err := p.RequireYes(ctx, locale.Sprintf("Let these run whenever collie is started in %s?", output.Harmless(project.Dir)))
	return err
}

func (p commands) revokeTrust(ctx context.Context, cfg *config.Config, file string) error {
	found, err := config.Revoke(ctx, cfg.Paths, file)
	if err != nil {
		return asTrustFailure(file, err)
	}
	if !found {
		return &tool.Error{Op: opTrust, Kind: tool.NotFound, Subject: file, Message: "this project is not trusted", Hint: "collie mcp trust --list shows those that are"}
	}
	p.OnRecord(ctx, cfg, opTrust, map[string]any{"revoked": true, "file": file})
	if p.JSON {
		return p.PrintJSON(map[string]string{"revoked": file})
	}
	_, err = locale.Fprintf(p.Out, "no longer trusted: %s\n", file)
	return err
}

// trustRow is a project that was trusted.
type trustRow struct {
	File   string    `json:"file"`
	State  string    `json:"state"` // trusted, changed or gone
	Time   time.Time `json:"time"`
	SHA256 string    `json:"sha256"`
}

func (p commands) listTrust(cfg *config.Config) error {
	list, err := config.Decisions(cfg.Paths)
	if err != nil {
		return &tool.Error{Op: opTrust, Kind: tool.Invalid, Message: err.Error()}
	}
	rows := []trustRow{}
	var cells [][]string
	for _, d := range list {
		row := trustRow{d.File, string(d.State()), d.Time, d.SHA256}
		if _, err := os.Stat(d.File); errors.Is(err, os.ErrNotExist) {
			row.State = "gone"
		}
		rows = append(rows, row)
		cells = append(cells, []string{row.State, row.Time.Local().Format("2006-01-02 15:04"), row.File})
	}
	switch {
	case p.JSON:
		return p.PrintJSON(map[string]any{"projects": rows})
	case len(rows) == 0:
		p.Note("no project is trusted; collie mcp trust DIR asks about one")
		return nil
	}
	return p.Table([]string{"STATE", "SINCE", "FILE"}, cells)
}
