package atomicfile

import (
	"errors"
	"os"
	"time"

	"github.com/natefinch/atomic"
	"golang.org/x/sys/windows"
)

// alwaysSync is true on systems where an unsynced file may be found empty after the rename.
const alwaysSync = true

// renameOver replaces path by temp. It retries up to ten times, 50 ms apart, because the replacement fails while anyone,
// such as a virus scanner, has path open.
func renameOver(temp, path string, _ bool) error {
	for n := 0; ; n++ {
		err := atomic.ReplaceFile(temp, path)
		busy := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !busy || n == 10 {
			return err
		}
		<-time.After(50 * time.Millisecond)
	}
}

// keepOwner does nothing: on Windows a new file belongs to the user of its process.
func keepOwner(*os.File, string) {}

// alive reports whether a process exists.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}
