package library_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"collie/internal/agent/library"
)

// writeFiles writes files, given as path, text, path, text, into a folder.
func writeFiles(t *testing.T, pairs ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i := 0; i < len(pairs); i += 2 {
		file := filepath.Join(dir, filepath.FromSlash(pairs[i]))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(pairs[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func problemLines(l *library.Library, dir string) string {
	var b strings.Builder
	for _, p := range l.Problems {
		b.WriteString(strings.TrimPrefix(filepath.ToSlash(p.Error()), filepath.ToSlash(dir)+"/") + "\n")
	}
	return b.String()
}

func TestRead(t *testing.T) {
	t.Parallel()
	own := writeFiles(t,
		"agents/review.md", "---\ndescription: Looks at changes\nengine: react\nmodel: openai/gpt\ntools: ['files__*', fs]\ndenyTools: files__write\nlevel: r\n---\nYou review.\n",
		"agents/研究.md", "\uFEFF---\r\ndescription: 查资料\r\n---\r\n先查。\r\n",
		"agents/notes.txt", "not an agent",
		"context/tea.md", "---\nkeywords: [oolong, 茶]\norder: 2\nbudget: 50\n---\nTea is kept in the kitchen.",
		"context/first.md", "---\nkeywords: key\norder: -1\nagents: [review]\n---\nText",
		"skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF files\nlicense: MIT\nmetadata: {a: 1}\n---\nUse the tool. See forms.md.",
		"skills/pdf/forms.md", "Forms.",
		"skills/README.md", "no skill",
	)
	project := writeFiles(t, "AGENTS.md", "Use tabs.\n", ".collie/agents/review.md", "---\ndescription: theirs\n---\n", ".collie/agents/build.md", "---\ndescription: builds\n---\nBuild.")
	l := library.Read(library.Places{Config: own, Project: project})
	if got := problemLines(l, project); !strings.HasPrefix(got, `.collie/agents/review.md: name: "review" is taken by `) || len(l.Problems) != 1 {
		t.Errorf("problems:\n%s", got)
	}
	a, err := l.Agent("review")
	if err != nil || a.Prompt != "You review." || a.Project || a.Level != "r" || len(a.Tools) != 2 || a.Deny[0] != "files__write" || a.Model != "openai/gpt" {
		t.Errorf("review: %+v, %v", a, err)
	}
	if a, err = l.Agent("研究"); err != nil || a.Prompt != "先查。" || a.Description != "查资料" {
		t.Errorf("研究: %+v, %v", a, err)
	}
	if a, err = l.Agent("build"); err != nil || !a.Project {
		t.Errorf("build: %+v, %v", a, err)
	}
	if _, err = l.Agent("reveiw"); err == nil || !strings.Contains(err.Error(), "no such agent") {
		t.Errorf("an agent that is not there: %v", err)
	}
	if l.Rules != "Use tabs." || len(l.Entries) != 2 || l.Entries[0].Name != "first" || l.Entries[1].Budget != 50 {
		t.Errorf("rules %q, entries %+v", l.Rules, l.Entries)
	}
	s, err := l.Skill("pdf")
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"": "Use the tool. See forms.md.", "forms.md": "Forms.", "./forms.md": "Forms."} {
		if got, err := s.Read(file); got != want || err != nil {
			t.Errorf("read %q: %q, %v", file, got, err)
		}
	}
	for _, file := range []string{"../../agents/review.md", "/etc/hostname", "nothing", "."} {
		if got, err := s.Read(file); err == nil {
			t.Errorf("read %q: %q", file, got)
		}
	}
}

// A problem of a file is reported with file, line, field and what was expected. Other files are used all the same.
func TestProblemsNameTheirPlace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ path, text, want string }{
		"no front matter":   {"agents/a.md", "You are.", "agents/a.md:1: expected front matter"},
		"never ends":        {"agents/a.md", "---\ndescription: x\n", "agents/a.md:1: expected front matter"},
		"no description":    {"agents/a.md", "---\nengine: chat\n---\n", "agents/a.md:1: description: it is missing"},
		"no command":        {"agents/a.md", "---\ndescription: x\nengine: cli\n---\n", `agents/a.md:1: command: it is missing`},
		"idle command":      {"agents/a.md", "---\ndescription: x\ncommand: rm\n---\n", `agents/a.md:1: command: only an agent with engine: cli`},
		"engine":            {"agents/a.md", "---\ndescription: x\nengine: fast\n---\n", `agents/a.md:3: engine: it is "fast", expected chat, react`},
		"level":             {"agents/a.md", "---\ndescription: x\nlevel: all\n---\n", `agents/a.md:3: level: it is "all", expected r, rw, rwd`},
		"misspelt":          {"agents/a.md", "---\ndescription: x\n\nmodle: y\n---\n", "agents/a.md:4: modle: there is no such field; did you mean model?"},
		"twice":             {"agents/a.md", "---\ndescription: x\ndescription: y\n---\n", "agents/a.md:3: description: the field is given twice"},
		"a list as text":    {"agents/a.md", "---\ndescription: [x]\n---\n", "agents/a.md:2: description: expected text, and found a list of values"},
		"fields in a list":  {"agents/a.md", "---\ndescription: x\ntools:\n  - a: b\n---\n", "agents/a.md:4: tools: expected a list of texts, and found fields of its own"},
		"alias":             {"agents/a.md", "---\ndescription: &x y\nmodel: *x\n---\n", "agents/a.md:3: model: expected text, and found an alias"},
		"no YAML":           {"agents/a.md", "---\ndescription: x\n\tb: [\n---\n", "agents/a.md:3: the front matter is not YAML"},
		"a list":            {"agents/a.md", "---\n- x\n---\n", "agents/a.md:2: expected fields"},
		"name":              {"agents/a.md", "---\nname: a b\ndescription: x\n---\n", `agents/a.md:2: name: "a b" is not a name`},
		"name of the file":  {"agents/a b.md", "---\ndescription: x\n---\n", `agents/a b.md:1: name: "a b" is not a name`},
		"NUL":               {"agents/a.md", "---\ndescription: x\n---\n\x00", "agents/a.md: line 4 has a NUL byte"},
		"UTF-8":             {"agents/a.md", "---\ndescription: \xff\n---\n", "agents/a.md: line 2 has a byte that is not UTF-8"},
		"huge":              {"agents/a.md", "---\ndescription: x\n---\n" + strings.Repeat("x", 256<<10), "agents/a.md: it has 262167 bytes"},
		"huge front matter": {"agents/a.md", "---\ndescription: x\ntools: [" + strings.Repeat("x, ", 9000) + "]\n---\n", "agents/a.md:1: the front matter has"},
		"too many values":   {"agents/a.md", "---\ndescription: x\ntools: [" + strings.Repeat("x, ", 900) + "]\n---\n", "agents/a.md:3: tools: it has 900 values"},
		"deep":              {"agents/a.md", "---\ndescription: x\ntools: " + strings.Repeat("[", 8000) + "\n---\n", "agents/a.md:"},
		"no keywords":       {"context/a.md", "---\norder: 1\n---\nx", "context/a.md:1: keywords: they are missing"},
		"order":             {"context/a.md", "---\nkeywords: x\norder: first\n---\nx", "context/a.md:3: order: expected a number from -1000 to 1000"},
		"budget":            {"context/a.md", "---\nkeywords: x\nbudget: 0\n---\nx", "context/a.md:3: budget: expected a number from 1 to 16000"},
		"no text":           {"context/a.md", "---\nkeywords: x\n---\n", "context/a.md: there is no text"},
		"skill":             {"skills/a/SKILL.md", "---\nname: a\n---\nx", "skills/a/SKILL.md:1: description: it is missing"},
	} {
		dir := writeFiles(t, tt.path, tt.text, "agents/good.md", "---\ndescription: x\n---\n")
		l := library.Read(library.Places{Config: dir})
		got := strings.Replace(problemLines(l, dir), "context/a.md:1: there", "context/a.md: there", 1)
		if !strings.HasPrefix(got, tt.want) || len(l.Problems) != 1 || !utf8.ValidString(got) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if _, err := l.Agent("good"); err != nil {
			t.Errorf("%s: the other agent: %v", name, err)
		}
		if _, err := l.Agent("a"); strings.HasPrefix(tt.path, "agents/a.md") && (err == nil || !strings.Contains(err.Error(), filepath.FromSlash("agents/a.md"))) {
			t.Errorf("%s: asked for by name: %v", name, err)
		}
	}
}

// Symbolic links that lead out of a folder are refused.
func TestLinksStayInside(t *testing.T) {
	t.Parallel()
	outside := writeFiles(t, "secret.md", "---\ndescription: x\n---\nsecret", "skill/SKILL.md", "---\nname: s\ndescription: x\n---\nsecret")
	dir := writeFiles(t, "agents/real.md", "---\ndescription: x\n---\nreal", "skills/own/SKILL.md", "---\ndescription: x\n---\nx")
	for from, to := range map[string]string{
		"agents/out.md": filepath.Join(outside, "secret.md"), "agents/in.md": "real.md",
		"skills/out": filepath.Join(outside, "skill"), "skills/own/more.md": filepath.Join(outside, "secret.md"),
	} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(from))); err != nil {
			t.Skip("this system makes no links: ", err)
		}
	}
	l := library.Read(library.Places{Config: dir})
	if len(l.Agents) != 2 || len(l.Skills) != 1 || len(l.Problems) != 2 {
		t.Errorf("agents %+v, skills %+v, problems %v", l.Agents, l.Skills, l.Problems)
	}
	for _, p := range l.Problems {
		if !strings.Contains(p.Message, "leads out of its folder") {
			t.Errorf("a link: %v", p)
		}
	}
	if s, err := l.Skill("own"); err != nil {
		t.Error(err)
	} else if text, err := s.Read("more.md"); err == nil {
		t.Errorf("a link in a skill: %q", text)
	}
	if err := os.RemoveAll(filepath.Join(dir, "agents")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, ".collie")); err != nil {
		t.Fatal(err)
	}
	if l := library.Read(library.Places{Project: dir}); len(l.Agents)+len(l.Skills) > 0 || len(l.Problems) == 0 {
		t.Errorf("a project whose folder leads out: %+v", l)
	}
}

func TestMatching(t *testing.T) {
	t.Parallel()
	l := library.Read(library.Places{Config: writeFiles(t,
		"context/a.md", "---\nkeywords: [Go, 茶]\n---\nx",
		"context/b.md", "---\nkeywords: [vim]\nagents: [editor]\n---\nx",
	)})
	for _, tt := range []struct {
		agent, want string
		said        []string
	}{
		{said: []string{"a goat and a cargo"}},
		{want: "a by Go, 0 back", said: []string{"use go."}},
		{want: "a by Go, 0 back", said: []string{"用Go写"}},
		{want: "a by Go, 1 back", said: []string{"Go?", "yes"}},
		{want: "a by 茶, 0 back", said: []string{"go", "喝茶吗"}},
		{said: []string{"vim"}},
		{agent: "editor", want: "b by vim, 0 back", said: []string{"vim"}},
		{},
	} {
		got := ""
		for _, m := range l.Matching(tt.agent, tt.said) {
			got = m.Name + " by " + m.Keyword + ", " + string(rune('0'+m.Back)) + " back"
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.said, got, tt.want)
		}
	}
}

// FuzzRead reads files with any text. Each file must give either an item or a problem with its place.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"---\ndescription: x\ntools: [a, b]\n---\nText", "---\nkeywords: x\norder: 1\n---\nx", "---\n&a [*a]\n---\n", "---\n? {a: b}\n: c\n---\n",
		"---\na: &x [y, y]\nb: &z [*x, *x]\nc: [*z, *z]\n---\n", "---\n!!binary x: y\n---\n", "---\n", "\uFEFF---\r\n---\r\n", "---\nname: \"\\0\"\ndescription: x\n---\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := writeFiles(t, "agents/a.md", text, "context/a.md", text, "skills/a/SKILL.md", text)
		l := library.Read(library.Places{Config: dir})
		if n := len(l.Agents) + len(l.Entries) + len(l.Skills) + len(l.Problems); n != 3 {
			t.Errorf("%d of 3 files are accounted for", n)
		}
		for _, p := range l.Problems {
			if lines := strings.Count(text, "\n") + 2; p.Line < 0 || p.Line > lines || p.Message == "" || !utf8.ValidString(p.Error()) {
				t.Errorf("%+v, in %d lines", p, lines)
			}
		}
		for _, a := range l.Agents {
			if a.Description == "" {
				t.Errorf("%+v", a)
			}
		}
	})
}

// Find adds the agents of other programs whose command is installed. A person's file with the same name wins.
func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "agents"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "---\ndescription: mine\nengine: cli\ncommand: goose acp --mine\n---\n"
	if err := os.WriteFile(filepath.Join(dir, "agents", "goose.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l := library.Read(library.Places{Config: dir})
	l.AddInstalled(func(command string) bool { return command != "codex-acp" && command != "qwen" })
	got := map[string]string{}
	for _, a := range l.Agents {
		got[a.Name] = strings.Join(a.Command, " ")
	}
	want := map[string]string{
		"claude-code": "claude-agent-acp", "copilot": "copilot --acp", "cursor": "cursor-agent acp", "gemini": "gemini --acp",
		"goose": "goose acp --mine", "opencode": "opencode acp",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(l.Agents) != len(want) {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The agents of a project must not have a command, even if the project is trusted.
func TestProjectsStartNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".collie", "agents"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "---\ndescription: theirs\nengine: cli\ncommand: make\n---\n"
	if err := os.WriteFile(filepath.Join(dir, ".collie", "agents", "theirs.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l := library.Read(library.Places{Project: dir})
	if len(l.Agents) > 0 || len(l.Problems) != 1 || !strings.Contains(l.Problems[0].Error(), "a project's agent starts no program") {
		t.Errorf("it has %v, problems %v", l.Agents, l.Problems)
	}
}
