package action

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestNormalizePath(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"/": "/", " / ": "/", "//": "/", "a": "/a", "/a/": "/a", "//a///b//": "/a/b", " /a b/c ": "/a b/c", "/笔记/文档": "/笔记/文档", "/a%2Fb": "/a%2Fb",
		"/..": "/..", "/a/./b": "/a/./b",
	} {
		if got, err := NormalizePath(given); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", given, got, err, want)
		}
	}
	for _, bad := range []string{"", "  ", "/a\nb", "/a\x00", "/\xff"} {
		if got, err := NormalizePath(bad); tool.KindOf(err) != kernel.InvalidPath {
			t.Errorf("%q: got %q, %v, want an invalid path", bad, got, err)
		}
	}
}

func TestNamesWithSlashes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a/b": "a%2Fb", "100%": "100%", "%2F": "%252F", "%2f": "%252f", "%25": "%2525", "%41": "%41", "a": "a", "%%2F/": "%%252F%2F",
	} {
		if got := EncodeName(name); got != want || decodeName(got) != name {
			t.Errorf("%q: got %q and back %q, want %q", name, got, decodeName(got), want)
		}
	}
	if diff := cmp.Diff([]string{"a/b", "c"}, splitPath("/a%2fb/c")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := joinPath(); got != "/" {
		t.Errorf("no names are %q, want /", got)
	}
}

func TestPathsThereAndBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringOfN(rapid.RuneFrom([]rune("ab%2fF5/#. 文")), 1, 12, -1)
		names := rapid.SliceOf(part).Draw(t, "names")
		path := joinPath(names...)
		if got := splitPath(path); !cmp.Equal(got, append([]string{}, names...)) {
			t.Fatalf("%q came back as %q over %q", names, got, path)
		}
	})
}

func FuzzNormalizePath(f *testing.F) {
	for _, seed := range []string{"/", "a//b/", " x ", "/a%2Fb#20240101000000-aaaaaaa", "/\u200b", "%25%2F"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		path, err := NormalizePath(given)
		if err != nil {
			return
		}
		if !strings.HasPrefix(path, "/") || strings.Contains(path, "//") || path != "/" && strings.HasSuffix(path, "/") {
			t.Fatalf("%q became %q", given, path)
		}
		if again, err := NormalizePath(path); path == strings.TrimSpace(path) && (err != nil || again != path) {
			t.Fatalf("%q became %q, and that %q, %v", given, path, again, err)
		}
		if strings.ContainsFunc(path, unicode.IsControl) {
			t.Fatalf("%q has control characters", path)
		}
		names := splitPath(path)
		if got := splitPath(joinPath(names...)); !cmp.Equal(got, names) {
			t.Fatalf("%q came back as %q", names, got)
		}
	})
}
