package collie_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// unwanted is a way of writing that our texts must not contain. Texts are all files that people read: code with
// its comments and messages, documents, scripts, data of tests.
type unwanted struct {
	name    string         // what it is called in a finding
	near    []string       // one of these texts stands within 60 bytes of every match
	pattern *regexp.Regexp // its first group is what is reported
	instead string         // what to write
	fine    *regexp.Regexp // matches that are allowed; nil for none
	after   *regexp.Regexp // a match is allowed if this one ends right before it; nil for none
	only    string         // suffix of the names of files to search; "" for all
}

// gap matches what is between two words of a text: a space, or a line break inside a comment.
const gap = `(?: |\n[ \t]*(?://|#|>)?[ \t]*)`

var unwanteds = []unwanted{
	// Citations of papers that a reader of this repository cannot open. Public specifications are
	// cited by name, revision and section: RFC 9728, section 3.3.
	{
		name:    "the id of a rule",
		near:    []string{"R-"},
		pattern: regexp.MustCompile(`\b(R-(?:[0-9]+|[A-Z]{2})-[0-9]+)\b`),
		instead: "the reason in words",
		fine:    regexp.MustCompile(`^R-(?:CF-3|CV-[125678]|VA-1)$`), // ids of findings, which `collie mcp validate` prints
	},
	{
		name:    "a paper that is not in this repository",
		near:    []string{"siyuan-tools", "mcp-client-and-cache", "agent-and-chat"},
		pattern: regexp.MustCompile(`\b(siyuan-tools|mcp-client-and-cache|agent-and-chat)\b`),
		instead: "the reason in words",
	},
	{
		name:    "a section by its number alone",
		near:    []string{"README", "architecture.md", "Spec", "spec"},
		pattern: regexp.MustCompile(`\b((?:README|architecture\.md|[Ss]pec)` + gap + `[0-9]{1,2}(?:\.[0-9]+)*)\b`),
		instead: "the reason in words, or the title of the section",
	},
	{
		name:    "a section of nothing that is named",
		near:    []string{"Section", "section"},
		pattern: regexp.MustCompile(`\b([Ss]ections?` + gap + `[0-9]+(?:\.[0-9]+)*)\b`),
		instead: "the specification by name and revision, or the reason in words",
		after:   regexp.MustCompile(`(?:RFC|JSON-RPC|OpenID|OAuth|MCP|Metadata` + gap + `Document|ADR)[^;()]{0,60}$`),
	},
	{
		name:    "a number of a section",
		near:    []string{"//"},
		pattern: regexp.MustCompile(`//[^\n]*?(\([0-9]{1,2}\.[0-9]{1,2}(?:[,;][^()\n]*)?\)|\b(?:rules?|steps?|forms?|tables?|bounds|those|fields) of [0-9]{1,2}\.[0-9]{1,2}\b|[0-9]\.[0-9]{1,2}: [a-z])`),
		instead: "the specification by name and revision, or the reason in words",
		only:    ".go",
	},
	{
		name:    "a number of a clause",
		near:    []string{"ituation", "Promise", "heck", "TestRule", "(K"},
		pattern: regexp.MustCompile(`((?:\b[Ss]ituations?|\b[Aa]cceptance checks?|\bPromise|\bfunc Test(?:Situation|Promise|Check|Rule)[A-Z]{0,2}|\bfunc check) ?[0-9]+|\(K[0-9]{1,2}\b|[Cc]heck [0-9]{1,2}(?:,|:|\)| and [0-9]))`),
		instead: "what it shows, in words",
	},

	// English.
	{
		name:    "a lock without who holds it",
		near:    []string{"mu is held"},
		pattern: regexp.MustCompile(`(\b[a-z]\.mu is held)`),
		instead: `"The caller holds s.mu."`,
		only:    ".go",
	},
	{
		name:    `"is no" for "is not a"`,
		near:    []string{" no ", " no\n"},
		pattern: regexp.MustCompile(`\b((?:is|are|was|were|be|been)` + gap + `no` + gap + `[A-Za-z]+)`),
		instead: `"is not a …", "are not …"`,
		fine:    regexp.MustCompile(`no\s+(?://\s*)?(?:longer|more|better|worse|other|others|such|use|good|different|younger|older|larger|way|reason|basis|matter|whole)$`),
		after:   regexp.MustCompile(`(?i)\bt?here` + gap + `$`),
	},
}

// ourCode are the folders of the product, in the patterns of layers. It leaves out source/find and pipeline/promptguard,
// which quote what people write.
const ourCode = "cmd/... agent/... app/... arguments chat/... config event face/... llm/... mcp/... pipeline pipeline/analytics pipeline/audit/... pipeline/firewall/... " +
	"pipeline/gate/... pipeline/guardian pipeline/lifecycle pipeline/limit pipeline/metrics pipeline/refresh pipeline/soften pipeline/switches pipeline/validate process rawjson secret/... siyuanapi source/siyuan/... source/upstream/... sqlguard store tool/... vault/..."

// dialect are private words that outsiders do not understand, with the words of docs/architecture.md to write
// instead, and the folders that must not use them, in the patterns of layers. "..." means all folders.
var dialect = []struct{ word, instead, free string }{
	{"bury", `"forget", "remove"`, "..."},
	{"discreet", `"hidden"`, "..."},
	{"door", `"HTTP listener", "server"`, ourCode},
	{"epitaph", `"last error"`, "..."},
	{"guard", `"reaper" for the process that ends children`, "process cmd/collie"},
	{"hurry", "what ends sooner: the grace time, the wait", "..."},
	{"kase", `"useCase"`, "..."},
	{"linger", `"wait", "live on"`, "app pipeline/... process config mcp secret source source/upstream/..."}, // loginctl has it too
	{"mourn", `"forget"`, "..."},
	{"nudge", `"signal", "wake"`, ourCode},
	{"parcel", `"message"`, "face/... mcp/... source/... vault/... chat/... agent/..."},
	{"pardon", `"retry"`, "..."},
	{"patience", `"limit", "wait"`, "..."},
	{"road", `"pipeline"`, ourCode + " . test/..."},
	{"settle", "the verb for what happens: start, await, flush, choose", "face/cli/call face/cli/notes face/mcpserver/... app/... chat/... agent/... llm/... pipeline/... process config mcp secret source source/siyuan/... source/upstream/... store vault/... tool/... test/bench test/binary test/living test/notes"},
	{"shelf", "what is kept there", ourCode},
	{"sleeper", `"lazyVault"`, "..."},
	{"visitor", `"client"`, ourCode},
}

// unread are files and folders that are not searched, because others wrote them or they quote others: answers of a SiYuan
// kernel, third-party code, lists of changes, and this file.
var unread = []string{
	"third_party", "node_modules", ".git", "bin", "words_test.go", "CHANGELOG.md", "go.sum", "package-lock.json",
	"*.jsonl", "*.sum", "LICENSE*", "licenses.txt", "*.sy", "diagram.js",
}

// TestWords finds unwanted texts and private words in the files of the repository.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, slip := range slips(t, os.DirFS(".")) {
		t.Error(slip)
	}
}

// slips returns a line for each unwanted thing in the texts of tree: file, line, what it is and what
// to write instead.
func slips(t *testing.T, tree fs.FS) (found []string) {
	t.Helper()
	err := fs.WalkDir(tree, ".", func(file string, d fs.DirEntry, err error) error {
		name := path.Base(file)
		other := slices.ContainsFunc(unread, func(p string) bool { ok, _ := path.Match(p, name); return ok })
		switch {
		case err != nil:
			return err
		case other && d.IsDir():
			return fs.SkipDir
		case other || d.IsDir() || !d.Type().IsRegular():
			return nil
		}
		text, err := fs.ReadFile(tree, file)
		folder := strings.TrimPrefix(path.Dir(file), "internal/")
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			return err
		}
		report := func(start, end int, what, instead string) {
			line := 1 + bytes.Count(text[:start], []byte("\n"))
			said := bytes.Join(bytes.Fields(text[start:end]), []byte(" "))
			found = append(found, fmt.Sprintf("%s:%d: %q is %s; write %s", file, line, said, what, instead))
		}
		for _, u := range unwanteds {
			if strings.HasSuffix(file, u.only) {
				u.find(text, func(start, end int) { report(start, end, u.name, u.instead) })
			}
		}
		for _, d := range dialect {
			if !matchesAny(folder, d.free) {
				continue
			}
			for _, word := range []string{d.word, strings.ToUpper(d.word[:1]) + d.word[1:]} {
				for start := range occurrences(text, word) {
					before := text[max(0, start-1):start]
					if word != d.word || len(before) == 0 || !isLetter(before[0]) && before[0] != '_' { // in camelCase it begins with a capital; snake_case is output
						report(start, start+len(word), "a word of our own", d.instead)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// find calls report for each match of u in text. Because patterns are slow on whole files, they are tried only around the
// texts of near.
func (u *unwanted) find(text []byte, report func(start, end int)) {
	const around = 60
	told := -1
	for _, near := range u.near {
		for at := range occurrences(text, near) {
			from, to := max(0, at-around), min(len(text), at+len(near)+around)
			if near == "//" { // a comment, to the end of the line
				from, to = at, len(text)
				if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
					to = at + i
				}
			}
			for _, m := range u.pattern.FindAllSubmatchIndex(text[from:to], -1) {
				start, end := from+m[2], from+m[3]
				if start <= told || u.fine != nil && u.fine.Match(text[start:end]) ||
					u.after != nil && u.after.Match(text[max(0, start-100):start]) {
					continue
				}
				told = start
				report(start, end)
			}
		}
	}
}

// occurrences are the places of word in text, in order.
func occurrences(text []byte, word string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := 0; ; at += len(word) {
			i := bytes.Index(text[at:], []byte(word))
			if i < 0 || !yield(at+i) {
				return
			}
			at += i
		}
	}
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// TestSlipsAreFound plants examples of unwanted texts, and similar ones that are allowed. Without it, a search that finds
// nothing would pass [TestWords] for ever.
func TestSlipsAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"// It waits (R-" + "1-18).\n":                                               `is the id of a rule; write the reason`,
		"// It waits (R-CH-3).\n":                                                    `"R-CH-3" is the id of a rule`,
		"// as siyuan-tools.md has it\n":                                             `"siyuan-tools" is a paper`,
		"// The kernel lies (README 27).\n":                                          `"README 27" is a section by its number`,
		"// as section 2.3 says\n":                                                   `"section 2.3" is a section of nothing`,
		"// once more (4.6)\n":                                                       `"(4.6)" is a number of a section`,
		"// once more (4.8, 8.7)\n":                                                  `"(4.8, 8.7)" is a number of a section`,
		"// commit does the steps of 8.6.\n":                                         `"steps of 8.6" is a number of a section`,
		"func TestSituation33HungMount(t *testing.T) {}\n":                           `"func TestSituation33" is a number of a clause`,
		"// It is acceptance check 9: paths\n":                                       `"acceptance check 9" is a number of a clause`,
		"var e = \"this is no string\"\n":                                            `"is no string" is "is no"`,
		"// add adds. s.mu is held.\n":                                               `"s.mu is held" is a lock`,
		"// What are\n// no ids is left out.\n":                                      `"are // no ids" is "is no"`,
		"\n\n// a (R-AA-1)\n":                                                        "x.go:3: ",
		"// RFC 6749, section 5.2; RFC 9728, 3.3 (RFC 8785)\n":                       "",
		"// JSON-RPC 2.0, section 5, and MCP 2025-11-25\n":                           "",
		"const rule = \"R-CV-2\" // of v1.2.3, go 1.26 (0.0.4)\n":                    "",
		"// There is no such file, and it is no longer here. It takes (3.5 s) 0.9\n": "",
		"// [the guide](docs/README.md) and README files\n":                          "",
	} {
		got := slips(t, fstest.MapFS{"x.go": &fstest.MapFile{Data: []byte(text)}})
		switch {
		case want == "" && len(got) > 0:
			t.Errorf("%q: %q, want nothing", text, got)
		case want != "" && (len(got) != 1 || !strings.Contains(got[0], want)):
			t.Errorf("%q: %q, want one with %s", text, got, want)
		}
	}
}
