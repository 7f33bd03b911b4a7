package entry

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/joho/godotenv"
)

// This file reads the fields about the process of a server: command, arguments, environment.

// readProcess reads how a stdio server is started.
func (o *object) readProcess() {
	e := &o.entry
	var split []string
	if raw, pointer, ok := o.field("command"); ok {
		split = o.readCommand(pointer, raw)
	}
	var args []string
	o.appendList(&args, "args")
	all := slices.Concat(split, args)
	for i := range all {
		e.Args = append(e.Args, o.readArgument(all, i, len(split)))
	}
	o.setPath(&e.Dir, "cwd")
	o.readEnvironment()
	o.setBool(&e.DockerManaged, "dockerManaged")
	e.Runner, e.Package = runnerOf(e.Command.text, texts(e.Args))
	if e.Command.text != "" {
		o.checkDocker()
	}
}

// texts returns the values in plain text.
func texts(vs []Value) []string {
	list := make([]string, len(vs))
	for i, v := range vs {
		list[i] = v.text
	}
	return list
}

// readCommand reads the program. If it is written as a list, the arguments in it are returned.
func (o *object) readCommand(pointer string, raw json.RawMessage) (args []string) {
	var s string
	if jsonKind(raw) == "array" {
		list, ok := decode[[]string](o.parser, pointer, raw, "a string or a list of strings")
		if !ok {
			return nil
		}
		if len(list) > 0 {
			s, args, pointer = list[0], list[1:], pointer+"/0"
		}
	} else if text, ok := decode[string](o.parser, pointer, raw, `a string such as "npx"`); ok {
		s = text
	} else {
		return nil
	}
	v := o.shownValue(pointer, s)
	switch {
	case strings.HasPrefix(v.text, "~/"):
		o.fail(pointer, ruleTilde, "~ is not expanded; write ${userHome}%s", s[1:])
	case strings.ContainsAny(v.text, "/"+string(filepath.Separator)) && !filepath.IsAbs(v.text):
		v.text = filepath.Join(o.Dir, v.text)
	case v.text == "" && s == "":
		o.fail(pointer, ruleTransport, "the command is empty")
	}
	o.entry.Command = v
	return args
}

// readArgument reads argument i of all arguments, of which the first n came from "command". It masks what looks like a
// secret, and what follows a flag such as --token.
func (o *object) readArgument(all []string, i, n int) Value {
	s := all[i]
	pointer := "/args/" + strconv.Itoa(i-n)
	if i < n {
		pointer = "/command/" + strconv.Itoa(i+1)
	}
	ps, ok := o.expand(pointer, s)
	if !ok {
		return Value{"", s}
	}
	v := Value{joinPieces(ps), s}
	flag, value, assigned := strings.Cut(s, "=")
	switch {
	case o.warnLiteralSecret(pointer, ps):
		v.shown = mask
	case assigned && isSecretFlag(flag) && !strings.HasPrefix(value, "${"):
		v.shown = flag + "=" + mask
		o.maskInLogs(value)
	case i > 0 && isSecretFlag(all[i-1]) && !strings.HasPrefix(s, "${"):
		v.shown = mask
		o.maskInLogs(v.text)
	}
	return v
}

// warnLiteralSecret masks in logs what looks like a secret and does not come from a variable, and warns about it. It
// reports whether there was any.
func (o *object) warnLiteralSecret(pointer string, ps []piece) bool {
	found := false
	for _, p := range ps {
		for _, word := range strings.FieldsFunc(p.text, func(r rune) bool { return strings.ContainsRune(" =,;", r) }) {
			if p.origin == literal && LooksSecret(word) {
				found = true
				o.secrets[word] = true
			}
		}
	}
	if found {
		o.warn(pointer, ruleSecret, "this looks like a secret; keep it out of the file and write ${secret:NAME} or ${NAME}")
	}
	return found
}

// readEnvironment reads env, envFile and inheritEnv.
func (o *object) readEnvironment() {
	e := &o.entry
	e.Env = map[string]Value{}
	if s, pointer, ok := o.readText("envFile"); ok {
		o.readEnvFile(pointer, s)
	}
	if raw, pointer, ok := o.field("env"); ok {
		vars, _ := decode[map[string]json.RawMessage](o.parser, pointer, raw, "an object of names and values")
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			o.readVariable(pointer+"/"+escapePointer(name), name, vars[name])
		}
	}
	if raw, pointer, ok := o.field("inheritEnv"); ok {
		o.readInheritEnv(pointer, raw)
	}
}

// readVariable adds a variable to the server's environment; null keeps it from being inherited.
func (o *object) readVariable(pointer, name string, raw json.RawMessage) {
	if name == "" || strings.ContainsAny(name, "=\x00") {
		o.fail(pointer, "value", "%q is not a name of a variable", name)
		return
	}
	var s string
	switch k := jsonKind(raw); k {
	case "null":
		delete(o.entry.Env, name)
		o.entry.Unset = append(o.entry.Unset, name)
		return
	case "number", "boolean":
		s = string(raw)
		o.warn(pointer, "type", "%s as a value of a variable; write %q", k, s)
	default:
		text, ok := decode[string](o.parser, pointer, raw, "a string")
		if !ok {
			return
		}
		s = text
	}
	v := o.hiddenValue(pointer, s)
	if strings.ContainsRune(v.text, 0) {
		o.fail(pointer, "value", "a variable cannot hold a NUL")
		return
	}
	o.entry.Env[name] = v
}

// readEnvFile adds the variables of a dotenv file to the server's environment.
func (o *object) readEnvFile(pointer, s string) {
	file := o.absolutePath(pointer, s)
	if o.entry.EnvFile = file; file == "" {
		return
	}
	if o.ReadFile == nil {
		o.fail(pointer, "envFile", "files of variables are not read here")
		return
	}
	data, err := o.ReadFile(file)
	if err != nil {
		o.fail(pointer, "envFile", "%v", err)
		return
	}
	vars, err := godotenv.UnmarshalBytes(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if err != nil {
		// The library's error quotes the line, which may hold a secret.
		o.fail(pointer, "envFile", "%s is not a dotenv file of lines NAME=value", file)
		return
	}
	for name, value := range vars {
		o.maskInLogs(value)
		o.entry.Env[name] = maskedValue(value)
	}
}

// readInheritEnv reads a mode, or a list of names that adds to the minimal set.
func (o *object) readInheritEnv(pointer string, raw json.RawMessage) {
	if jsonKind(raw) == "array" {
		names, _ := decode[[]string](o.parser, pointer, raw, "a list of names")
		for i, n := range names {
			if at := strings.IndexByte(n, '*'); n == "" || at >= 0 && at < len(n)-1 {
				o.fail(pointer+"/"+strconv.Itoa(i), "value", "expected a name or PREFIX_*, got %q", n)
			}
		}
		o.entry.InheritEnv.Names = names
		return
	}
	mode, ok := decode[string](o.parser, pointer, raw, "minimal, all, none or a list of names")
	if ok && !slices.Contains([]string{"minimal", "all", "none"}, mode) {
		o.fail(pointer, "value", "expected minimal, all, none or a list of names, got %q", mode)
	} else if ok {
		o.entry.InheritEnv.Mode = mode
	}
}
