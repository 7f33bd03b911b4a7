// Package admin is what people do with the notes that the tools work in: levels of notebooks, switches of tools,
// writes that are taken back, the checks of the doctor, and what is carried from one place of notes to another.
package admin

import (
	"context"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/connection"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
)

// Notes is what people manage of the notes that a source offers: the levels of notebooks, the tool config of
// the workspace, and the writes that can be taken back. It is safe for concurrent use and needs no Close.
type Notes struct {
	source *siyuan.Source
	writes *safety.Coordinator
	verify func(context.Context, *kernel.Client) error
}

// New is what people manage of source, whose writes are kept by writes. verify, unless it is nil, holds the
// kernel against the workspace that was recorded, before anything is read or changed.
func New(source *siyuan.Source, writes *safety.Coordinator, verify func(context.Context, *kernel.Client) error) *Notes {
	return &Notes{source, writes, verify}
}

// managed is the source, for what people do with it. The kernel has been held against the
// workspace that was recorded: nothing is to be changed in another one.
func (n *Notes) managed(ctx context.Context) (*siyuan.Source, error) {
	if n.verify != nil {
		if err := n.verify(ctx, n.source.Kernel()); err != nil {
			return nil, err
		}
	}
	return n.source, nil
}

// VerifyWorkspace holds the kernel against the workspace that was recorded, nil where none was.
func VerifyWorkspace(c connection.Choice) func(context.Context, *kernel.Client) error {
	if c.Workspace == "" {
		return nil
	}
	return func(ctx context.Context, k *kernel.Client) error {
		// Without the token first, which a kernel on this machine does not need for it: another
		// program that has got the port shall not see it.
		plain := kernel.New(c.URL, kernel.Options{})
		defer plain.Close()
		info, err := plain.WorkspaceInfo(ctx)
		if tool.KindOf(err) == tool.Unauthorized {
			info, err = k.WorkspaceInfo(ctx)
		}
		if readOnly(err) {
			return nil // it says nothing of its workspace, and gets nothing to write
		}
		if err != nil {
			return err
		}
		return c.Verify(info.Dir)
	}
}
