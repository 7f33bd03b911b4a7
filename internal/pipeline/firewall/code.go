package firewall

import (
	"strings"

	"github.com/tidwall/gjson"
	"mvdan.cc/sh/v3/syntax"
)

// noteLanguage notes the language of code that a member of an object names, for a tool that may run code. A shell
// counts before any other.
func (j *judgement) noteLanguage(object gjson.Result) {
	if op := operationOf(j.action.Name); !op.runs && !op.language {
		return
	}
	object.ForEach(func(key, item gjson.Result) bool {
		if item.Type == gjson.String && memberOf(key.String()).isRuntime && !isShell(j.codeLanguage) {
			j.codeLanguage = strings.ToLower(item.String())
		}
		return true
	})
}

// isShell reports whether a language is that of a shell.
func isShell(language string) bool {
	return language != "" && strings.Contains(shells, " "+language+" ")
}

// runsAsShell reports whether the code in the arguments is for a shell.
func (j *judgement) runsAsShell() bool {
	return isShell(j.codeLanguage) || operationOf(j.action.Name).shell
}

// isCode reports whether an argument holds code that the tool runs: its name says so, and the action runs something. An
// argument whose name only says text counts if the language of code is told by another argument or by the action's name.
// An argument that is known to be something else, such as a path, is not code.
func (j *judgement) isCode(m *member, k kind) bool {
	if k != unspecified || !m.isCode && !m.isText {
		return false
	}
	op := operationOf(j.action.Name)
	return op.runs && (m.isCode || j.codeLanguage != "") || op.language
}

// judgeCode judges code that a tool runs. A shell script is judged as a command. Code in other languages is only searched for
// what must never run and for paths, because nothing else about it is known; so is a script that no shell can read.
func (j *judgement) judgeCode(s string) {
	if j.runsAsShell() {
		j.touched.addCommand(j.commandWords(s), func() { j.judgeCommand(s) })
		if len(s) > maxCommand {
			return
		}
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(s), ""); err == nil {
			return
		}
	}
	j.touched.addUnknown()
	j.judgeSource(s[:min(len(s), maxCommand)])
	for _, quote := range []string{"'", `"`, "`"} {
		parts := strings.SplitN(s, quote, maxPaths)
		for i := 1; i < len(parts); i += 2 {
			if p := parts[i]; looksLikePath(p) && !j.isPlainPath(p) {
				const named = false // no name of an argument says that it is a path
				j.judgePath(p, named)
			}
		}
	}
}
