package admin

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// KernelFacts is what a kernel says about itself.
type KernelFacts struct {
	Version   string `json:"version"`
	Workspace string `json:"workspace"` // its folder on the kernel's machine; a read-only kernel does not tell
	Notebooks int    `json:"notebooks"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
}

// Codes for why a kernel does not answer as it should; see [tool.Error] Code.
const (
	KernelUnreachable = kernel.CodeUnreachable
	NotAKernel        = kernel.CodeNotSiYuan
)

// tryTime bounds one request of TryKernel, for which a person waits.
const tryTime = 10 * time.Second

// TryKernel asks the kernel at an address who it is. The token is sent only after a SiYuan kernel has answered
// without it. If it fails, the facts received before the error are returned too.
func TryKernel(ctx context.Context, address, token string, log *slog.Logger) (KernelFacts, error) {
	var facts KernelFacts
	opts := kernel.Options{ReadTimeout: tryTime, Waits: []time.Duration{}, Logger: log}
	stranger := kernel.New(address, opts)
	defer stranger.Close()
	var err error
	if facts.Version, err = stranger.Version(ctx); err != nil {
		return facts, notSiYuanError(err, address)
	}
	opts.Token = token
	k := kernel.New(address, opts)
	defer k.Close()
	return facts.withDetails(ctx, k)
}

// withDetails adds what a kernel tells authenticated clients. If it fails, the facts received before the error are
// returned too.
func (facts KernelFacts) withDetails(ctx context.Context, k *kernel.Client) (KernelFacts, error) {
	list, err := k.Notebooks(ctx)
	if err != nil {
		return facts, err
	}
	facts.Notebooks = len(list)
	info, err := k.WorkspaceInfo(ctx)
	facts.Workspace, facts.ReadOnly = info.Dir, isReadOnlyError(err)
	if facts.ReadOnly {
		return facts, nil
	}
	return facts, err
}

// isReadOnlyError reports whether a kernel refused something because it runs read-only.
func isReadOnlyError(err error) bool {
	e, ok := errors.AsType[*tool.Error](err)
	return ok && e.Code == kernel.CodeReadOnly
}

// notSiYuanError returns err, or an error that says that no SiYuan is there: every kernel has the endpoint that is
// missing.
func notSiYuanError(err error, address string) error {
	if tool.KindOf(err) != kernel.NotInKernel && tool.KindOf(err) != kernel.API {
		return err
	}
	return &tool.Error{
		Op: "ask SiYuan", Kind: tool.Unavailable, Code: NotAKernel, Subject: address,
		Message: "the server there is not a SiYuan kernel: it has no /api/system/version",
		Hint:    "another program has that port",
	}
}
