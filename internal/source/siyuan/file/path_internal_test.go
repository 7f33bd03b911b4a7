package file

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/datafile"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	const markdown = "---\ntitle: x\n---\n\n" +
		"![a](assets/a.png \"title\") and ![b](<assets/b c.png> 'it') [c](assets/c%20d.pdf#page=3)\n\n" +
		"![](assets/d (1).png) ![sp](assets/e f.png \"t\") ![e]( assets/g.png ) ![r][ref]\n\n" +
		"<img alt=\"x\" src='assets/h&amp;i.png'/> text <video controls src=assets/v.mp4></video>\n\n" +
		"<div>\n<img\n  src=\"assets/j.png\">\n<a href=\"assets/k.zip\">k</a>\n</div>\n\n" +
		"| a | b |\n| - | - |\n| ![t](assets/l.png) | x |\n\n- item ![m](assets/m.png)\n  > ![n](assets/n.png)\n\n" +
		"`![code](assets/no1.png)` and `[x](assets/no 2.png)`\n\n```\n![no](assets/no3.png)\n<img src=\"assets/no4.png\">\n```\n\n" +
		"    ![no](assets/no5.png)\n\n<<assets/p.pdf/20240101000000-annota1 \"marked\">> <https://example.com>\n\n" +
		"\\![esc](assets/q.png) ![图](assets/图 片.png)\n\n[ref]: assets/o.png \"title\"\n"
	want := []string{
		"assets/a.png", "assets/b c.png", "assets/c%20d.pdf#page=3", "assets/e f.png", "assets/g.png", "assets/o.png", "assets/h&i.png",
		"assets/v.mp4", "assets/j.png", "assets/k.zip", "assets/l.png", "assets/m.png", "assets/n.png", "assets/p.pdf", "assets/q.png", "assets/图 片.png",
	}
	got := linkedAddresses(markdown)
	got = slices.DeleteFunc(got, func(a string) bool { return !assetAddress(a) })
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("assets (-want +got):\n%s", diff)
	}
}

// TestParseAssetRefuses: parseAsset refuses each of these paths before anybody asks whether it exists.
func TestParseAssetRefuses(t *testing.T) {
	t.Parallel()
	for _, p := range []string{
		"", ".", "..", "assets", "assets/", "/assets/x.png", "assets/../x", "assets//x", "./assets/x", "assets/./x", "conf/conf.json", "a/assets/x",
		"20240101120000-abcdefg/x/assets/y", "20240101120000-ABCDEFG/assets/x", "20240101120000-abcdefg/.siyuan/assets/x", "Assets/x",
		"assets/x.sy", "assets/x.SY", "assets/x.sy/y", "assets/x．sy", "assets/.x", "assets/x.", "assets/x ", "assets/ x", "assets/x./y", "assets/x /y",
		"assets\\x", "assets/x\\y", "assets/x:y", "assets/x*", "assets/x?", "assets/<x", "assets/x>", "assets/x|y", "assets/\"x", "C:/assets/x",
		"assets/x\x00", "assets/x\ny", "assets/\x7f", "assets/\xff", "assets/\u202ex", "assets/\u2066x", "assets/x\u2028",
		"assets/．．/x", "assets/‥/x", "assets/․․/x", "assets/﹒﹒/x", "assets/.\u200b./x", "assets/..／x", "assets/a／..／x", "assets/..∕x", "assets/..＼x", "assets/…/x",
		"assets/%2e%2e/x", "assets/x%2fy", "assets/x%2Fy", "assets/x%5cy", "assets/x%00", "assets/x%0a", "assets/%252e", "assets/%c0%ae/x", "assets/%ff",
		"assets/%EF%BC%8E%EF%BC%8E/x", "assets/x%3Ay", "assets/x%20", "assets/%20x", "assets/x%7f",
		"assets/con", "assets/NUL.png", "assets/com1/x", "assets/lpt¹", "assets/" + strings.Repeat("x", 256), "assets/" + strings.Repeat("x/", 600) + "x",
	} {
		if a, wrong := parseAsset(p); wrong == "" {
			t.Errorf("parseAsset(%q) took it: %+v", p, a)
		}
	}
}

func TestLocalName(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Trip 旅行": "Trip 旅行", "a/b\\c:d": "a_b_c_d", "..": "document", "": "document", ".hidden": "hidden", "x. ": "x", "con": "document",
		"a\nb": "a_b", "\u202egnp": "_gnp", "．．": "document", "\xff": "document", strings.Repeat("中", 100): strings.Repeat("中", 60),
	} {
		if got := localName(title); got != want {
			t.Errorf("localName(%q) = %q, want %q", title, got, want)
		}
	}
}

// FuzzParseAsset: a path that parseAsset accepts stays below a folder assets, however often it is decoded, cleaned or
// written with plain characters.
func FuzzParseAsset(f *testing.F) {
	for _, seed := range []string{
		"assets/a.png", "assets/a%20b.png", "20240101120000-abcdefg/assets/x.png", "assets/../x", "assets/%2e%2e/x", "assets/．．/x", "assets/..%2fx",
		"assets/‥/x", "assets/a.sy", "assets/.\u200b./x", "20240101120000-abcdefg/20240101120000-abcdefg/assets/x", "assets/100%.png", "assets/%25%32%65", "assets\\x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, wrong := parseAsset(text)
		if wrong != "" {
			return
		}
		forms := []string{a.given, a.plain}
		for _, p := range a.files() {
			for range 3 {
				if once, err := url.PathUnescape(p); err == nil {
					p = once
				}
				forms = append(forms, p, datafile.PlainDots(p), datafile.PlainSlashes(p), datafile.PlainDots(datafile.PlainSlashes(p)), strings.ReplaceAll(p, `\`, "/"))
			}
		}
		for _, form := range forms {
			clean := path.Clean(form)
			names := strings.Split(clean, "/")
			at := slices.Index(names, "assets")
			if path.IsAbs(clean) || at < 0 || at == len(names)-1 || strings.Contains(form, "\x00") || slices.Contains(names, "..") {
				t.Fatalf("%q is taken, and in the form %q it leads to %q", text, form, clean)
			}
			if strings.HasSuffix(strings.ToLower(strings.TrimRight(clean, ". ")), ".sy") {
				t.Fatalf("%q is taken, and it is a document", text)
			}
		}
		if a.notebook != "" && !a.notebook.Valid() {
			t.Fatalf("%q is in the notebook %q", text, a.notebook)
		}
		if !a.isAddress(a.given) || !a.isAddress(a.plain) {
			t.Fatalf("%q does not mean itself", text)
		}
		for _, s := range a.spellings() {
			if strings.ContainsAny(s, "\x00\n") {
				t.Fatalf("%q is spelled %q", text, s)
			}
		}
	})
}

// FuzzParseResource: a path that parseResource accepts is one that may be packed.
func FuzzParseResource(f *testing.F) {
	for _, seed := range []string{"/data/assets/a.png", "/data/emojis", "/data/templates/x.md", "/conf/conf.json", "/data/storage/x", "data/../conf", "/data/20240101120000-abcdefg/assets"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, _, wrong := parseResource(text)
		if wrong != "" {
			return
		}
		clean := path.Clean("/data/" + p)
		names := strings.Split(clean, "/")
		if clean != "/data/"+p || names[2] != "emojis" && names[2] != "templates" && !slices.Contains(names, "assets") || strings.HasSuffix(strings.ToLower(clean), ".sy") {
			t.Fatalf("%q may be packed as %q", text, clean)
		}
	})
}

// FuzzCheckLocal: no part of a local path that checkLocal accepts leads to the folder above.
func FuzzCheckLocal(f *testing.F) {
	for _, seed := range []string{"a/b.png", "../x", "a/..", "．．/x", "%2e%2e/x", "a\\..\\b", "a/‥/b", "/etc/passwd"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if checkLocal(text) != "" {
			return
		}
		for _, form := range []string{text, datafile.PlainDots(datafile.PlainSlashes(text))} {
			if slices.Contains(strings.Split(form, "/"), "..") {
				t.Fatalf("%q is taken", text)
			}
		}
	})
}
