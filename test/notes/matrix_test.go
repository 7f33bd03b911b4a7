package notes_test

import (
	"fmt"
	"strings"
	"testing"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/tool"
)

// actionsByName returns the actions of all tools by name.
func actionsByName() map[string]*action.Action {
	out := map[string]*action.Action{}
	for _, tl := range siyuan.Tools() {
		for _, a := range tl.Actions {
			out[tl.Name+"."+a.Name] = a
		}
	}
	return out
}

// TestEveryActionHasACase checks that every action has a case, and that each action declares the level that its cases
// need.
func TestEveryActionHasACase(t *testing.T) {
	t.Parallel()
	most := map[string]access.Level{}
	for _, k := range cases() {
		need := k.need
		if k.answersEach { // answers for each thing separately, so the action declares that it needs nothing
			need = access.None
		}
		most[k.act] = max(most[k.act], need)
	}
	for name, a := range actionsByName() {
		need, known := most[name]
		if !known {
			t.Errorf("%s has no case: say in cases_*_test.go what level it needs", name)
		}
		if a.HighestLevel() != need && known {
			t.Errorf("%s declares that it needs %s; its case says %s", name, a.HighestLevel(), need)
		}
	}
}

// TestPermissionMatrix runs every case at every level and checks that it is allowed exactly from the level that the
// case needs. A refused call writes nothing. A call about something hidden is refused like a call about something
// that does not exist.
func TestPermissionMatrix(t *testing.T) {
	t.Parallel()
	byTool := map[string][]useCase{}
	for _, k := range cases() {
		tl, _, _ := strings.Cut(k.act, ".")
		byTool[tl] = append(byTool[tl], k)
	}
	actions := actionsByName()
	for tl, list := range byTool {
		t.Run(tl, func(t *testing.T) {
			t.Parallel()
			s := &sharedGateway{t: t, wrote: map[string]bool{}}
			for i, k := range list {
				if thrifty && i%10 != 0 { // under the race detector
					continue
				}
				a := actions[k.act]
				if a == nil {
					continue // see TestEveryActionHasACase
				}
				t.Run(strings.TrimSpace(k.act+" "+k.how), func(t *testing.T) {
					m := &matrixCase{sharedGateway: s, t: t, useCase: k, changes: k.writes || k.need >= access.Write, previews: a.Class.Writes()}
					m.checkAllLevels()
				})
			}
		})
	}
}

// sharedGateway is a gateway that many cases share until one of them has changed something.
type sharedGateway struct {
	*gateway
	t     *testing.T
	part  *testPart // ends the gateway
	used  bool
	wrote map[string]bool // the actions that have written somewhere
}

// testPart is a part of a test with cleanups of its own, which run when runCleanups is called.
type testPart struct {
	testing.TB
	cleanups []func()
}

// Cleanup registers f to run at the end of the part.
func (p *testPart) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }

// runCleanups runs the cleanups. Calling it twice is harmless.
func (p *testPart) runCleanups() {
	for len(p.cleanups) > 0 {
		last := len(p.cleanups) - 1
		f := p.cleanups[last]
		p.cleanups = p.cleanups[:last]
		f()
	}
}

// renewIfUsed replaces the gateway and its workspace if a case has changed them.
func (s *sharedGateway) renewIfUsed() {
	if s.gateway != nil && !s.used {
		return
	}
	if s.part != nil {
		s.part.runCleanups() // a real kernel has one workspace at a time
	}
	s.part = &testPart{TB: s.t}
	s.t.TempDir() // registers the removal of temporary folders before runCleanups, so that it runs after it
	s.t.Cleanup(s.part.runCleanups)
	w := newWorkspace(s.part, layout{refersToHidden: true})
	addUnreferredDocs(w)
	s.gateway, s.used = newGateway(s.part, w), false
	writeUploadFile(s.gateway)
}

// matrixCase runs one case at every level.
type matrixCase struct {
	*sharedGateway
	useCase
	t *testing.T
	// changes means that the case writes if it is allowed; previews means that the action has validateOnly.
	changes, previews bool
}

// checkAllLevels runs the checks for the kind of the case.
func (m *matrixCase) checkAllLevels() {
	switch m.kind {
	case needsLevel:
		m.checkNeeds()
	case filtersResult:
		m.checkFilters()
	case needsEverywhere:
		m.checkEverywhere()
	case peopleOnly:
		m.checkPeopleOnly()
	case anyLevel:
		m.setShutLevel(access.None)
		m.wantRan(m.run(m.shut))
	}
}

// setShutLevel sets the level of the shut notebook, in a workspace that no case has changed.
func (m *matrixCase) setShutLevel(l access.Level) {
	m.renewIfUsed()
	m.gateway.setShutLevel(l)
}

// run makes the call about a place, and checks that nothing of the hidden notebook shows.
func (m *matrixCase) run(p *place) *outcome {
	m.t.Helper()
	args := m.args(m.workspace, p)
	out := m.call(m.act, args)
	m.used = m.used || len(out.writes) > 0
	wantNoLeak(m.t, m.workspace, m.hidden, m.act, args, out)
	return out
}

// wantRan checks that a call succeeded, and wrote exactly if the case changes something.
func (m *matrixCase) wantRan(out *outcome) {
	m.t.Helper()
	if out.kind != "" {
		m.t.Fatalf("%s is refused: %s", m.act, out.text)
	}
	notNotes := strings.HasPrefix(m.act, "mascot.") || m.act == "system.notify"
	if wrote := len(out.writes) > 0; wrote != m.changes && !notNotes {
		m.t.Errorf("%s wrote %q, want writes: %t; it answered %s", m.act, out.writes, m.changes, out.text)
	}
}

// wantRefused checks that a call was refused and wrote nothing.
func (m *matrixCase) wantRefused(out *outcome, kind tool.ErrorKind) {
	m.t.Helper()
	if out.kind != kind {
		m.t.Fatalf("%s got %q, want %q: %s", m.act, out.kind, kind, out.text)
	}
	if len(out.writes) > 0 {
		m.t.Errorf("%s was refused and wrote %q", m.act, out.writes)
	}
	if out.asked {
		m.t.Errorf("%s was refused after a person was asked: %s", m.act, out.told)
	}
}

// checkNeeds checks a case of kind needsLevel at each level. If the action has previews, the levels that suffice are checked
// with those, and the case itself runs once.
func (m *matrixCase) checkNeeds() {
	for _, l := range []access.Level{access.None, access.Read, access.Write, access.Delete} {
		preview := m.changes && m.previews && l >= m.need && !m.noEffect
		if preview {
			m.checkSufficientLevels()
			if thrifty && m.wrote[m.act] {
				return
			}
			m.wrote[m.act] = true
		}
		m.setShutLevel(l)
		out := m.run(m.shut)
		switch {
		case m.answersEach:
			m.checkEachAnswered(l, out)
		case l >= m.need && m.noEffect:
			if out.kind == tool.Denied || len(out.writes) > 0 {
				m.t.Errorf("at %s: %q, wrote %q: %s", l, out.kind, out.writes, out.text)
			}
		case l >= m.need:
			if m.wantRan(out); preview {
				return
			}
		case l > access.None:
			m.wantRefused(out, tool.Denied)
			for _, want := range []string{
				fmt.Sprintf("%q:%q", "notebook", m.shut.nb), fmt.Sprintf("%q:%q", "current_permission", l),
				fmt.Sprintf("%q:%q", "required_permission", m.need.Verb()),
			} {
				if !strings.Contains(out.text, want) {
					m.t.Errorf("at %s the refusal lacks %s: %s", l, want, out.text)
				}
			}
		default:
			m.wantHiddenLikeMissing(out)
		}
	}
}

// checkSufficientLevels checks that the required level and those above it suffice. It uses previews, so that everything is checked
// but nothing is written.
func (m *matrixCase) checkSufficientLevels() {
	m.t.Helper()
	for l := m.need; l <= access.Delete; l++ {
		m.setShutLevel(l)
		args := m.args(m.workspace, m.shut)
		args["validateOnly"] = true
		if out := m.call(m.act, args); out.kind != "" || len(out.writes) > 0 {
			m.t.Errorf("at %s: %q, wrote %q: %s", l, out.kind, out.writes, out.text)
		}
	}
}

// wantHiddenLikeMissing checks that the answer about the shut notebook, which has level none, is the same as about
// something that does not exist.
func (m *matrixCase) wantHiddenLikeMissing(out *outcome) {
	m.t.Helper()
	nowhere := m.run(m.ghost)
	if got := m.shut.withNamesOf(m.ghost, nowhere.allText()); got != out.allText() {
		m.t.Errorf("what is hidden differs from what is nowhere:\nhidden  %s\nnowhere %s", out.allText(), got)
	}
	if nowhere.kind == "" && m.need == access.None {
		return // the action answers about missing things too, so there is nothing to refuse
	}
	m.wantRefused(out, tool.NotFound)
	wantNoLeak(m.t, m.workspace, m.shut, m.act, m.args(m.workspace, m.shut), out)
}

// checkEachAnswered checks a case that answers for each named thing separately.
func (m *matrixCase) checkEachAnswered(l access.Level, out *outcome) {
	m.t.Helper()
	m.wantRan(out)
	if l > access.None {
		if !strings.Contains(out.text, m.shut.word("para")) {
			m.t.Errorf("at %s it shows nothing of what may be read: %s", l, out.text)
		}
		return
	}
	wantNoLeak(m.t, m.workspace, m.shut, m.act, m.args(m.workspace, m.shut), out)
	if got := m.shut.withNamesOf(m.ghost, m.run(m.ghost).text); got != out.text {
		m.t.Errorf("what is hidden differs from what is nowhere:\nhidden  %s\nnowhere %s", out.text, got)
	}
}

// checkFilters checks a case of kind filtersResult: it always runs, and shows things of the shut notebook only from level r
// on.
func (m *matrixCase) checkFilters() {
	for _, l := range []access.Level{access.None, access.Read, access.Delete} {
		m.setShutLevel(l)
		out := m.run(m.shut)
		m.wantRan(out)
		if m.showsWord == "" {
			continue
		}
		if shown := strings.Contains(out.text, m.shut.word(m.showsWord)); shown != (l >= access.Read) {
			m.t.Errorf("at %s it shows the word %s: %t; %s", l, m.shut.word(m.showsWord), shown, out.text)
		}
		if !strings.Contains(out.text, m.open.word(m.showsWord)) {
			m.t.Errorf("it does not show the word %s of the open notebook: %s", m.open.word(m.showsWord), out.text)
		}
		if l == access.None {
			wantNoLeak(m.t, m.workspace, m.shut, m.act, m.args(m.workspace, m.shut), out)
		}
	}
}

// checkEverywhere checks a case about the whole workspace: every notebook must have the level, and one at none counts without being
// named. The hidden notebook is opened for this, so that only the shut one decides.
func (m *matrixCase) checkEverywhere() {
	for _, l := range []access.Level{access.None, access.Read, access.Write, access.Delete} {
		m.renewIfUsed()
		m.setLevels(map[*place]access.Level{m.shut: l, m.hidden: access.Delete})
		args := m.args(m.workspace, m.open)
		out := m.call(m.act, args)
		m.used = m.used || len(out.writes) > 0
		if l >= m.need {
			m.wantRan(out)
			continue
		}
		m.wantRefused(out, tool.Denied)
		if l == access.None {
			wantNoLeak(m.t, m.workspace, m.shut, m.act, args, out)
		}
	}
}

// checkPeopleOnly checks a case that no agent may run at any level, and a person at a terminal may.
func (m *matrixCase) checkPeopleOnly() {
	for _, l := range []access.Level{access.None, access.Delete} {
		m.setShutLevel(l)
		for _, origin := range []tool.Origin{tool.MCPLocal, tool.MCPRemote, tool.Chat, tool.CLIAgent, tool.Scheduled} {
			for _, name := range []string{strings.Replace(m.act, ".", "/", 1), strings.Replace(m.act, ".", "__", 1)} {
				out := m.request(tool.Request{Kind: tool.KindCall, Name: name, Args: encode(m.args(m.workspace, m.shut)), Origin: origin})
				if out.kind != tool.Denied && out.kind != tool.NotFound || len(out.writes) > 0 || out.asked {
					m.t.Errorf("%s from %s: %q %s, wrote %q", name, origin, out.kind, out.text, out.writes)
				}
			}
		}
		out := m.run(m.shut)
		if out.kind == "" || len(out.writes) > 0 || out.asked {
			m.t.Errorf("grouped, from an agent: %q %s", out.kind, out.text)
		}
	}
	out := m.request(tool.Request{Kind: tool.KindCall, Name: strings.Replace(m.act, ".", "/", 1), Args: encode(m.args(m.workspace, m.shut)), Origin: tool.Direct})
	if out.kind != "" || !out.asked || len(out.writes) == 0 {
		m.t.Errorf("a person may not: %q %s", out.kind, out.text)
	}
}
