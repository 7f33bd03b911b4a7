package firewall

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// This file denies scripts that run what they have downloaded.

// denyFetchAndRun denies an interpreter that runs the output of a download: sh -c "$(curl …)", bash <(curl …).
func (j *judgement) denyFetchAndRun(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		var stmts []*syntax.Stmt
		switch n := n.(type) {
		case *syntax.CmdSubst:
			stmts = n.Stmts
		case *syntax.ProcSubst:
			stmts = n.Stmts
		case *syntax.ParamExp:
			if n.Param != nil && slices.Contains(j.fetchedNames, "$"+n.Param.Value) {
				j.report(Deny, "command.download", "it runs what it has just fetched")
			}
		}
		for _, s := range stmts {
			for _, p := range j.programs(s) {
				if isFetcher(p) {
					j.report(Deny, "command.download", "it runs what it has just fetched")
				}
			}
		}
		return true
	})
}

// interpreters are programs that run what they read.
const interpreters = " sh bash zsh dash ksh ash mksh fish csh tcsh busybox pwsh powershell cmd python python2 python3 perl ruby node nodejs deno bun php lua tclsh osascript sqlite3 psql mysql Rscript source . eval at batch crontab ed ex "

func isInterpreter(name string) bool { return roleOf(name)&interprets != 0 }

// setOf returns the words of a list as a set.
func setOf(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// fetchers are programs that bring data from elsewhere.
const fetchers = " curl wget fetch aria2c http https xh lynx nc ncat netcat socat ftp scp "

func isFetcher(name string) bool { return strings.Contains(fetchers, " "+name+" ") }

// denyFetched denies a command that runs a file which the script has fetched before, and notes what a command fetches.
func (j *judgement) denyFetched(words []word) {
	if len(j.fetchedNames) > 0 {
		for i, w := range words {
			run := i == 0 || isInterpreter(lowerBase(words[i-1].text)) || words[i-1].text == "-c" || wrapperSet()[words[i-1].text]
			if run && slices.Contains(j.fetchedNames, lowerBase(w.text)) {
				j.report(Deny, "command.download", "it runs what it has just fetched")
				return
			}
		}
	}
	name := programName(words)
	if name != "curl" && name != "wget" && name != "aria2c" {
		return
	}
	for i, w := range words[1:] {
		switch text := words[i].text; {
		case text == "-o" || text == "-O" && name == "wget" || text == "--output" || text == "--output-document" || strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.HasSuffix(text, "o"):
			j.noteFetched(w.text)
		}
		if _, value, ok := strings.Cut(w.text, "="); ok && strings.HasPrefix(w.text, "--out") {
			j.noteFetched(value)
		}
		if looksLikeURL(w.text) {
			j.noteFetched(w.text)
		}
	}
}

// noteFetched notes the name of a file that was fetched.
func (j *judgement) noteFetched(path string) {
	if name := lowerBase(path); name != "" && name != "-" && len(j.fetchedNames) < maxFolders && !isHarmlessDevice(path) {
		j.fetchedNames = append(j.fetchedNames, name)
	}
}

// judgePipe judges a pipe into a program that runs what it reads, or from an interpreter into the network.
func (j *judgement) judgePipe(b *syntax.BinaryCmd) {
	to := j.programs(b.Y)
	j.judgePipedArguments(b, to)
	if !slices.ContainsFunc(to, func(p string) bool { return isInterpreter(p) || strings.Contains(senders, " "+p+" ") }) {
		return
	}
	from := j.programs(b.X)
	if slices.ContainsFunc(to, func(p string) bool { return strings.Contains(senders, " "+p+" ") }) && slices.ContainsFunc(from, isInterpreter) {
		j.report(Deny, "command.reverse", "it gives another machine a shell")
		return
	}
	if !slices.ContainsFunc(to, isInterpreter) {
		return
	}
	if slices.ContainsFunc(from, isFetcher) {
		j.report(Deny, "command.download", "it runs what it has just fetched")
		return
	}
	j.report(Ask, "command.dynamic", "it runs what another command writes")
	if x, ok := b.X.Cmd.(*syntax.CallExpr); ok && len(x.Args) > 1 {
		if p := from; len(p) > 0 && (p[0] == "echo" || p[0] == "printf") {
			for _, a := range x.Args[1:] {
				if w := wordOf(a); w.fixed {
					j.judgeScript(w.text)
				}
			}
		}
	}
}

// senders are programs that carry what they read to another machine.
const senders = " nc ncat netcat socat telnet "

// programs returns the names of all programs in a statement, including those run by wrappers.
func (j *judgement) programs(s *syntax.Stmt) (names []string) {
	if s == nil || !j.spend(24) {
		return nil
	}
	wraps := false
	syntax.Walk(s, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			for i, a := range c.Args {
				if i > 0 && !wraps {
					break
				}
				name := wordOf(a).text
				if name = name[strings.LastIndexByte(name, '/')+1:]; i == 0 || isInterpreter(name) {
					names = append(names, name)
					wraps = wraps || wrapperSet()[name]
				}
			}
			return j.spend(24 * len(c.Args))
		}
		return true
	})
	return names
}

// judgePipedArguments judges what xargs is handed as arguments, where that is written out: echo / | xargs rm -r.
func (j *judgement) judgePipedArguments(b *syntax.BinaryCmd, to []string) {
	x, isCall := b.X.Cmd.(*syntax.CallExpr)
	y, runs := b.Y.Cmd.(*syntax.CallExpr)
	if !isCall || !runs || len(to) == 0 || to[0] != "xargs" || len(x.Args) < 2 {
		return
	}
	if p := wordOf(x.Args[0]).text; p != "echo" && p != "printf" {
		return
	}
	var words []word
	for _, a := range y.Args {
		words = append(words, wordOf(a))
	}
	for _, a := range x.Args[1:] {
		for text := range strings.FieldsSeq(strings.ReplaceAll(wordOf(a).text, `\0`, " ")) {
			words = append(words, word{text: text, fixed: true})
		}
	}
	j.denyHarm(words)
}
