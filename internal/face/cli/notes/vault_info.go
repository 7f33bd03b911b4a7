package notes

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	vaultadmin "collie/internal/vault/admin"
)

// This file has the command `collie vault info`, which shows where the vault is and what it holds.

func (p commands) vaultInfoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "info", Short: "Show where the vault is and what it holds", Args: cobra.NoArgs,
		Long: "Shows the vault's file, its size, its contents, when it was last changed, and whether the tools\n" +
			"for notes use it or SiYuan.",
		RunE: func(c *cobra.Command, _ []string) error { return p.vaultInfo(c.Context()) },
	}
}

// vaultFacts is what `vault info` prints.
type vaultFacts struct {
	Exists bool `json:"exists"`
	InUse  bool `json:"inUse"` // the tools for notes use it
	// Instead says why they do not use it.
	Instead string `json:"instead,omitempty"`
	vaultadmin.Info
}

func (p commands) vaultInfo(ctx context.Context) error {
	return p.withVault(func(v *vaultadmin.Vault, cfg *config.Config) error {
		f := vaultFacts{Exists: v.Exists(), Instead: app.InsteadOfVault(cfg, p.Env, app.KernelFlags{}), Info: vaultadmin.Info{Path: v.Path()}}
		f.InUse = f.Instead == ""
		if f.Exists {
			info, err := v.Info(ctx)
			if err != nil {
				return err
			}
			f.Info = info
		}
		if p.JSON {
			return p.PrintJSON(f)
		}
		return p.showVault(&f, v)
	})
}

func (p commands) showVault(f *vaultFacts, v *vaultadmin.Vault) error {
	use := locale.T("yes")
	if !f.InUse {
		use = locale.Sprintf("no; %s", f.Instead)
	}
	if !f.Exists {
		p.noteNoVault(v)
		return p.Table(nil, [][]string{{"file", f.Path}, {"in use", use}})
	}
	changed := locale.T("never")
	if !f.Changed.IsZero() {
		changed = locale.Sprintf("%s, %s ago", f.Changed.Local().Format("2006-01-02 15:04:05"), output.Age(time.Since(f.Changed)))
	}
	files := strconv.Itoa(f.Files)
	if f.Files > 0 {
		files += ", " + output.BinarySize(f.FileBytes)
	}
	return p.Table(nil, [][]string{
		{"file", f.Path},
		{"size", output.BinarySize(f.Size)},
		{"version", strconv.Itoa(f.Version)},
		{"notebooks", strconv.Itoa(f.Notebooks)},
		{"documents", strconv.Itoa(f.Documents)},
		{"blocks", strconv.Itoa(f.Blocks)},
		{"files", files},
		{"last change", changed},
		{"in use", use},
	})
}
