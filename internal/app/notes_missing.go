package app

import (
	"context"

	"collie/internal/config"
	"collie/internal/tool"
)

// Missing says why the SiYuan tools are not offered; nil if they are. The error for a kernel that
// nobody has named is of kind Unavailable.
func (n *Notes) Missing() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.source != nil:
		return nil
	case n.err != nil:
		return n.err
	case !n.enabled:
		return notesOff()
	}
	return noKernel()
}

// NotesMissing is [Notes.Missing] for those who have no [App]: why the settings give no SiYuan
// tools, nil if they do.
func NotesMissing(ctx context.Context, cfg *config.Config, env config.Env, flags KernelFlags) error {
	if !cfg.SiYuan.Enabled {
		return notesOff()
	}
	choice, _, err := ChooseKernel(ctx, cfg, env, flags)
	switch {
	case err != nil:
		return err
	case !choice.Configured && !cfg.Vault.Enabled:
		return noKernel()
	}
	_, err = readSiYuan(cfg)
	return err
}

// Warnings are what people should know about how the kernel was chosen, a sentence each.
func (n *Notes) Warnings() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.warnings
}

func notesOff() error {
	return &tool.Error{
		Op: "use SiYuan", Kind: tool.Disabled, Message: "the SiYuan tools are switched off: siyuan.enabled is false",
		Hint: "collie config set siyuan.enabled true",
	}
}

func noKernel() error {
	return &tool.Error{
		Op: "use SiYuan", Kind: tool.Unavailable, Code: "not_configured", Message: "no SiYuan is configured, and the built-in vault is switched off",
		Hint: "collie siyuan init sets SiYuan up, or give --url and --token; collie config set vault.enabled true switches the vault on",
	}
}

// Settle waits until the tool config of the workspace has been read, so that what is offered is
// what is switched on. The error says that the kernel cannot be asked at all.
func (n *Notes) Settle(ctx context.Context) error {
	n.mu.Lock()
	source := n.source
	n.mu.Unlock()
	if source == nil {
		return nil
	}
	switch err := source.Switches().Current(ctx).Problem; tool.KindOf(err) {
	case tool.Unavailable, tool.Unauthorized, tool.Busy, tool.Canceled:
		return err
	}
	return nil // the call itself says what else is wrong
}
