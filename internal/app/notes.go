package app

import (
	"context"
	"slices"
	"strings"

	"collie/internal/config"
	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/tool"
)

// This file has what the rest of the program may ask of the tools for notes: whether they are offered, and why not.

// Vault returns the path of the built-in vault's file if the notes are in it. It returns "" if they are in SiYuan or there
// are none.
func (n *Notes) Vault() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.source == nil || n.choice.Configured {
		return ""
	}
	return n.vault.Path()
}

// Count returns how many tools for notes the default profile shows.
func (n *Notes) Count() (count int) {
	for _, s := range n.sources() {
		count += n.app.catalog.Shown("", s)
	}
	return count
}

// Admin returns the management of the notes. The error says why there are no notes.
func (n *Notes) Admin() (*notesadmin.Notes, error) {
	if err := n.Missing(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return notesadmin.New(n.source, n.safety, notesadmin.VerifyWorkspace(n.choice)), nil
}

// Missing returns why the SiYuan tools are not offered, nil if they are. If no kernel is configured, the
// error is of kind Unavailable.
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

// NotesMissing is like [Notes.Missing] for commands that have no [App]; it goes by the settings alone.
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

// Warnings returns what people should know about how the kernel was chosen, one sentence each.
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

// AwaitToolConfig waits until the tool config of the workspace was read, so that only actions that are
// switched on are offered. It returns an error only if the kernel cannot be reached.
func (n *Notes) AwaitToolConfig(ctx context.Context) error {
	n.mu.Lock()
	source := n.source
	n.mu.Unlock()
	if source == nil {
		return nil
	}
	switch err := source.ConfigProblem(ctx); tool.KindOf(err) {
	case tool.Unavailable, tool.Unauthorized, tool.Busy, tool.Canceled:
		return err
	}
	return nil // the call itself will report any other error
}

// NotesTool returns the SiYuan tool that a name on the command line means: the name itself, or "fs" for
// "fs/read" and "fs__read". ok is false for any other name. The tool need not be offered.
func NotesTool(name string) (tool string, ok bool) {
	tool, _, _ = strings.Cut(name, "/")
	tool, _, _ = strings.Cut(tool, "__")
	return tool, slices.Contains(config.NotesTools(), tool)
}

// NotesOffered reports whether the tools for notes are on, with a configured SiYuan kernel or the built-in
// vault. It does not contact a kernel, so its settings may still turn out to be wrong.
func NotesOffered(cfg *config.Config, env config.Env, flags KernelFlags) bool {
	return cfg.SiYuan.Enabled && (cfg.Vault.Enabled || kernelNamed(cfg, env, flags))
}

// kernelNamed reports whether the flags, the environment or the settings name a SiYuan kernel.
func kernelNamed(cfg *config.Config, env config.Env, flags KernelFlags) bool {
	if !cfg.SiYuan.Enabled {
		return false
	}
	if flags != (KernelFlags{}) || env.Get("SIYUAN_API_URL") != "" {
		return true
	}
	saved, problems := Connections(cfg, env)
	if len(cfg.SiYuan.Raw) == 0 {
		problems = nil // they concern files of another program, which we may have no permission to read
	}
	return len(saved.Connections) > 0 || len(problems) > 0
}

// reservedTools returns the names of our own tools, whether or not they are offered now.
func reservedTools(cfg *config.Config) []string {
	if !cfg.SiYuan.Enabled {
		return nil
	}
	return config.NotesTools()
}
