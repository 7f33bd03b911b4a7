package clients

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/learn"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	secretadmin "collie/internal/secret/admin"
	serveradmin "collie/internal/source/upstream/admin"
	hostadmin "collie/internal/source/upstream/hosts/admin"
)

// This file has the command `collie mcp import`, which adds the servers in the settings of other programs to ours.

// importFlags are the flags of `collie mcp import`.
type importFlags struct {
	from, file, secrets   string
	choose                []string
	dryRun, keepApprovals bool
	noWarm                bool
	moved                 bool // not a flag: collie connect --move also removes the servers from the other program's file
}

// ImportCommand returns the command `collie mcp import`.
func ImportCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}

	var f importFlags
	c := &cobra.Command{
		Use: "import", Short: "Import the servers of other programs", Args: cobra.NoArgs,
		Long: "Reads the files in which other programs keep their MCP servers, shows what it finds and what\n" +
			"cannot be carried over, and adds the new servers to the settings. The files of the other\n" +
			"programs are not changed, and servers you already have stay as they are: a second import\n" +
			"changes nothing.\n\n" +
			"A secret that an entry holds as text can be moved into the secret store, so that the settings\n" +
			"hold only ${secret:NAME}. What the other program runs without asking is listed, and asked\n" +
			"about here unless --keep-approvals is given. Servers whose tools are not known yet are started\n" +
			"once to learn them.\n\n" +
			"Programs: " + strings.Join(hostNames(), ", "),
		Example: "  collie mcp import --dry-run\n  collie mcp import --from cursor --select github,notes\n" +
			"  collie mcp import --file ~/Downloads/mcp.json --secrets keyring",
		RunE: func(c *cobra.Command, _ []string) error { return p.importServers(c.Context(), &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.from, "from", "auto", "read the files of `HOST`; auto reads those of all")
	flags.StringVar(&f.file, "file", "", "read `FILE` instead, whichever program's it is")
	flags.StringSliceVar(&f.choose, "select", nil, "import only these servers: `A,B`")
	flags.StringVar(&f.secrets, "secrets", "ask", "do `WHAT` with secrets found as text: keyring (move to the secret store), keep or ask")
	flags.BoolVar(&f.keepApprovals, "keep-approvals", false, "take over what runs there without asking a person")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only show what would be written")
	learn.NoWarmFlag(c, &f.noWarm)
	root.CompleteWith(c, "from", append([]string{"auto"}, hostNames()...)...)
	root.CompleteWith(c, "secrets", "keyring", "keep", "ask")
	return c
}

func hostNames() []string {
	var names []string
	for _, h := range hostadmin.Hosts() {
		names = append(names, h.Name)
	}
	return names
}

// checkHost returns an error if no program has this name.
func checkHost(flag, name string) error {
	if slices.Contains(hostNames(), name) {
		return nil
	}
	near := root.DidYouMean(name, hostNames())
	if near == "" {
		near = ";"
	}
	return root.Usage("%s is %q, which is not a known program%s known programs: %s", flag, name, near, strings.Join(hostNames(), ", "))
}

// importServers plans the import, prints what it finds, writes the new servers and prints a summary.
func (p commands) importServers(ctx context.Context, f *importFlags) error {
	if !slices.Contains([]string{"keyring", "keep", "ask"}, f.secrets) {
		return root.Usage("--secrets is %q, expected keyring, keep or ask", f.secrets)
	}
	if f.from != "auto" {
		if err := checkHost("--from", f.from); err != nil {
			return err
		}
	}
	cfg, wrong, err := p.Settings()
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	plan, err := hostadmin.PlanImport(cfg, p.Env, hostadmin.ImportOptions{
		From: f.from, File: f.file, Dir: dir, Select: f.choose, KeepApprovals: f.keepApprovals, Reserved: cfg.ReservedNames(),
	})
	if err != nil {
		return err
	}
	for _, problem := range plan.Problems {
		p.Warn("%v", problem)
	}
	file := root.SettingsFile(cfg)
	if p.JSON {
		return p.importJSON(ctx, cfg, plan, file, f)
	}
	if err := p.importTable(plan); err != nil {
		return err
	}
	names, err := p.writeServers(ctx, cfg, plan, file, f)
	if err != nil {
		return err
	}
	if wrong != nil {
		p.Warn("the settings have other errors: collie mcp validate shows them")
	}
	if err := p.importSummary(plan, names, file, f); err != nil {
		return err
	}
	p.learnImported(ctx, names, f)
	return nil
}

// learnImported starts servers without a list to learn their tools, if any were imported. It does nothing with --dry-run or
// --no-warm.
func (p commands) learnImported(ctx context.Context, names []string, f *importFlags) {
	if len(names) > 0 && !f.dryRun && !f.noWarm {
		learn.Unseen(ctx, p.Program)
	}
}

// importJSON writes the new servers and prints the result as JSON.
func (p commands) importJSON(ctx context.Context, cfg *config.Config, plan *hostadmin.Import, file string, f *importFlags) error {
	names, err := p.writeServers(ctx, cfg, plan, file, f)
	if err != nil {
		return err
	}
	err = p.PrintJSON(map[string]any{
		"files": plan.Files, "servers": plan.Servers, "file": file,
		"changes": len(names), "written": len(names) > 0 && !f.dryRun,
	})
	if err == nil {
		p.learnImported(ctx, names, f)
	}
	return err
}

// importTable prints a row for each server, and further rows for its second difference and those after it.
func (p commands) importTable(plan *hostadmin.Import) error {
	if len(plan.Servers) == 0 {
		return nil
	}
	var rows [][]string
	for _, s := range plan.Servers {
		from := s.Host
		if s.Project != "" {
			from += " " + root.ShortPath(s.Project, p.Env)
		}
		var differences []string
		switch s.State {
		case hostadmin.ImportNew:
			for _, d := range s.Differences {
				differences = append(differences, locale.Sentence(d))
			}
			if len(s.Secrets) > 0 {
				differences = append(differences, locale.Sprintf("secret as text: %s", strings.Join(s.Secrets, ", ")))
			}
			if s.From != s.Name {
				differences = append([]string{locale.Sprintf("called %s there", strconv.Quote(s.From))}, differences...)
			}
		case hostadmin.ImportSkipped:
			differences = []string{locale.Sentence(s.Why)}
		}
		rows = append(rows, []string{s.Name, s.Transport, from, s.State, output.FirstNonEmpty(differences...)})
		for i := 1; i < len(differences); i++ {
			rows = append(rows, []string{"", "", "", "", differences[i]})
		}
	}
	return p.Table([]string{"SERVER", "TRANSPORT", "SOURCE", "STATE", "DIFFERENCES"}, rows)
}

// writeServers writes the new servers and returns their names. With --dry-run it writes nothing.
func (p commands) writeServers(ctx context.Context, cfg *config.Config, plan *hostadmin.Import, file string, f *importFlags) ([]string, error) {
	entries, err := plan.Entries("the import", filepath.Dir(file))
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	if f.dryRun {
		return names, nil
	}
	if err := p.moveSecrets(ctx, cfg, plan, f); err != nil {
		return nil, err
	}
	if entries, err = plan.Entries("the import", filepath.Dir(file)); err != nil {
		return nil, err
	}
	if err := config.AddServers(ctx, file, entries, false); err != nil {
		return nil, root.NotWrittenError("mcp import", file, err)
	}
	p.warnFindings(cfg, entries)
	p.RecordChange(ctx, cfg, "mcp import", map[string]any{"servers": names, "file": file, "from": plan.Files})
	return names, nil
}

// moveSecrets moves the secrets of new entries into the secret store if --secrets or the person says so. Otherwise it warns
// that the settings hold them as text.
func (p commands) moveSecrets(ctx context.Context, cfg *config.Config, plan *hostadmin.Import, f *importFlags) error {
	found := plan.Secrets()
	if len(found) == 0 {
		return nil
	}
	choice := f.secrets
	if choice == "ask" {
		var err error
		if choice, err = p.askSecrets(ctx, found); err != nil {
			return err
		}
	}
	if choice == "keep" {
		again := locale.T("collie mcp remove SERVER, then collie mcp import --secrets keyring keeps them in the secret store")
		if f.moved {
			again = locale.T("collie secret set NAME keeps one in the secret store, and ${secret:NAME} stands for it; --secrets keyring does so from the start")
		}
		p.Warn("the settings now hold %s as text: %s; %s", locale.Count(len(found), "secret"), strings.Join(found, ", "), again)
		return nil
	}
	store, err := secretadmin.Open(cfg, nil)
	if err != nil {
		return err
	}
	var broken error
	storedName := func(name string) (string, bool) {
		value, ok, err := store.Get(ctx, name)
		broken = errors.Join(broken, err)
		return value, ok && err == nil
	}
	err = plan.MoveSecrets(storedName, func(name, value string) error {
		if broken != nil {
			return broken
		}
		return store.Set(ctx, name, value)
	})
	if err == nil {
		p.Note("%s moved into the secret store: %s", locale.Count(len(found), "secret"), strings.Join(found, ", "))
	}
	return err
}

// askSecrets asks a person what to do with secrets, and returns keyring or keep. If nobody can be asked, it returns keep.
func (p commands) askSecrets(ctx context.Context, found []string) (string, error) {
	if !output.IsTerminal(p.In) || !output.IsTerminal(p.Err) {
		return "keep", nil
	}
	_, _ = locale.Fprintf(p.Err, "Entries hold %s as text: %s.\nMove them into the secret store? [Y/n] ", locale.Count(len(found), "secret"), strings.Join(found, ", "))
	line, err := root.NewLines(p.In).Next(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if yes, ok := root.ParseYesNo(line); err != nil || ok && !yes {
		return "keep", nil //nolint:nilerr // without an answer they stay
	}
	return "keyring", nil
}

// warnFindings warns about problems of new entries, such as variables that are not set.
func (p commands) warnFindings(cfg *config.Config, entries []config.ServerEntry) {
	with := *cfg
	with.Servers = slices.Clone(entries)
	_, findings := serveradmin.Specs(&with, p.Env)
	for _, f := range findings {
		p.Warn("%s", locale.Sentence(f.Text()))
	}
}

// importSummary prints what was added, or would be with --dry-run.
func (p commands) importSummary(plan *hostadmin.Import, names []string, file string, f *importFlags) error {
	var text string
	switch {
	case len(plan.Files) == 0:
		text = locale.Sprintf("no file of another program was found; known are %s", strings.Join(hostNames(), ", "))
	case len(names) == 0:
		text = "0 changes"
	case f.dryRun:
		text = locale.Sprintf("%s for %s; nothing was written (--dry-run)", locale.Count(len(names), "change"), file)
	default:
		text = locale.Sprintf("%s: added %s to %s", locale.Count(len(names), "change"), strings.Join(names, ", "), file)
	}
	_, err := fmt.Fprintln(p.Out, text)
	return err
}
