package folder_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"collie/internal/vault/folder"
	"collie/internal/vault/workspace"
	"collie/test/await"
)

// fileState is the state of a file at some moment.
type fileState struct {
	info fs.FileInfo
	text string
}

// isSameFile reports whether a file was left alone: it is the same file with the same time of change, mode and bytes.
func (l fileState) isSameFile(o fileState) bool {
	return os.SameFile(l.info, o.info) && l.info.ModTime().Equal(o.info.ModTime()) && l.info.Mode() == o.info.Mode() && l.text == o.text
}

// readStates returns the state of all files of the folder, without following links.
func (b *randomSync) readStates() map[string]fileState {
	b.t.Helper()
	found := map[string]fileState{}
	err := filepath.WalkDir(b.dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		var l fileState
		if l.info, err = d.Info(); err == nil && l.info.Mode().IsRegular() {
			var data []byte
			data, err = os.ReadFile(at)
			l.text = string(data)
		}
		rel, _ := filepath.Rel(b.dir, at)
		found[filepath.ToSlash(rel)] = l
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

// differences describes the files that differ between two states of the folder.
func differences(was, is map[string]fileState) (list []string) {
	for at, before := range was {
		switch after, there := is[at]; {
		case !there:
			list = append(list, at+" is gone")
		case before.text != after.text:
			list = append(list, fmt.Sprintf("%s: %q is now %q", at, before.text, after.text))
		case !before.isSameFile(after):
			list = append(list, fmt.Sprintf("%s was written again, as it was: %v %v, %v %v", at, before.info.ModTime(), before.info.Mode(), after.info.ModTime(), after.info.Mode()))
		}
	}
	for at := range is {
		if _, there := was[at]; !there {
			list = append(list, at+" is new")
		}
	}
	slices.Sort(list)
	return list
}

// judgeSync compares the folder after a sync with before, its files when the sync began. fileOf are the files whose documents were
// edited in the notebook; both is how many of them were edited in the folder as well. In files of fileOf only the edited blocks
// may have changed. All other files must be as they were, with the same time, except for the targets of links to renamed files
// and for anchors of blocks. It returns how many files were kept twice, because both sides had changed.
func (b *randomSync) judgeSync(before map[string]fileState, fileOf map[string]bool, both int) (conflicts int) {
	b.t.Helper()
	after := b.readStates()
	newText := map[string]int{}
	var fresh []fileState
	for at, l := range after {
		if was, there := before[at]; there && was.text == l.text {
			continue
		}
		newText[l.text]++
		fresh = append(fresh, l)
	}
	if conflicts = countCopies(after) - countCopies(before); conflicts > both {
		for at := range after {
			if _, there := before[at]; !there && isCopy(at) {
				b.t.Log("a new copy: ", at)
			}
		}
		b.t.Errorf("%d files were changed on both sides, and there are %d copies more", both, conflicts)
	}
	for at, was := range before {
		is, there := after[at]
		switch {
		case there && was.isSameFile(is):
		case there && was.text == is.text && !fileOf[at]:
			b.t.Errorf("%s was written again, as it was", at)
		case !strings.HasSuffix(at, ".md"):
			if !there || was.text != is.text {
				b.t.Errorf("%s: an attachment has changed, or is gone", at)
			}
		case newText[was.text] > 0: // it was renamed
		case !fileOf[at] && (there && onlyLinksDiffer(was.text, is.text) || slices.ContainsFunc(fresh, func(l fileState) bool { return onlyLinksDiffer(was.text, l.text) })):
		case fileOf[at] && (there && b.keepsLines(was.text, is.text) || slices.ContainsFunc(fresh, func(l fileState) bool { return b.keepsLines(was.text, l.text) })):
		case !there && b.isForgotten(was.text): // its document was removed
		default:
			b.t.Errorf("%s: nobody changed it so: %q is now %q (%v)", at, was.text, is.text, there)
		}
	}
	if b.t.Failed() {
		b.t.Fatalf("after\n%s", b.lastSteps())
	}
	return max(conflicts, 0)
}

// countCopies counts the files that are conflict copies.
func countCopies(files map[string]fileState) (n int) {
	for at := range files {
		if isCopy(at) {
			n++
		}
	}
	return n
}

// isCopy reports whether a file is a conflict copy by its name. "(conflict)" may be cut off in long names.
func isCopy(at string) bool { return strings.Contains(path.Base(at), "(con") }

// isForgotten reports whether all words of a text were removed on purpose.
func (b *randomSync) isForgotten(text string) bool {
	return !slices.ContainsFunc(wordsOf(text), func(w string) bool { return b.words[w] })
}

var (
	wikiTarget    = regexp.MustCompile(`\[\[[^\[\]|\n\\]*`)
	ownTarget     = regexp.MustCompile(`\(\(\d{14}-[0-9a-z]{7} (?:'[^'\n]*'|"([^"\n]*)")\)\)`)
	addressTarget = regexp.MustCompile(`\]\([^)"\n]*`)
	sourceTarget  = regexp.MustCompile(`(src|href)="[^"\n]*`)
	definedTarget = regexp.MustCompile(`^(\[[^\]\n]+\]:[ \t]+)\S+`)
)

// withoutTargets returns a line without the targets of its links.
func withoutTargets(line string) string {
	line = wikiTarget.ReplaceAllString(line, "[[")
	line = ownTarget.ReplaceAllStringFunc(line, func(m string) string {
		if label := ownTarget.FindStringSubmatch(m)[1]; label != "" {
			return "[[|" + label + "]]"
		}
		return "[[]]"
	})
	return definedTarget.ReplaceAllString(sourceTarget.ReplaceAllString(addressTarget.ReplaceAllString(line, "]("), "$1="), "$1")
}

// onlyLinksDiffer reports whether two texts are equal except for the targets of links, and for anchors of blocks that were added.
func onlyLinksDiffer(before, after string) bool {
	was, is := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	if len(was) != len(is) {
		return false
	}
	for i := range was {
		line, end := strings.TrimRight(is[i], "\r\n"), strings.TrimRight(was[i], "\r\n")
		if is[i][len(line):] != was[i][len(end):] {
			return false
		}
		if line = withoutTargets(line); line != withoutTargets(end) && anchorAtEnd.ReplaceAllString(line, "") != strings.TrimRight(withoutTargets(end), " ") {
			return false
		}
	}
	return true
}

// keepsLines reports whether a file whose document was edited still has all its lines. Only blocks with a link, whose target may
// have been renamed, and blocks with a word that was removed on purpose may be missing. Lines may have got the anchor of a block.
func (b *randomSync) keepsLines(before, after string) bool {
	kept := map[string]bool{}
	for line := range strings.Lines(after) {
		line = strings.TrimRight(line, "\r\n")
		kept[line] = true
		kept[strings.TrimRight(anchorAtEnd.ReplaceAllString(line, ""), " ")] = true
	}
	lost, meant := 0, false // lines that are missing in a row, and whether that is allowed
	for line := range strings.Lines(before + "\n\n") {
		line = strings.TrimRight(line, "\r\n")
		if kept[line] || kept[strings.TrimRight(line, " ")] || line == "" || strings.HasPrefix(line, "title: ") {
			if line != "" {
				if lost > 0 && !meant {
					return false
				}
				lost, meant = 0, false
			}
			continue
		}
		lost++
		meant = meant || strings.Contains(line, "[[") || strings.Contains(line, "](") || slices.ContainsFunc(wordsOf(line), func(w string) bool { return b.forgotten[w] })
	}
	return lost == 0 || meant
}

var anchorAtEnd = regexp.MustCompile(` \^[0-9A-Za-z-]+$`)

// checkWords checks that every word is on both sides, and that no word is in two files unless one of them is a conflict copy.
func (b *randomSync) checkWords() {
	b.t.Helper()
	inNotes, inFiles := b.wordsInNotebook(), map[string]bool{}
	holds := map[string]string{} // which file has a word
	for _, at := range b.pages() {
		for _, w := range wordsOf(b.read(at)) {
			inFiles[w] = true
			if isCopy(at) {
				b.kept[w] = true
			} else if was := holds[w]; was != "" && was != at && !b.kept[w] {
				b.t.Errorf("%s is in %s and in %s", w, was, at)
			}
			holds[w] = at
		}
	}
	for _, w := range slices.Sorted(maps.Keys(b.words)) {
		if !inNotes[w] || !inFiles[w] {
			b.t.Errorf("%s: in the notes %v, in the files %v", w, inNotes[w], inFiles[w])
		}
	}
	if b.t.Failed() {
		b.t.Fatalf("after\n%s", b.lastSteps())
	}
}

// victimEnv is the environment variable with the path of the vault that a process of this test syncs until it is killed.
const victimEnv = "COLLIE_TEST_SYNC_VAULT"

// TestMain runs the tests, or only a sync that is to be killed if victimEnv is set.
func TestMain(m *testing.M) {
	if file := os.Getenv(victimEnv); file != "" {
		os.Exit(syncUntilKilled(file, filepath.Join(filepath.Dir(file), "notes")))
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(await.Fewer(100))); err != nil { // -rapid.checks=N wins
		panic(err)
	}
	os.Exit(m.Run())
}

// syncUntilKilled syncs a folder once, in the process that is to be killed, and returns its exit code.
func syncUntilKilled(file, dir string) int {
	w, err := workspace.Open(context.Background(), file, workspace.Options{})
	if err == nil {
		fmt.Println("begun")
		_, err = folder.Sync(context.Background(), w, dir, folder.SyncOptions{AllowDeletions: 1000})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// killDuringSync starts a process that syncs the folder and kills it after the given time. It returns 1, or 0 if the sync ended before.
func (b *randomSync) killDuringSync(after time.Duration) int {
	b.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"="+b.file)
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		b.t.Errorf("the process that is to be killed has not begun: %v", err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // the error is expected: the process was killed
	timer.Stop()
	if wrong.Len() > 0 {
		b.t.Fatalf("the process that was to be killed: %s", wrong.String())
	}
	b.logStep("killed after %v", after)
	if cmd.ProcessState.Success() {
		return 0
	}
	return 1
}
