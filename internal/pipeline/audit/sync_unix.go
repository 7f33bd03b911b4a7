//go:build unix

package audit

import "os"

// syncFolder syncs the entries of a folder to disk.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
