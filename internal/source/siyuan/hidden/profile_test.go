package hidden_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
	"collie/test/await"
)

// byProfile reports whether a test runs below [TestByProfile].
func byProfile(t testing.TB) bool { return strings.HasPrefix(t.Name(), "TestByProfile/") }

// hide hides the hidden notebook from the caller, by its level or by the caller's ceiling.
func (s *canaryScene) hide() {
	if byProfile(s.t) {
		s.Ceiling = &access.Ceiling{Listed: map[kernel.ID]access.Level{s.idOf("hidden"): access.None}, Others: access.Delete}
		return
	}
	s.Levels[s.idOf("hidden")] = access.None
}

// ceilingOf returns the ceiling of the caller's profile.
func (w *twoNotebooks) ceilingOf(profile string) access.Ceiling {
	out := access.Ceiling{Others: access.Delete}
	if w.profileLevel != "" && profile == "work" {
		most, err := access.ParseLevel(w.profileLevel)
		if err != nil {
			w.t.Fatal(err)
		}
		out.Listed = map[kernel.ID]access.Level{kernel.ID(w.hidden): access.None, kernel.ID(w.open): most}
	}
	return out
}

// TestByProfile runs the tests of what is hidden once more, where the levels of the workspace allow everything and the
// caller's profile is what hides the notebook.
func TestByProfile(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"canaries": TestCanaries, "recorded canaries": TestRecordedCanaries, "codes": TestNoActionTellsAHiddenCode, "titles": TestNoTitleTellsAHiddenCode,
		"references to it": TestNobodyTellsOfHiddenReferences, "negation": TestNegationTellsNothing, "ways": TestWaysShowNothing,
		"references": TestReferencesToWhatIsHiddenAreText, "references that stood": TestReferencesThatStoodStay,
		"databases": TestDatabasesOfOthersAreRefused, "new databases": TestNewDatabasesMayBeWritten, "assets": TestLinksToAssetsOfOthersAreText,
		"own assets": TestAssetsThatMayBeLinked, "scripts": TestScriptsInEmbeds,
	} {
		if await.Race && name != "canaries" && name != "ways" { // the tests themselves run there too
			continue
		}
		t.Run(name, test)
	}
}

// TestProfileIsAsTheFile: every action answers a caller whose profile lowers a notebook as it does where the workspace
// does, for each level, and writes nothing where it may not.
func TestProfileIsAsTheFile(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"none", "r", "rw"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			answers := func(lowered bool) map[string]string {
				w := newTwoNotebooks(t)
				table := w.Doc(w.open, "/Table", "table")
				w.mustRun("av.render", object{"id": "20240801120000-mydb001", "createIfNotExist": true, "blockID": table})
				w.setOpenLevel(level)
				if lowered {
					w.profileLevel = level
					w.File("/data/storage/petal/collie/notebookPermissions", []byte(`{"`+w.open+`":"rwd","`+w.hidden+`":"rwd"}`))
				}
				w.source.Levels().Forget()
				out := map[string]string{}
				for _, tl := range siyuan.Tools() {
					for _, a := range tl.Actions {
						if a.DirectOnly || tl.Name == "mascot" || tl.Name == "system" && testedElsewhere["system."+a.Name] != "" || a.Name == "notify" {
							continue
						}
						var in object
						if err := json.Unmarshal(w.exampleArgs(a), &in); err != nil {
							t.Fatal(err)
						}
						w.ResetCalls()
						got, err := w.runAction(tl.Name+"."+a.Name, in)
						answer := got.Str
						if e, ok := errors.AsType[*tool.Error](err); ok {
							answer = string(e.Kind) + " " + e.Code + " " + e.Message
							if writes := w.Writes(); e.Kind == tool.Denied && len(writes) > 0 {
								t.Errorf("%s.%s was refused after %v", tl.Name, a.Name, writes)
							}
						} else if err != nil {
							answer = err.Error()
						}
						if tl.Name == "block" && a.Name == "recent_updated" {
							// Blocks that changed in the same second are ordered by id, and only three of them are shown.
							answer = excerptPattern.ReplaceAllString(answer, "")
						}
						out[tl.Name+"."+a.Name] = normalizeAnswer(answer)
					}
				}
				return out
			}
			want, got := answers(false), answers(true)
			refused := 0
			for name, answer := range want {
				if answer != got[name] {
					t.Errorf("%s: a profile with %s answers\n%s\nwant\n%s", name, level, got[name], answer)
				}
				if strings.HasPrefix(answer, string(tool.Denied)) || strings.HasPrefix(answer, string(tool.NotFound)) {
					refused++
				}
			}
			if refused < 10 || len(want) < 100 {
				t.Errorf("of %d actions %d were refused", len(want), refused)
			}
		})
	}
}

var excerptPattern = regexp.MustCompile(`"excerpt":"[^"]*"`)

var clockPattern = regexp.MustCompile(`\d{4}-\d\d-\d\d([ T]\d\d:\d\d:\d\d)?`)

// normalizeAnswer returns an answer without ids and times, with its parts sorted, since their order may depend on ids.
func normalizeAnswer(answer string) string {
	answer = clockPattern.ReplaceAllString(timeLike.ReplaceAllString(idLike.ReplaceAllString(answer, "ID"), "TIME"), "TIME")
	parts := strings.FieldsFunc(answer, func(r rune) bool { return strings.ContainsRune("{}[],", r) })
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}
