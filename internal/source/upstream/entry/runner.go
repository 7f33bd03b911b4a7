package entry

import (
	"path"
	"slices"
	"strings"
)

// This file recognizes programs such as npx and uvx, which fetch a package and run it.

// runner is a program that fetches a package or an image and runs it.
type runner struct {
	words   string // the program, and the arguments that make it a runner
	valued  string // flags with a value
	carrier string // those flags whose value is the package
}

// runners are the known runners. The first one whose words a command has counts.
var runners = []runner{
	{"npx", "-p --package -c --call -w --workspace", "-p --package"},
	{"npm exec", "-p --package -c --call -w --workspace", "-p --package"},
	{"npm x", "-p --package -c --call -w --workspace", "-p --package"},
	{"pnpm dlx", "--package -C --dir", "--package"},
	{"pnpx", "--package -C --dir", "--package"},
	{"yarn dlx", "-p --package", "-p --package"},
	{"bunx", "-p --package", "-p --package"},
	{"bun x", "-p --package", "-p --package"},
	{"uvx", uvValued, "--from"},
	{"uv tool run", uvValued, "--from"},
	{"uv run", uvValued, "--with"},
	{"pipx run", "--spec --python --index-url --pip-args", "--spec"},
	{"deno run", "--config -c --import-map", ""},
	{"docker run", "", ""},
	{"docker container run", "", ""},
	{"podman run", "", ""},
	{"podman container run", "", ""},
	{"nerdctl run", "", ""},
}

const uvValued = "--from --with --with-editable --with-requirements -p --python --index --index-url " +
	"--default-index --extra-index-url --directory --project --env-file --group --extra --refresh-package"

// runnerOf reports whether a command is a package runner, and returns the package that it runs, empty if that cannot
// be told.
func runnerOf(command string, args []string) (is bool, pkg string) {
	name := program(command)
	if name == "cmd" && len(args) > 1 && strings.EqualFold(args[0], "/c") {
		return runnerOf(args[1], args[2:])
	}
	for _, r := range runners {
		words := strings.Fields(r.words)
		if name != words[0] {
			continue
		}
		rest, ok := after(args, words[1:])
		if !ok {
			continue
		}
		if isContainer(name) {
			return true, parseDocker(rest).image
		}
		return true, r.target(rest)
	}
	return false, ""
}

// program returns the bare name of a command: npx for C:\nodejs\npx.cmd.
func program(command string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	for _, ext := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// after returns the arguments after words. Flags may stand between the words.
func after(args, words []string) ([]string, bool) {
	for _, w := range words {
		for len(args) > 0 && strings.HasPrefix(args[0], "-") {
			args = args[1:]
		}
		if len(args) == 0 || args[0] != w {
			return nil, false
		}
		args = args[1:]
	}
	return args, true
}

// target returns the package: the value of a carrier flag, else the first argument that is not a flag.
func (r runner) target(args []string) string {
	valued, carrier := strings.Fields(r.valued), strings.Fields(r.carrier)
	for i := 0; i < len(args); i++ {
		flag, value, assigned := strings.Cut(args[i], "=")
		if !strings.HasPrefix(flag, "-") {
			return args[i]
		}
		if assigned || !slices.Contains(valued, flag) {
			if assigned && slices.Contains(carrier, flag) {
				return value
			}
			continue
		}
		if i++; i < len(args) && slices.Contains(carrier, flag) {
			return args[i]
		}
	}
	return ""
}
