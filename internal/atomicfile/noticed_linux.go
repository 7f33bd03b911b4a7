package atomicfile

import "syscall"

// NotifiesChanges reports whether the system notifies watchers of every change to files in dir. That holds for local
// file systems only: changes that another machine, or the host of this virtual machine, makes in a shared
// folder cause no notification. An unknown file system counts as not notifying.
func NotifiesChanges(dir string) bool {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return false
	}
	switch uint32(s.Type) { // the kernel's magic numbers have 32 bits, whatever the field's type
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
