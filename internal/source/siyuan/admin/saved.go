package admin

import (
	"collie/internal/source/siyuan/connection"
)

// The SiYuan source's own types, for those who manage it through [Notes].
type (
	// SavedKernels are the connections that are saved.
	SavedKernels = connection.Settings
	// SavedKernel is one of them.
	SavedKernel = connection.Connection
	// KernelChoice is the kernel that is talked to.
	KernelChoice = connection.Choice
)

// ProposedKernel is the address that a person is offered who names none.
const ProposedKernel = connection.Proposed

// KernelAddress checks the address of a kernel and returns it without slashes at its end.
func KernelAddress(text string) (string, error) { return connection.Address(text) }
