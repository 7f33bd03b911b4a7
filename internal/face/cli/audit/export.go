package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	auditadmin "collie/internal/pipeline/audit/admin"
	"collie/internal/tool"
)

// This file has the command `collie audit export`, and the check of its files by `collie audit verify --export`.

// exportFlags are the flags of `collie audit export`.
type exportFlags struct {
	file, format, since, until string
}

var exportFormats = []string{"jsonl", "csv"}

func (p commands) exportCommand() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use: "export", Short: "Write the records to a file, with a proof that they are complete", Args: cobra.NoArgs,
		Long: "Writes all records, or those of a time. As jsonl they come as they are on disk, a chain after\n" +
			"the other, each with a signed proof that nothing was changed, added or left out between its first\n" +
			"and its last record: `collie audit verify --export FILE` checks that anywhere, without this home.\n" +
			"As csv they come by time, for a spreadsheet, without a proof. The export is put on record.",
		Example: "  collie audit export -o audit.jsonl --since 2026-01-01\n  collie audit verify --export audit.jsonl",
		RunE:    func(c *cobra.Command, _ []string) error { return p.export(c.Context(), &f) },
	}
	flags := c.Flags()
	flags.StringVarP(&f.file, "output", "o", "", "write to `FILE`, which must not exist; default standard output")
	flags.StringVar(&f.format, "format", "jsonl", "jsonl or csv")
	flags.StringVar(&f.since, "since", "", "from `TIME` on")
	flags.StringVar(&f.until, "until", "", "before `TIME`")
	root.CompleteWith(c, "format", exportFormats...)
	return c
}

// export writes the records of a time to a file or stdout, and puts that on record.
func (p commands) export(ctx context.Context, f *exportFlags) error {
	since, until, err := root.Period(f.since, f.until, time.Now())
	if err != nil {
		return err
	}
	if err := root.OneOf("--format", f.format, exportFormats); err != nil {
		return err
	}
	if f.file == "" && output.IsTerminal(p.Out) && f.format == "jsonl" {
		return root.Usage("standard output is a terminal; name a file with -o, or pipe it")
	}
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	records := auditadmin.Open(cfg)
	var done auditadmin.Exported
	err = writeNew(f.file, p.Out, func(w io.Writer) (err error) {
		done, err = records.Export(ctx, w, f.format == "csv", since, until)
		return err
	})
	if err != nil {
		return err
	}
	if err := app.RecordExport(ctx, cfg, p.auditOptions(), exportDetail(f, &done, since, until)); err != nil {
		return err
	}
	key, err := records.Fingerprint()
	if err != nil {
		return err
	}
	p.Note("exported %s in %s; the fingerprint of the key is %s", locale.Count(done.Records, "record"), locale.Count(done.Chains, "chain"), key)
	return nil
}

// exportDetail returns what the record of an export says.
func exportDetail(f *exportFlags, done *auditadmin.Exported, since, until time.Time) json.RawMessage {
	detail := struct {
		Format  string    `json:"format"`
		File    string    `json:"file,omitempty"`
		Records int       `json:"records"`
		Since   time.Time `json:"since,omitzero"`
		Until   time.Time `json:"until,omitzero"`
	}{f.format, f.file, done.Records, since, until}
	text, _ := json.Marshal(detail) // cannot fail: the years of the times have four digits
	return text
}

// writeNew calls write with a new file, or with out if path is "". If write fails, the file is removed.
func writeNew(path string, out io.Writer, write func(io.Writer) error) error {
	if path == "" {
		return write(out)
	}
	f, err := os.OpenFile(filepath.Clean(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &tool.Error{Op: "audit export", Kind: tool.Exists, Subject: path, Message: "the file already exists", Hint: "name another one, or remove it"}
	}
	if err != nil {
		return err
	}
	err = write(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is returned
	}
	return err
}

// verifyExport runs `collie audit verify --export FILE`.
func (p commands) verifyExport(path string) error {
	in := p.In
	if path != "-" {
		f, err := os.Open(filepath.Clean(path))
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	report, err := auditadmin.VerifyExport(in, path)
	if err != nil {
		return err
	}
	if p.JSON {
		err = p.PrintJSON(exportJSON{report.OK(), report.Records, report.Chains, report.Fingerprint, append([]auditadmin.Problem{}, report.Problems...)})
	} else {
		_, err = fmt.Fprint(p.Out, p.Painter(p.Out).Marked(exportVerdict(path, &report)))
	}
	if err == nil && !report.OK() {
		return root.Exit(root.ExitFailed)
	}
	return err
}

// exportJSON is the result of a check as JSON.
type exportJSON struct {
	OK          bool                 `json:"ok"`
	Records     int                  `json:"records"`
	Chains      int                  `json:"chains"`
	Fingerprint string               `json:"fingerprint"`
	Problems    []auditadmin.Problem `json:"problems"`
}

// exportVerdict returns one line for each problem, and a summary.
func exportVerdict(path string, r *auditadmin.ExportReport) string {
	var b strings.Builder
	for _, problem := range r.Problems {
		fmt.Fprintf(&b, "✗ %s\n", locale.Sentence(problem.String()))
	}
	switch {
	case len(r.Problems) > 0:
		locale.Fprintf(&b, "✗ BROKEN: %s in %s\n", locale.Count(len(r.Problems), "problem"), path)
	case r.Records == 0:
		locale.Fprintf(&b, "no records in %s\n", path)
	default:
		locale.Fprintf(&b, "✓ intact: %s in %s of %s, signed with the key of fingerprint %s\n",
			locale.Count(r.Records, "record"), locale.Count(r.Chains, "chain"), path, r.Fingerprint)
	}
	return b.String()
}

// auditOptions returns the options with which this process writes to the audit.
func (p commands) auditOptions() app.Options { return app.Options{Version: p.Version, Env: p.Env} }
