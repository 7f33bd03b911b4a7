package jsonc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"collie/internal/jsonc"
)

// space draws what may stand between two tokens: white space and numbered comments.
func space(t *rapid.T, comments *int) string {
	var b strings.Builder
	for range rapid.IntRange(0, 2).Draw(t, "spaces") {
		switch rapid.IntRange(0, 4).Draw(t, "space") {
		case 0:
			b.WriteByte(' ')
		case 1:
			b.WriteString("\n  ")
		case 2:
			*comments++
			fmt.Fprintf(&b, "// c%d, \"{\n", *comments)
		case 3:
			*comments++
			fmt.Fprintf(&b, "/* c%d\n } */", *comments)
		}
	}
	return b.String()
}

// text draws an object of unique names in free layout.
func text(t *rapid.T, comments *int, depth int) string {
	sp := func() string { return space(t, comments) }
	var b strings.Builder
	b.WriteString("{" + sp())
	n := rapid.IntRange(0, 3).Draw(t, "members")
	for i := range n {
		fmt.Fprintf(&b, `"%c"%s:%s`, 'a'+i, sp(), sp())
		if depth > 0 && rapid.Bool().Draw(t, "nested") {
			b.WriteString(text(t, comments, depth-1))
		} else {
			b.WriteString(rapid.SampledFrom([]string{`1`, `"x // y"`, `null`, `[1, {"z": []}]`, `[ ]`}).Draw(t, "value"))
		}
		b.WriteString(sp())
		if i < n-1 || rapid.Bool().Draw(t, "comma") {
			b.WriteString("," + sp())
		}
	}
	return b.String() + "}"
}

func decode(t *rapid.T, text []byte) map[string]any {
	d, err := jsonc.Parse(text)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	var m map[string]any
	if err := json.Unmarshal(jsonc.Standard(d.Root()), &m); err != nil {
		t.Fatalf("decode %q: %v", text, err)
	}
	return m
}

// In any layout, an edit changes only the member it names. All comments outside that member stay.
func TestEditsChangeOneMember(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		comments := 0
		before := []byte(space(t, &comments) + text(t, &comments, 2) + space(t, &comments))
		name := string('a' + rune(rapid.IntRange(0, 3).Draw(t, "name")))
		want := decode(t, before)

		added, err := jsonc.Set(before, []string{name}, json.RawMessage(`{"new":[true]}`))
		if err != nil {
			t.Fatalf("set in %q: %v", before, err)
		}
		_, replaced := want[name]
		want[name] = map[string]any{"new": []any{true}}
		if diff := cmp.Diff(want, decode(t, added)); diff != "" {
			t.Fatalf("set in %q gives %q:\n%s", before, added, diff)
		}
		for i := range comments {
			if c := []byte(fmt.Sprintf(" c%d", i+1)); !replaced && !bytes.Contains(added, c) {
				t.Fatalf("comment%s is lost: %q gives %q", c, before, added)
			}
		}
		again, err := jsonc.Set(added, []string{name}, json.RawMessage(`{"new":[true]}`))
		if err != nil || !bytes.Equal(again, added) {
			t.Fatalf("the second set changes something (%v): %q", err, again)
		}

		removed, err := jsonc.Remove(added, []string{name})
		if err != nil {
			t.Fatalf("remove from %q: %v", added, err)
		}
		delete(want, name)
		if diff := cmp.Diff(want, decode(t, removed)); diff != "" {
			t.Fatalf("remove from %q gives %q:\n%s", added, removed, diff)
		}
	})
}

// Removing a member and setting it again from its source restores it with the comments inside it, and changes
// nothing else.
func TestSourceComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		comments := 0
		before := []byte(space(t, &comments) + text(t, &comments, 2) + space(t, &comments))
		want := decode(t, before)
		name := string('a' + rune(rapid.IntRange(0, 2).Draw(t, "name")))
		source, ok := jsonc.Source(before, []string{name})
		if _, there := want[name]; there != ok {
			t.Fatalf("%q of %q: %t", name, before, ok)
		}
		if !ok {
			return
		}
		written := string(source)
		rest, err := jsonc.Remove(before, []string{name})
		if err != nil {
			t.Fatal(err)
		}
		back, err := jsonc.SetSource(rest, []string{name}, written)
		if err != nil {
			t.Fatalf("put %q into %q: %v", written, rest, err)
		}
		if diff := cmp.Diff(want, decode(t, back)); diff != "" {
			t.Fatalf("%q without and with %s again is %q:\n%s", before, name, back, diff)
		}
		if now, _ := jsonc.Source(back, []string{name}); string(now) != written {
			t.Fatalf("%q came back as %q", written, now)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "{}", "{\"a\": 1, // x\n}", "\xef\xbb\xbf{}", "{\"a\":{\"a\":1,\"a\":2}}", "[[[", "/*", "{} //"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := jsonc.Parse(text)
		if err != nil {
			return
		}
		if std := jsonc.Standard(d.Root()); !json.Valid(std) {
			t.Fatalf("%q is read as %q, which is not JSON", text, std)
		}
		d.Duplicates()
		out, err := jsonc.Set(text, []string{"new"}, json.RawMessage(`[1]`))
		if d.Root().Value.Kind() == '{' && (err != nil || !bytes.Contains(out, []byte(`"new"`))) {
			t.Fatalf("set in %q gives %q, %v", text, out, err)
		}
		if _, err := jsonc.Remove(text, []string{"a"}); err != nil && strings.Contains(err.Error(), "no longer") {
			t.Fatalf("remove from %q: %v", text, err)
		}
	})
}
