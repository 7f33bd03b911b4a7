package chat

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"collie/internal/atomicfile"
)

// This file stores text that was typed and not sent.

// drafts is a folder with unsent text, one file per session. Only the user's account can read the files.
type drafts string

func draftsIn(state string) drafts { return drafts(filepath.Join(state, "drafts")) }

// file returns the file for a session. Conversations that have not begun share one; so do ids that cannot be the name of a
// file.
func (d drafts) file(session string) string {
	if session == "" || strings.ContainsAny(session, `/\`) {
		session = "new"
	}
	return filepath.Join(string(d), session+".txt")
}

// load returns the saved text, or "".
func (d drafts) load(session string) string {
	text, err := os.ReadFile(d.file(session))
	if err != nil {
		return ""
	}
	return string(text)
}

// save saves text. An empty text removes the file.
func (d drafts) save(session, text string) error {
	if strings.TrimSpace(text) == "" {
		if err := os.Remove(d.file(session)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(d.file(session), []byte(text), 0o600)
}
