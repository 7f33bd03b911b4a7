package atomicfile

import (
	"bytes"
	"io/fs"

	"github.com/natefinch/atomic"
)

func replace(path string, data []byte, _ fs.FileMode, _ bool) error {
	return atomic.WriteFile(path, bytes.NewReader(data))
}
