package audit_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"collie/internal/pipeline/audit"
	"collie/internal/tool"
)

func export(t *testing.T, dir string, since, until time.Time) (string, audit.Exported) {
	t.Helper()
	var b bytes.Buffer
	done, err := audit.Export(t.Context(), dir, &b, since, until)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), done
}

func verifyExport(t *testing.T, text string) audit.ExportReport {
	t.Helper()
	r, err := audit.VerifyExport(strings.NewReader(text), "export")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 3 {
		writeChain(t, dir, 10, nil)
	}
	text, done := export(t, dir, time.Time{}, time.Time{})
	if want := (audit.Exported{Chains: 3, Records: 36}); done != want {
		t.Errorf("exported %+v, want %+v", done, want)
	}
	r := verifyExport(t, text)
	key, err := audit.Fingerprint(dir)
	if err != nil || !r.OK() || r.Records != 36 || r.Fingerprint != key {
		t.Errorf("report = %+v, %v, want 36 records that the key %s signed", r, err, key)
	}
	if _, done := export(t, t.TempDir(), time.Time{}, time.Time{}); done.Records != 0 {
		t.Errorf("exported %+v of an empty folder", done)
	}
}

// An export of a period can be verified on its own.
func TestExportOfATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	l := openLog(t, dir, nil)
	for i := range 10 {
		rec := newRecord(i)
		rec.Time = now.Add(time.Duration(i) * time.Hour)
		if err := l.Append(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	text, done := export(t, dir, now.Add(150*time.Minute), now.Add(350*time.Minute))
	if r := verifyExport(t, text); !r.OK() || done.Records != 3 || r.Records != 3 {
		t.Errorf("exported %+v, report %+v, want the records of hours 3 to 5", done, r)
	}
}

// Any change of an export is detected.
func TestTamperedExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeChain(t, dir, 10, nil)
	writeChain(t, dir, 10, nil)
	whole, _ := export(t, dir, time.Time{}, time.Time{})
	all := strings.SplitAfter(whole, "\n")
	tests := map[string]func(l []string) []string{
		"a byte of a record":         func(l []string) []string { l[5] = strings.Replace(l[5], "notebook", "notabook", 1); return l },
		"a line in the middle":       func(l []string) []string { return slices.Delete(l, 5, 6) },
		"the first record":           func(l []string) []string { return slices.Delete(l, 2, 3) },
		"the last record of a chain": func(l []string) []string { return slices.Delete(l, 13, 14) },
		"the order":                  func(l []string) []string { l[5], l[6] = l[6], l[5]; return l },
		"a record twice":             func(l []string) []string { return slices.Insert(l, 6, l[5]) },
		"a proof":                    func(l []string) []string { return slices.Delete(l, 14, 15) },
		"the last proof":             func(l []string) []string { return l[:len(l)-2] },
		"the proof of the other":     func(l []string) []string { l[14] = l[len(l)-2]; return l },
		"the key":                    func(l []string) []string { return l[1:] },
		"another key": func(l []string) []string {
			l[0] = regexp.MustCompile(`"publicKey":"...`).ReplaceAllString(l[0], `"publicKey":"AAA`)
			return l
		},
		"a record outside of a chain": func(l []string) []string { return slices.Insert(l, 1, l[5]) },
		"a line of something else":    func(l []string) []string { return slices.Insert(l, 5, "{}\n") },
	}
	for name, change := range tests {
		if r := verifyExport(t, strings.Join(change(slices.Clone(all)), "")); r.OK() {
			t.Errorf("%s was changed, and nothing was found", name)
		}
	}
	if r := verifyExport(t, whole); !r.OK() {
		t.Errorf("nothing was changed, and %v was found", r.Problems)
	}
}

func TestExportCSV(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLog(t, dir, nil)
	rec := tool.Record{Kind: "call.start", Origin: tool.Chat, Tool: "=HYPERLINK(1)", Client: "犬, \"dog\"", Args: []byte(`{"a":"b"}`)}
	if err := l.Append(rec); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	done, err := audit.ExportCSV(t.Context(), dir, &b, time.Time{}, time.Time{})
	if err != nil || done.Records != 3 {
		t.Fatalf("exported %+v, %v", done, err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) string { return rows[2][slices.Index(rows[0], name)] }
	got := fmt.Sprint(column("kind"), "|", column("tool"), "|", column("client"), "|", column("args"), "|", column("seq"))
	if want := `call.start|'=HYPERLINK(1)|犬, "dog"|{"a":"b"}|2`; got != want {
		t.Errorf("row = %s, want %s", got, want)
	}
}

// FuzzVerifyExport: no text makes VerifyExport panic, and a text that passes with the key of the export has only records of it.
func FuzzVerifyExport(f *testing.F) {
	dir := f.TempDir()
	writeChain(f, dir, 3, nil)
	var b bytes.Buffer
	if _, err := audit.Export(f.Context(), dir, &b, time.Time{}, time.Time{}); err != nil {
		f.Fatal(err)
	}
	key, err := audit.Fingerprint(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := audit.VerifyExport(bytes.NewReader(text), "export")
		if err != nil || !r.OK() || r.Fingerprint != key {
			return
		}
		for l := range bytes.Lines(text) {
			if bytes.Contains(l, []byte(`"hash"`)) && !bytes.Contains(b.Bytes(), bytes.TrimSpace(l)) {
				t.Errorf("nothing was found in %q", l)
			}
		}
	})
}
