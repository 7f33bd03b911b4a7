package firewall

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// This file judges shell commands by their syntax tree.

// Limits of what is parsed. Anything beyond them is asked about.
const (
	maxCommand  = 16 << 10
	maxTokens   = 256     // words and operators outside of quotes; see countTokens
	maxNested   = 4       // commands within commands: sh -c "sh -c …"
	maxCommands = 64      // simple commands; further ones are only checked for what must never run
	maxSteps    = 8 << 10 // of the judgement; see spend
)

// spend counts steps of the judgement, so that no command makes it take long: a step looks at a word, or parses a few
// bytes. It reports whether there are steps left. Usual scripts of 16 KiB take a tenth of [maxSteps]; a command that takes
// more was made to, so it is denied.
func (j *judgement) spend(steps int) bool {
	if j.spentSteps > maxSteps {
		return false
	}
	if j.spentSteps += steps; j.spentSteps > maxSteps {
		j.report(Deny, "command.many", "it has more commands within commands than can be judged")
		return false
	}
	return true
}

// judgeCommand judges text for a shell: every simple command in it, including those in substitutions, functions and
// here-documents, and those that are passed to other programs. It asks about commands that are not known to be
// harmless.
func (j *judgement) judgeCommand(s string) {
	j.folders = slices.Clip(j.cwds)
	if len(s) > maxCommand {
		j.report(Ask, "command.unreadable", fmt.Sprintf("the command has more than %d bytes", maxCommand))
		j.scanUnparsed(s)
		return
	}
	j.judgeScript(s)
	if j.worst.Decision == Allow && j.depth == 0 {
		j.reportHarmless("command.known", "it only reads, as far as its programs are known")
	}
}

// judgeArgv judges a program with its arguments, which no shell interprets.
func (j *judgement) judgeArgv(argv []string, raw string) {
	if len(raw) > maxCommand {
		j.report(Ask, "command.unreadable", fmt.Sprintf("the command has more than %d bytes", maxCommand))
		return
	}
	j.folders = slices.Clip(j.cwds)
	words := make([]word, len(argv))
	for i, a := range argv {
		words[i] = word{text: a, fixed: true}
	}
	j.judgeSimple(words)
	if j.worst.Decision == Allow {
		j.reportHarmless("command.known", "it only reads, as far as its programs are known")
	}
}

// judgeScript judges the text of a script.
func (j *judgement) judgeScript(s string) {
	if j.depth++; j.depth > maxNested {
		j.report(Ask, "command.nested", "it is a command within a command, too often")
		j.depth--
		return
	}
	defer func() { j.depth-- }()
	if strings.ContainsAny(s, "\x00\r") {
		j.report(Ask, "command.unreadable", "the command has characters that shells read in different ways")
	}
	if j.judgedBefore(s) || !j.spend(10+len(s)/8) {
		return
	}
	if countTokens(s, maxTokens) > maxTokens {
		j.report(Ask, "command.many", fmt.Sprintf("it has more than %d words", maxTokens))
		j.scanUnparsed(s)
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(s), "")
	if err != nil {
		j.report(Ask, "command.unreadable", "the command cannot be read as one of a shell")
		j.scanUnparsed(s)
		return
	}
	outer, numbers := j.file, j.numbers
	j.file, j.numbers = file, nil
	syntax.Walk(file, func(n syntax.Node) bool {
		j.judgeNode(n)
		j.judgeEvaluation(n)
		return true
	})
	j.file, j.numbers = outer, numbers
	j.judgeDialects(s, file)
}

// judgeNode judges one node of the syntax tree of a script, without the nodes below it.
func (j *judgement) judgeNode(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.CallExpr:
		j.judgeCall(n)
	case *syntax.Stmt:
		j.fetches = len(n.Redirs) > 0 && slices.ContainsFunc(j.programs(n), isFetcher)
		j.judgeHeredoc(n)
	case *syntax.Redirect:
		j.judgeRedirect(n)
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			j.judgePipe(n)
		}
	case *syntax.WordIter:
		j.judgeVariable(n.Name.Value)
	case *syntax.FuncDecl:
		j.judgeFunction(n)
	case *syntax.DeclClause:
		j.judgeDeclaration(n)
	case *syntax.ProcSubst:
		if n.Op != syntax.CmdIn {
			j.report(Ask, "command.unknown", "it writes into another command")
		}
	case *syntax.ParamExp:
		if n.Excl || n.Param != nil && !knownVariable(n.Param.Value) {
			j.report(Ask, "command.variable", "it uses the variable "+n.Param.Value+", which may hold a secret")
		}
	case *syntax.Lit:
		if strings.Contains(n.Value, "/dev/tcp/") || strings.Contains(n.Value, "/dev/udp/") {
			j.report(Deny, "command.reverse", "it opens a connection through the shell")
		}
	case *syntax.SglQuoted:
		if strings.Contains(n.Value, "/dev/tcp/") || strings.Contains(n.Value, "/dev/udp/") {
			j.report(Deny, "command.reverse", "it opens a connection through the shell")
		}
	case *syntax.CoprocClause, *syntax.LetClause, *syntax.TestDecl:
		j.report(Ask, "command.unknown", "it is a form of command that is not looked into")
	}
}

// knownVariable reports whether a variable is known not to hold a secret.
func knownVariable(name string) bool {
	if len(name) == 1 || name == strings.ToLower(name) { // $?, $1, and variables that the script itself sets
		return true
	}
	return slices.Contains([]string{"HOME", "PWD", "OLDPWD", "USER", "SHELL", "PATH", "LANG", "TERM", "HOSTNAME", "UID", "EUID", "RANDOM", "SECONDS", "LINENO", "BASH_VERSION", "TMPDIR", "PIPESTATUS", "VIRTUAL_ENV", "GOPATH", "EDITOR"}, name)
}

// judgeCall judges a simple command with its assignments.
func (j *judgement) judgeCall(c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		j.judgeAssignment(a)
	}
	if len(c.Args) == 0 {
		return
	}
	for _, a := range c.Assigns {
		if a.Name != nil && !isDisplayVariable(a.Name.Value) {
			j.report(Ask, "command.environment", "it sets "+a.Name.Value+" for a program")
		}
	}
	words := make([]word, len(c.Args))
	for i, w := range c.Args {
		words[i] = wordOf(w)
		if words[i].option && j.isNumeric(w) {
			words[i].option, words[i].splits = false, false
		}
	}
	if j.commandCount++; j.commandCount > maxCommands {
		if j.commandCount == maxCommands+1 {
			j.report(Ask, "command.many", fmt.Sprintf("it runs more than %d commands", maxCommands))
		}
		j.denyHarm(words)
		return
	}
	j.denyFetched(words)
	if slices.ContainsFunc(words, func(w word) bool { return isInterpreter(w.text[strings.LastIndexByte(w.text, '/')+1:]) }) {
		j.denyFetchAndRun(c)
	}
	j.judgeSimple(words)
}

// judgeAssignment judges NAME=value. Names in capitals are environment variables, which may change what programs do.
func (j *judgement) judgeAssignment(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	if a.Value != nil && len(a.Value.Parts) > 0 {
		syntax.Walk(a.Value, func(n syntax.Node) bool {
			if s, ok := n.(*syntax.CmdSubst); ok && len(s.Stmts) > 0 && slices.ContainsFunc(j.programs(s.Stmts[0]), isFetcher) && len(j.fetchedNames) < maxFolders {
				j.fetchedNames = append(j.fetchedNames, "$"+name)
			}
			return j.spend(1)
		})
	}
	if (name == "COLUMNS" || name == "LINES") && a.Value != nil && !isNumber(wordOf(a.Value).text) { // zsh computes them
		j.askEvaluated()
	}
	if w := wordOf(a.Value); !j.judgeVariable(name) && strings.Contains(w.text, " ") { // PAGER='…'
		j.scanUnparsed(w.text)
	}
}

// zshVariables are variables of zsh that change what commands mean.
const zshVariables = " path fpath cdpath module_path functions commands aliases galiases saliases options dirstack nameddirs builtins "

// judgeVariable judges the name of a variable that is set, and reports whether that does no harm.
func (j *judgement) judgeVariable(name string) bool {
	switch {
	case name == "HISTFILE" || name == "HISTSIZE" || name == "HISTFILESIZE":
		j.report(Deny, "command.traces", "it keeps commands out of the history")
		return true
	case strings.Contains(zshVariables, " "+name+" "), strings.HasPrefix(name, "npm_config_"), strings.HasSuffix(name, "_proxy"):
	case name == strings.ToLower(name), isDisplayVariable(name):
		return true
	}
	j.report(Ask, "command.environment", "it sets "+name+", which may change what programs do")
	return false
}

// isDisplayVariable reports whether an environment variable changes no more than how programs show things.
func isDisplayVariable(name string) bool {
	return name == "LANG" || strings.HasPrefix(name, "LC_") || slices.Contains([]string{"TZ", "TERM", "NO_COLOR", "COLUMNS", "LINES", "CLICOLOR", "FORCE_COLOR"}, name)
}

func (j *judgement) judgeDeclaration(d *syntax.DeclClause) {
	for _, a := range d.Args {
		j.judgeAssignment(a)
	}
	if len(d.Args) == 0 || slices.ContainsFunc(d.Args, func(a *syntax.Assign) bool { return a.Name == nil }) {
		j.report(Ask, "command.variable", "it shows all variables, which may hold secrets")
	}
	if d.Variant != nil && !slices.Contains([]string{"local", "export", "readonly", "declare"}, d.Variant.Value) {
		j.report(Ask, "command.unknown", d.Variant.Value+" is not known to do no harm")
	}
}

// judgeRedirect judges the files that a command is redirected from and to.
func (j *judgement) judgeRedirect(r *syntax.Redirect) {
	switch r.Op {
	case syntax.DplIn, syntax.DplOut:
		if w := wordOf(r.Word); !w.fixed || strings.Trim(w.text, "0123456789-") != "" {
			j.report(Ask, "command.write", "it writes to "+w.text)
		}
		return
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc: // judgeHeredoc judges their text
		return
	}
	w := wordOf(r.Word)
	reads := r.Op == syntax.RdrIn
	if !reads && j.fetches {
		j.noteFetched(w.text)
	}
	switch {
	case !w.fixed || w.globs && w.text != "":
		j.report(Ask, "command.dynamic", "it is not known which file it uses")
	case reads:
		j.judgeOperand(w, false)
	case !j.isHarmlessTarget(w.text):
		j.judgeOperand(w, true)
		j.report(Ask, "command.write", "it writes to "+w.text)
	}
}

// isHarmlessTarget reports whether a file may be written to unasked. What is behind a descriptor is a file if the script
// redirects one from a file: echo x < notes.md > /dev/stdin. A script within another may have such a one from there.
func (j *judgement) isHarmlessTarget(p string) bool {
	switch p {
	case "/dev/null", "/dev/zero":
		return true
	case "/dev/stdout", "/dev/stderr":
		return j.depth == 1 && j.file != nil && !redirectsFile(j.file)
	}
	return false
}

// redirectsFile reports whether a script redirects something from a file.
func redirectsFile(file *syntax.File) (reads bool) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Redirect); ok && (r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut || r.Op == syntax.DplIn) {
			reads = true
		}
		return !reads
	})
	return reads
}

// judgeHeredoc judges a here-document that an interpreter runs.
func (j *judgement) judgeHeredoc(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		body := r.Hdoc
		if r.Op == syntax.WordHdoc {
			body = r.Word
		}
		if body != nil && slices.ContainsFunc(j.programs(s), isInterpreter) {
			j.report(Ask, "command.dynamic", "it runs a text that is handed to it")
			j.denyFetchAndRun(body)
			j.judgeScript(wordOf(body).text)
		}
	}
}

// judgeFunction judges the declaration of a function. One that calls itself is denied as a fork bomb, and any other is
// asked about, since it may replace a command. Its body is judged like the rest of the script.
func (j *judgement) judgeFunction(f *syntax.FuncDecl) {
	if f.Name == nil {
		j.report(Ask, "command.unknown", "it declares a function without a name")
		return
	}
	name, bomb := f.Name.Value, false
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && wordOf(c.Args[0]).text == name {
			bomb = true
		}
		return true
	})
	if bomb {
		j.report(Deny, "command.bomb", "a function that calls itself without end")
		return
	}
	j.report(Ask, "command.unknown", "it declares the function "+name)
}

// judgeSimple judges the words of a simple command.
func (j *judgement) judgeSimple(words []word) {
	before := j.reportCount
	j.simpleReads = false
	switch {
	case hasPrefix(words, j.policy.DenyCommands):
		j.report(Deny, "command.denied", "guard.commands.deny names it")
	case hasPrefix(words, j.policy.AllowCommands):
		for _, w := range words[1:] {
			j.judgeOperand(w, true)
		}
		j.judgeWalk(programName(words), words[1:])
		j.judgeAddresses(words)
		j.denyAllowed(words)
		return
	default:
		j.askUnlessHarmless(words)
	}
	if j.reportCount > before && !j.simpleReads { // not for a harmless command, whose words are data: echo rm -rf /
		j.denyHarm(words)
	}
}

// hasPrefix reports whether a command begins with the words of an entry of list.
func hasPrefix(words []word, list []string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		want := strings.Fields(entry)
		if len(want) == 0 || len(want) > len(words) {
			return false
		}
		for i, w := range want {
			if !words[i].fixed || words[i].globs || words[i].text != w {
				return false
			}
		}
		return true
	})
}

// programFolders are the folders whose programs are trusted to be what their names say.
var programFolders = []string{"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin"}

// programName returns the name of the program that a command runs; empty if that is not known.
func programName(words []word) string {
	if len(words) == 0 || !words[0].fixed || words[0].globs {
		return ""
	}
	name := words[0].text
	if strings.Contains(name, "/") {
		if !slices.Contains(programFolders, path.Dir(name)) {
			return ""
		}
		name = path.Base(name)
	}
	return name
}

// askUnlessHarmless asks about a command unless it is known to do no harm.
func (j *judgement) askUnlessHarmless(words []word) {
	name := programName(words)
	switch {
	case len(words) == 0:
		j.report(Ask, "command.dynamic", "it is not known what it runs")
		return
	case name == "" && !words[0].fixed:
		j.report(Ask, "command.dynamic", "it is not known what it runs")
		return
	case name == "":
		j.report(Ask, "command.unknown", words[0].text+" is not known to do no harm")
		return
	}
	if inner, ok := unwrap(name, words[1:]); ok {
		for _, w := range words[1 : len(words)-len(inner)] {
			if folder, ok := strings.CutPrefix(w.text, "--chdir="); ok && name == "env" {
				j.changeFolder(word{text: folder, fixed: w.fixed})
			}
			if key, _, assigns := strings.Cut(w.text, "="); assigns && !strings.HasPrefix(key, "-") && !strings.HasPrefix(key, "LC_") && key != "LANG" && key != "TZ" {
				j.report(Ask, "command.environment", "it sets "+key+", which may change what programs do")
			}
		}
		if i := slices.IndexFunc(words, func(w word) bool { return w.text == "-C" || w.text == "--chdir" }); name == "env" && i > 0 && i+1 < len(words) {
			j.changeFolder(words[i+1])
		}
		if name == "xargs" {
			j.judgeXargs(inner)
			return
		}
		j.askUnlessHarmless(inner)
		return
	}
	switch name {
	case "sh", "bash", "dash", "zsh":
		if len(words) == 3 && words[1].fixed && words[1].text == "-c" && words[2].fixed {
			j.judgeScript(words[2].text)
			return
		}
	case "cd", "pushd":
		if i := slices.IndexFunc(words[1:], func(w word) bool { return !strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "+") }); i >= 0 {
			j.changeFolder(words[1+i])
		} else {
			j.changeFolder(word{text: "~", fixed: true})
		}
	case "find":
		j.judgeFind(words[1:])
		return
	case "sed":
		j.judgeSed(words[1:])
		return
	}
	j.judgeWalk(name, words[1:])
	if evaluatesWord(name, words[1:]) {
		j.askEvaluated()
	}
	if j.simpleReads = j.onlyReads(words); !j.simpleReads {
		j.report(Ask, "command.unknown", name+" is not known to do no harm with these arguments")
	}
}

// judgeOperand judges an argument that may be a file.
func (j *judgement) judgeOperand(w word, write bool) {
	text := w.text
	if strings.HasPrefix(text, "-") && len(text) > 1 {
		i := strings.IndexAny(text, "/~")
		if _, value, ok := strings.Cut(text, "="); ok {
			text = value
		} else if i < 0 {
			return
		} else {
			text = text[i:]
		}
	}
	text = strings.TrimPrefix(text, "@")
	if key, value, ok := strings.Cut(text, "="); ok && !strings.ContainsAny(key, "/.") { // if=/dev/sda
		text = strings.TrimLeft(value, "@<")
	}
	if text == "" || strings.Contains(text, "\n") || j.isPlainPath(text) && (j.files.Resolve == nil || text[0] != '/') {
		return
	}
	if j.pathCount++; j.pathCount > maxPaths {
		j.judgeName(text, write)
		return
	}
	absolute, relative := j.canonical(text)
	resolved := j.resolve(absolute, relative)
	inside := relative && !leavesFolder(text)
	if j.denyForbidden(text, absolute, write, inside) || resolved != absolute && j.denyForbidden(text, resolved, write, inside) {
		return
	}
	if relative {
		for _, folder := range j.folders {
			if j.denyForbidden(text, j.resolve(path.Join(folder, text), false), write, false) {
				return
			}
		}
	} else if !isHarmlessDevice(absolute) {
		j.judgeRoots(text, resolved, write)
	}
}

// denyForbidden denies the operand text of a command if no call may touch the path p, which text may stand for, and reports
// whether it did. write and inside are those of forbidden.
func (j *judgement) denyForbidden(text, p string, write, inside bool) bool {
	rule, bad := j.forbidden(p, write, inside)
	if bad {
		j.report(Deny, rule.name, text+": "+rule.why)
	}
	return bad
}
