package connection

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
)

// FilesOfOlderPrograms returns the settings files of older programs that served SiYuan's tools, in a home folder, the
// newer first.
func FilesOfOlderPrograms(home string) []string {
	if home == "" {
		return nil
	}
	return []string{
		filepath.Join(home, ".siyuan-sisyphus", "config.json"),
		filepath.Join(home, ".siyuan-mcp", "config.json"),
	}
}

// ReadOlderPrograms returns the settings in the first of the files that exists. Files that cannot be read or parsed give problems.
// Settings without a File mean that there is none. It is for users who have not saved a connection in collie.json.
func ReadOlderPrograms(files []string, read func(file string) ([]byte, error)) (Settings, []Problem) {
	for _, file := range files {
		raw, err := read(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return Settings{Enabled: true, File: file}, []Problem{{Rule: "read", Severity: SeverityError, Message: err.Error()}}
		}
		s, ps := parseOld(raw)
		s.File = file
		return s, ps
	}
	return Settings{Enabled: true}, nil
}

// parseOld parses a file of an older program:
//
//	{"currentProfile": "default", "profiles": {"default": {"apiUrl": "http://127.0.0.1:6806", "token": "…"}}}
//
// or the older form {"apiUrl": …, "token": …}, which becomes the connection "default". Tokens there are literal:
// env:, cmd: and ${…} have no meaning.
func parseOld(raw []byte) (Settings, []Problem) {
	s := Settings{Enabled: true}
	var ps problems
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	file, ok := parseObject(&ps, "", raw, "an object with profiles")
	if !ok {
		return s, ps
	}
	l := layout{url: "apiUrl", token: "token", literal: true}
	profiles, nested := file["profiles"]
	if !nested {
		if _, flat := file["apiUrl"]; flat {
			if c, ok := l.readConnection(&ps, "", "default", raw); ok {
				s.Current, s.Connections = "default", []Connection{c}
			}
		}
		return s, ps
	}
	s.readConnections(&ps, "/profiles", profiles, l)
	s.Current, _ = readString(&ps, "/currentProfile", file["currentProfile"], "the name of a profile")
	if _, ok := s.Get("default"); ok && s.Current == "" {
		s.Current = "default"
	}
	s.checkCurrent(&ps, "/currentProfile")
	return s, ps
}
