package chat

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"collie/internal/atomicfile"
)

// drafts is the folder of what was typed and not sent, a file a session. They are for people of this account alone.
type drafts string

func draftsIn(state string) drafts { return drafts(filepath.Join(state, "drafts")) }

// file is that of a session; a conversation that has not begun has one too.
func (d drafts) file(session string) string {
	if session == "" || strings.ContainsAny(session, `/\`) {
		session = "new"
	}
	return filepath.Join(string(d), session+".txt")
}

// load is what was typed, or nothing.
func (d drafts) load(session string) string {
	text, err := os.ReadFile(d.file(session))
	if err != nil {
		return ""
	}
	return string(text)
}

// save keeps what is typed; nothing removes the file.
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
