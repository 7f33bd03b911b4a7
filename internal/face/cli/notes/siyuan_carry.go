package notes

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	notesadmin "collie/internal/source/siyuan/admin"
)

// This file copies what a workspace holds beside notes, which are levels, switches of tools, rules and memory, between the
// vault and SiYuan when a person switches from one to the other. The notes themselves stay where they are.

// carryFlags answer in advance whether these are carried over.
type carryFlags struct{ yes, no bool }

// add adds the flags to a command.
func (f *carryFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.yes, "carry", false, "carry levels, switches, rules and memory over without being asked")
	c.Flags().BoolVar(&f.no, "no-carry", false, "carry nothing over, and do not ask")
	c.MarkFlagsMutuallyExclusive("carry", "no-carry")
}

// The names of the two sides for people.
const (
	sideVault  = "the vault"
	sideSiYuan = "SiYuan"
)

// carryToKernel offers to copy levels, switches, rules and memory that only the vault has to a kernel. The connection is
// already saved, so failures are only warnings.
func (p commands) carryToKernel(ctx context.Context, cfg *config.Config, n *newKernel, f carryFlags) {
	if f.no {
		return
	}
	c, err := app.CarryToKernel(ctx, cfg, n.url, n.token)
	if err != nil {
		p.Warn("nothing was carried over from the vault: %v", err)
		return
	}
	if c == nil {
		if f.yes {
			p.Note("there is no vault, so nothing was carried over")
		}
		return
	}
	defer c.Close()
	p.carryOver(ctx, cfg, c, f, sideVault, sideSiYuan)
	if n := documents(ctx, cfg); n > 0 && !p.JSON {
		p.Note("the notes in the vault stay there, %s: collie vault export --siyuan FILE NOTEBOOK writes what SiYuan imports", locale.Count(n, "document"))
	}
}

// documents returns the number of documents in the vault; 0 if it is unknown.
func documents(ctx context.Context, cfg *config.Config) int {
	v := app.OpenVault(cfg, nil)
	defer v.Close()
	info, err := v.Info(ctx)
	if err != nil {
		return 0
	}
	return info.Documents
}

// carryToVault is like carryToKernel for the other direction, from the kernel of a saved connection to the vault.
func (p commands) carryToVault(ctx context.Context, cfg *config.Config, name string, f carryFlags) {
	if f.no || !cfg.Vault.Enabled {
		return
	}
	choice, err := app.SavedChoice(ctx, cfg, p.Env, name)
	var c *notesadmin.Carry
	if err == nil {
		c, err = app.CarryToVault(ctx, cfg, p.Env, choice)
	}
	if err != nil {
		if f.yes {
			p.Warn("nothing was carried over to the vault: %v", err)
		}
		return
	}
	defer c.Close()
	p.carryOver(ctx, cfg, c, f, sideSiYuan, sideVault)
}

// carryOver asks the person unless a flag has answered, copies what c holds, and prints the outcome. from and to are the
// names of the two sides.
func (p commands) carryOver(ctx context.Context, cfg *config.Config, c *notesadmin.Carry, f carryFlags, from, to string) {
	from, to = locale.T(from), locale.T(to)
	if c.Empty() {
		if f.yes {
			p.Note("%s has nothing to carry over that %s lacks", from, to)
		}
		p.carryRest(c, f.yes, to)
		return
	}
	text := carriedText(c)
	if !f.yes {
		if p.JSON || !output.IsTerminal(p.Err) || !output.IsTerminal(p.In) {
			p.Note("not carried over from %s: %s; --carry does that", from, text)
			return
		}
		answer, err := p.Prompt(ctx, locale.Sprintf("%s has %s. Carry that over to %s? [y/N] ", capital(from), text, to), false)
		if err != nil || !root.IsYes(answer) {
			p.Note("nothing was carried over")
			return
		}
	}
	if err := c.Do(ctx); err != nil {
		p.Warn("not everything was carried over to %s: %v", to, err)
		return
	}
	p.OnRecord(ctx, cfg, "siyuan carry", map[string]any{"to": to, "carried": c})
	p.Note("carried over to %s: %s", to, text)
	p.carryRest(c, true, to)
}

// carryRest prints what was not carried over, if say is set.
func (p commands) carryRest(c *notesadmin.Carry, say bool, to string) {
	if say && len(c.Kept) > 0 {
		p.Note("%s has its own and keeps it: %s", to, output.OneLine(strings.Join(c.Kept, ", ")))
	}
	if say && len(c.Missing) > 0 {
		p.Note("%s has no such notebook, so its level was not carried over: %s", to, output.OneLine(strings.Join(c.Missing, ", ")))
	}
}

// carriedText describes what there is to carry over.
func carriedText(c *notesadmin.Carry) string {
	var parts []string
	for i, l := range c.Levels {
		if len(c.Levels) > 5 && i == 4 {
			parts = append(parts, locale.Sprintf("%d more levels", len(c.Levels)-i))
			break
		}
		parts = append(parts, locale.Sprintf("level %s of %s", l.Level, l.Name))
	}
	for _, t := range []struct {
		name  string
		there bool
	}{{"switches of tools", c.Switches}, {"your rules", c.Rules}, {"the memory", c.Memory}} {
		if t.there {
			parts = append(parts, t.name)
		}
	}
	return output.OneLine(strings.Join(parts, ", "))
}

// capital returns text with an upper-case first letter, if its script has such letters.
func capital(text string) string {
	_, size := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:size]) + text[size:]
}
