package entry

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// toolFolders returns the folders where package managers and Node version managers install programs, whether the folders
// exist or not. Programs started from a desktop often lack them in their PATH; see [environment.extend].
func (b *environment) toolFolders(env func(string) string) []string {
	if b.goos == "windows" {
		return joinPairs(
			env("APPDATA"), "npm",
			env("USERPROFILE"), ".local/bin",
		)
	}
	home := env("HOME")
	list := joinPairs(
		home, ".local/bin",
		home, ".cargo/bin",
		home, ".bun/bin",
		home, ".deno/bin",
	)
	list = append(list, b.nodeFolders(home, env)...)
	return append(list, "/opt/homebrew/bin", "/usr/local/bin")
}

// nodeFolders returns the folders where managers of Node versions keep the active one.
func (b *environment) nodeFolders(home string, env func(string) string) []string {
	list := joinPairs(
		env("NVM_BIN"), ".",
		b.nvmDefault(cmp.Or(env("NVM_DIR"), under(home, ".nvm"))), "bin",
		env("FNM_MULTISHELL_PATH"), "bin",
		cmp.Or(env("FNM_DIR"), under(home, ".local/share/fnm")), "aliases/default/bin",
		cmp.Or(env("VOLTA_HOME"), under(home, ".volta")), "bin",
		cmp.Or(env("ASDF_DATA_DIR"), under(home, ".asdf")), "shims",
		cmp.Or(env("MISE_DATA_DIR"), under(home, ".local/share/mise")), "shims",
	)
	return list
}

// nvmDefault returns the folder of the version that nvm uses in a new shell, if its default is a version ("22" or
// "v22.3.0"). Aliases of aliases are not followed.
func (b *environment) nvmDefault(dir string) string {
	data, err := b.ReadFile(filepath.Join(dir, "alias", "default"))
	wanted := strings.TrimPrefix(strings.TrimSpace(string(data)), "v")
	if dir == "" || err != nil || wanted == "" || strings.ContainsAny(wanted, "*/?[") {
		return ""
	}
	found, err := filepath.Glob(filepath.Join(dir, "versions", "node", "v"+wanted+"*"))
	if err != nil {
		return ""
	}
	found = slices.DeleteFunc(found, func(f string) bool {
		v := strings.TrimPrefix(filepath.Base(f), "v")
		return v != wanted && !strings.HasPrefix(v, wanted+".")
	})
	if len(found) == 0 {
		return ""
	}
	return slices.MaxFunc(found, func(a, b string) int {
		return slices.Compare(versionParts(filepath.Base(a)), versionParts(filepath.Base(b)))
	})
}

// versionParts returns the numbers of a version such as v22.3.0.
func versionParts(s string) []int {
	var list []int
	for part := range strings.SplitSeq(strings.TrimPrefix(s, "v"), ".") {
		n, _ := strconv.Atoi(part) // a part that is not a number becomes 0 and sorts first
		list = append(list, n)
	}
	return list
}

// under joins a folder and a name below it; empty if the folder is.
func under(dir, name string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

// joinPairs joins pairs of a folder and a name below it, and leaves out pairs with an empty folder.
func joinPairs(pairs ...string) []string {
	var list []string
	for p := range slices.Chunk(pairs, 2) {
		if dir := under(p[0], p[1]); dir != "" {
			list = append(list, dir)
		}
	}
	return list
}
