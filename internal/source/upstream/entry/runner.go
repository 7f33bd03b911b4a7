package entry

import (
	"path"
	"slices"
	"strings"
)

// This file recognizes programs such as npx and uvx, which fetch a package and run it.

// runner is a program that fetches a package or an image and runs it.
type runner struct {
	words   string // the program, and the arguments that make it a runner; as the next two, separated by spaces
	valued  string // flags that take a value
	carrier string // those of valued whose value is the package; for containers the image is found by parseDocker
}

// runners are the known runners. The first one whose words a command has counts.
var runners = []runner{
	{words: "npx", valued: "-p --package -c --call -w --workspace", carrier: "-p --package"},
	{words: "npm exec", valued: "-p --package -c --call -w --workspace", carrier: "-p --package"},
	{words: "npm x", valued: "-p --package -c --call -w --workspace", carrier: "-p --package"},
	{words: "pnpm dlx", valued: "--package -C --dir", carrier: "--package"},
	{words: "pnpx", valued: "--package -C --dir", carrier: "--package"},
	{words: "yarn dlx", valued: "-p --package", carrier: "-p --package"},
	{words: "bunx", valued: "-p --package", carrier: "-p --package"},
	{words: "bun x", valued: "-p --package", carrier: "-p --package"},
	{words: "uvx", valued: uvValued, carrier: "--from"},
	{words: "uv tool run", valued: uvValued, carrier: "--from"},
	{words: "uv run", valued: uvValued, carrier: "--with"},
	{words: "pipx run", valued: "--spec --python --index-url --pip-args", carrier: "--spec"},
	{words: "deno run", valued: "--config -c --import-map"},
	{words: "docker run"},
	{words: "docker container run"},
	{words: "podman run"},
	{words: "podman container run"},
	{words: "nerdctl run"},
}

// uvValued are the flags of uv that take a value.
const uvValued = "--from --with --with-editable --with-requirements -p --python --index --index-url " +
	"--default-index --extra-index-url --directory --project --env-file --group --extra --refresh-package"

// runnerOf reports whether a command is a package runner, and returns the package that it runs, empty if that cannot
// be told.
func runnerOf(command string, args []string) (is bool, pkg string) {
	name := programName(command)
	if name == "cmd" && len(args) > 1 && strings.EqualFold(args[0], "/c") {
		return runnerOf(args[1], args[2:])
	}
	for _, r := range runners {
		words := strings.Fields(r.words)
		if name != words[0] {
			continue
		}
		rest, ok := argumentsAfter(args, words[1:])
		if !ok {
			continue
		}
		if isContainer(name) {
			return true, parseDocker(rest).image
		}
		return true, r.packageIn(rest)
	}
	return false, ""
}

// programName returns the bare name of a command: npx for C:\nodejs\npx.cmd.
func programName(command string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	for _, ext := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// argumentsAfter returns the arguments after words. Flags may stand between the words.
func argumentsAfter(args, words []string) ([]string, bool) {
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

// packageIn returns the package that arguments name: the value of a carrier flag, else the first argument that is not a
// flag.
func (r runner) packageIn(args []string) string {
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
