// Package admin lets people manage the notes behind the tools: set levels of notebooks, switch tools, undo
// writes, run the doctor's checks, and carry settings from one place of notes to another.
package admin

import (
	"context"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/connection"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
)

// Notes manages the notes that a source offers: the levels of notebooks, the workspace's tool config, and the writes
// that can be undone. It is safe for concurrent use and needs no Close.
type Notes struct {
	source  *siyuan.Source
	undoLog *safety.Coordinator
	verify  func(context.Context, *kernel.Client) error
}

// New returns the management of source; writes is the coordinator that records the source's writes. If verify is not nil,
// it checks before each use that the kernel still has the recorded workspace.
func New(source *siyuan.Source, writes *safety.Coordinator, verify func(context.Context, *kernel.Client) error) *Notes {
	return &Notes{source, writes, verify}
}

// verifiedSource returns the source after verifying the workspace: nothing may be changed in a different one.
func (n *Notes) verifiedSource(ctx context.Context) (*siyuan.Source, error) {
	if n.verify != nil {
		if err := n.verify(ctx, n.source.Kernel()); err != nil {
			return nil, err
		}
	}
	return n.source, nil
}

// VerifyWorkspace returns a function that checks that the kernel has the recorded workspace; nil if none is recorded.
func VerifyWorkspace(c connection.Choice) func(context.Context, *kernel.Client) error {
	if c.Workspace == "" {
		return nil
	}
	return func(ctx context.Context, k *kernel.Client) error {
		// First without the token, which a kernel on this machine does not need for this request: if another program
		// has taken the port, it must not see the token.
		plain := kernel.New(c.URL, kernel.Options{})
		defer plain.Close()
		info, err := plain.WorkspaceInfo(ctx)
		if tool.KindOf(err) == tool.Unauthorized {
			info, err = k.WorkspaceInfo(ctx)
		}
		if isReadOnlyError(err) {
			return nil // without knowing its workspace, nothing is written to it
		}
		if err != nil {
			return err
		}
		return c.Verify(info.Dir)
	}
}
