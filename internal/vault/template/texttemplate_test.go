package template_test

import (
	"strings"
	"testing"
	texttemplate "text/template"

	"collie/internal/vault/template"
)

// compareWithTextTemplate runs text as a template here and in text/template. Both must write the same, or both must fail.
// Templates are left out that use something that text/template does not have or that differs there.
func compareWithTextTemplate(t *testing.T, text string) {
	t.Helper()
	for _, known := range []string{"slice", "call", "now", "i"} {
		// Sprig has another slice, call needs functions as values, now varies, and templates here have no complex numbers.
		if known == "i" && strings.ContainsAny(text, "0123456789") && strings.Contains(text, "i") && mayHoldComplexNumber(text) ||
			known != "i" && strings.Contains(text, known) {
			return
		}
	}
	parsed, err := texttemplate.New("").Parse(text)
	got, failed := template.Execute(text, template.Options{Data: map[string]string{"title": "x"}})
	if err != nil {
		return // it may use a function that text/template does not have
	}
	if failed != nil && !strings.Contains(failed.Error(), "executing") {
		return // for example, it is too large
	}
	var want strings.Builder
	err = parsed.Execute(&want, map[string]any{"title": "x"})
	if (err == nil) != (failed == nil) {
		if failed != nil && strings.Contains(failed.Error(), "printf takes") {
			return
		}
		t.Fatalf("%q\n gives %q, %v\n with text/template %q, %v", text, got, failed, want.String(), err)
	}
	if err == nil && got != want.String() {
		t.Fatalf("%q\n gives %q\n with text/template %q", text, got, want.String())
	}
}

// mayHoldComplexNumber reports whether text may hold a complex number, which templates here do not have.
func mayHoldComplexNumber(text string) bool {
	for i := range text {
		if text[i] == 'i' && i > 0 && strings.IndexByte("0123456789._abcdefABCDEF", text[i-1]) >= 0 {
			return true
		}
	}
	return false
}

func FuzzLikeTextTemplate(f *testing.F) {
	f.Add(`{{ range $i, $e := .title }}{{ end }}{{ with $x := 1 }}{{ . }}{{ $x = 2 }}{{ $x }}{{ end }}`)
	f.Add(`{{ define "a" }}{{ . }}{{ end }}{{ template "a" print 1 2 | printf "%v" }}{{ if and 1 0 }}{{ else if or 0 1 }}{{ .title | len }}{{ end }}`)
	f.Add(`{{ range 3 }}{{ if eq . 1 }}{{ continue }}{{ else if gt . 1 }}{{ break }}{{ end }}{{ . -}} x {{ end }}`)
	f.Add(`{{ index .title 0 }}{{ html "<" 1 }}{{ js "<" }}{{ urlquery "&" }}{{ not .x }}{{ (print "a").b }}{{ index . "title" }}{{ 1.5e3 }}{{ 'a' }}{{ 0x1p4 }}`)
	for _, text := range []string{`{{ . }}`, `{{ $ }}`, `{{ $.title.x }}`, `{{ .title 1 }}`, `{{ nil }}`, `{{ print nil }}`, `{{ eq . . }}`, `{{ eq .x .y }}`, `{{ lt .title "y" }}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { compareWithTextTemplate(t, text) })
}

// TestLikeTextTemplate runs the recorded templates through text/template too.
func TestLikeTextTemplate(t *testing.T) {
	t.Parallel()
	for _, r := range recordings(t) {
		compareWithTextTemplate(t, r.Template)
	}
}
