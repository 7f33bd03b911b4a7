//go:build unix

package audit

import "os"

// syncFolder brings the entries of a folder onto the disk.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
