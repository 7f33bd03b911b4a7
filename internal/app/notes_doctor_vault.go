package app

import (
	"context"
	"fmt"

	"collie/internal/config"
	vaultadmin "collie/internal/vault/admin"
)

// vault makes the checks of the built-in vault. A file that is not there yet is not made.
func (x *examination) vault(ctx context.Context, cfg *config.Config) {
	file := vaultToRead(cfg, nil)
	v := vaultadmin.New(file, vaultadmin.Options{})
	defer v.Close() //nolint:errcheck // nothing was changed
	x.kernel = vaultClient(file, nil)
	defer x.kernel.Close()
	x.source = x.offer(vaultLevel)
	defer x.source.Close()
	if !v.Exists() {
		x.ok("configuration", "", "no SiYuan is configured: the built-in vault serves, "+v.Path()+", which the first use makes", "")
		x.skipped = "the vault is not made yet"
		x.switches(ctx)
		return
	}
	x.ok("configuration", "", "no SiYuan is configured: the built-in vault serves, "+v.Path(), "")
	if _, err := file.Workspace(ctx); err != nil {
		x.failed("kernel", "vault_unreadable", err)
		return
	}
	version, err := x.kernel.Version(ctx)
	facts := KernelFacts{Version: version}
	if err == nil {
		facts, err = facts.ask(ctx, x.kernel)
	}
	if err != nil {
		x.failed("kernel", "endpoint_failed", err)
		return
	}
	facts.Workspace = v.Path()
	x.report.Kernel = &facts
	x.ok("kernel", "", "the vault, which answers as SiYuan "+facts.Version+" does", "")
	x.ok("token", "", fmt.Sprintf("none is needed; notebooks: %d", facts.Notebooks), "")
	x.ok("workspace", "", facts.Workspace, "")
	x.all(ctx)
}
