//go:build unix

package process

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// SealInherited marks every file that this program got from its own parent, stdin, stdout
// and stderr aside, as closed on exec, so that no child holds a pipe or a lock of a program
// it knows nothing of. Call it once, early; what Go opens is marked already.
func SealInherited() error {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return fmt.Errorf("list open files: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("list open files: %w", err)
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
