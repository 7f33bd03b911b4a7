package admin

import "golang.org/x/sys/unix"

// remoteTypes are the file systems whose files others can change without this machine hearing of it; the types of NFS, SMB,
// 9p, Ceph, AFS, FUSE and the shared folders of VirtualBox, see statfs(2).
var remoteTypes = map[uint32]bool{
	unix.NFS_SUPER_MAGIC: true, unix.SMB_SUPER_MAGIC: true, unix.CIFS_SUPER_MAGIC: true, unix.SMB2_SUPER_MAGIC: true,
	unix.V9FS_MAGIC: true, unix.CEPH_SUPER_MAGIC: true, unix.AFS_SUPER_MAGIC: true, unix.AFS_FS_MAGIC: true, unix.FUSE_SUPER_MAGIC: true,
	0x786f4256: true,
}

// isRemote reports whether a folder is on a file system that does not report what others change.
func isRemote(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && remoteTypes[uint32(s.Type)]
}
