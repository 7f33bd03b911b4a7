package script

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// spoilCommand is the command "spoil OLD NEW PATTERN…"; see commands.
func spoilCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: spoil OLD NEW PATTERN…")
	}
	before, after := []byte(args[0]), []byte(args[1])
	for _, pattern := range args[2:] {
		files, err := filepath.Glob(ts.MkAbs(pattern))
		ts.Check(err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			ts.Check(err)
			if bytes.Contains(text, before) {
				ts.Check(os.WriteFile(file, bytes.Replace(text, before, after, 1), 0o600))
				return
			}
		}
	}
	ts.Fatalf("%q is in no file of %q", before, args[2:])
}
