package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/process"
	"collie/internal/tool"
)

// passedEnv are the environment variables that every agent of another program gets. Others, such as keys of models, have
// to be listed in the agent's file.
var passedEnv = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "TMPDIR", "XDG_*",
	"SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
}

// command returns the command that starts the agent, and the directory in which it works.
func (f *foreignTurn) command() (c process.Command, dir string, err error) {
	named := &f.files.agent
	wrong := func(subject, message, hint string, err error) (process.Command, string, error) {
		return c, "", &tool.Error{Op: "turn", Kind: tool.Invalid, Subject: subject, Message: message, Hint: hint, Err: err}
	}
	for _, v := range f.agent.opts.Programs.Environ {
		name, _, _ := strings.Cut(v, "=")
		if slices.ContainsFunc(passedEnv, func(p string) bool { return matchEnv(p, name) }) || slices.Contains(named.Env, name) {
			c.Env = append(c.Env, v)
		}
	}
	if dir = f.turn.Config.Folder; dir == "" {
		dir = filepath.Join(f.agent.opts.Programs.Work, named.Name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return wrong("folder", "the agent has no folder to work in", "", err)
		}
	}
	if !filepath.IsAbs(dir) {
		return wrong("folder", fmt.Sprintf("it is %q, expected an absolute path", dir), "", nil)
	}
	c.Label, c.Name, c.Args, c.Dir = named.Name, named.Command[0], named.Command[1:], dir
	return c, dir, nil
}

// matchEnv reports whether name matches pattern. It ignores case, because Windows does and HTTP proxies are written
// both ways.
func matchEnv(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
	}
	return strings.EqualFold(pattern, name)
}
