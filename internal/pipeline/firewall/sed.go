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
		case !w.fixed && strings.HasPrefix(w.text, "-"):
			j.report(Ask, "command.dynamic", "it is not known which option of sed that is")
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
		case w.starts:
			j.report(Ask, "command.dynamic", "a file that "+w.text+" stands for may have the name of an option")
		default:
			j.judgeRead(w)
		}
	}
}

func (j *judgement) judgeSedScript(w word) {
	if !w.fixed || w.globs || !harmlessSed(w.text) {
		j.report(Ask, "command.unknown", "the script of sed may write files or run commands")
	}
}

// harmlessSed reports whether a script only prints, deletes or replaces lines of its output.
func harmlessSed(s string) bool {
	for {
		if s = strings.TrimLeft(s, "; \t\n"); s == "" {
			return true
		}
		for s = strings.TrimLeft(s, "0123456789,$! "); strings.HasPrefix(s, "/"); s = strings.TrimLeft(s, "0123456789,$! I") { // addresses
			n := sedPattern(s[1:], '/')
			if n == 0 {
				return false
			}
			s = s[1+n:]
		}
		switch {
		case s == "":
			return true
		case strings.IndexByte("pdq=", s[0]) >= 0:
			s = s[1:]
		case s[0] == 's' && len(s) > 1 && strings.IndexByte(`|/#,:@%!`, s[1]) >= 0:
			pattern := sedPattern(s[2:], s[1])
			replacement := sedPart(s[2+pattern:], s[1])
			if pattern == 0 || replacement == 0 {
				return false
			}
			s = strings.TrimLeft(s[2+pattern+replacement:], "gpiI0123456789")
		}
		if s = strings.TrimLeft(s, " \t"); s != "" && s[0] != ';' && s[0] != '\n' {
			return false
		}
	}
}

// sedPart returns the length of a pattern or replacement with the delimiter that ends it, or 0 if none does.
func sedPart(s string, delimiter byte) int {
	for i := 0; i < len(s) && s[i] != '\n'; i++ {
		switch s[i] {
		case '\\':
			i++
		case delimiter:
			return i + 1
		}
	}
	return 0
}

// sedPattern is sedPart for a pattern. It returns 0 also if a delimiter stands in brackets, where one sed looks for it
// and another does not.
func sedPattern(s string, delimiter byte) int {
	n := sedPart(s, delimiter)
	if n == 0 {
		return 0
	}
	for i := 0; i < n-1; i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			end := bracketEnd(s[i : n-1])
			if end == 0 {
				return 0
			}
			i += end
		}
	}
	return n
}

// bracketEnd returns the place of the bracket that closes the one at the beginning of s, or 0 if that is not plain.
func bracketEnd(s string) int {
	i := 1
	if strings.HasPrefix(s[i:], "^") {
		i++
	}
	if strings.HasPrefix(s[i:], "]") {
		i++
	}
	for ; i < len(s); i++ {
		switch {
		case s[i] == ']':
			return i
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == ']' || s[i+1] == '['):
			return 0
		case s[i] == '\\':
			i++
		case s[i] == '[' && i+1 < len(s) && strings.IndexByte(":.=", s[i+1]) >= 0: // [:space:]
			class := strings.Index(s[i+2:], s[i+1:i+2]+"]")
			if class < 0 {
				return 0
			}
			i += 2 + class + 1
		case s[i] == '[':
			return 0
		}
	}
	return 0
}
