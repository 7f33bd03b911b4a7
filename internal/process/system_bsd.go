//go:build unix && !linux && !darwin

package process

import "errors"

// This file is for Unix systems other than Linux and macOS. There this package does not look up anything about processes.

// procState has the fields that the shared Unix code reads. They are never set.
type procState struct {
	zombie bool
	start  int64
}

// readState cannot read start times on this platform. The ledger therefore ends no process of an earlier
// gateway; only the reaper protects.
func readState(int) (procState, error) { return procState{}, errors.ErrUnsupported }

// hasLiveMembers returns true: whether a group has running processes cannot be found out.
func hasLiveMembers(int) bool { return true }

func bootID() string { return "" }
