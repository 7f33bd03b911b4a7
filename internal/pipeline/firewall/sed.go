package firewall

import (
	"strings"
)

// judgeSed judges the arguments of sed: a script, which may only print or replace, and files.
func (j *judgement) judgeSed(words []word) {
	script := false
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.text == "-n" || w.text == "-E" || w.text == "-r" || w.text == "-z" || w.text == "-u" || w.text == "--quiet" || w.text == "--regexp-extended":
		case w.text == "-e" && i+1 < len(words):
			i++
			script = true
			j.judgeSedScript(words[i])
		case strings.HasPrefix(w.text, "-") && w.text != "-":
			j.report(Ask, "command.write", "sed may change files with "+w.text)
		case !script:
			script = true
			j.judgeSedScript(w)
		default:
			j.judgeRead(w)
		}
	}
}

func (j *judgement) judgeSedScript(w word) {
	if !w.fixed || !harmlessSed(w.text) {
		j.report(Ask, "command.unknown", "the script of sed may write files or run commands")
	}
}

// harmlessSed reports whether a script only prints, deletes or replaces lines of its output.
func harmlessSed(s string) bool {
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ';' || r == '\n' }) {
		part = strings.TrimLeft(strings.TrimSpace(part), "0123456789,$! ")
		for strings.HasPrefix(part, "/") { // an address
			end := strings.Index(part[1:], "/")
			if end < 0 {
				return false
			}
			part = strings.TrimLeft(part[end+2:], "0123456789,$! I")
		}
		switch part {
		case "p", "d", "q", "=", "":
			continue
		}
		if len(part) < 4 || part[0] != 's' || strings.IndexByte(`|/#,:@%!`, part[1]) < 0 {
			return false
		}
		fields := strings.Split(strings.ReplaceAll(part[2:], `\`+part[1:2], ""), part[1:2])
		if len(fields) != 3 || strings.Trim(fields[2], "gpiI0123456789") != "" {
			return false
		}
	}
	return true
}
