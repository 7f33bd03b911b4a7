//go:build !linux && !darwin

package workspace_test

import "errors"

// checkFullDisk cannot limit the size of files on this system.
func checkFullDisk(string) error { return errors.ErrUnsupported }
