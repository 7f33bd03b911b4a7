package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/vault/folder"
	"collie/internal/vault/workspace"
)

// result is what the comparison of one folder has found.
type result struct {
	dir    string
	report folder.Report
	// files became documents; lines are their non-blank lines; changed is how many of those came back
	// different.
	files, lines, changed int
	// listed counts changed lines that the report lists one by one; the others are announced by kind.
	listed int
	// unannounced are changed lines that were not announced, lost are words that did not come back, restless are
	// files that differ in the second round.
	unannounced, lost, unstable []string
}

func (r *result) failed() bool { return len(r.unannounced)+len(r.lost)+len(r.unstable) > 0 }

// print writes a summary, and everything that is wrong. With verbose it also writes the problems that the import has
// reported.
func (r *result) print(out io.Writer, verbose bool) {
	fmt.Fprintf(out, "%s: %d files, %d lines, %d changed: %d listed, %d announced by kind, %d unannounced; %d words lost, %d files differ in the second round\n",
		filepath.Base(r.dir), r.files, r.lines, r.changed, r.listed, r.changed-r.listed-len(r.unannounced), len(r.unannounced), len(r.lost), len(r.unstable))
	codes := map[string]int{}
	for _, p := range r.report.Problems {
		codes[p.Code]++
	}
	fmt.Fprintf(out, "  report: %v\n", codes)
	for _, c := range r.report.Changes {
		fmt.Fprintf(out, "  %7d lines  %s\n", c.Lines, c.Kind)
	}
	if verbose {
		for _, p := range r.report.Problems {
			fmt.Fprintf(out, "  %s:%d %s %q: %s\n", p.Path, p.Line, p.Code, p.What, p.Why)
		}
	}
	for _, list := range [][]string{r.unannounced, r.lost, r.unstable} {
		for _, line := range list {
			fmt.Fprintln(out, "  !", line)
		}
	}
}

// notes are what an import reports about a file: the id of its document, and the kinds of change by line.
type notes struct {
	id    string
	kinds map[int][]string // announced lines
}

// run imports and exports one folder, once and again, and compares what comes out.
func run(ctx context.Context, dir string) (r *result, err error) {
	temp, err := os.MkdirTemp("", "roundtrip-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	r = &result{dir: dir}
	told := map[string]*notes{}
	of := func(path string) *notes {
		if told[path] == nil {
			told[path] = &notes{kinds: map[int][]string{}}
		}
		return told[path]
	}
	out := filepath.Join(temp, "out")
	r.report, err = importAndExport(ctx, dir, filepath.Join(temp, "first.db"), out, folder.ImportOptions{
		Notebook: "N",
		OnChange: func(path string, line int, kinds []string) {
			of(path).kinds[line] = append(of(path).kinds[line], kinds...)
		},
	})
	if err != nil {
		return nil, err
	}
	for _, s := range r.report.States {
		if s.Kind == "page" && !strings.HasSuffix(s.Path, "/") {
			of(s.Path).id = s.Target
		}
	}
	if err := r.importAgain(ctx, temp); err != nil {
		return nil, err
	}
	back := filepath.Join(temp, "back")
	if _, err := importAndExport(ctx, out, filepath.Join(temp, "second.db"), back, folder.ImportOptions{}); err != nil {
		return nil, err
	}
	found, err := differingFiles(out, back)
	if err != nil {
		return nil, err
	}
	r.unstable = append(r.unstable, found...)
	exported, err := documentsByID(out)
	if err != nil {
		return nil, err
	}
	return r, r.compareAll(told, exported)
}

// importAgain imports the folder into the same vault a second time, which must change nothing.
func (r *result) importAgain(ctx context.Context, temp string) error {
	once := filepath.Join(temp, "once")
	report, err := importAndExport(ctx, r.dir, filepath.Join(temp, "first.db"), once, folder.ImportOptions{Notebook: "N"})
	if err != nil {
		return err
	}
	for _, s := range report.States {
		if s.State != folder.Unchanged && s.State != folder.LeftOut {
			r.unstable = append(r.unstable, fmt.Sprintf("the second import says of %s: %s", s.Path, s.State))
		}
	}
	found, err := differingFiles(filepath.Join(temp, "out"), once)
	r.unstable = append(r.unstable, found...)
	return err
}

// importAndExport imports a folder into the vault at db, which is made if it does not exist, and exports the vault.
func importAndExport(ctx context.Context, from, db, to string, o folder.ImportOptions) (report folder.Report, err error) {
	w, err := workspace.Open(ctx, db, workspace.Options{})
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if report, err = folder.Import(ctx, w, from, o); err != nil {
		return report, err
	}
	_, err = folder.Export(ctx, w, to, folder.ExportOptions{})
	return report, err
}

// documentsByID returns the exported documents of a folder by the id in their front matter.
func documentsByID(dir string) (map[string]string, error) {
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(at) != ".md" {
			return err
		}
		data, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		if _, id, ok := strings.Cut(string(data), "\nid: "); ok && len(id) > 22 {
			found[id[:22]] = string(data)
		}
		return nil
	})
	return found, err
}

// differingFiles returns a line for each file that differs between two folders.
func differingFiles(a, b string) (found []string, err error) {
	seen := map[string]bool{}
	for _, dir := range []string{a, b} {
		err = errors.Join(err, filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
			name, _ := filepath.Rel(dir, at)
			if err != nil || d.IsDir() || seen[name] {
				return err
			}
			seen[name] = true
			one, first := os.ReadFile(filepath.Join(a, name))
			two, second := os.ReadFile(filepath.Join(b, name))
			if first != nil || second != nil || string(one) != string(two) {
				found = append(found, "not the same in the second round: "+name+firstDifference(string(one), string(two)))
			}
			return nil
		}))
	}
	slices.Sort(found)
	return found, err
}

// firstDifference returns the first line that differs between two texts.
func firstDifference(one, two string) string {
	a, b := strings.Split(one, "\n"), strings.Split(two, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf(":%d: %q, then %q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf(": %d lines, then %d", len(a), len(b))
}
