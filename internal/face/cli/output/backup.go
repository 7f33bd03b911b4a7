package output

import (
	"os"
	"path/filepath"
	"time"
)

// BackupFile returns the absolute path of a backup. to is what the person gave: a file, a folder in which the backup is
// called NAME-YYYYMMDD-HHMMSS.db, or nothing, which means the current folder.
func BackupFile(name, to string, now time.Time) (string, error) {
	name += "-" + now.Format("20060102-150405") + ".db"
	if to == "" {
		to = name
	} else if info, err := os.Stat(to); err == nil && info.IsDir() {
		to = filepath.Join(to, name)
	}
	return filepath.Abs(to)
}
