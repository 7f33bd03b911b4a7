package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"collie/internal/face/cli"
	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/action"
	"collie/internal/tool"
)

const root = "../../"

// inCode finds commands in code: a line of a block, or a span in a sentence.
var inCode = regexp.MustCompile("(?m)(?:^(?:\\$ )?|`|&& |\\| )collie ([^`\n]*)")

// TestCommands checks that each "collie …" in the documents names a command or action that exists, with flags that exist.
func TestCommands(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, pattern := range []string{"*.md", "docs/guide/*.md", "docs/architecture.md"} {
		files, err := filepath.Glob(root + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range inCode.FindAllStringSubmatch(string(raw), -1) {
				checked++
				if wrong := problemWith(words(m[1])); wrong != "" {
					t.Errorf("%s: collie %s: %s", strings.TrimPrefix(file, root), m[1], wrong)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d commands found", checked)
	}
}

func TestCheckFindsMistakes(t *testing.T) {
	t.Parallel()
	for line, right := range map[string]bool{
		"mcp list": true, "mcp lost": false, "fs tree / --json": true, "fs trees /": false, "fs read --path /a --pate /b": false,
		"mcp list --json": true, "mcp list --jsn": false, "serve --http :0": true, "mcp add x -- y --flag": true, "open --list|--end": true, "open --list|--ends": false, "cache show|stats": true, "cache show|stat": false, "siyuan undo ID # takes it back": true, "nosuch": false,
	} {
		if got := problemWith(words(line)); (got == "") != right {
			t.Errorf("check of %q says %q", line, got)
		}
	}
}

// TestEveryCommandIsOnTheMap checks that the table of commands in docs/architecture.md has all commands of the first two
// levels.
func TestEveryCommandIsOnTheMap(t *testing.T) {
	t.Parallel()
	told := map[string]bool{"help": true}
	for line := range strings.Lines(section(t, "## 5. Commands")) {
		cell, _, _ := strings.Cut(line, " | ")
		for _, m := range regexp.MustCompile("`([a-z]+)(?: ([a-z|\\\\]+))?").FindAllStringSubmatch(cell, -1) {
			told[m[1]] = true
			for below := range strings.SplitSeq(strings.ReplaceAll(m[2], `\|`, "|"), "|") {
				told[m[1]+" "+below] = true
			}
		}
	}
	for _, c := range cli.Commands() {
		words := strings.Fields(c.Path)
		if words[0] == "completion" {
			words = words[:1] // what is below it is the shell, and cobra's
		}
		for n := 1; n <= min(2, len(words)); n++ {
			if path := strings.Join(words[:n], " "); !told[path] {
				told[path] = true
				t.Errorf("docs/architecture.md: its table of commands lacks `%s`", path)
			}
		}
	}
}

// section returns the text below a heading of docs/architecture.md, up to the next heading of level 2.
func section(t *testing.T, heading string) string {
	t.Helper()
	raw, err := os.ReadFile(root + "docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(raw), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/architecture.md has no %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// words returns the words of the first command of a line, without its comment.
func words(line string) []string {
	for _, end := range []string{" # ", " | ", " && ", " < ", " &", "；"} {
		line, _, _ = strings.Cut(line, end)
	}
	return strings.Fields(line)
}

// problemWith returns what is wrong with a command and its flags; "" if nothing is.
func problemWith(typed []string) string {
	if len(typed) == 0 || strings.HasPrefix(typed[0], "-") || strings.ToUpper(typed[0]) == typed[0] {
		return "" // "collie TOOL ACTION" and the like
	}
	for _, t := range siyuan.Tools() {
		if t.Name == typed[0] {
			return problemWithAction(&t, typed[1:])
		}
	}
	commands := cli.Commands()
	path := typed[0]
	for i, word := range typed {
		if i > 0 {
			path += " " + word
		}
		below := slices.ContainsFunc(commands, func(c cli.Command) bool { return strings.HasPrefix(c.Path, path+" ") })
		if below && i+1 < len(typed) && !strings.HasPrefix(typed[i+1], "-") {
			continue
		}
		at := strings.LastIndexByte(path, ' ') + 1
		for name := range strings.SplitSeq(path[at:], "|") {
			known := func(c cli.Command) bool {
				return c.Path == path[:at]+name || strings.HasPrefix(c.Path, path[:at]+name+" ")
			}
			if !slices.ContainsFunc(commands, known) {
				if withArguments[strings.TrimSpace(path[:at])] {
					return ""
				}
				return "there is no command " + path[:at] + name
			}
		}
		break
	}
	return unknownFlag(typed)
}

// unknownFlag returns the first flag that a command does not have, as a sentence; "" if it has all. It stops at "--",
// because the flags behind that are another program's.
func unknownFlag(typed []string) string {
	var path []string
	for _, word := range typed {
		if strings.HasPrefix(word, "-") || strings.Contains(word, "|") {
			break
		}
		path = append(path, word)
	}
	c, _, err := cli.Tree("").Find(path)
	if err != nil || strings.HasPrefix(typed[0], "call") {
		return "" // the flags of a call are those of its action
	}
	_ = c.ParseFlags([]string{"--help"}) // which gives it the flags of those above
	for _, word := range typed {
		if word == "--" {
			break
		}
		name, isFlag := strings.CutPrefix(strings.Trim(word, "[](),.;"), "--")
		name, _, _ = strings.Cut(name, "=")
		for one := range strings.SplitSeq(name, "|--") {
			if isFlag && one != "" && one != "help" && c.Flag(one) == nil {
				return "collie " + strings.Join(path, " ") + " has no flag --" + one
			}
		}
	}
	return ""
}

// withArguments are the commands that take arguments themselves and have commands below.
var withArguments = map[string]bool{"vault sync": true}

// callFlags are flags of every call.
var callFlags = []string{"json", "yes", "connection", "url", "token", "args", "profile", "help", "local", "timeout", "home", "config"}

// problemWithAction returns what is wrong with the action of a SiYuan tool and its flags; "" if nothing is.
func problemWithAction(t *action.Tool, typed []string) string {
	if len(typed) == 0 || strings.HasPrefix(typed[0], "-") {
		return "an action is missing"
	}
	find := func(name string) *action.Action {
		i := slices.IndexFunc(t.Actions, func(a *action.Action) bool { return a.Name == name })
		if i < 0 {
			return nil
		}
		return t.Actions[i]
	}
	a := find(tool.ActionName(typed[0], func(name string) bool { return find(name) != nil }))
	if a == nil {
		return t.Name + " has no action " + typed[0]
	}
	for _, word := range typed[1:] {
		flag, isFlag := strings.CutPrefix(word, "--")
		flag, _, _ = strings.Cut(flag, "=")
		if isFlag && !slices.Contains(callFlags, flag) && !strings.Contains(normalize(string(a.Schema())), `"`+normalize(flag)+`"`) {
			return t.Name + "." + a.Name + " has no argument " + word
		}
	}
	return ""
}

// normalize returns a name in lower case and without - and _, so that all its spellings are equal.
func normalize(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}
