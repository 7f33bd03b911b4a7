package admin

import (
	"collie/internal/source/siyuan/connection"
)

// Types of package connection, for callers that manage the source through [Notes].
type (
	// SavedKernels are the saved connections.
	SavedKernels = connection.Settings
	// SavedKernel is one saved connection.
	SavedKernel = connection.Connection
	// KernelChoice is the chosen kernel.
	KernelChoice = connection.Choice
)

// ProposedKernel is the address that is proposed to a person who names none.
const ProposedKernel = connection.Proposed

// Vault stands for the built-in vault where a current connection is named.
const Vault = connection.Vault

// KernelAddress checks the address of a kernel and returns it without trailing slashes.
func KernelAddress(text string) (string, error) { return connection.Address(text) }
