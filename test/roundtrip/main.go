// Command roundtrip imports folders of Markdown into vaults of their own, exports them and holds the export against the
// folder: each line that is another one must have been announced by the import, as a kind of change or as a line of its
// report, and no word may be gone but where the report says so. What was exported is imported and exported again, and
// must be the same byte for byte. It exits with 1 where something is not.
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
