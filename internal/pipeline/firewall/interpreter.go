package firewall

import (
	"path"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// denyFetchAndRun denies an interpreter that runs the output of a download: sh -c "$(curl …)", bash <(curl …).
func (j *judgement) denyFetchAndRun(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		var stmts []*syntax.Stmt
		switch n := n.(type) {
		case *syntax.CmdSubst:
			stmts = n.Stmts
		case *syntax.ProcSubst:
			stmts = n.Stmts
		}
		for _, s := range stmts {
			for _, p := range programs(s) {
				if strings.Contains(fetchers, " "+p+" ") {
					j.report(Deny, "command.download", "it runs what it has just fetched")
				}
			}
		}
		return true
	})
}

// interpreters are programs that run what they read.
const interpreters = " sh bash zsh dash ksh ash mksh fish csh tcsh busybox pwsh powershell cmd python python2 python3 perl ruby node nodejs deno bun php lua tclsh osascript Rscript source . eval "

func isInterpreter(name string) bool {
	if isInterpreterName()[name] {
		return true
	}
	plain := strings.TrimRight(name, "0123456789.") // python3.12
	return plain != name && isInterpreterName()[plain]
}

var isInterpreterName = sync.OnceValue(func() map[string]bool { return setOf(interpreters) })

// setOf is the words of a list.
func setOf(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// fetchers are programs that bring data from elsewhere.
const fetchers = " curl wget fetch aria2c http https xh lynx nc ncat netcat socat ftp scp "

// judgePipe judges a pipe into a program that runs what it reads, or from an interpreter into the network.
func (j *judgement) judgePipe(b *syntax.BinaryCmd) {
	to, from := programs(b.Y), programs(b.X)
	if slices.ContainsFunc(to, func(p string) bool { return strings.Contains(" nc ncat netcat socat telnet ", " "+p+" ") }) && slices.ContainsFunc(from, isInterpreter) {
		j.report(Deny, "command.reverse", "it hands a shell to somebody else")
		return
	}
	if !slices.ContainsFunc(to, isInterpreter) {
		return
	}
	if slices.ContainsFunc(from, func(p string) bool { return strings.Contains(fetchers, " "+p+" ") }) {
		j.report(Deny, "command.download", "it runs what it has just fetched")
		return
	}
	j.report(Ask, "command.dynamic", "it runs what another command writes")
	if x, ok := b.X.Cmd.(*syntax.CallExpr); ok && len(x.Args) > 1 {
		if p := programs(b.X); len(p) > 0 && (p[0] == "echo" || p[0] == "printf") {
			for _, a := range x.Args[1:] {
				if w := wordOf(a); w.fixed {
					j.judgeScript(w.text)
				}
			}
		}
	}
}

// programs returns the names of all programs in a statement, including those run by wrappers.
func programs(s *syntax.Stmt) (names []string) {
	if s == nil {
		return nil
	}
	syntax.Walk(s, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			for i, a := range c.Args {
				if i > 0 && !wrapsAny(names) {
					break
				}
				if name := path.Base(wordOf(a).text); i == 0 || isInterpreter(name) {
					names = append(names, name)
				}
			}
		}
		return true
	})
	return names
}

func wrapsAny(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(wrappers, " "+n+" ") })
}
