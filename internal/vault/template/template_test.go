package template_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/vault/template"
	"collie/test/await"
)

// TestExecute checks the output of templates with each construct of the language and with functions that read notes.
func TestExecute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the fake clock keeps the month from ending
		month := time.Now().Format("2006/01")
		tests := []struct{ text, want string }{
			{`just text 文本`, "just text 文本"},
			{`/daily note/{{now | date "2006/01"}}/x`, "/daily note/" + month + "/x"},
			{`{{ now.Format "2006/01" }}`, month},
			{`{{ upper "abc" }} {{ list 1 2 3 | join "-" }} {{ 3 | add 4 }}`, "ABC 1-2-3 7"},
			{`{{ range until 3 }}[{{ . }}]{{ end }}`, "[0][1][2]"},
			{`{{ range $i, $e := list "a" "b" }}{{ $i }}{{ $e }}{{ else }}none{{ end }}`, "0a1b"},
			{`{{ range until 0 }}x{{ else }}none{{ end }}`, "none"},
			{`{{ regexMatch "a{1,99}b" (repeat 1000 (repeat 60 "a")) }} {{ regexFind "[0-9]{4}-[0-9]{2}" "on 2024-05-01" }}`, "false 2024-05"},
			{`{{ range 5 }}{{ if eq . 2 }}{{ continue }}{{ end }}{{ if eq . 4 }}{{ break }}{{ end }}{{ . }}{{ end }}`, "013"},
			{`{{ .title }}/{{ .none }}`, "标题/<no value>"},
			{`{{ define "a" }}<{{ . }}>{{ end }}{{ template "a" "x" }}{{ template "a" "y" }}`, "<x><y>"},
			{`{{ printf "2026-%02d: 2 * %d, %d%%1234" 5 3 4 }}`, `2026-05: 2 * 3, 4%1234`},
			{`{{ printf "%03d %q" 7 "x" }} {{ html "<" }} {{ urlquery "a b" }} {{ print 1 "x" }}`, `007 "x" &lt; a+b 1x`},
			{`{{ range querySpans "SELECT 1" }}{{ .Content }}{{ end }}{{ range querySQL "x" }}{{ .id }}{{ .ID }}{{ end }}`, "spanx<no value>"},
			{`{{ (getBlock "b").Content }} {{ if getBlock "none" }}there{{ end }}{{ getHPathByID "b" }} {{ (statBlock "b").WordCount }}`, "text /Doc 3"},
			{`{{ getBlock 5 }}{{ statBlock "none" }}`, "<no value><no value>"},
			{`{{ $b := queryBlocks "SELECT ? FROM blocks WHERE content = '?'" "id" "it's" }}{{ range $b }}{{ .ID }}{{ end }}`, "SELECT id FROM blocks WHERE content = 'it''s'"},
		}
		for _, tt := range tests {
			got, err := template.Execute(tt.text, template.Options{
				Data: map[string]string{"title": "标题"}, Notes: told{},
			})
			if err != nil || got != tt.want {
				t.Errorf("%s gives %q, %v; want %q", tt.text, got, err, tt.want)
			}
		}
	})
}

// told stands in for notes. A query returns one row, with the statement itself as its id.
type told struct{}

func (told) Select(statement string) ([]map[string]any, error) {
	return []map[string]any{{"id": statement, "content": "span"}}, nil
}

func (told) Block(id string) map[string]any {
	if id == "none" {
		return nil
	}
	return map[string]any{"id": id, "content": "text"}
}

func (told) Stat(id string) map[string]any {
	if id == "none" {
		return nil
	}
	return map[string]any{"WordCount": 3}
}

func (told) HPath(string) string { return "/Doc" }

func TestActionDelimiters(t *testing.T) {
	t.Parallel()
	got, err := template.Execute(`.action{ $n := 2 }.action{ range until $n }{{.}}.action{ . }.action{ end }`,
		template.Options{Left: template.ActionLeft, Right: template.ActionRight})
	if err != nil || got != "{{.}}0{{.}}1" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestErrors checks the texts of errors, which were recorded from a kernel.
func TestErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{{ env "HOME" }}`:   `template: :1: function "env" not defined`,
		`{{ nosuch }}`:       `template: :1: function "nosuch" not defined`,
		`{{ now | `:          `template: :1: unclosed action`,
		`{{ readFile "x" }}`: `template: :1: function "readFile" not defined`,
	} {
		if _, err := template.Execute(text, template.Options{}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// endless are templates that must be stopped, because text/template would run them for very long or until memory is full.
var endless = map[string]string{
	"a loop that writes nothing":      `{{ range 1000000000000 }}{{ end }}`,
	"a loop in loops":                 `{{ range 100000 }}{{ range 100000 }}{{ end }}{{ end }}`,
	"a loop that writes":              `{{ range 1000000000 }}0123456789{{ end }}`,
	"a long list":                     `{{ range until 1000000000 }}{{ end }}`,
	"itself":                          `{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}`,
	"itself twice":                    `{{ define "a" }}{{ template "a" }}{{ template "a" }}{{ end }}{{ template "a" }}`,
	"doubling by print":               `{{ $x := "0123456789" }}{{ range 64 }}{{ $x = print $x $x }}{{ end }}`,
	"doubling by printf":              `{{ $x := "0123456789" }}{{ range 64 }}{{ $x = printf "%[1]s%[1]s" $x }}{{ end }}`,
	"doubling by join":                `{{ $x := "0123456789" }}{{ range 64 }}{{ $x = join $x (list $x $x) }}{{ end }}`,
	"doubling by html":                `{{ $x := "<<<<<<" }}{{ range 64 }}{{ $x = html $x $x }}{{ end }}`,
	"doubling by escapes":             `{{ $x := "%" }}{{ range 64 }}{{ $x = urlquery $x }}{{ end }}{{ range 64 }}{{ $x = urlquery $x $x }}{{ end }}`,
	"doubling by layouts":             `{{ $x := "1 January 15 1" }}{{ range 64 }}{{ $x = date $x now }}{{ $x = print $x " 1 January " $x }}{{ end }}`,
	"an expression with repetitions":  `{{ regexMatch "` + strings.Repeat("(.?){1000}", 9) + `b" (repeat 1000 (repeat 60 "a")) }}`,
	"replacing each by many":          `{{ $x := repeat 4000000 "a" }}{{ replace "a" $x $x }}`,
	"a wide number":                   `{{ printf "%100000000d" 1 }}`,
	"a width from an argument":        `{{ printf "%*d" 100000000 1 }}`,
	"wide numbers":                    `{{ range 10000 }}{{ $x := printf "%999d%999d%999d" 1 2 3 }}{{ end }}`,
	"a list of lists":                 `{{ $x := list 1 2 }}{{ range 64 }}{{ $x = list $x $x }}{{ end }}{{ $x }}`,
	"the same list":                   `{{ $x := list "0123456789" }}{{ range until 200000 }}{{ $x }}{{ end }}`,
	"queries":                         `{{ range 1000 }}{{ $x := queryBlocks "SELECT 1" }}{{ end }}`,
	"a body as large as the template": `{{ range 1000000 }}` + strings.Repeat(`{{ $x := eq 1 2 }}`, 10000) + `{{ end }}`,
	"templates that call two each":    chain(40),
	"a template that is too long":     strings.Repeat("x", 256<<10+1),
	"calls":                           `{{ call now.Format "2006" }}`,
}

// chain returns a template that calls 2 to the power of n templates.
func chain(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `{{ define "t%d" }}{{ template "t%d" }}{{ template "t%d" }}{{ end }}`, i, i+1, i+1)
	}
	fmt.Fprintf(&out, `{{ define "t%d" }}{{ end }}{{ template "t0" }}`, n)
	return out.String()
}

func TestEndless(t *testing.T) {
	t.Parallel()
	for name, text := range endless {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			got, err := template.Execute(text, template.Options{Notes: told{}})
			if err == nil {
				t.Errorf("it ran to its end and wrote %d bytes", len(got))
			}
			await.Within(t, name, time.Since(start), 25*time.Second)
			if err != nil && len(err.Error()) > 400 {
				t.Errorf("a long error: %.400s", err)
			}
		})
	}
}

// TestDeep checks that the deepest nesting that fits into a template neither crashes nor takes long.
func TestDeep(t *testing.T) {
	t.Parallel()
	for _, open := range []string{"{{if 1}}", "{{range 1}}", "{{with 1}}"} {
		n := 256 << 10 / (len(open) + len("{{end}}"))
		start := time.Now()
		_, _ = template.Execute(strings.Repeat(open, n)+strings.Repeat("{{end}}", n), template.Options{}) // whether it fails is not of interest
		await.Within(t, open, time.Since(start), 25*time.Second)
	}
}

func FuzzExecute(f *testing.F) {
	for _, text := range endless {
		if len(text) < 1000 {
			f.Add(text)
		}
	}
	f.Add(`{{ range $i, $e := list "a" }}{{ with $e }}{{ . | upper | printf "%s" }}{{ else }}x{{ end }}{{ end }}`)
	f.Add(`{{ block "a" . }}{{ .title }}{{ end }}{{ now | date "2006" }}`)
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		got, _ := template.Execute(text, template.Options{Data: map[string]string{"title": "x"}})
		if len(got) > 1<<20 {
			t.Errorf("wrote %d bytes", len(got))
		}
		await.Within(t, "it", time.Since(start), 25*time.Second)
	})
}
