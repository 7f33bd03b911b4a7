package mcp

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	serveradmin "collie/internal/source/upstream/admin"
)

// This file has the command `collie mcp search`, which searches the MCP registry.

func (p commands) searchCommand() *cobra.Command {
	var limit int
	var cursor string
	c := &cobra.Command{
		Use: "search WORDS", Short: "Search the MCP registry for servers", Args: cobra.MinimumNArgs(1),
		Long: "Asks the MCP registry for servers whose name contains WORDS, and shows them with their latest\n" +
			"version. The registry is that of the setting mcp.registry, by default the official one; it is\n" +
			"asked when you type this and at no other time. Descriptions are those of the publishers, whom\n" +
			"nobody has checked. collie mcp add NAME adds one.",
		Example: "  collie mcp search weather\n  collie mcp search github --limit 100 --json",
		RunE: func(c *cobra.Command, args []string) error {
			return p.search(c.Context(), strings.Join(args, " "), limit, cursor)
		},
	}
	c.Flags().IntVar(&limit, "limit", 30, "show at most `N` servers, up to 100")
	c.Flags().StringVar(&cursor, "cursor", "", "continue an earlier search at `CURSOR`")
	return c
}

// search prints one page of what the registry finds.
func (p commands) search(ctx context.Context, words string, limit int, cursor string) error {
	if limit < 1 || limit > 100 {
		return root.Usage("--limit is %d, expected 1 to 100", limit)
	}
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	page, err := serveradmin.SearchRegistry(ctx, cfg, words, limit, cursor)
	switch {
	case err != nil:
		return err
	case p.JSON:
		return p.PrintJSON(page)
	case len(page.Servers) == 0:
		p.Note("the registry knows no server whose name contains %s", output.OneLine(words))
		return nil
	}
	rows := make([][]string, len(page.Servers))
	for i, s := range page.Servers {
		ways := make([]string, len(s.Ways))
		for j, w := range s.Ways {
			ways[j] = string(w)
		}
		about := output.FirstNonEmpty(s.Description, s.Title)
		if s.Status == "deprecated" {
			about = s.Status + ": " + about
		}
		rows[i] = []string{s.Name, s.Version, output.FirstNonEmpty(strings.Join(ways, ","), "-"), about}
	}
	if err := p.Table([]string{"NAME", "VERSION", "PACKAGE", "ABOUT"}, rows); err != nil {
		return err
	}
	if page.LeftOut > 0 {
		p.Note("%d servers are not shown, because their data in the registry is not valid", page.LeftOut)
	}
	if page.Next != "" {
		p.Note("there are more: --cursor %s, or a larger --limit", output.ShellQuote(page.Next))
	}
	p.Note("next: collie mcp add NAME shows what would run, and asks")
	return nil
}
