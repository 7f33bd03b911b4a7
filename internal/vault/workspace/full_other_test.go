//go:build !linux && !darwin

package workspace_test

import "errors"

// fillDisk cannot limit the size of files on this system.
func fillDisk(string) error { return errors.ErrUnsupported }
