package page_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"collie/internal/chat/page"
	"collie/test/await"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"# 标题 *重点*":                                "<h3>标题 <em>重点</em></h3>\n",
		"a\nb  \nc":                                "<p>a\nb<br>\nc</p>\n",
		"**a** ~~b~~ `c<d`":                        "<p><strong>a</strong> <del>b</del> <code>c&lt;d</code></p>\n",
		"- a\n- b":                                 "<ul>\n<li>a\n</li>\n<li>b\n</li>\n</ul>\n",
		"3. a\n\n   b":                             "<ol start=\"3\">\n<li><p>a</p>\n<p>b</p>\n</li>\n</ol>\n",
		"- [x] done":                               "<ul>\n<li>☑ done\n</li>\n</ul>\n",
		"> q":                                      "<blockquote><p>q</p>\n</blockquote>\n",
		"```go\nif a < b && c {\n```":              "<pre><code>if a &lt; b &amp;&amp; c {\n</code></pre>\n",
		"|a|b|\n|-|-:|\n|1|2|":                     "<table><tr><th>a</th><th class=\"right\">b</th></tr>\n<tr><td>1</td><td class=\"right\">2</td></tr>\n</table>\n",
		"[x](https://e.org/?a=1&b=\"2)":            `<p><a rel="noopener noreferrer nofollow" href="https://e.org/?a=1&amp;b=%222">x</a></p>` + "\n",
		"<a@b.org> &copy; \\*":                     `<p><a rel="noopener noreferrer nofollow" href="mailto:a@b.org">a@b.org</a> © *</p>` + "\n",
		"[x](javascript:alert(1))":                 "<p>x <code>javascript:alert(1)</code></p>\n",
		"[x](java&#x73;cript:alert(1))":            "<p>x <code>javascript:alert(1)</code></p>\n",
		"[x](data:text/html,<script>)":             "<p>x <code>data:text/html,&lt;script&gt;</code></p>\n",
		"![x](https://e.org/p.png)":                `<p><a rel="noopener noreferrer nofollow" href="https://e.org/p.png">x</a></p>` + "\n",
		"<script>alert(1)</script>":                "<pre>&lt;script&gt;alert(1)&lt;/script&gt;</pre>\n\n",
		"a <img src=x onerror=alert(1)> b":         "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>\n",
		"a\x00\x1b[31mb\xff &#0; &#x1b;":           "<p>a\uFFFD\uFFFD[31mb\uFFFD \uFFFD \uFFFD</p>\n",
		"[x][r]\n\n[r]: vbscript:msgbox \"title\"": "<p>x <code>vbscript:msgbox</code></p>\n\n",
	} {
		if got := page.Markdown(source, 2); got != want {
			t.Errorf("%q\n got %q\nwant %q", source, got, want)
		}
	}
}

// Texts that are made to be slow or deeply nested are converted in bounded time, into inert HTML of bounded depth.
func TestMarkdownHostile(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{">", "[", "![", "*a ", "- ", "<", "`", "~~a", "|", "\\", "&#", "> - ", "<!--", "[a](", "_*", "1. ", "    ", "<a@b", "[x]: ", "***"} {
		for _, end := range []string{"", "\n"} {
			source := strings.Repeat(unit+end, 100_000/len(unit+end))
			begun := time.Now()
			checkInert(t, page.Markdown(source, 2))
			await.Within(t, fmt.Sprintf("%q many times", unit+end), time.Since(begun), 5*time.Second)
		}
	}
	if got := page.Markdown(strings.Repeat(">", 300)+" deep", 2); strings.Count(got, "<blockquote>") > 100 {
		t.Error("quotes are nested more than 100 levels deep")
	}
}

// FuzzMarkdown looks for a text that becomes active content.
func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{
		"[x](javascript:alert(1))", "<script>", "<img src=x onerror=y>", "![x](data:image/svg+xml,<svg onload=1>)", "[a]: j\tavascript:1\n[a]",
		"<https://a\" onclick=\"b>", "`</code><script>`", "```\n</pre><script>\n```", "|<b>|\n|-|\n", "<http://x'y>", "&lt;script&gt;", "\\<script>", "[a](<javascript:b>)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkInert(t, page.Markdown(s, 2))
		if got := tagsIn(t, "<p title=\""+page.Text(s)+"\">"+page.Text(s)+"</p>"); strings.Count(got, "<") != 0 {
			t.Errorf("%q: a text has markup", s)
		}
	})
}

// checkInert fails the test if HTML has comments, a doctype, or elements or attributes that converted Markdown never needs.
func checkInert(t *testing.T, source string) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(source))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.CommentToken, html.DoctypeToken:
			t.Fatalf("there is a comment in %.2000q", source)
		case html.StartTagToken, html.SelfClosingTagToken:
			tok := z.Token()
			if !slices.Contains(strings.Fields("p h3 h4 h5 h6 ul ol li blockquote pre code em strong del a br hr table tr th td"), tok.Data) {
				t.Fatalf("there is <%s> in %.2000q", tok.Data, source)
			}
			for _, a := range tok.Attr {
				ok := a.Key == "rel" || a.Key == "class" || a.Key == "start"
				if tok.Data == "a" && a.Key == "href" {
					low := strings.ToLower(a.Val)
					ok = strings.HasPrefix(low, "http://") || strings.HasPrefix(low, "https://") || strings.HasPrefix(low, "mailto:")
				}
				if !ok {
					t.Fatalf("there is %s=%q in %.2000q", a.Key, a.Val, source)
				}
			}
		case html.EndTagToken, html.TextToken:
		}
	}
}

// tagsIn returns the tags in source except <p>, which may or may not stand around a text.
func tagsIn(t *testing.T, source string) (out string) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(source))
	for z.Next() != html.ErrorToken {
		if tok := z.Token(); tok.Type != html.TextToken && tok.Data != "p" {
			out += tok.String()
		}
	}
	return out
}
