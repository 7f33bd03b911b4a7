// Program site writes the documents of the repository as static pages, in English and in Chinese, with a search that needs no
// server: the guides, the reference, the API from its openapi.json, and the documents for contributors. The same files and
// version make the same bytes. A link to a file or heading that does not exist is an error, and then nothing is written.
//
//	go run ./site -root .. -out ../bin/site -version v1.0.0
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", "..", "the repository")
	out := flag.String("out", "../bin/site", "the folder to write, which is emptied first")
	version := flag.String("version", "", "what the foot of each page says; empty says nothing")
	flag.Parse()
	if err := run(*root, *out, *version); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(root, out, version string) error {
	files, err := Build(os.DirFS(root), version)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	pages := 0
	for name, data := range files {
		at := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, data, 0o644); err != nil {
			return err
		}
		if filepath.Ext(name) == ".html" {
			pages++
		}
	}
	fmt.Printf("%d pages in %s: open index.html there in a browser, or put the folder on any static host\n", pages, filepath.Clean(out))
	return nil
}
