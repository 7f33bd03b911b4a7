package firewall

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

// This file follows the current folder through a script, and judges programs that read whole folders.

// maxFolders is the number of folders that are tracked. A person is asked about a command that goes to more.
const maxFolders = 16

// changeFolder notes that a command changes to a folder, in which later relative paths may lie. It is not known which
// commands really run, so each folder counts until the end.
func (j *judgement) changeFolder(w word) {
	if !w.fixed || w.globs || w.text == "" || w.text == "-" {
		return // askUnlessHarmless asks about an unknown folder
	}
	p, relative := j.canonical(w.text)
	if !relative {
		j.addFolder(j.resolve(p, false))
		return
	}
	for _, f := range slices.Clone(j.folders) {
		j.addFolder(path.Join(f, w.text))
	}
}

// addFolder adds a folder to those in which relative paths may lie. If there are too many, it takes the place of the
// one before it.
func (j *judgement) addFolder(p string) {
	switch {
	case slices.Contains(j.folders, p):
	case len(j.folders) < maxFolders:
		j.folders = append(j.folders, p)
	default:
		j.folders[maxFolders-1] = p
		j.report(Ask, "command.many", fmt.Sprintf("it goes to more than %d folders", maxFolders))
	}
}

// possiblePaths returns the absolute paths that a file operand may stand for.
func (j *judgement) possiblePaths(text string) []string {
	p, relative := j.canonical(text)
	if !relative {
		return []string{j.resolve(p, false)}
	}
	var out []string
	for _, f := range j.folders {
		out = append(out, path.Join(f, text))
	}
	return out
}

// walkers are programs that read or copy whole folders; optionWalkers do so only with an option.
const (
	walkers       = " diff rg ag ack tar zip 7z 7za rsync pax cpio bsdtar "
	optionWalkers = " grep egrep fgrep zgrep cp scp "
)

// judgeWalk asks about a program that reads a whole folder in which there may be files with secrets.
func (j *judgement) judgeWalk(name string, args []word) {
	switch {
	case strings.Contains(walkers, " "+name+" "):
	case strings.Contains(optionWalkers, " "+name+" ") && (hasOption(args, "rRd", "--recursive") || hasOption(args, "", "--dereference-recursive") ||
		hasOption(args, "", "--directories") || name == "cp" && hasOption(args, "a", "--archive")):
	default:
		return
	}
	operands := operandsOf(args)
	if name == "diff" && len(operands) == 2 { // of a folder and a file it takes the file of that name in the folder
		for i, w := range operands {
			if other := operands[1-i]; w.fixed && other.fixed {
				j.judgeOperand(word{text: w.text + "/" + path.Base(other.text), fixed: true}, false)
			}
		}
	}
	if pattern := strings.Contains(" rg ag ack grep egrep fgrep zgrep ", " "+name+" "); pattern && len(operands) > 0 {
		operands = operands[1:]
		if len(operands) == 0 {
			operands = []word{{text: ".", fixed: true}}
		}
	}
	for _, w := range operands {
		if len(j.folders) == 0 && strings.HasPrefix(path.Clean(w.text), "..") { // it may be a home folder
			j.report(Ask, "command.walk", "it is not known which folder "+w.text+" is, and "+name+" reads all of it")
			return
		}
		if slices.ContainsFunc(j.possiblePaths(w.text), j.holdsSecrets) {
			j.report(Ask, "command.walk", w.text+" holds files with keys or passwords, and "+name+" reads all of it")
			return
		}
	}
}

// holdsSecrets reports whether a folder, or a folder below it, is a usual place of files with secrets.
func (j *judgement) holdsSecrets(p string) bool {
	if holds, known := j.secretFolders[p]; known {
		return holds
	}
	if j.secretFolders == nil {
		j.secretFolders = map[string]bool{}
	}
	holds := j.findSecrets(p)
	j.secretFolders[p] = holds
	return holds
}

// findSecrets does the work of holdsSecrets, which caches its results.
func (j *judgement) findSecrets(p string) bool {
	home := j.home()
	if p == "/" || p == home || path.Dir(p) == "/home" || path.Dir(p) == "/Users" {
		return true
	}
	for _, pattern := range secretPlaces() {
		if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
			if inside, ok := strings.CutPrefix(p, home+"/"); ok && home != "/" && leadsTo("/"+inside, "/"+rest) {
				return true
			}
		} else if leadsTo(p, pattern) {
			return true
		}
	}
	return slices.ContainsFunc(j.policy.Own, func(own string) bool {
		own, _ = j.canonical(own)
		return strings.HasPrefix(own, p+"/")
	})
}

// secretPlaces are the patterns of [pathGroups] for files with secrets.
var secretPlaces = sync.OnceValue(func() (out []string) {
	for _, group := range pathGroups {
		for pattern := range strings.FieldsSeq(group.patterns) {
			if !group.write && !strings.HasPrefix(pattern, "**") {
				out = append(out, pattern)
			}
		}
	}
	return out
})

// leadsTo reports whether an absolute pattern can match a path below p. A pattern with ** in the part up to p
// counts as not matching.
func leadsTo(p, pattern string) bool {
	if !strings.HasPrefix(pattern, "/") {
		return false
	}
	for p != "" {
		var name, part string
		name, p, _ = strings.Cut(strings.TrimPrefix(p, "/"), "/")
		part, pattern, _ = strings.Cut(strings.TrimPrefix(pattern, "/"), "/")
		if part == "**" || !matchName(part, name) {
			return false
		}
	}
	return pattern != ""
}

// judgeAddresses judges the URLs among the words of a command.
func (j *judgement) judgeAddresses(words []word) {
	for _, w := range words {
		if looksLikeURL(w.text) {
			j.judgeURL(w.text, false)
		}
	}
}

// secretNames are typical names of files with secrets, to test patterns of file names.
var secretNames = [...]string{"id_rsa", "id_ed25519", "id_ecdsa", "server.pem", "server.key", "key.pem", "keystore.jks"}

// matchesSecrets reports whether a pattern in a command may match files with secrets: by its name, or by the folder
// that it is in.
func (j *judgement) matchesSecrets(w word) bool {
	base := path.Base(w.text)
	if !strings.ContainsAny(w.text, "*?[") {
		return false
	}
	if strings.Trim(base, "*?.") != "" && slices.ContainsFunc(secretNames[:], func(name string) bool { return matchName(base, name) }) {
		return true
	}
	fixed, _, _ := strings.Cut(w.text, w.text[strings.IndexAny(w.text, "*?["):])
	return slices.ContainsFunc(j.possiblePaths(fixed[:strings.LastIndexByte(fixed, '/')+1]), j.holdsSecrets)
}
