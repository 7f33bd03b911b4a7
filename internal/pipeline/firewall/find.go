package firewall

import (
	"slices"
	"strings"
)

// judgeFind judges the arguments of find, which can run commands and delete files.
func (j *judgement) judgeFind(words []word) {
	folders, rest := findFolders(words)
	for _, w := range folders {
		if w.starts {
			j.report(Ask, "command.dynamic", "a file that "+w.text+" stands for may have the name of an option")
		}
		j.judgeRead(w)
	}
	if j.deletesEverything(folders, rest) {
		j.report(Deny, "command.everything", "it deletes far more than anyone would want")
	}
	for i := 0; i < len(rest); i++ {
		switch text := rest[i].text; {
		case !rest[i].fixed, rest[i].globs && (strings.HasPrefix(text, "-") || strings.Trim(text, "*?") == ""):
			j.report(Ask, "command.dynamic", "it is not known what it does with the files that it finds")
		case text == "-files0-from":
			j.report(Ask, "command.dynamic", "it is not known which folders it searches")
		case strings.HasPrefix(text, "-exec"), strings.HasPrefix(text, "-ok"):
			end := i + 1
			for end < len(rest) && rest[end].text != ";" && rest[end].text != "+" {
				end++
			}
			inner := rest[i+1 : end]
			if slices.ContainsFunc(inner, func(w word) bool { return !w.fixed || w.globs }) {
				j.report(Ask, "command.dynamic", "it is not known what it does with the files that it finds")
			}
			j.denyHarm(inner)
			j.judgeXargs(inner)
			i = end
		case text == "-delete":
			j.report(Ask, "command.delete", "it deletes what it finds")
		case strings.HasPrefix(text, "-fprint"), text == "-fls":
			j.report(Ask, "command.write", "it writes files")
		}
	}
}

// deletesEverything reports whether find deletes all that it finds in a folder such as the root or a home.
func (j *judgement) deletesEverything(folders, rest []word) bool {
	if !slices.ContainsFunc(folders, j.isVast) {
		return false
	}
	for i, w := range rest {
		switch text := w.text; {
		case text == "-delete", strings.HasPrefix(text, "-exec") && deletes(rest[i+1:]), strings.HasPrefix(text, "-ok") && deletes(rest[i+1:]):
			return true
		case text == "-name", text == "-iname", text == "-path", text == "-newer", text == "-size", text == "-mtime", text == "-user", text == "-regex":
			return false
		}
	}
	return false
}

// findFolders returns the folders that find searches, and the expression after them. Options that stand before the
// folders are left out; some take the next word as their value, and after -f that is a folder.
func findFolders(words []word) (folders, rest []word) {
	for len(words) > 0 && isFindOption(words[0]) {
		n := 1
		switch {
		case words[0].text == "-f" && len(words) > 1:
			folders, n = append(folders, words[1]), 2
		case words[0].text == "-D" && len(words) > 1 && words[1].fixed:
			n = 2
		}
		words = words[n:]
	}
	n := slices.IndexFunc(words, func(w word) bool { return strings.HasPrefix(w.text, "-") || w.text == "(" || w.text == "!" })
	if n < 0 {
		n = len(words)
	}
	return append(folders, words[:n]...), words[n:]
}

// isFindOption reports whether a word is one of the options that stand before the folders: those of GNU, or letters of
// BSD.
func isFindOption(w word) bool {
	letters, ok := strings.CutPrefix(w.text, "-")
	return ok && w.fixed && (letters == "-" || strings.HasPrefix(letters, "O") || letters == "D" || letters == "f" || strings.Trim(letters, "HLPEXdsx") == "")
}

func deletes(words []word) bool {
	name := programName(words)
	return name == "rm" || name == "shred" || name == "unlink"
}
