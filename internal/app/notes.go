package app

import (
	"context"
	"slices"
	"strings"

	"collie/internal/config"
	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/tool"
)

// Vault is the file of the built-in vault where the notes are in that; empty where they are in a
// SiYuan, and where there are none.
func (n *Notes) Vault() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.source == nil || n.choice.Configured {
		return ""
	}
	return n.vault.Path()
}

// Admin is what people manage of the notes. The error says why there are none.
func (n *Notes) Admin() (*notesadmin.Notes, error) {
	if err := n.Missing(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return notesadmin.New(n.source, n.safety, notesadmin.VerifyWorkspace(n.choice)), nil
}

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
	choice, _, err := chooseKernel(ctx, cfg, env, flags)
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

// AwaitToolConfig waits until the tool config of the workspace has been read, so that what is offered is
// what is switched on. The error says that the kernel cannot be asked at all.
func (n *Notes) AwaitToolConfig(ctx context.Context) error {
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

// NotesTool is the SiYuan tool that a name on a command line stands for: the tool's own name,
// "fs/read" or "fs__read". ok is false for any other name. Whether the tool is offered is
// another question.
func NotesTool(name string) (tool string, ok bool) {
	tool, _, _ = strings.Cut(name, "/")
	tool, _, _ = strings.Cut(tool, "__")
	return tool, slices.Contains(config.NotesTools(), tool)
}

// NotesOffered reports whether the tools for notes are on: those of the SiYuan kernel that somebody
// has named, or of the built-in vault. It asks nobody, so what was said of a kernel may be wrong.
func NotesOffered(cfg *config.Config, env config.Env, flags KernelFlags) bool {
	return cfg.SiYuan.Enabled && (cfg.Vault.Enabled || kernelNamed(cfg, env, flags))
}

// kernelNamed reports whether somebody has said which SiYuan kernel to use.
func kernelNamed(cfg *config.Config, env config.Env, flags KernelFlags) bool {
	if !cfg.SiYuan.Enabled {
		return false
	}
	if flags != (KernelFlags{}) || env.Get("SIYUAN_API_URL") != "" {
		return true
	}
	saved, problems := Connections(cfg, env)
	if len(cfg.SiYuan.Raw) == 0 {
		problems = nil // of files of an older program, which need not be ours to read
	}
	return len(saved.Connections) > 0 || len(problems) > 0
}

// reservedTools are the names of tools that are ours, whether they are offered at the moment or not.
func reservedTools(cfg *config.Config) []string {
	if !cfg.SiYuan.Enabled {
		return nil
	}
	return config.NotesTools()
}
