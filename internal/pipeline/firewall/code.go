package firewall

import "strings"

// isCode reports whether an argument holds code that the tool runs.
func (j *judgement) isCode(m *member, k kind) bool {
	if k != unspecified || !m.isCode && !m.isText {
		return false
	}
	op := operationOf(j.action.Name)
	return op.runs && (m.isCode || j.runs != "") || op.language
}

// judgeCode judges code that a tool runs. A shell script is judged as a command. Code in other languages is only searched for
// what must never run and for paths, because nothing else about it is known.
func (j *judgement) judgeCode(s string) {
	if strings.Contains(shells, " "+j.runs+" ") && j.runs != "" || operationOf(j.action.Name).shell {
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
