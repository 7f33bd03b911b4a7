package firewall

import (
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
)

// This file judges commands whose program and arguments are several members of an object.

// part is a member of an object that says what the object runs, or a part of it.
type part struct {
	name  string
	value gjson.Result
}

// invocation collects such members. Which of them a tool looks at is not known, so each counts, in every combination.
type invocation struct {
	commands []part // commands, or programs if there are arguments
	programs []part // only if there are arguments
	args     []part // lists or texts, none of them empty
}

// note notes a member of kind k, and reports whether it is judged only with the others, by [judgement.judgeInvocation].
func (r *invocation) note(name string, item gjson.Result, k kind) (later bool) {
	if item.Type != gjson.String && !item.IsArray() {
		return false
	}
	switch m := memberOf(name); {
	case k == command && item.Type == gjson.String:
		r.commands = append(r.commands, part{name, item})
		return true
	case k == command:
		r.commands = append(r.commands, part{name, item}) // judged by itself too
	case m.isArguments && strings.Trim(item.Raw, "[]\" \t\r\n") != "":
		r.args = append(r.args, part{name, item})
	case item.Type == gjson.String && (name == "program" || name == "executable" || name == "binary"):
		r.programs = append(r.programs, part{name, item})
	}
	return false
}

// judgeInvocation judges the commands that the members of r make up.
func (j *judgement) judgeInvocation(r *invocation) {
	r.commands, r.args = j.withInnerLists(r.commands, command), j.withInnerLists(r.args, unspecified)
	for _, p := range r.commands {
		if p.value.Type == gjson.String && !r.onlyNamesShell(p) &&
			(strings.ContainsAny(p.value.String(), " \t\n;&|<>$`") || !slices.ContainsFunc(r.args, func(a part) bool { return j.declares(a.name) })) {
			j.at(p.name, func() { j.judgeString(p.value.String(), p.name, command) })
		}
	}
	combined := len(r.commands) + len(r.programs)
	for _, args := range r.args {
		for _, p := range r.commands {
			j.at(p.name, func() { j.judgeCombined(p.value, args.value, combined*len(r.args) > 1) })
		}
		for _, p := range r.programs {
			if args.value.IsArray() || j.effects().Has(tool.EffectExecute) {
				j.at(p.name, func() { j.judgeCombined(p.value, args.value, combined*len(r.args) > 1) })
			}
		}
		if args.name == "argv" && (combined == 0 || !slices.ContainsFunc(r.commands, func(p part) bool { return j.declares(p.name) })) {
			if argv, ok := stringItems(args.value); ok {
				j.at(args.name, func() { j.judgeTouchedArgv(argv, args.value.Raw) })
			}
		}
	}
}

// withInnerLists returns parts with the lists that texts of kind k in them hold.
func (j *judgement) withInnerLists(parts []part, k kind) []part {
	for _, p := range parts {
		if p.value.Type == gjson.String {
			j.at(p.name, func() {
				if inner, ok := j.innerJSON(memberOf(p.name), p.value.String(), k); ok && inner.IsArray() {
					parts = append(parts, part{p.name, inner})
				}
			})
		}
	}
	return parts
}

// onlyNamesShell reports whether p names the shell that runs another member.
func (r *invocation) onlyNamesShell(p part) bool {
	if len(r.args) > 0 || len(r.commands) < 2 || !memberOf(p.name).isRuntime {
		return false
	}
	return namesShell(p.value.String())
}

// namesShell reports whether s is one of the usual shells.
func namesShell(s string) bool {
	folder, name := path.Split(s)
	return slices.Contains([]string{"sh", "bash", "dash", "zsh"}, name) && (folder == "" || slices.Contains(programFolders, path.Clean(folder)))
}

// declares reports whether the tool has an argument that holds a member of the current place; it may have any if its
// schema says nothing of them.
func (j *judgement) declares(name string) bool {
	if len(j.place) > 0 {
		name = j.place[0]
	}
	properties := gjson.GetBytes(j.action.InputSchema, "properties")
	return !properties.Exists() || properties.Get(gjson.Escape(name)).Exists()
}

// isKnownBeside reports whether a text of kind k in member m is judged as a command, or says nothing of what runs
// beside one.
func (j *judgement) isKnownBeside(m *member, s string, k kind) bool {
	switch {
	case k == command || m.isAside || m.isRuntime && namesShell(s):
		return true
	case s == "true", s == "false", strings.Trim(s, "0123456789") == "":
		return true
	}
	return j.isCode(m, k) && j.runsAsShell()
}

// judgeCombined judges a program, or the beginning of a command, with its arguments. costs is set if there are several
// combinations: their number is limited by what they cost.
func (j *judgement) judgeCombined(program, args gjson.Result, costs bool) {
	if costs && !j.spend(10+(len(program.Raw)+len(args.Raw))/8) {
		return
	}
	if program.Type == gjson.String && args.Type == gjson.String {
		text := program.String() + " " + args.String()
		j.touched.addCommand(j.commandWords(text), func() { j.judgeCommand(text) })
		return
	}
	argv, known := []string{program.String()}, true
	if program.IsArray() {
		argv, known = stringItems(program)
	}
	rest, ok := []string{args.String()}, true
	if args.IsArray() {
		rest, ok = stringItems(args)
	}
	if !known || !ok {
		j.touched.addUnknown()
		j.report(Ask, "command.unreadable", "the arguments of the command are not only words")
	}
	j.judgeTouchedArgv(append(argv, rest...), program.Raw+args.Raw)
}

// judgeTouchedArgv notes argv as what the call touches, and judges it.
func (j *judgement) judgeTouchedArgv(argv []string, raw string) {
	j.touched.addCommand(argv, func() { j.judgeArgv(argv, raw) })
}

// at runs judge at a member of the current place.
func (j *judgement) at(name string, judge func()) {
	j.place = append(j.place, name)
	judge()
	j.place = j.place[:len(j.place)-1]
}

// stringItems returns the items of a list of words, as which numbers and truth values count too.
func stringItems(v gjson.Result) ([]string, bool) {
	if !v.IsArray() {
		return nil, false
	}
	var out []string
	ok := true
	v.ForEach(func(_, item gjson.Result) bool {
		out = append(out, item.String())
		ok = item.Type != gjson.JSON && item.Type != gjson.Null && len(out) <= maxItems
		return ok
	})
	return out, ok
}
