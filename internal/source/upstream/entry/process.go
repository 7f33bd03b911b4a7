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

// process reads how a stdio server is started.
func (o *object) process() {
	e := &o.entry
	var split []string
	if raw, pointer, ok := o.field("command"); ok {
		split = o.command(pointer, raw)
	}
	var args []string
	o.setList(&args, "args")
	for i, s := range slices.Concat(split, args) {
		e.Args = append(e.Args, o.argument(i, len(split), slices.Concat(split, args), s))
	}
	o.setPath(&e.Dir, "cwd")
	o.environment()
	o.setBool(&e.DockerManaged, "dockerManaged")
	e.Runner, e.Package = runnerOf(e.Command.text, texts(e.Args))
	if e.Command.text != "" {
		o.docker()
	}
}

func texts(vs []Value) []string {
	list := make([]string, len(vs))
	for i, v := range vs {
		list[i] = v.text
	}
	return list
}

// command reads the program. If it is written as a list, the arguments in it are returned.
func (o *object) command(pointer string, raw json.RawMessage) (args []string) {
	var s string
	if kind(raw) == "array" {
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
	v := o.value(pointer, s)
	switch {
	case strings.HasPrefix(v.text, "~/"):
		o.fail(pointer, "R-CV-7", "~ is not expanded; write ${userHome}%s", s[1:])
	case strings.ContainsAny(v.text, "/"+string(filepath.Separator)) && !filepath.IsAbs(v.text):
		v.text = filepath.Join(o.Dir, v.text)
	case v.text == "" && s == "":
		o.fail(pointer, "R-CV-1", "the command is empty")
	}
	o.entry.Command = v
	return args
}

// argument reads argument i of all arguments, of which the first n came from "command".
func (o *object) argument(i, n int, all []string, s string) Value {
	pointer := "/args/" + strconv.Itoa(i-n)
	if i < n {
		pointer = "/command/" + strconv.Itoa(i+1)
	}
	ps, ok := o.expand(pointer, s)
	if !ok {
		return Value{"", s}
	}
	v := Value{join(ps), s}
	flag, value, assigned := strings.Cut(s, "=")
	switch {
	case o.literalSecret(pointer, ps):
		v.shown = mask
	case assigned && isSecretFlag(flag) && !strings.HasPrefix(value, "${"):
		v.shown = flag + "=" + mask
		o.hide(value)
	case i > 0 && isSecretFlag(all[i-1]) && !strings.HasPrefix(s, "${"):
		v.shown = mask
		o.hide(v.text)
	}
	return v
}

// literalSecret warns about text that looks like a secret and does not come from a variable.
func (o *object) literalSecret(pointer string, ps []piece) bool {
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
		o.warn(pointer, "R-CV-6", "this looks like a secret; keep it out of the file and write ${secret:NAME} or ${NAME}")
	}
	return found
}

// environment reads env, envFile and inheritEnv.
func (o *object) environment() {
	e := &o.entry
	e.Env = map[string]Value{}
	if s, pointer, ok := o.text("envFile"); ok {
		o.envFile(pointer, s)
	}
	if raw, pointer, ok := o.field("env"); ok {
		vars, _ := decode[map[string]json.RawMessage](o.parser, pointer, raw, "an object of names and values")
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			o.variable(pointer+"/"+escape(name), name, vars[name])
		}
	}
	if raw, pointer, ok := o.field("inheritEnv"); ok {
		o.inherit(pointer, raw)
	}
}

func (o *object) variable(pointer, name string, raw json.RawMessage) {
	if name == "" || strings.ContainsAny(name, "=\x00") {
		o.fail(pointer, "value", "%q is not a name of a variable", name)
		return
	}
	var s string
	switch k := kind(raw); k {
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
	v := o.hidden(pointer, s)
	if strings.ContainsRune(v.text, 0) {
		o.fail(pointer, "value", "a variable cannot hold a NUL")
		return
	}
	o.entry.Env[name] = v
}

func (o *object) envFile(pointer, s string) {
	file := o.path(pointer, s)
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
		o.hide(value)
		o.entry.Env[name] = hidden(value)
	}
}

func (o *object) inherit(pointer string, raw json.RawMessage) {
	if kind(raw) == "array" {
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
