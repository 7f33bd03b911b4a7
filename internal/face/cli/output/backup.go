package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// BackupFile returns the absolute path of a backup. to is what the person gave: a file, a folder in which the backup is
// called NAME-YYYYMMDD-HHMMSS.db, or nothing, which means the current folder. A path that does not exist and has no
// extension means a folder, which is created. Its parent is not: if that is missing too, the caller fails to write, with an
// error that says so and what to do.
func BackupFile(name, to string, now time.Time) (string, error) {
	name += "-" + now.Format("20060102-150405") + ".db"
	if to == "" {
		to = name
	} else if info, err := os.Stat(to); err == nil && info.IsDir() {
		to = filepath.Join(to, name)
	} else if errors.Is(err, fs.ErrNotExist) && filepath.Ext(to) == "" {
		if err := os.Mkdir(to, 0o700); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		to = filepath.Join(to, name)
	}
	return filepath.Abs(to)
}
