// Command roundtrip imports folders of Markdown into vaults, exports them, and compares the export with the
// folder. Each changed line must have been announced by the import, as a kind of change or as a line of its
// report, and no word may be lost unless the report says so. The export is then imported and exported again,
// which must give the same bytes. The exit code is 1 if anything is wrong.
//
//	go run ./test/roundtrip [-v] FOLDER…
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
)

func main() {
	verbose := flag.Bool("v", false, "print what the imports announce, too")
	flag.Parse()
	bad := false
	for _, dir := range flag.Args() {
		r, err := run(context.Background(), dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, dir+":", err)
			os.Exit(2)
		}
		r.print(os.Stdout, *verbose)
		bad = bad || r.failed()
	}
	if bad {
		os.Exit(1)
	}
}
