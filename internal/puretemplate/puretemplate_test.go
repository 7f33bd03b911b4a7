package puretemplate_test

import (
	"fmt"
	"strings"
	"testing"
	"text/template"
	"time"

	"collie/internal/puretemplate"
	vault "collie/internal/vault/template"
	"collie/test/await"
)

// pure are templates that people write.
var pure = []struct {
	kind puretemplate.Kind
	text string
}{
	{puretemplate.Path, ""},
	{puretemplate.Path, "/Inbox 收件箱/"},
	{puretemplate.Path, `/daily note/{{now | date "2006/01"}}/{{now | date "2006-01-02"}}`},
	{puretemplate.Path, `/{{now.Format "2006"}}/{{ (now).Year }}/{{ now.AddDate 0 0 -1 }}/{{ now.Weekday.String }}`},
	{puretemplate.Path, `/{{ $t := now }}{{ $t.Format "2006" }}W{{ now | ISOWeek }} {{ now | WeekdayCN2 }}`},
	{puretemplate.Path, `{{ upper "abc" }} {{ list 1 2 3 | join "-" }} {{ 3 | add 4 }}`},
	{puretemplate.Path, `{{/* a comment with queryBlocks */}}{{- "queryBlocks" -}}`},
	{puretemplate.Path, `{{ if eq (now | date "1") "1" }}new year{{ else if gt 2 1 }}x{{ else }}y{{ end }}`},
	{puretemplate.Path, `{{ $sum := 0 }}{{ range until 10 }}{{ $sum = add $sum . }}{{ end }}{{ $sum }}`},
	{puretemplate.Path, `{{ range $i, $w := list "a" "b" }}{{ if $i }}{{ break }}{{ end }}{{ $w | upper | quote }}{{ else }}none{{ end }}`},
	{puretemplate.Path, `{{ with dict "a" 1 "b" now }}{{ .a }}{{ .b.Format "2006" }}{{ end }}{{ (dict "K" "v").K }}`},
	{puretemplate.Path, `{{ printf "2026-%02d: 2 * %d, %d%%1234" 5 3 4 }}`},
	{puretemplate.Path, `{{ repeat 3 "x" }}{{ printf "%03d %q" 7 "x" }}{{ range 3 }}{{ . }}{{ end }}`},
	{puretemplate.Path, `{{ "}}" }}{{ "{{ queryBlocks }}" }}`},
	{puretemplate.Path, `{{ if regexMatch "^\\d{4}-\\d{2}$" (now | date "2006-01") }}{{ "2024-01-31" | regexFind "[0-9]+" }}{{ end }}{{ regexMatch "(" "x" }}`},
	{puretemplate.Path, `{{ $e := "a{1,20}b" }}{{ range until 100 }}{{ regexMatch $e (repeat 100 "a") }}{{ end }}`},
	{puretemplate.File, "# .action{now | date \"2006-01-02\"}\n.action{.title} .action{.id} .action{.name}\n.action{ $n := 3 } .action{ range $i := until $n }item .action{$i}\n.action{ end }"},
	{puretemplate.File, "{{ SELECT * FROM blocks }}"}, // an embed block, which is text here
	{puretemplate.File, `.action{ "}" }.action{ now.Format "2006" }`},
	{puretemplate.Column, `.action{.Price__}-.action{ .title }`},
	{puretemplate.Column, `.action{ if .Done }.action{ mul .Price 2 }.action{ end }`},
}

// impure are templates that must be refused. One of the findings for each must have the name that stands beside it, or no name
// where none does.
var impure = []struct {
	kind       puretemplate.Kind
	text, name string
}{
	{kind: puretemplate.Path, text: `/x{{range (queryBlocks "SELECT * FROM blocks")}}-{{.Content}}{{end}}`, name: "queryBlocks"},
	{kind: puretemplate.Path, text: `{{ querySQL "SELECT 1" }}`, name: "querySQL"},
	{kind: puretemplate.Path, text: `{{ querySpans "SELECT 1" | len }}`, name: "querySpans"},
	{kind: puretemplate.Path, text: `{{ getHPathByID "20240102030405-abcdefg" }}`, name: "getHPathByID"},
	{kind: puretemplate.Path, text: `{{ (getBlock "20240102030405-abcdefg").Content }}`, name: "getBlock"},
	{kind: puretemplate.Path, text: `{{ (statBlock "20240102030405-abcdefg").RuneCount }}`, name: "statBlock"},
	{kind: puretemplate.Path, text: `{{ env "HOME" }}`, name: "env"},
	{kind: puretemplate.Path, text: `{{ nosuch }}`, name: "nosuch"},
	{kind: puretemplate.Path, text: `{{ if false }}{{ queryBlocks "x" }}{{ end }}`, name: "queryBlocks"},
	{kind: puretemplate.Path, text: `{{ if 0 }}{{ else }}{{ queryBlocks "x" }}{{ end }}`, name: "queryBlocks"},
	{kind: puretemplate.Path, text: `{{ with 0 }}{{ else with queryBlocks "x" }}{{ end }}`, name: "queryBlocks"},
	{kind: puretemplate.Path, text: `{{ range until 0 }}{{ else }}{{ queryBlocks "x" }}{{ end }}`, name: "queryBlocks"},
	{kind: puretemplate.Path, text: `{{ $x := (print (queryBlocks "x")) }}`, name: "queryBlocks"},
	{kind: puretemplate.Path, text: `{{ print "x" queryBlocks }}`, name: "queryBlocks"},
	{kind: puretemplate.Path, text: `{{ "x" | queryBlocks | print }}`, name: "queryBlocks"},
	{kind: puretemplate.Path, text: `{{ call (index (dict "a" 1) "a") }}`, name: "call"},
	{kind: puretemplate.Path, text: `{{ .title }}`, name: ".title"},
	{kind: puretemplate.Path, text: `{{ $.title }}`, name: ".title"},
	{kind: puretemplate.Path, text: `{{ now.Location }}`, name: ".Location"},
	{kind: puretemplate.Path, text: `{{ now.GobDecode "x" }}`, name: ".GobDecode"},
	{kind: puretemplate.Path, text: `{{ (first (list now)).Zone }}`, name: ".Zone"},
	{kind: puretemplate.Path, text: `{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}`, name: "template"},
	{kind: puretemplate.Path, text: `{{ define "a" }}{{ queryBlocks "x" }}{{ end }}`, name: "define"},
	{kind: puretemplate.Path, text: `{{ block "a" . }}x{{ end }}`, name: "template"},
	{kind: puretemplate.Path, text: `{{ now | `},
	{kind: puretemplate.Path, text: `{{ $none }}`},
	{kind: puretemplate.Path, text: `.action{ queryBlocks "x" }`, name: ".action{"},
	{kind: puretemplate.Path, text: strings.Repeat("x", 64<<10+1)},
	{kind: puretemplate.File, text: `.action{ queryBlocks "SELECT * FROM blocks" }`, name: "queryBlocks"},
	{kind: puretemplate.File, text: `.action{ .Content }`, name: ".Content"},
	{kind: puretemplate.File, text: `.action{ range queryBlocks "x" }- .action{.ID}` + "\n" + `.action{ end }`, name: "queryBlocks"},
	{kind: puretemplate.Column, text: `.action{ (queryBlocks "x") }`, name: "queryBlocks"},
	{kind: puretemplate.Column, text: `.action{ queryAnything }`, name: "queryAnything"},
	{kind: puretemplate.Column, text: `{{ queryBlocks "x" }}`, name: "queryBlocks"},
	// Templates that would take too long or write too much.
	{kind: puretemplate.Path, text: `{{ range until 1000000000 }}{{ end }}`, name: "until"},
	{kind: puretemplate.Path, text: `{{ range 1000000000 }}{{ end }}`, name: "range"},
	{kind: puretemplate.Path, text: `{{ $n := mul 100000 100000 }}{{ range until $n }}{{ end }}`, name: "until"},
	{kind: puretemplate.Path, text: `{{ $n := 3 }}{{ if now }}{{ $n = 100000000 }}{{ end }}{{ range until $n }}{{ end }}`, name: "until"},
	{kind: puretemplate.Path, text: `{{ range 1000 }}{{ range 1000 }}{{ range 1000 }}{{ end }}{{ end }}{{ end }}`},
	{kind: puretemplate.Path, text: `{{ range until 1000 }}{{ range until 1000 }}x{{ end }}{{ end }}`},
	{kind: puretemplate.Path, text: `{{ repeat 100000000 "x" }}`, name: "repeat"},
	{kind: puretemplate.Path, text: `{{ repeat 1000 (repeat 1000 (repeat 1000 "x")) }}`},
	{kind: puretemplate.Path, text: `{{ $x := "ab" }}{{ range 64 }}{{ $x = print $x $x }}{{ end }}`, name: "range"},
	{kind: puretemplate.Path, text: `{{ $x := "abcdefghij" }}` + strings.Repeat(`{{ $x = print $x $x }}`, 64)},
	{kind: puretemplate.Path, text: `{{ $x := "a" }}{{ $y := "b" }}{{ range 64 }}{{ $x = $y }}{{ $y = print $x $y $x }}{{ end }}`, name: "range"},
	{kind: puretemplate.Path, text: `{{ $x := list 1 2 }}` + strings.Repeat(`{{ $x = list $x $x }}`, 64)},
	{kind: puretemplate.Path, text: `{{ printf "%100000000d" 1 }}`, name: "printf"},
	{kind: puretemplate.Path, text: `{{ printf "%*d" 100000000 1 }}`, name: "printf"},
	{kind: puretemplate.Path, text: `{{ printf "%% %[1].1000f" 1.5 }}`, name: "printf"},
	{kind: puretemplate.Path, text: `{{ regexMatch "` + strings.Repeat("(.?){1000}", 99) + `b" (repeat 1000 (repeat 60 "a")) }}`},
	{kind: puretemplate.Path, text: `{{ range 1000 }}{{ regexFind "(a?){500}b" (repeat 1000 "a") }}{{ end }}`},
	{kind: puretemplate.Path, text: `{{ regexFind (repeat 90 "(.?){1000}") "x" }}`, name: "regexFind"},
	{kind: puretemplate.Path, text: `{{ regexMatch (print "a" now) "x" }}`, name: "regexMatch"},
	{kind: puretemplate.Path, text: `{{ $d := dict }}{{ set $d "a" $d }}`, name: "set"},
	{kind: puretemplate.Path, text: `{{ $x := "a" }}` + strings.Repeat(`{{ $x = replace "" $x $x }}`, 9)},
	{kind: puretemplate.Path, text: strings.Repeat(`{{ if 1 }}`, 5000) + strings.Repeat(`{{ end }}`, 5000)},
	{kind: puretemplate.Path, text: `{{ $a := "x" }}` + strings.Repeat(`{{ range 2 }}{{ $a = print $a 1 }}`, 60) + strings.Repeat(`{{ end }}`, 60)},
	{kind: puretemplate.Path, text: "{{ " + strings.Repeat("(", 20000) + "1" + strings.Repeat(")", 20000) + " }}"},
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, tt := range pure {
		if got := puretemplate.Judge(tt.kind, tt.text); got != nil {
			t.Errorf("%s is not pure: %v", tt.text, got)
		}
	}
	for _, tt := range impure {
		begun := time.Now()
		got := puretemplate.Judge(tt.kind, tt.text)
		named := false
		for _, f := range got {
			named = named || f.Name == tt.name
		}
		if !named {
			t.Errorf("%.200s: %v, want a finding of %q", tt.text, got, tt.name)
		}
		await.Within(t, tt.text, time.Since(begun), 25*time.Second)
	}
}

// reading are functions of SiYuan, Sprig and text/template that are not pure: they read notes or the machine, change their
// arguments, or call others. A pure template calls none of them.
var reading = []string{
	"queryBlocks", "querySpans", "querySQL", "getBlock", "getHPathByID", "statBlock", "env", "expandenv", "getHostByName", "osBase",
	"set", "unset", "call", "derivePassword", "genPrivateKey", "dateInZone", "regexReplaceAll",
}

// TestFunctions checks that each function in the table has the properties given there, and is
// listed once.
func TestFunctions(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range puretemplate.Functions() {
		if seen[f.Name] {
			t.Errorf("%s is there twice", f.Name)
		}
		seen[f.Name] = true
		if f.Max >= 0 && f.Min > f.Max {
			t.Errorf("%+v", f)
		}
		for _, i := range f.Counts {
			if f.Max >= 0 && i >= f.Max {
				t.Errorf("%s counts argument %d of %d", f.Name, i, f.Max)
			}
		}
	}
	for _, name := range reading {
		if seen[name] {
			t.Errorf("%s is not pure", name)
		}
	}
}

// traps returns functions for text/template: stand-ins for the pure functions that text/template does not have, and for
// those of reading. A stand-in of the latter records in called that it was called, and fails.
func traps(called *string) template.FuncMap {
	out := template.FuncMap{}
	for _, f := range puretemplate.Functions() {
		switch f.Name {
		case "and", "eq", "ge", "gt", "html", "index", "js", "le", "len", "lt", "ne", "not", "or", "print", "printf", "println", "slice", "urlquery":
			continue // text/template has it
		case "now":
			out[f.Name] = time.Now
		case "until":
			out[f.Name] = func(n int) []int { return make([]int, max(n, 0)) }
		case "list":
			out[f.Name] = func(items ...any) []any { return items }
		case "repeat":
			out[f.Name] = func(n int, s string) string { return strings.Repeat(s, max(n, 0)) }
		case "dict":
			out[f.Name] = func(items ...any) map[string]any {
				d := map[string]any{}
				for i := 0; i+1 < len(items); i += 2 {
					d[fmt.Sprint(items[i])] = items[i+1]
				}
				return d
			}
		default:
			out[f.Name] = func(...any) string { return f.Name }
		}
	}
	for _, name := range reading {
		out[name] = func(...any) (string, error) { *called = name; return "", fmt.Errorf("%s was called", name) }
	}
	delete(out, "call") // text/template keeps its own
	return out
}

// limited is a writer that fails after left bytes.
type limited struct{ left int }

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, fmt.Errorf("wrote too much")
	}
	return len(p), nil
}

// FuzzJudge checks that a template that is judged pure calls no function that reads, and ends within the
// bounds.
func FuzzJudge(f *testing.F) {
	for _, tt := range pure {
		f.Add(uint8(tt.kind), tt.text)
	}
	for _, tt := range impure {
		if len(tt.text) < 1000 {
			f.Add(uint8(tt.kind), tt.text)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		k := puretemplate.Kind(kind % 3)
		begun := time.Now()
		found := puretemplate.Judge(k, text)
		await.Within(t, "judging", time.Since(begun), 10*time.Second)
		if found != nil {
			return
		}
		left, right := "", ""
		if k != puretemplate.Path {
			left, right = ".action{", "}"
		}
		called := ""
		parsed, err := template.New("").Delims(left, right).Funcs(traps(&called)).Parse(text)
		if err != nil {
			t.Fatalf("%q is pure and cannot be read: %v", text, err)
		}
		out := &limited{left: 1 << 20}
		err = parsed.Execute(out, map[string]string{"title": "t", "id": "i"})
		if called != "" || out.left < 0 {
			t.Fatalf("%q: %v", text, err)
		}
		if _, err := vault.Execute(text, vault.Options{Left: left, Right: right, Data: map[string]string{"title": "t", "id": "i"}}); err != nil {
			for _, wrong := range []string{"more than 1 MiB", "grow too long", "too many steps", "takes too long", "does not have", "not defined"} {
				if strings.Contains(err.Error(), wrong) {
					t.Fatalf("%q: %v", text, err)
				}
			}
		}
	})
}
