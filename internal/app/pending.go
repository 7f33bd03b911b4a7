package app

import (
	"path/filepath"

	"collie/internal/config"
	"collie/internal/pipeline/gate"
)

// The gate's own types, for those who answer what waits.
type (
	// Pending is the handle on the calls of a home that wait for a person. It needs no Close.
	Pending = gate.Pending
	// PendingCall is one of them.
	PendingCall = gate.Waiting
)

// PendingWaiting is the state of a PendingCall that nobody has answered.
const PendingWaiting = gate.StateWaiting

// OpenPending returns the calls that wait in the home that cfg belongs to, whichever process
// they were made in.
func OpenPending(cfg *config.Config) Pending { return gate.OpenPending(pendingDir(cfg)) }

func pendingDir(cfg *config.Config) string { return filepath.Join(cfg.Paths.State, "pending") }
