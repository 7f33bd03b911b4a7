package firewall

import (
	"slices"
	"strings"
)

// codeNames are arguments that hold code in whatever tool runs something; textNames hold it where the tool names a language.
const (
	codeNames = " code source source_code sourcecode snippet program cell "
	textNames = " input text content expression body "
	languages = " python python3 py javascript js node nodejs typescript ruby perl php lua r julia bash sh shell powershell repl interpreter "
	shells    = " bash sh zsh dash ksh shell "
	runVerbs  = " run exec execute eval evaluate "
)

// isCode reports whether an argument holds code that the tool runs.
func (j *judgement) isCode(name string, k kind) bool {
	if k != unspecified {
		return false
	}
	name = " " + strings.ToLower(name) + " "
	isCode, isText := strings.Contains(codeNames, name), strings.Contains(textNames, name)
	if !isCode && !isText {
		return false
	}
	in := func(list string) bool {
		return slices.ContainsFunc(splitName(j.action.Name), func(w string) bool { return strings.Contains(list, " "+w+" ") })
	}
	return in(runVerbs) && (isCode || j.runs != "") || in(languages) && (isCode || isText)
}

// judgeCode judges code that a tool runs: a script of a shell as a command, and any other for what must never run. What else it
// does is not known, so the risk of the tool counts.
func (j *judgement) judgeCode(s string) {
	shell := strings.Contains(shells, " "+j.runs+" ") && j.runs != "" || slices.ContainsFunc(splitName(j.action.Name), func(w string) bool { return strings.Contains(shells, " "+w+" ") })
	if shell {
		j.touched.command(j.commandWords(s), func() { j.judgeCommand(s) })
		return
	}
	j.touched.addUnknown()
	j.judgeSource(s[:min(len(s), maxCommand)])
	for _, quote := range []string{"'", `"`, "`"} {
		parts := strings.SplitN(s, quote, maxPaths)
		for i := 1; i < len(parts); i += 2 {
			if p := parts[i]; looksLikePath(p) && !j.isPlainPath(p) {
				j.judgePath(p, false)
			}
		}
	}
}
