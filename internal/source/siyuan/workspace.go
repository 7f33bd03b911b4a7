package siyuan

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// workspace is what an action may use in one call besides the kernel.
type workspace struct {
	source *Source
	call   *tool.Call
}

var _ action.Workspace = workspace{}

func (w workspace) SetLevel(ctx context.Context, notebook kernel.ID, level access.Level) (access.Level, error) {
	return w.source.levels.Set(ctx, notebook, level)
}

func (w workspace) EditConfig(ctx context.Context, edit func(map[string]any) error) (*access.Config, error) {
	return w.source.switches.Edit(ctx, edit)
}

func (w workspace) Memory(ctx context.Context) (string, error) { return w.source.switches.Memory(ctx) }

func (w workspace) NewNotebookLevel() access.Level { return w.source.opts.NewLevel }

func (w workspace) LocalFiles() action.LocalFiles {
	if w.source.opts.Files == nil {
		return action.LocalFiles{Why: "no folder is allowed: siyuan.localFileRoots is empty"}
	}
	return w.source.opts.Files(w.call)
}

func (w workspace) Uploads() *action.Uploads { return &w.source.uploads }
func (w workspace) Tools() []action.Tool     { return w.source.tools }
func (w workspace) Version() string          { return w.source.opts.Version }
func (w workspace) Connection() string       { return w.source.opts.Connection }
func (w workspace) WriteMode() string {
	return string(w.source.opts.Safety.Mode(w.source.switches.Last().Strict))
}
func (w workspace) Coins() action.Coins { return w.source.opts.Coins }
