package firewall

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// This file asks about text that shells read in different ways, or otherwise than our parser.

// judgeDialects judges a script as other shells may read it: with lines joined that end in a backslash, and by the syntax
// of POSIX, which dash has.
func (j *judgement) judgeDialects(s string, file *syntax.File) {
	if joined := joinLines(s); joined != s {
		j.judgeScript(joined)
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		j.judgeReading(s, n)
		return true
	})
	if !strings.Contains(s, "[[") && !strings.Contains(s, "$'") && !strings.Contains(s, `$"`) && !strings.Contains(s, "((") {
		return // POSIX reads it in the same way, or not at all
	}
	posix, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(s), "")
	if err != nil {
		return
	}
	computed := namesComputed(file)
	outer, numbers := j.file, j.numbers
	j.file, j.numbers = posix, nil
	syntax.Walk(posix, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if isTestInPosix(n, s) || len(n.Args) > 0 && computed[strings.Trim(n.Args[0].Lit(), "+-!")] {
				return true
			}
		case *syntax.Redirect:
			if isNumber(n.Word.Lit()) { // ((n > 3)) writes to a file of that name, which is nobody's
				return true
			}
		}
		j.judgeNode(n)
		return true
	})
	j.file, j.numbers = outer, numbers
}

// namesComputed returns the variables and numbers with which a script computes, in ((n > 3)). In a shell of POSIX such a
// variable is the name of a program.
func namesComputed(file *syntax.File) map[string]bool {
	names := map[string]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		a, ok := n.(*syntax.ArithmCmd)
		if ok {
			syntax.Walk(a, func(n syntax.Node) bool {
				if w, ok := n.(*syntax.Word); ok && !strings.Contains(w.Lit(), "/") {
					names[w.Lit()] = true
				}
				return true
			})
		}
		return !ok
	})
	return names
}

// isTestInPosix reports whether a command of POSIX is a part of a test in brackets, [[ a && b ]], that runs nothing: the
// program [[ does not exist, and what stands behind && is not run then.
func isTestInPosix(c *syntax.CallExpr, s string) bool {
	if len(c.Args) == 0 {
		return false
	}
	if c.Args[0].Lit() == "[[" {
		return true
	}
	if c.Args[len(c.Args)-1].Lit() != "]]" {
		return false
	}
	first := wordOf(c.Args[0])
	if first.fixed {
		return strings.HasPrefix(first.text, "-")
	}
	return !first.option || !strings.Contains(s, "||") && !strings.Contains(s, "! [[")
}

// joinLines removes each backslash at the end of a line with the end of the line, as shells do before they read words. They do
// not do so in single quotes.
func joinLines(s string) string {
	if !strings.Contains(s, "\\\n") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		if i++; s[i] != '\n' {
			b.WriteString(s[i-1 : i+1])
		}
	}
	return b.String()
}

// judgeReading asks about a node of the script s that another shell would read otherwise.
func (j *judgement) judgeReading(s string, n syntax.Node) {
	switch n := n.(type) {
	case *syntax.ExtGlob:
		j.report(Ask, "command.unreadable", "shells read such a pattern in different ways")
	case *syntax.DblQuoted:
		j.judgeInnerQuotes(n)
	case *syntax.Redirect:
		if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
			j.report(Ask, "command.environment", "it sets the variable "+n.N.Value)
		}
		if n.Hdoc != nil {
			j.judgeInnerQuotes(n.Hdoc)
			j.judgeDelimiter(n)
		}
	case *syntax.CmdSubst:
		if n.Backquotes {
			j.judgeBackquotes(n)
		}
	case *syntax.Comment:
		at := int(n.Hash.Offset())
		line, _, _ := strings.Cut(s[min(at, len(s)):], "\n")
		if at > 0 && at <= len(s) && !strings.ContainsRune(" \t\n;&|(`", rune(s[at-1])) || strings.HasSuffix(line, "\\") { // our parser joins the lines
			j.report(Ask, "command.unreadable", "shells read that comment in different ways")
		}
	}
}

// judgeInnerQuotes asks about single quotes in the expansions of a quoted text: in "${x:-'$(command)'}" they do not quote.
func (j *judgement) judgeInnerQuotes(quoted syntax.Node) {
	syntax.Walk(quoted, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		if ok {
			syntax.Walk(p, func(n syntax.Node) bool {
				if q, ok := n.(*syntax.SglQuoted); ok && strings.ContainsAny(q.Value, "$`\\") {
					j.report(Ask, "command.unreadable", "shells read quotes in an expansion in different ways")
				}
				return j.spend(1)
			})
		}
		return !ok && j.spend(1)
	})
}

// judgeDelimiter asks about a here-document that may end elsewhere in another shell.
func (j *judgement) judgeDelimiter(r *syntax.Redirect) {
	plain := ""
	if len(r.Word.Parts) == 1 {
		switch p := r.Word.Parts[0].(type) {
		case *syntax.Lit:
			plain = p.Value
		case *syntax.SglQuoted:
			if !p.Dollar {
				plain = p.Value
			}
		case *syntax.DblQuoted:
			if len(p.Parts) == 1 && !p.Dollar {
				if l, ok := p.Parts[0].(*syntax.Lit); ok {
					plain = l.Value
				}
			}
		}
	}
	if plain == "" || strings.Trim(plain, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		j.report(Ask, "command.unreadable", "shells disagree about where the here-document ends")
		return
	}
	for line := range strings.Lines(wordOf(r.Hdoc).text) {
		if strings.HasPrefix(strings.TrimLeft(line, "\t "), plain) {
			j.report(Ask, "command.unreadable", "shells disagree about where the here-document ends")
			return
		}
	}
}

// judgeBackquotes asks about a here-document in backquotes, which end it.
func (j *judgement) judgeBackquotes(c *syntax.CmdSubst) {
	syntax.Walk(c, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Redirect); ok && r.Hdoc != nil {
			j.report(Ask, "command.unreadable", "shells disagree about a here-document in backquotes")
		}
		return j.spend(1)
	})
}
