package block

import (
	"strings"
	"testing"
)

const open, closing = `<span data-type="search-mark">`, `</span>`

// TestMark checks that markFirst marks the first occurrence of a text in the DOM of blocks, if it lies in one element.
func TestMark(t *testing.T) {
	t.Parallel()
	tests := []struct{ dom, text, want string }{
		{`<div class="p">a p</div>`, "p", `<div class="p">a ` + open + "p" + closing + `</div>`},
		{`<div>x</div><div>one two two</div>`, "two", `<div>x</div><div>one ` + open + "two" + closing + ` two</div>`},
		{`<p>a &lt; b &quot;c&quot;</p>`, `b "c"`, `<p>a &lt; ` + open + `b &quot;c&quot;` + closing + `</p>`},
		{`<p>a "b"</p>`, `"b"`, `<p>a ` + open + `"b"` + closing + `</p>`},
		{`<p title="x">y</p>`, "x", `<p title="x">y</p>`},
		{`<p>he<b>llo</b></p>`, "hello", `<p>he<b>llo</b></p>`},
		{`text`, "text", `text`},
	}
	for _, tt := range tests {
		if got := markFirst(tt.dom, tt.text); got != tt.want {
			t.Errorf("mark(%q, %q) = %q, want %q", tt.dom, tt.text, got, tt.want)
		}
	}
}

func FuzzMark(f *testing.F) {
	f.Add(`<div class="p">王五 a</div>`, "王五")
	f.Add(`<<>>`, "<")
	f.Add(`>&amp;<`, "&")
	f.Fuzz(func(t *testing.T, dom, text string) {
		if text == "" || strings.Contains(dom, open) {
			t.Skip("it has marks in it already, or nothing to mark")
		}
		got := markFirst(dom, text)
		before, after, marked := strings.Cut(got, open)
		if marked {
			inside, rest, _ := strings.Cut(after, closing)
			got = before + inside + rest
		}
		if got != dom {
			t.Errorf("mark(%q, %q) lost something: %q", dom, text, got)
		}
	})
}
