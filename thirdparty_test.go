package collie_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// TestForkSaysWhatItChanged compares our copy of the JSON Schema library with the release it was made from:
// changes are in marked places that keep the replaced lines, and additions are listed here.
func TestForkSaysWhatItChanged(t *testing.T) {
	t.Parallel()
	tree := os.DirFS("third_party/jsonschema")
	sums, err := fs.ReadFile(tree, "UPSTREAM")
	if err != nil {
		t.Fatal(err)
	}
	added := map[string]bool{"UPSTREAM": true, "lazy.go": true, "steps.go": true}
	for line := range strings.Lines(string(sums)) {
		want, file, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			continue // the line that says what the sums are of
		}
		added[file] = true
		src, err := fs.ReadFile(tree, file)
		if err != nil {
			t.Error(err)
			continue
		}
		if sum := sha256.Sum256(asReleased(src)); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s differs from the release outside of its marked places", file)
		}
	}
	if !added["LICENSE"] {
		t.Error("the licence of the library is not there")
	}
	err = fs.WalkDir(tree, ".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !added[path.Clean(file)] {
			t.Errorf("%s is not of the release", file)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// asReleased restores the replaced lines of a changed file.
func asReleased(src []byte) []byte {
	const from, now, end, was = "//collie: instead of", "//collie: now", "//collie: end", "//- "
	var out bytes.Buffer
	inside := false
	for line := range bytes.Lines(src) {
		trimmed := string(bytes.TrimSpace(line))
		switch {
		case trimmed == from:
			inside = true
		case trimmed == end:
			inside = false
		case inside && strings.HasPrefix(trimmed, "//-"):
			_, old, _ := bytes.Cut(line, []byte("//-"))
			out.Write(bytes.TrimPrefix(old, []byte(was[3:])))
		case !inside && trimmed != now:
			out.Write(line)
		}
	}
	return out.Bytes()
}
