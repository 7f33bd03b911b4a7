package file

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/tool"
)

// This file checks paths on this machine: only files below allowed folders may be read or written.

// localFile is a path on this machine that may be used: below one of the allowed folders, with all symbolic links
// resolved.
type localFile struct {
	root string // the allowed folder
	rel  string // path below root in the form of this system; "." is the folder itself
}

// path returns the whole path.
func (l localFile) path() string { return filepath.Join(l.root, l.rel) }

// openRoot opens the allowed folder. The result never leads out of it, even if links change in the meantime. The caller
// closes it.
func (l localFile) openRoot() (*os.Root, error) { return os.OpenRoot(l.root) }

// localPath checks the local path of an argument. A relative path is below the first allowed folder. A path outside of
// all allowed folders is refused without accessing it.
func localPath(r *action.Request, text string) (localFile, error) {
	files := r.Workspace.LocalFiles()
	if !files.Allowed || len(files.Roots) == 0 {
		why := files.Why
		if why == "" {
			why = "no folder is allowed: siyuan.localFileRoots is empty"
		}
		return localFile{}, &tool.Error{
			Op: "check path", Kind: tool.Denied, Message: "files of this machine are off limits: " + why,
			Hint: "a person can allow folders: siyuan.localFileRoots in collie.json",
		}
	}
	if wrong := checkLocal(text); wrong != "" {
		return localFile{}, badLocalError(text, wrong)
	}
	path := filepath.Clean(text)
	if !filepath.IsAbs(path) {
		path = filepath.Join(files.Roots[0], path)
	}
	within := slices.ContainsFunc(files.Roots, func(root string) bool { return relativeTo(root, path) != "" })
	followed := evalSymlinks(path)
	for _, root := range files.Roots {
		rel := relativeTo(root, followed)
		if rel == "" {
			continue
		}
		for _, p := range []string{relativeTo(root, path), rel} {
			if wrong := checkOpen(p); wrong != "" {
				return localFile{}, badLocalError(text, wrong)
			}
		}
		return localFile{root, rel}, nil
	}
	if within {
		return localFile{}, badLocalError(text, "leads out of the allowed folders through a symbolic link")
	}
	return localFile{}, badLocalError(text, "is outside of the allowed folders")
}

func badLocalError(text, wrong string) error {
	return datafile.BadPathError(text, wrong, "use a file below a folder of siyuan.localFileRoots, which a person can change in collie.json")
}

// checkLocal returns what is wrong with a local path as text.
func checkLocal(text string) string {
	slashed := filepath.ToSlash(text)
	switch {
	case strings.TrimSpace(text) == "":
		return "is empty"
	case len(text) > 4096:
		return "is longer than 4096 bytes"
	case !utf8.ValidString(text) || strings.ContainsFunc(text, datafile.Unprintable):
		return "has a character that cannot be seen"
	case strings.Contains(slashed, `\`):
		return "has a backslash"
	}
	if wrong := checkSpelling(slashed); wrong != "" {
		return wrong
	}
	for name := range strings.SplitSeq(slashed, "/") {
		if len(name) > datafile.MaxName {
			return "has a part of more than 255 bytes"
		}
	}
	return ""
}

// checkSpelling finds attempts to leave a folder, including those in disguised spellings.
func checkSpelling(path string) string {
	if datafile.HasEncodedChar(path) {
		return "has an encoded character"
	}
	for name := range strings.SplitSeq(datafile.PlainSlashes(path), "/") {
		if name != "." && name != "" && strings.Trim(datafile.PlainDots(name), ". ") == "" {
			return `has a part ".."`
		}
	}
	return ""
}

// checkOpen refuses hidden files, and names of files that usually contain secrets, below an allowed folder.
func checkOpen(rel string) string {
	if rel == "" || rel == "." {
		return ""
	}
	names := strings.Split(filepath.ToSlash(rel), "/")
	for i, name := range names {
		switch {
		case strings.HasPrefix(name, "."):
			return "names a hidden file or folder"
		case mayHoldSecrets(name):
			return "has the name of a key, a password store or a file of credentials"
		case strings.EqualFold(name, "conf.json") && i > 0 && strings.EqualFold(names[i-1], "conf"):
			return "is the configuration of a SiYuan workspace, which holds its token"
		case datafile.Document(name):
			return "is a SiYuan document, which is not an asset"
		case strings.ContainsAny(name, `:`) || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") || datafile.Device(name):
			return "has a name that not every system takes as it is"
		}
	}
	return ""
}

// relativeTo returns path relative to root, "." for root itself, "" if it is outside.
func relativeTo(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return rel
}

// evalSymlinks resolves the symbolic links in the part of a path that exists.
func evalSymlinks(path string) string {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, rest)
		}
		if _, err := os.Lstat(at); err == nil { // a broken link, or one that must not be followed
			return ""
		}
		if filepath.Dir(at) == at {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// openSource opens a local file for reading. The caller closes it.
func openSource(r *action.Request, param, text string) (*os.File, fs.FileInfo, localFile, error) {
	at, err := localPath(r, text)
	if err != nil {
		return nil, nil, at, err
	}
	root, err := at.openRoot()
	if err != nil {
		return nil, nil, at, diskError("read", text, err)
	}
	defer root.Close()
	info, err := root.Stat(at.rel)
	if err != nil {
		return nil, nil, at, diskError("read", text, err)
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return nil, nil, at, r.Invalid(param, "is not a regular file")
	}
	f, err := root.Open(at.rel)
	if err != nil {
		return nil, nil, at, diskError("read", text, err)
	}
	opened, err := f.Stat()
	if err != nil || !opened.Mode().IsRegular() {
		_ = f.Close()
		return nil, nil, at, r.Invalid(param, "is not a regular file")
	}
	return f, opened, at, nil
}

// diskError converts an error of the system about a local path.
func diskError(op, text string, err error) error {
	out := &tool.Error{Op: op, Kind: tool.Internal, Subject: text, Err: err}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		out.Err = pe.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out.Kind, out.Message, out.Err = tool.NotFound, "there is no such file", nil
	case errors.Is(err, fs.ErrExist):
		out.Kind, out.Message, out.Err = tool.Exists, "it already exists", nil
		out.Hint = "choose another path, or move what is there away"
	case errors.Is(err, fs.ErrPermission):
		out.Kind = tool.Denied
	}
	return out
}

// needsSource returns an [action.Need] for a readable local file. It runs before the gate, so that nobody is asked about a file that would be
// refused.
func needsSource(param string) action.Need {
	return action.On(access.None, "a file in a folder that a person allowed", param, func(_ context.Context, r *action.Request) ([]action.Target, error) {
		f, _, _, err := openSource(r, param, r.Text(param))
		if err != nil {
			return nil, err
		}
		return nil, f.Close()
	})
}

// needsPlace returns an [action.Need] for a writable local path, if one is given. otherwise describes the default in help pages.
func needsPlace(param, otherwise string) action.Need {
	return action.On(access.None, "a place in a folder that a person allowed", param, func(_ context.Context, r *action.Request) ([]action.Target, error) {
		path := cmp.Or(r.Text(param), otherwise)
		if path == "" {
			return nil, nil
		}
		_, err := localPath(r, path)
		return nil, err
	})
}

// secretPatterns are patterns for names of files that contain secrets: keys, password stores, cookies, wallets, credentials.
// They are in lower case. Hidden files are refused anyway.
var secretPatterns = []string{
	"id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*_rsa", "*_ed25519", "authorized_keys*", "known_hosts*",
	"*.pem", "*.key", "*.p12", "*.pfx", "*.p8", "*.ppk", "*.jks", "*.keystore", "*.kdbx", "*.kdb", "*.agilekeychain",
	"*.asc", "*.gpg", "*.pgp", "*.age", "*.keychain*", "*.ovpn", "*.rdp", "*.psafe3", "*.der", "*.csr",
	"*.env", "*.env.*", "_netrc", "netrc", "htpasswd*", "shadow*", "passwd*", "gshadow*", "master.key",
	"credential*", "*credentials*", "secret", "secret.*", "secrets*", "*password*", "token", "token.txt", "*token.json", "*_token", "apikey*", "api_key*",
	"service-account*.json", "client_secret*.json", "kubeconfig*", "terraform.tfstate*", "*.tfvars",
	"cookies", "cookies.txt", "cookies.json", "cookies.sqlite*", "login data*", "web data*", "key3.db", "key4.db", "logins.json", "signons.sqlite",
	"wallet.dat", "wallet.json", "*.wallet", "seed.txt", "*mnemonic*", "ntuser.dat*", "sam", "ntds.dit", "*.mobileprovision",
	"*_history", "mcp.json", "claude_desktop_config.json", "collie.json", "gateway.json",
}

// mayHoldSecrets reports whether a file of this name may contain secrets. It rather refuses too much: a file can be renamed,
// but a secret that was sent cannot be called back.
func mayHoldSecrets(name string) bool {
	name = strings.ToLower(name)
	for _, pattern := range secretPatterns {
		if ok, _ := path.Match(pattern, name); ok { // the patterns are constants and valid
			return true
		}
	}
	return false
}
