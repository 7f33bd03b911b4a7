package notes_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/test/await"
)

var (
	randomCalls = flag.Int("calls", await.Fewer(defaultCalls), "how many random calls TestTwoWorkspaces makes in two workspaces each")
	randomSeed  = flag.Uint64("seed", 1, "what its calls follow from")
)

// callsPerPair is the number of calls in one pair of workspaces. After too many calls there is little left in them to
// find.
const callsPerPair = 100

// TestTwoWorkspaces makes random calls of all actions in two workspaces that differ in one hidden notebook. The
// answers must be the same except for ids and times, and neither an answer nor a file that a call writes may contain
// anything of the hidden notebook. A failure names the seed and the shortest list of calls found that reproduces it.
//
//	go test ./test/notes -run TestTwoWorkspaces -calls 2000 -seed 7
func TestTwoWorkspaces(t *testing.T) {
	t.Parallel()
	newWorkspace(t, layout{}).NeedsVault("two workspaces at once want two kernels")
	for n := range (*randomCalls + callsPerPair - 1) / callsPerPair {
		seed := *randomSeed<<16 + uint64(n)
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			calls := min(callsPerPair, *randomCalls-n*callsPerPair)
			p := newPair(t)
			g := newGenerator(seed, p.with)
			var made []randomCall
			for range calls {
				c := g.call()
				made = append(made, c)
				if wrong := p.tryCall(c); wrong != "" {
					made, wrong = shrinkCalls(t, made, wrong)
					t.Fatalf("seed %d, call %d of %d: %s\nthe calls that show it:\n%s", *randomSeed, n*callsPerPair+len(made), *randomCalls, wrong, formatCalls(made))
				}
			}
			t.Logf("%d calls ran, %d were refused", p.ran, p.refused)
		})
	}
}

// randomCall is a call in which tokens such as {nb:opn} stand for what differs between the workspaces.
type randomCall struct {
	act  string
	args string // JSON
}

// formatCalls returns calls as text, one a line.
func formatCalls(calls []randomCall) string {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "  %s %s\n", c.act, c.args)
	}
	return b.String()
}

// pair is two workspaces, one with and one without the hidden notebook, that get the same calls.
type pair struct {
	with, without *gateway
	newIDs        [2][]string       // ids that calls have returned; equal positions mean the same thing
	sentByCaller  map[string]bool   // words and ids of the hidden notebook that the caller has sent itself
	searchedFiles map[string]string // files already looked at, with their times
	ran, refused  int
}

// newPair makes the two workspaces, with level r for the shut notebook.
func newPair(t testing.TB) *pair {
	t.Helper()
	p := &pair{sentByCaller: map[string]bool{}, searchedFiles: map[string]string{}}
	p.with = newGateway(t, newWorkspace(t, layout{canaries: true}))
	p.without = newGateway(t, newWorkspace(t, layout{canaries: true, withoutHidden: true}))
	for _, id := range p.with.referredIDs { // the text of the open notebook has these ids
		p.sentByCaller[id] = true
	}
	for _, r := range []*gateway{p.with, p.without} {
		r.setShutLevel(access.Read)
		writeUploadFile(r)
	}
	return p
}

// tokens returns pairs for a [strings.Replacer]: what differs between workspaces, and its token.
func (r *gateway) tokens() []string {
	out := []string{r.deck, "{deck}", r.localDir, "{files}"}
	for _, p := range []*place{r.open, r.shut, r.hidden} {
		out = append(out, string(p.nb), "{nb:"+p.code+"}")
		for _, part := range []string{"par2", "par3"} {
			if card := p.cards[part]; card != "" {
				out = append(out, card, "{card:"+p.code+":"+part+"}")
			}
		}
	}
	return out
}

// newToken matches the token for the nth id that calls have returned.
var newToken = regexp.MustCompile(`\{new:(\d+)\}`)

// argsFor returns the arguments of a call with its tokens replaced for one of the two workspaces. side is the index into
// made.
func (p *pair) argsFor(r *gateway, side int, c randomCall) object {
	pairs := r.tokens()
	for i := 0; i+1 < len(pairs); i += 2 {
		pairs[i], pairs[i+1] = pairs[i+1], pairs[i]
	}
	for _, part := range []string{"par2", "par3"} { // tokens of the hidden notebook in the workspace without it
		pairs = append(pairs, "{card:hdn:"+part+"}", r.hidden.cardID(part))
	}
	text := strings.NewReplacer(pairs...).Replace(c.args)
	text = newToken.ReplaceAllStringFunc(text, func(token string) string {
		n, _ := strconv.Atoi(newToken.FindStringSubmatch(token)[1])
		if made := p.newIDs[side]; n < len(made) {
			return made[n]
		}
		return "20240102030405-nothing"
	})
	out := object{}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		panic(fmt.Sprintf("%s is not JSON: %v", text, err))
	}
	return out
}

// sentWord matches words of the hidden notebook, and ids. What the caller sends itself is not secret.
var sentWord = regexp.MustCompile(`zqhdn[a-z0-9]*|\d{14}-[0-9a-z]{7}`)

// tryCall makes a call in both workspaces and returns what is wrong with the answers, "" if nothing is.
func (p *pair) tryCall(c randomCall) string {
	args, other := p.argsFor(p.with, 0, c), p.argsFor(p.without, 1, c)
	for _, word := range sentWord.FindAllString(strings.ToLower(string(encode(args))), -1) {
		p.sentByCaller[word] = true
	}
	if strings.Contains(string(encode(args)), p.with.hidden.cjk) {
		p.sentByCaller[p.with.hidden.cjk] = true
	}
	why := cmp.Or(dependsOnHidden[c.act], differsEachTime[c.act])
	if everywhereOnly(c) {
		why = "needs a level on what is hidden too"
	}
	a := p.with.call(c.act, args)
	if a.kind == "" {
		p.ran++
	} else {
		p.refused++
	}
	if leak := p.findLeak(a.allText()); leak != "" {
		return "the answer " + leak
	}
	if leak := p.leakInLocalFiles(); leak != "" {
		return leak
	}
	if path := gjson.Get(a.text, "structuredContent.path").Str; c.act == "file.export_resources" && path != "" {
		if leak := p.leakInZip("/" + strings.TrimPrefix(path, "/")); leak != "" {
			return leak
		}
	}
	if failedInside(a) {
		return "it failed inside: " + a.text
	}
	if everywhereOnly(c) {
		if a.kind == "" || len(a.writes) > 0 {
			return fmt.Sprintf("it ran, and it needs a level on what is hidden: %.300s", a.allText())
		}
		return "" // refused in one workspace only, so the other one is not called
	}
	b := p.without.call(c.act, other)
	p.recordNewIDs(a.text, b.text)
	if why != "" {
		return ""
	}
	if c.act == "tag.rename" && len(a.writes) > 0 && len(b.writes) > 0 { // where notes are hidden it is renamed block by block, because the kernel would rename it everywhere
		a.writes, b.writes = nil, nil
	}
	if diff := gocmp.Diff(p.comparable(p.without, b), p.comparable(p.with, a)); diff != "" {
		return "the answers differ (-without +with the hidden notebook):\n" + diff
	}
	return ""
}

// failedInside reports whether a call failed because of an internal error.
func failedInside(o *outcome) bool { return strings.Contains(o.text, "the gateway failed") }

// differsEachTime are actions whose answer differs each time, with the reason.
var differsEachTime = map[string]string{
	"system.notify": "the id of a message is made up",
}

// rendersQueries matches arguments that have a template that reads notes, or the name of one.
var rendersQueries = regexp.MustCompile(`queryBlocks|"(path|dailyNoteTemplatePath)":"/?zqquery`)

// takenID matches the id of a hidden database.
var takenID = regexp.MustCompile(`"(id|avID)":"\d+-hdn`)

// everywhereOnly reports whether a call needs a level in all notebooks that contain what it names, hidden ones
// included: it renders something that may read everything, or removes a file that a hidden note uses too. Its refusal
// reveals that there is a hidden notebook, so the answers cannot be the same.
func everywhereOnly(c randomCall) bool {
	switch c.act {
	case "file.render", "notebook.set_conf":
		return rendersQueries.MatchString(c.args)
	case "file.remove_unused_assets":
		return true
	case "timeline.list_nodes", "timeline.create_node": // all but those of a document
		return !strings.Contains(c.args, "ocument")
	case "file.delete_asset", "file.rename_asset":
		return strings.Contains(c.args, sharedPic)
	case "av.render": // no database is made under the id of a hidden one
		return strings.Contains(c.args, `"createIfNotExist":true`) && takenID.MatchString(c.args)
	}
	return false
}

// extracted matches folders of extracted documents, whose names contain the ends of ids.
var extracted = regexp.MustCompile(`siyuan-extracted/[^/"\\]*`)

// comparable returns the outcome of a call in a form that is the same for both workspaces.
func (p *pair) comparable(r *gateway, o *outcome) any {
	out := r.comparable(&outcome{kind: o.kind, code: o.code, text: extracted.ReplaceAllString(o.text, "siyuan-extracted/NAME")})
	told := r.comparable(&outcome{text: o.told})
	var writes []string
	for _, w := range o.writes {
		endpoint, _, _ := strings.Cut(w, " ")
		writes = append(writes, endpoint)
	}
	return []any{out, told, writes}
}

// findLeak returns a description of the first secret of the hidden notebook in a text that the caller has not sent
// itself, "" if there is none.
func (p *pair) findLeak(text string) string {
	text = strings.ToLower(hitMarks.ReplaceAllString(text, ""))
	text = sentWord.ReplaceAllStringFunc(text, func(word string) string {
		if p.sentByCaller[word] {
			return ""
		}
		return word
	})
	// Search for every form in which a secret may appear.
	for _, secret := range p.with.hidden.secretForms() {
		if i := strings.Index(text, secret); i >= 0 && !p.formOfSentCharacters(secret) {
			return fmt.Sprintf("shows %q of the hidden notebook: …%s…", secret, around(text, i))
		}
	}
	return ""
}

// formOfSentCharacters reports whether a secret is a form of the Chinese characters of the hidden notebook, and the caller has sent
// those.
func (p *pair) formOfSentCharacters(secret string) bool {
	return p.sentByCaller[p.with.hidden.cjk] && !strings.Contains(secret, "hdn")
}

// recordNewIDs adds to made the ids of new things that stand in the same place of both answers.
func (p *pair) recordNewIDs(a, b string) {
	var walk func(a, b gjson.Result)
	walk = func(a, b gjson.Result) {
		switch {
		case a.IsObject() && b.IsObject():
			a.ForEach(func(name, v gjson.Result) bool {
				walk(v, b.Get(escaper.Replace(name.Str)))
				return true
			})
		case a.IsArray() && b.IsArray() && len(a.Array()) == 1 && len(b.Array()) == 1:
			walk(a.Array()[0], b.Array()[0])
		case a.Str != b.Str && kernel.ID(a.Str).Valid() && kernel.ID(b.Str).Valid() && !slices.Contains(p.newIDs[0], a.Str) && len(p.newIDs[0]) < 50:
			if slices.Contains(p.with.tokens(), a.Str) {
				return
			}
			p.newIDs[0], p.newIDs[1] = append(p.newIDs[0], a.Str), append(p.newIDs[1], b.Str)
		}
	}
	walk(gjson.Get(a, "structuredContent"), gjson.Get(b, "structuredContent"))
}

// escaper escapes the characters of a member name that mean something in a gjson path.
var escaper = strings.NewReplacer(".", `\.`, "*", `\*`, "?", `\?`, "|", `\|`, "#", `\#`)

// leakInLocalFiles looks for secrets in the local files that calls have written since the last look.
func (p *pair) leakInLocalFiles() string {
	wrong := ""
	dir := os.DirFS(p.with.localDir)
	p.with.must(fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || wrong != "" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if stamp := info.ModTime().String(); p.searchedFiles[name] == stamp {
			return nil
		} else {
			p.searchedFiles[name] = stamp
		}
		raw, err := fs.ReadFile(dir, name)
		if leak := p.findLeak(name + "\n" + string(raw)); leak != "" {
			wrong = "the file " + name + " " + leak
		}
		return err
	}))
	return wrong
}

// leakInZip looks for secrets in the zip file of an export.
func (p *pair) leakInZip(path string) string {
	raw, err := p.with.client.ReadFile(p.with.t.Context(), path)
	if err != nil {
		return ""
	}
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return ""
	}
	for _, f := range z.File {
		text, _ := fs.ReadFile(z, f.Name)
		if leak := p.findLeak(f.Name + "\n" + string(text)); leak != "" {
			return "the file " + f.Name + " of an export " + leak
		}
	}
	return ""
}

// shrinkCalls looks for a shorter list of calls that ends with the same call, whose answer is still wrong.
func shrinkCalls(t *testing.T, calls []randomCall, wrong string) ([]randomCall, string) {
	t.Helper()
	replay := func(calls []randomCall) string {
		l := &testPart{TB: t}
		defer l.runCleanups()
		p := newPair(l)
		for _, c := range calls[:len(calls)-1] {
			if p.tryCall(c) != "" {
				return ""
			}
		}
		return p.tryCall(calls[len(calls)-1])
	}
	last := calls[len(calls)-1]
	if w := replay([]randomCall{last}); w != "" {
		return []randomCall{last}, w
	}
	before := calls[:len(calls)-1]
	for size := (len(before) + 1) / 2; size > 0; size /= 2 {
		for from := 0; from < len(before); {
			fewer := slices.Concat(before[:from], before[min(from+size, len(before)):])
			if w := replay(append(slices.Clone(fewer), last)); w != "" {
				before, wrong = fewer, w
				continue
			}
			from += size
		}
	}
	return append(slices.Clone(before), last), wrong
}

// TestEmptyArguments: a required argument that is empty is an error of the caller: the call does not fail inside the
// gateway, and writes nothing.
func TestEmptyArguments(t *testing.T) {
	t.Parallel()
	r := newGateway(t, newWorkspace(t, layout{}))
	r.setShutLevel(access.Read)
	for name, a := range actionsByName() {
		for _, empty := range []any{"", []any{}, []any{""}} {
			args := object{}
			for _, p := range a.Params() {
				if _, list := empty.([]any); p.Required && list == (p.Type == "array") {
					args[p.Name] = empty
				}
			}
			if out := r.call(name, args); len(args) > 0 && (failedInside(out) || len(out.writes) > 0) {
				t.Errorf("%s %s: %q, wrote %q: %s", name, encode(args), out.kind, out.writes, out.text)
			}
		}
	}
}
