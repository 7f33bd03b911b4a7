package app

import (
	"context"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/connection"
)

// The SiYuan source's own types, for those who manage it through [Notes].
type (
	// SavedKernels are the connections that are saved, and SavedKernel is one of them.
	SavedKernels = connection.Settings
	SavedKernel  = connection.Connection
	// KernelChoice is the kernel that is talked to.
	KernelChoice = connection.Choice
)

// ProposedKernel is the address that a person is offered who names none.
const ProposedKernel = connection.Proposed

// KernelAddress checks the address of a kernel and returns it without slashes at its end.
func KernelAddress(text string) (string, error) { return connection.Address(text) }

// Choice is the kernel that is talked to; Configured is false where there is none.
func (n *Notes) Choice() KernelChoice {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.choice
}

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

// managed is the source, for what people do with it. The kernel has been held against the
// workspace that was recorded: nothing is to be changed in another one.
func (n *Notes) managed(ctx context.Context) (*siyuan.Source, error) {
	if err := n.Missing(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	source, choice := n.source, n.choice
	n.mu.Unlock()
	if verify := verifyWorkspace(choice); verify != nil {
		if err := verify(ctx, source.Kernel()); err != nil {
			return nil, err
		}
	}
	return source, nil
}
