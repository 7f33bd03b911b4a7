package vault

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault"
)

// usedByOthers are endpoints of the vault that the client of the notes tools does not use, with the reason why they exist.
var usedByOthers = map[string]string{
	"/api/asset/setImageOCRText":         "the only way for the text of an image into the vault",
	"/api/filetree/listDocTree":          "a benchmark asks for the whole tree",
	"/api/repo/initRepoKey":              "the vault asks it of itself when its file is made",
	"/api/riff/batchSetRiffCardsDueTime": "the only way to a card that is due",
	"/api/riff/createRiffDeck":           "the only way to a deck",
}

// absentFromRecordings are endpoints that the client uses and the vault lacks, because the recorded kernel does not have them.
var absentFromRecordings = []string{"/api/filetree/setDocSortMode"}

// aboutTheWindow are endpoints that the client uses and the vault lacks, because they are about the window of SiYuan.
var aboutTheWindow = []string{"/api/petal/setPetalEnabled"}

// TestEndpoints checks that the vault has exactly the endpoints that the client uses, with the exceptions above.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	want := clientEndpoints(t)
	for endpoint := range usedByOthers {
		if slices.Contains(want, endpoint) {
			t.Errorf("%s is asked for", endpoint)
		}
		want = append(want, endpoint)
	}
	slices.Sort(want)
	want = slices.DeleteFunc(slices.Compact(want), func(endpoint string) bool {
		return slices.Contains(absentFromRecordings, endpoint) || slices.Contains(aboutTheWindow, endpoint)
	})
	got := vault.Endpoints()
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the vault answers something else than the client asks for (-asked +answered):\n%s", diff)
	}
}

// clientEndpoints returns the endpoints that the sources of the client name.
func clientEndpoints(t *testing.T) (endpoints []string) {
	t.Helper()
	files, err := filepath.Glob("../../internal/source/siyuan/kernel/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("the client is not there", err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && strings.HasPrefix(text, "/api/") {
					endpoints = append(endpoints, text)
				}
			}
			return true
		})
	}
	return endpoints
}
