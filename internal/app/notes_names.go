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

// KernelConfigured reports whether somebody has said which SiYuan kernel to use. It asks nobody,
// so what was said may be wrong.
func KernelConfigured(cfg *config.Config, env config.Env, flags KernelFlags) bool {
	if !cfg.SiYuan.Enabled {
		return false
	}
	if flags != (KernelFlags{}) || env.Get("SIYUAN_API_URL") != "" {
		return true
	}
	saved, problems := Connections(cfg, env)
	return len(saved.Connections) > 0 || len(problems) > 0
}
