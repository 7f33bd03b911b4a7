package atomicfile

import "syscall"

// Noticed reports whether the system tells of every change of the files in a folder: whether it lies on a file system of
// this machine alone. What other machines, or the host of this one, change in a shared folder is told to nobody. Of
// unknown file systems nothing is expected.
func Noticed(dir string) bool {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return false
	}
	switch uint32(s.Type) { // the kernel's numbers have 32 bits, whatever the field has
	case 0xef53, // ext2, ext3, ext4
		0x58465342, // XFS
		0x9123683e, // Btrfs
		0x01021994, // tmpfs
		0x794c7630, // overlayfs
		0xf2f52010, // F2FS
		0x2fc12fc1, // ZFS
		0xca451a4e: // bcachefs
		return true
	}
	return false
}
