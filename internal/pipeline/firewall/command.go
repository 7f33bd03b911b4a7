package firewall

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of what is parsed. Anything beyond them is asked about.
const (
	maxCommand  = 16 << 10
	maxNested   = 4  // commands within commands: sh -c "sh -c …"
	maxCommands = 64 // simple commands; of further ones it is only seen whether they must never run
	maxWords    = 64 // of a line that cannot be parsed
)

// judgeCommand judges text for a shell: every simple command in it, including those in substitutions, functions and
// here-documents and those that other programs are told to run. A command that is not known to be harmless is asked
// about.
func (j *judgement) judgeCommand(s string) {
	j.folders = nil
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
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(s), "")
	if err != nil {
		j.report(Ask, "command.unreadable", "the command cannot be read as one of a shell")
		j.scanUnparsed(s)
		return
	}
	outer, numbers := j.script, j.numbers
	j.script, j.numbers = file, nil
	syntax.Walk(file, func(n syntax.Node) bool {
		j.judgeNode(n)
		j.judgeEvaluation(n)
		return true
	})
	j.script, j.numbers = outer, numbers
}

// scanUnparsed looks for denied commands in text that cannot be parsed, word by word.
func (j *judgement) scanUnparsed(s string) {
	for line := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune("\n;|&()`", r) }) {
		var words []word
		for w := range strings.FieldsSeq(line) {
			if len(words) == maxWords {
				break
			}
			words = append(words, word{text: strings.Trim(w, `"'{}`), fixed: true})
		}
		j.denyHarm(words)
	}
}

func (j *judgement) judgeNode(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.CallExpr:
		j.judgeCall(n)
	case *syntax.Stmt:
		j.judgeHeredoc(n)
	case *syntax.Redirect:
		j.judgeRedirect(n)
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			j.judgePipe(n)
		}
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
	return slices.Contains([]string{"HOME", "PWD", "OLDPWD", "USER", "SHELL", "PATH", "LANG", "TERM", "HOSTNAME", "UID", "EUID", "RANDOM", "SECONDS", "LINENO", "BASH_VERSION", "TMPDIR"}, name)
}

// word is one word of a command.
type word struct {
	text  string
	fixed bool // the shell expands nothing in it
	globs bool // it is a pattern of file names
}

// special are the characters that may stand for something else in a word without quotes.
const special = "\\*?[{~"

// wordOf evaluates a word as far as that is possible without running anything.
func wordOf(w *syntax.Word) word {
	out := word{fixed: true}
	if w != nil && len(w.Parts) == 1 {
		if plain, ok := w.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(plain.Value, special) {
			out.text = plain.Value
			return out
		}
	}
	var b strings.Builder
	if w != nil {
		out.read(&b, w.Parts, false)
	}
	out.text = b.String()
	return out
}

func (w *word) read(b *strings.Builder, parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			w.literal(b, part.Value, quoted)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
			if part.Dollar && strings.Contains(part.Value, `\`) {
				w.fixed = false
			}
		case *syntax.DblQuoted:
			w.read(b, part.Parts, true)
		case *syntax.ParamExp:
			if part.Param != nil && part.Param.Value == "HOME" && part.Exp == nil && part.Slice == nil && part.Repl == nil && !part.Excl && !part.Length {
				b.WriteString("~")
				continue
			}
			w.fixed = false
		default:
			w.fixed = false
		}
	}
}

// literal reads text without quotes or, if quoted is set, within double quotes, where a backslash escapes only some
// characters.
func (w *word) literal(b *strings.Builder, s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0):
			if i++; s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		case quoted:
		case c == '*' || c == '?' || c == '[' && s != "[":
			w.globs = true
		case c == '{' && strings.ContainsAny(s[i:], ",.") && strings.Contains(s[i:], "}"):
			w.fixed = false
		case c == '~' && b.Len() == 0 && len(s) > 1 && s[1] != '/':
			w.fixed = false // ~user, the home of another user
		}
		b.WriteByte(s[i])
	}
}

// judgeCall judges a simple command with its assignments.
func (j *judgement) judgeCall(c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		j.judgeAssignment(a)
	}
	if len(c.Args) == 0 {
		return
	}
	words := make([]word, len(c.Args))
	for i, w := range c.Args {
		words[i] = wordOf(w)
	}
	if j.calls++; j.calls > maxCommands {
		if j.calls == maxCommands+1 {
			j.report(Ask, "command.many", fmt.Sprintf("it runs more than %d commands", maxCommands))
		}
		j.denyHarm(words)
		return
	}
	if slices.ContainsFunc(words, func(w word) bool { return isInterpreter(path.Base(w.text)) }) {
		j.denyFetchAndRun(c)
	}
	j.judgeSimple(words)
}

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

// judgeAssignment judges NAME=value. Names in capitals are environment variables, which may change what programs do.
func (j *judgement) judgeAssignment(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	switch {
	case name == "HISTFILE" || name == "HISTSIZE" || name == "HISTFILESIZE":
		j.report(Deny, "command.traces", "it keeps commands out of the history")
	case slices.Contains([]string{"path", "fpath", "cdpath", "module_path"}, name): // those of zsh
		j.report(Ask, "command.environment", "it sets "+name+", which may change what programs do")
	case name == strings.ToLower(name), name == "LANG", strings.HasPrefix(name, "LC_"), slices.Contains([]string{"TZ", "TERM", "NO_COLOR", "COLUMNS", "LINES", "CLICOLOR", "FORCE_COLOR"}, name):
	default:
		j.report(Ask, "command.environment", "it sets "+name+", which may change what programs do")
	}
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
	switch {
	case !w.fixed || w.globs && w.text != "":
		j.report(Ask, "command.dynamic", "it is not known which file it uses")
	case reads:
		j.judgeOperand(w, false)
	case !harmlessDevice(w.text):
		j.judgeOperand(w, true)
		j.report(Ask, "command.write", "it writes to "+w.text)
	}
}

// judgeHeredoc judges a here-document that an interpreter runs.
func (j *judgement) judgeHeredoc(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		body := r.Hdoc
		if r.Op == syntax.WordHdoc {
			body = r.Word
		}
		if body != nil && slices.ContainsFunc(programs(s), isInterpreter) {
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

// judgeSimple judges the words of a simple command.
func (j *judgement) judgeSimple(words []word) {
	before := j.reports
	j.reads = false
	switch {
	case hasPrefix(words, j.policy.DenyCommands):
		j.report(Deny, "command.denied", "guard.commands.deny names it")
	case hasPrefix(words, j.policy.AllowCommands):
		for _, w := range words[1:] {
			j.judgeOperand(w, true)
		}
		j.judgeWalk(programName(words), words[1:])
		j.denyAddresses(words)
		j.denyAllowed(words)
		return
	default:
		j.askUnlessHarmless(words)
	}
	if j.reports > before && !j.reads { // not for a harmless command, whose words are data: echo rm -rf /
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

// programFolders are the folders in which a program is what its name says.
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
				j.goTo(word{text: folder, fixed: w.fixed})
			}
			if key, _, assigns := strings.Cut(w.text, "="); assigns && !strings.HasPrefix(key, "-") && !strings.HasPrefix(key, "LC_") && key != "LANG" && key != "TZ" {
				j.report(Ask, "command.environment", "it sets "+key+", which may change what programs do")
			}
		}
		if i := slices.IndexFunc(words, func(w word) bool { return w.text == "-C" || w.text == "--chdir" }); name == "env" && i > 0 && i+1 < len(words) {
			j.goTo(words[i+1])
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
		if len(words) == 3 && words[1].text == "-c" && words[2].fixed {
			j.judgeScript(words[2].text)
			return
		}
	case "cd", "pushd":
		if i := slices.IndexFunc(words[1:], func(w word) bool { return !strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "+") }); i >= 0 {
			j.goTo(words[1+i])
		} else {
			j.goTo(word{text: "~", fixed: true})
		}
	case "find":
		j.judgeFind(words[1:])
		return
	case "sed":
		j.judgeSed(words[1:])
		return
	}
	j.judgeWalk(name, words[1:])
	if evaluates(name, words[1:]) {
		j.askEvaluated()
	}
	if j.reads = j.onlyReads(words); !j.reads {
		j.report(Ask, "command.unknown", name+" is not known to do no harm with these arguments")
	}
}

// judgeXargs judges a command that xargs runs, whose further arguments are unknown.
func (j *judgement) judgeXargs(inner []word) {
	switch programName(inner) {
	case "": // without a command xargs runs echo
		if len(inner) == 0 {
			return
		}
	case "echo", "wc", "ls", "basename", "dirname", "stat", "file", "du", "md5sum", "sha1sum", "sha256sum", "printf":
		j.askUnlessHarmless(inner)
		return
	}
	j.report(Ask, "command.dynamic", "xargs runs it with arguments that are not known")
}

// wrappers are programs that run the command which follows their options.
const wrappers = " env nohup nice ionice time timeout gtimeout stdbuf setsid command builtin xargs exec sudo doas chroot strace ltrace unbuffer caffeinate proxychains "

// wrapperOptions are the options, by wrapper, that take the next word as their value.
var wrapperOptions = map[string]string{
	"env": "uC", "nohup": "", "nice": "n", "ionice": "cnp", "time": "fo", "timeout": "sk", "gtimeout": "sk", "stdbuf": "ioe", "setsid": "",
	"command": "", "builtin": "", "xargs": "InPLdEsa",
}

// unwrap returns the command that a wrapper runs, if the wrapper itself does no harm.
func unwrap(name string, words []word) (inner []word, ok bool) {
	values, ok := wrapperOptions[name]
	if !ok {
		return nil, false
	}
	if name == "command" && len(words) > 0 && (words[0].text == "-v" || words[0].text == "-V") {
		return nil, false
	}
	duration := name == "timeout" || name == "gtimeout"
	for len(words) > 0 {
		text := words[0].text
		switch {
		case !words[0].fixed:
			return nil, false
		case name == "env" && (strings.HasPrefix(text, "-S") || strings.HasPrefix(text, "--split") || strings.HasPrefix(text, "-vS")):
			return nil, false
		case name == "time" && (strings.HasPrefix(text, "-o") || strings.HasPrefix(text, "--out")):
			return nil, false
		case text == "--":
			words = words[1:]
			if !duration {
				return words, true
			}
			continue
		case strings.HasPrefix(text, "--"), strings.HasPrefix(text, "-") && len(text) > 2:
		case strings.HasPrefix(text, "-") && len(text) == 2:
			if strings.Contains(values, text[1:]) && len(words) > 1 {
				words = words[1:]
			}
		case name == "env" && strings.Contains(text, "="):
		case duration:
			duration = false
		default:
			return words, true
		}
		words = words[1:]
	}
	return nil, name == "xargs"
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
		text = value
	}
	if text == "" || strings.Contains(text, "\n") {
		return
	}
	if j.paths++; j.paths > maxPaths {
		j.judgeName(text, write)
		return
	}
	absolute, relative := j.canonical(text)
	resolved := j.resolve(absolute, relative)
	for i := -2; i < len(j.folders); i++ {
		p := resolved
		switch {
		case i == -2:
			p = absolute
		case i >= 0 && !relative:
			continue
		case i >= 0:
			p = j.resolve(path.Join(j.folders[i], text), false)
		case resolved == absolute:
			continue
		}
		if rule, bad := j.forbidden(p, write); bad {
			j.report(Deny, rule.name, text+": "+rule.why)
			return
		}
	}
	if !relative && !harmlessDevice(absolute) {
		j.judgeRoots(text, resolved, write)
	}
}

// judgeFind judges the arguments of find, which can run commands and delete files.
func (j *judgement) judgeFind(words []word) {
	folders, rest := findFolders(words)
	for _, w := range folders {
		j.judgeRead(w)
	}
	if j.findsAll(folders, rest) {
		j.report(Deny, "command.everything", "it deletes far more than anybody means")
	}
	for i := 0; i < len(rest); i++ {
		switch text := rest[i].text; {
		case !rest[i].fixed:
			j.report(Ask, "command.dynamic", "it is not known what it does with what it finds")
		case strings.HasPrefix(text, "-exec"), strings.HasPrefix(text, "-ok"):
			end := i + 1
			for end < len(rest) && rest[end].text != ";" && rest[end].text != "+" {
				end++
			}
			inner := rest[i+1 : end]
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

// findsAll reports whether find deletes all that it finds in a folder such as the root or a home.
func (j *judgement) findsAll(folders, rest []word) bool {
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

// findFolders returns the folders that find searches, and what stands behind them.
func findFolders(words []word) (folders, rest []word) {
	n := slices.IndexFunc(words, func(w word) bool { return strings.HasPrefix(w.text, "-") || w.text == "(" || w.text == "!" })
	if n < 0 {
		n = len(words)
	}
	return words[:n], words[n:]
}

func deletes(words []word) bool {
	name := programName(words)
	return name == "rm" || name == "shred" || name == "unlink"
}

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
