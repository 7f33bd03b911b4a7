// Command man writes the manual pages of all commands into a folder, a page a command: collie.1, collie-mcp-add.1, ….
//
//	go run ./test/man -version v1.2.3 -epoch 1700000000 FOLDER
//
// The same arguments write the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra/doc"

	"collie/internal/face/cli"
)

func main() {
	version := flag.String("version", "dev", "the version in the foot of each page")
	epoch := flag.Int64("epoch", 0, "the date in the foot of each page, in seconds since 1970")
	flag.Parse()
	if err := write(flag.Arg(0), *version, time.Unix(*epoch, 0).UTC()); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// write writes the pages. date is the date in their foot.
func write(folder, version string, date time.Time) error {
	if folder == "" {
		return fmt.Errorf("which folder? usage: man FOLDER")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	tree := cli.Tree(version)
	tree.DisableAutoGenTag = true
	return doc.GenManTree(tree, &doc.GenManHeader{Title: "COLLIE", Section: "1", Date: &date, Source: "Collie " + version, Manual: "Collie"}, folder)
}
