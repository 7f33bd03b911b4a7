package library_test

import (
	"os"
	"path/filepath"
	"testing"

	"collie/internal/agent/library"
)

// FuzzImport imports agents and skills with any text. An imported file must have the content that was shown before, and
// must not start a program.
func FuzzImport(f *testing.F) {
	for _, text := range []string{
		"---\nname: reviewer\ndescription: Reviews.\ntools: Read, Grep\nmodel: sonnet\n---\n\nRead first.",
		"---\ndescription: Plans\nmode: primary\ntools:\n  write: false\n  bash: false\n---\nPlan.",
		"---\nname: ../../x\ndescription: 'a: b'\ncommand: [sh]\nengine: cli\n---\n",
		"---\nname: a\ndescription: |\n  two\n  lines\npermission:\n  edit: deny\n---\n---\nx: y\n---",
		"---\nname: &a [*a]\n---\n", "---\ndescription: \x00\n---\n", "no front", "---\n", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		from, config := t.TempDir(), t.TempDir()
		for _, file := range []string{"claude/agents/one.md", "opencode/agent/one.md", "claude/skills/one/SKILL.md", "opencode/skill/two/SKILL.md"} {
			file = filepath.Join(from, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all := library.Foreign(library.Programs{Claude: filepath.Join(from, "claude"), OpenCode: filepath.Join(from, "opencode")}, config)
		saved := map[string]int{}
		for i := range all {
			if all[i].Problem != "" {
				continue
			}
			if err := all[i].Save(true); err != nil {
				t.Fatalf("%+v: %v", all[i], err)
			}
			if rel, err := filepath.Rel(config, all[i].File); err != nil || !filepath.IsLocal(rel) {
				t.Errorf("it is written to %s", all[i].File)
			}
			saved[all[i].Kind]++
		}
		l := library.Read(library.Places{Config: config})
		if len(l.Problems) > 0 || saved["agent"] != len(l.Agents) || saved["skill"] != len(l.Skills) {
			t.Errorf("%v were taken over, %d agents and %d skills are used: %v", saved, len(l.Agents), len(l.Skills), l.Problems)
		}
		for _, a := range l.Agents {
			if len(a.Command)+len(a.Env) > 0 || a.Engine == "cli" {
				t.Errorf("it starts %q", a.Command)
			}
		}
	})
}
