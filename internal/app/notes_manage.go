package app

import (
	notesadmin "collie/internal/source/siyuan/admin"
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

// Admin is what people manage of the notes. The error says why there are none.
func (n *Notes) Admin() (*notesadmin.Notes, error) {
	if err := n.Missing(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return notesadmin.New(n.source, n.safety, notesadmin.VerifyWorkspace(n.choice)), nil
}
