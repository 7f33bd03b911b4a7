package file

import (
	"path"
	"strings"
	"testing"

	"collie/internal/vault/api"
)

// FuzzPaths checks that no path of a request leads out of the folder that it is meant for.
func FuzzPaths(f *testing.F) {
	for _, p := range []string{
		"assets/a.png", "assets/../x", "/../x", "a/../..", api.Root + "/data/templates/x.md", api.Root + "/data/templates/../x.md",
		`..\x`, "assets/\x00", "con", "20240101000000-abcdefg/assets/x", "assets/x. ", "%2e%2e/x", "x\u202ey", "．．/x", ".md", "..",
	} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		inside := func(what, got, folder string) {
			if got != path.Clean(got) || !strings.HasPrefix(got, folder) || strings.Contains("/"+got+"/", "/../") {
				t.Fatalf("%s of %q is %q", what, p, got)
			}
		}
		if !escapes(p) {
			inside("confine", confine(api.Request{}, p), "/")
		}
		if got, ok := assetFile(p); ok {
			inside("assetFile", got, "/data/")
			if !strings.Contains(got, "/assets/") || !storable(got) {
				t.Fatalf("the asset of %q is %q", p, got)
			}
		}
		if got, ok := templateFile(p); ok {
			inside("templateFile", got, templates+"/")
		}
		stem, ext := assetName(p)
		if name := "/data/assets/" + stem + "-20240101000000-abcdefg" + ext; !storable(name) || path.Dir(name) != "/data/assets" {
			t.Fatalf("uploaded, %q becomes %q", p, name)
		}
		if name := archiveName(nil, p); !storable("/"+name) || strings.Contains(name, "/") {
			t.Fatalf("an archive called %q is %q", p, name)
		}
	})
}

// FuzzSpellings checks that an address is found as it is written, and that replacing an address by itself changes nothing.
func FuzzSpellings(f *testing.F) {
	f.Add("assets/a b.png", "![](assets/a%20b.png) and assets/a b.png.bak")
	f.Add("assets/红 & x.png", `<img src="assets/红 &amp; x.png">`)
	f.Add("assets/(1)%.png", "assets/(1)%.png")
	f.Fuzz(func(t *testing.T, address, text string) {
		if _, ok := assetFile(address); !ok {
			return
		}
		pattern := spellings(address)
		if got := replaceAddress("("+address+")", pattern, func(string) string { return "new" }); got != "(new)" {
			t.Fatalf("%q is not found: %q", address, got)
		}
		if got := replaceAddress(text, pattern, func(old string) string { return old }); got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func TestStorable(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]bool{
		"/data/a.png": true, "/data/.siyuan/x": true, "/data/console.md": true, "/data/中文 名.md": true, "/data/a%2fb": true,
		"/data/con": false, "/data/CON.md": false, "/data/com1": false, "/data/com1.tar.gz": false, "/data/x.": false, "/data/x ": false,
		"/data/a\\b": false, "/data/a:b": false, "/data/\x7f": false, "/data/\u202e": false, "/data/\xff": false, "/": false,
		"/data/" + strings.Repeat("a", 255): true, "/data/" + strings.Repeat("a", 256): false, strings.Repeat("/a", 2049): false,
	} {
		if storable(p) != want {
			t.Errorf("%q: %v", p, !want)
		}
	}
}
