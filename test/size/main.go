// Size counts the lines of Go of the product that are neither blank nor comment, package by package, and compares two
// revisions of this repository.
//
//	go run ./test/size                  the work tree
//	go run ./test/size -old v1.0.0      that revision against the work tree
//	go run ./test/size -names           exported names and methods that no other package uses
//
// The product is what is below cmd and internal. Test support (packages whose path has a part that ends in "test") is
// counted separately, so that moving code there does not make the product look smaller. Tests and third_party are not
// counted.
package main

import (
	"archive/tar"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() { os.Exit(run()) }

// run does what the command line says, and returns the exit code.
func run() int {
	old := flag.String("old", "", "compare with this git `revision`")
	names := flag.Bool("names", false, "list exported names and methods that no other package uses")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "size: unexpected argument %q\n", flag.Arg(0))
		return 2
	}
	if err := write(ctx, os.Stdout, *old, *names, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		return 1
	}
	return 0
}

// write prints what the flags ask for about the work tree that contains the current folder.
func write(ctx context.Context, w io.Writer, old string, names, asJSON bool) error {
	top, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	now, err := readDir(strings.TrimSpace(string(top)))
	if err != nil {
		return err
	}
	if names {
		unused, err := now.unused()
		if err != nil {
			return err
		}
		methods, err := now.unusedMethods(ctx, strings.TrimSpace(string(top)))
		if err != nil {
			return err
		}
		unused = append(unused, methods...)
		if asJSON {
			return json.NewEncoder(w).Encode(unused)
		}
		for _, u := range unused {
			fmt.Fprintln(w, u)
		}
		fmt.Fprintf(w, "%d exported names and methods that no other package uses\n", len(unused))
		return nil
	}
	after, err := now.count()
	if err != nil {
		return err
	}
	rows := compare(nil, after)
	if old != "" {
		then, err := readRevision(ctx, old)
		if err != nil {
			return err
		}
		before, err := then.count()
		if err != nil {
			return err
		}
		rows = compare(before, after)
	}
	if asJSON {
		return json.NewEncoder(w).Encode(rows)
	}
	return print(w, rows, old != "")
}

// files are Go sources by their slash-separated path in the repository.
type files map[string][]byte

// readDir reads the sources of a work tree.
func readDir(dir string) (files, error) {
	all := files{}
	for _, top := range []string{"cmd", "internal", "test"} {
		err := filepath.WalkDir(filepath.Join(dir, top), func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules"):
				return filepath.SkipDir
			case d.IsDir() || filepath.Ext(name) != ".go":
				return nil
			}
			rel, err := filepath.Rel(dir, name)
			if err != nil {
				return err
			}
			all[filepath.ToSlash(rel)], err = os.ReadFile(name)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readRevision reads the sources of a revision.
func readRevision(ctx context.Context, revision string) (files, error) {
	cmd := exec.CommandContext(ctx, "git", "archive", "--format=tar", revision, "--", "cmd", "internal", "test")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	all := files{}
	for r := tar.NewReader(out); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("read revision %q: %w", revision, err), cmd.Wait())
		}
		if h.Typeflag != tar.TypeReg || path.Ext(h.Name) != ".go" || strings.Contains(h.Name, "/testdata/") {
			continue
		}
		if all[h.Name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
	return all, cmd.Wait()
}

// row is a package before and after.
type row struct {
	Package string `json:"package"`
	Support bool   `json:"testSupport"` // not part of the product
	Before  size   `json:"before"`
	After   size   `json:"after"`
}

// compare joins two counts. The packages that lost most lines come first.
func compare(before, after map[string]size) []row {
	all := maps.Clone(after)
	maps.Copy(all, before)
	rows := make([]row, 0, len(all))
	for name := range all {
		rows = append(rows, row{name, isTestSupport(name), before[name], after[name]})
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(
			cmp.Compare(a.After.Lines-a.Before.Lines, b.After.Lines-b.Before.Lines)*min(1, len(before)),
			cmp.Compare(b.After.Lines, a.After.Lines), strings.Compare(a.Package, b.Package))
	})
	return rows
}

// print writes the rows and the sums as a table.
func print(w io.Writer, rows []row, both bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(name string, before, after size) {
		if both {
			fmt.Fprintf(t, "%d\t%d\t%+d\t%d\t%d\t  %s\n", before.Lines, after.Lines, after.Lines-before.Lines, before.Files, after.Files, name)
		} else {
			fmt.Fprintf(t, "%d\t%d\t  %s\n", after.Lines, after.Files, name)
		}
	}
	if both {
		fmt.Fprintln(t, "lines before\tafter\tchange\tfiles before\tafter\t  package")
	} else {
		fmt.Fprintln(t, "lines\tfiles\t  package")
	}
	var product, supporting row
	for _, r := range rows {
		if r.Before != r.After || !both {
			line(r.Package, r.Before, r.After)
		}
		sum := &product
		if r.Support {
			sum = &supporting
		}
		sum.Before.add(r.Before)
		sum.After.add(r.After)
	}
	line("test support", supporting.Before, supporting.After)
	line("product", product.Before, product.After)
	return t.Flush()
}
