package template_test

import (
	"bufio"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"collie/internal/puretemplate"
	"collie/internal/vault/template"
)

// TestMain sets the local time zone to that of the recorded kernel, because templates read times without a zone as local.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// recorded is a template with the answer of a SiYuan 3.7.3 kernel to /api/template/renderSprig.
type recorded struct {
	Template string `json:"template"`
	Result   string `json:"result"`
	Error    string `json:"error"`
}

func recordings(t *testing.T) []recorded {
	t.Helper()
	f, err := os.Open("testdata/kernel.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []recorded
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// panics matches recorded errors that show internals of the kernel. The vault must fail too, but may say something else.
var panics = regexp.MustCompile(`nil pointer|reflect: call|index out of range \[`)

func TestKernel(t *testing.T) {
	t.Parallel()
	for _, r := range recordings(t) {
		got, err := template.Execute(r.Template, template.Options{})
		if want, ok := differing[r.Template]; ok {
			r.Result, r.Error = want.Result, want.Error
		}
		got = string([]rune(got)) // bytes that are not text become U+FFFD, as in JSON
		switch {
		case r.Error == "" && (err != nil || got != r.Result):
			t.Errorf("%s\n gives %q, %v\n want  %q", r.Template, got, err, r.Result)
		case r.Error != "" && err == nil:
			t.Errorf("%s\n gives %q\n want  %s", r.Template, got, r.Error)
		case r.Error != "" && err.Error() != r.Error && !panics.MatchString(r.Error):
			t.Errorf("%s\n fails with %v\n want       %s", r.Template, err, r.Error)
		}
	}
}

// differing holds the answers of the vault that differ from the kernel on purpose, by template.
var differing = map[string]recorded{
	// The vault has no complex numbers, which are of no use in notes.
	`{{ 1i }}`: {Error: `template: :1:3: executing "" at <1i>: can't evaluate command "1i"`},
	// Errors of the vault name the value, because it does not keep the expression that a value came from.
	`{{ (dict "a" 1).a.c }}`: {Error: `template: :1:13: executing "" at <1>: can't evaluate field c in type int`},
	// The kernel makes two characters of each byte of a text that is not ASCII.
	`{{ nospace "文 本" }}`: {Result: "文本"},
}

// unknown are functions of the table of package puretemplate that the vault does not have. None may be added.
var unknown = map[string]bool{}

// TestFunctions checks that each pure function of package puretemplate exists, takes as many arguments as the table says, and
// occurs in a recording.
func TestFunctions(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, r := range recordings(t) {
		all.WriteString(r.Template + "\n")
	}
	for _, f := range puretemplate.Functions() {
		_, err := template.Execute("{{ "+f.Name+" }}", template.Options{})
		missing := err != nil && strings.Contains(err.Error(), "not defined")
		if missing != unknown[f.Name] {
			t.Errorf("%s: missing is %t", f.Name, missing)
			continue
		}
		if missing {
			continue
		}
		if !regexp.MustCompile(`\b` + f.Name + `\b`).MatchString(all.String()) {
			t.Errorf("%s is in no recording", f.Name)
		}
		for _, n := range []int{f.Min, max(f.Max, f.Min)} {
			_, err := template.Execute("{{ "+f.Name+strings.Repeat(" .", n)+" }}", template.Options{})
			if err != nil && strings.Contains(err.Error(), "wrong number of args") {
				t.Errorf("%s with %d arguments: %v", f.Name, n, err)
			}
		}
	}
}

// TestQueries checks that the functions that read notes exist, are not in the table of pure ones, and return nothing when there
// are no notes.
func TestQueries(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"queryBlocks", "querySpans", "querySQL", "getBlock", "getHPathByID", "statBlock"} {
		if out, err := template.Execute("{{ if "+name+` "x" }}some{{ end }}`, template.Options{}); err != nil || out != "" {
			t.Errorf("%s: %q, %v", name, out, err)
		}
		for _, f := range puretemplate.Functions() {
			if f.Name == name {
				t.Errorf("%s counts as pure", name)
			}
		}
	}
}
