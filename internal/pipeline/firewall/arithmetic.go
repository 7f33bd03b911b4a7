package firewall

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"collie/internal/lazyregexp"
)

// A shell evaluates the text of a variable that it computes with, as an expression with subscripts in which commands
// may be substituted: after x='a[$(rm y)]', echo $((x)) runs rm. So a script may compute only with values that are
// known to be numbers.

// numbers maps each variable that a script sets to whether it can hold nothing but numbers.
type numbers map[string]bool

// numbersOf returns the variables of a script.
func numbersOf(file *syntax.File) numbers {
	known := numbers{}
	set := func(name *syntax.Lit, isNumber bool) {
		if name == nil {
			return
		}
		before, seen := known[name.Value]
		known[name.Value] = isNumber && (before || !seen)
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if !n.Naked {
				set(n.Name, n.Array == nil && n.Index == nil && holdsNumber(n.Value))
			}
		case *syntax.WordIter:
			set(n.Name, len(n.Items) > 0 && !slices.ContainsFunc(n.Items, func(w *syntax.Word) bool { return !holdsNumber(w) }))
		case *syntax.BinaryArithm:
			if w, ok := n.X.(*syntax.Word); ok && n.Op == syntax.Assgn && len(w.Parts) == 1 { // its value is judged where it stands
				if name, ok := w.Parts[0].(*syntax.Lit); ok {
					set(name, true)
				}
			}
		case *syntax.ParamExp:
			if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				set(n.Param, false)
			}
		}
		return true
	})
	return known
}

// holdsNumber reports whether a word is a number, whatever is in the variables of the script.
func holdsNumber(w *syntax.Word) bool {
	return w != nil && len(w.Parts) > 0 && !slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		lit, isText := p.(*syntax.Lit)
		return isText && !isNumber(lit.Value) || !isText && !numbers{}.isNumeric(p)
	})
}

// isNumeric reports whether a part of a word is a number, or the name of a variable with one.
func (k numbers) isNumeric(p syntax.WordPart) bool {
	switch p := p.(type) {
	case *syntax.Lit:
		return isNumber(p.Value) || k[p.Value] || isNumericVariable(p.Value)
	case *syntax.SglQuoted:
		return isNumber(p.Value)
	case *syntax.DblQuoted:
		return !slices.ContainsFunc(p.Parts, func(inner syntax.WordPart) bool { return !k.isNumeric(inner) })
	case *syntax.ArithmExp: // judged by itself
		return true
	case *syntax.ParamExp:
		return p.Length || p.Param != nil && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && !p.Excl &&
			(k[p.Param.Value] || isNumericVariable(p.Param.Value))
	case *syntax.CmdSubst:
		return len(p.Stmts) == 1 && writesNumbers(p.Stmts[0])
	}
	return false
}

// isNumber reports whether a text is a number, or a range of them: 7, -1, {1..5}.
func isNumber(s string) bool {
	if inner, ok := strings.CutPrefix(s, "{"); ok && strings.HasSuffix(inner, "}") {
		s = strings.ReplaceAll(inner[:len(inner)-1], "..", "")
	}
	s = strings.TrimLeft(s, "+-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func isNumericVariable(name string) bool {
	return slices.Contains([]string{"#", "?", "$", "!", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID"}, name)
}

// writesNumbers reports whether a statement writes nothing but numbers: seq, or a pipe that ends in a count.
func writesNumbers(s *syntax.Stmt) bool {
	for {
		pipe, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || pipe.Op != syntax.Pipe {
			break
		}
		s = pipe.Y
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 || len(call.Assigns) > 0 || slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.Op != syntax.RdrIn }) {
		return false
	}
	first, rest := wordOf(call.Args[1]).text, call.Args[1:]
	switch wordOf(call.Args[0]).text {
	case "seq":
		return !slices.ContainsFunc(rest, func(w *syntax.Word) bool { return !isNumber(wordOf(w).text) })
	case "wc":
		return len(rest) == 1 && slices.Contains([]string{"-l", "-c", "-w"}, first)
	case "grep": // of one file, or of the script's input
		return first == "-c" && len(rest) <= 3 && !slices.ContainsFunc(rest[1:], func(w *syntax.Word) bool {
			operand := wordOf(w)
			return !operand.fixed || operand.globs || strings.HasPrefix(operand.text, "-")
		})
	}
	return false
}

// judgeEvaluation asks about words that a node evaluates as an expression, unless they are known to be
// numbers.
func (j *judgement) judgeEvaluation(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.ArithmExp:
		j.judgeExpression(n.X)
	case *syntax.ArithmCmd:
		j.judgeExpression(n.X)
	case *syntax.CStyleLoop:
		j.judgeExpression(n.Init)
		j.judgeExpression(n.Cond)
		j.judgeExpression(n.Post)
	case *syntax.Assign:
		j.judgeExpression(n.Index)
	case *syntax.ArrayElem:
		j.judgeExpression(n.Index)
	case *syntax.ParamExp:
		j.judgeExpansion(n)
	case *syntax.BinaryTest:
		switch n.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{n.X, n.Y} {
				if w, ok := side.(*syntax.Word); ok {
					j.judgeExpression(w)
				}
			}
		}
	case *syntax.UnaryTest:
		if w, ok := n.X.(*syntax.Word); ok && n.Op == syntax.TsVarSet && !isName(wordOf(w)) {
			j.askEvaluated()
		}
	}
}

// judgeExpansion judges the subscripts and offsets of a variable. With @P it is expanded as a prompt is.
func (j *judgement) judgeExpansion(p *syntax.ParamExp) {
	if w, ok := p.Index.(*syntax.Word); !ok || w.Lit() != "@" && w.Lit() != "*" {
		j.judgeExpression(p.Index)
	}
	if p.Slice != nil {
		j.judgeExpression(p.Slice.Offset)
		j.judgeExpression(p.Slice.Length)
	}
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && !slices.Contains([]string{"Q", "U", "u", "L"}, p.Exp.Word.Lit()) {
		j.askEvaluated()
	}
}

func (j *judgement) judgeExpression(e syntax.ArithmExpr) {
	switch e := e.(type) {
	case nil:
	case *syntax.Word:
		if j.numbers == nil {
			j.numbers = numbersOf(j.file)
		}
		if slices.ContainsFunc(e.Parts, func(p syntax.WordPart) bool { return !j.numbers.isNumeric(p) }) {
			j.askEvaluated()
		}
	case *syntax.BinaryArithm:
		j.judgeComputed(e.X)
		if e.Op != syntax.Assgn {
			j.judgeExpression(e.X)
		}
		j.judgeExpression(e.Y)
	case *syntax.UnaryArithm:
		j.judgeComputed(e.X)
		j.judgeExpression(e.X)
	case *syntax.ParenArithm:
		j.judgeExpression(e.X)
	default:
		j.askEvaluated()
	}
}

// judgeComputed judges the name of a variable that an expression may set: ((PATH=1)).
func (j *judgement) judgeComputed(e syntax.ArithmExpr) {
	if w, ok := e.(*syntax.Word); ok && w.Lit() != "" && !isNumber(w.Lit()) && !isNumericVariable(w.Lit()) {
		j.judgeVariable(w.Lit())
	}
}

// isNumeric reports whether a word is known to be a number.
func (j *judgement) isNumeric(w *syntax.Word) bool {
	if j.file == nil {
		return false
	}
	if j.numbers == nil {
		j.numbers = numbersOf(j.file)
	}
	return !slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool { return !j.numbers.isNumeric(p) })
}

func (j *judgement) askEvaluated() {
	j.report(Ask, "command.dynamic", "it computes with a text that may have a command in it")
}

// printfCount matches the verb of printf that writes to a variable.
var printfCount = lazyregexp.New(`%[-+# 0-9.*]*n`)

// evaluatesWord reports whether a builtin evaluates one of its words, in some shell.
func evaluatesWord(name string, args []word) bool {
	switch name {
	case "test", "[":
		if i := slices.IndexFunc(args, func(w word) bool { return w.text == "-v" }); i >= 0 && i+1 < len(args) && !isName(args[i+1]) {
			return true
		}
	case "wait":
		if hasOption(args, "p", "") {
			return true
		}
	case "printf":
		if len(args) > 0 && printfCount.MatchString(args[0].text) { // it sets a variable
			return true
		}
	case "exit", "return", "shift", "break", "continue":
	default:
		return false
	}
	return slices.ContainsFunc(args, func(w word) bool {
		return strings.Contains(w.text, "[") && strings.ContainsAny(w.text, "$`")
	})
}

// isName reports whether a word is the name of a variable.
func isName(w word) bool {
	return w.fixed && !strings.ContainsAny(w.text, "[]$`")
}
