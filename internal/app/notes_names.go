package app

import (
	"slices"
	"strings"

	"collie/internal/config"
)

// NotesTool is the SiYuan tool that a name on a command line stands for: the tool's own name,
// "fs/read" or "fs__read". ok is false for any other name. Whether the tool is offered is
// another question.
func NotesTool(name string) (tool string, ok bool) {
	tool, _, _ = strings.Cut(name, "/")
	tool, _, _ = strings.Cut(tool, "__")
	return tool, slices.Contains(ownTools, tool)
}

// NotesTools are the names of the SiYuan tools in their order.
func NotesTools() []string { return slices.Clone(ownTools) }

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
	return ownTools
}
