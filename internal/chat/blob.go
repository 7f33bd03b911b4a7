package chat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"collie/internal/atomicfile"
	"collie/internal/llm"
	"collie/internal/store"
	"collie/internal/tool"
)

// This file keeps the files attached to conversations, each content once, named by its hash.

const (
	maxPicture = 10 << 20 // bytes of an attached picture
	maxText    = 1 << 20  // of an attached text
	maxKept    = 10 << 20 // of data that an engine stores
)

// pictureTypes are the picture types that models accept.
var pictureTypes = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// Attach stores a file for use in messages of a session: a PNG, JPEG, GIF or WebP picture of at most 10 MiB, or UTF-8
// text of at most 1 MiB. The type is detected from the bytes. Anything else, including PDF, is an error of kind
// Invalid.
func (s *Service) Attach(ctx context.Context, session, name string, r io.Reader) (llm.File, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPicture+1))
	if err != nil {
		return llm.File{}, err
	}
	mime, _, _ := strings.Cut(http.DetectContentType(data), ";")
	switch {
	case len(data) == 0:
		return llm.File{}, invalidError("attach", "file", "it is empty", "attach a file with something in it")
	case mime == "application/pdf":
		return llm.File{}, invalidError("attach", "file", "a PDF cannot be read here", "attach its text, or pictures of its pages")
	case pictureTypes[mime]:
		return s.keepBlob(ctx, session, name, mime, data, maxPicture)
	case utf8.Valid(data) && !strings.Contains(string(data), "\x00"):
		return s.keepBlob(ctx, session, name, "text/plain", data, maxText)
	}
	return llm.File{}, invalidError("attach", "file", "it is neither a picture (PNG, JPEG, GIF, WebP) nor UTF-8 text", "convert it to one of these")
}

// keepBlob stores data for a session. Equal data is stored once.
func (s *Service) keepBlob(ctx context.Context, session, name, mime string, data []byte, limit int) (llm.File, error) {
	if len(data) > limit {
		return llm.File{}, &tool.Error{
			Op: "attach", Kind: tool.TooLarge, Message: fmt.Sprintf("it has %d bytes or more, at most %d are kept", len(data), limit), Hint: "attach a smaller part of it",
		}
	}
	sum := sha256.Sum256(data)
	f := llm.File{Name: truncate(filepath.Base(name), 200), MIME: mime, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}
	if name == "" { // filepath.Base made a dot of it
		f.Name = ""
	}
	err := s.store.Write(ctx, func(tx *store.Tx) error {
		if _, there := tx.Number("SELECT 1 FROM session WHERE id = ?", session); !there {
			return tx.Fail(notFoundError("attach", "session", session))
		}
		tx.Exec(`INSERT INTO attachment VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET name = excluded.name`,
			session, f.SHA256, f.Name, f.MIME, f.Size, now())
		if _, err := os.Stat(s.blobPath(f.SHA256)); err == nil || tx.Err() != nil {
			return tx.Err()
		}
		// Within the transaction, so that removeUnused does not delete it as unused.
		return atomicfile.Write(s.blobPath(f.SHA256), data, 0o600)
	})
	return f, err
}

func (s *Service) blobPath(sum string) string {
	return filepath.Join(s.store.Dir(), "blobs", sum[:2], sum)
}

// OpenBlob opens the file with this hash, of any session. If there is none, the error is of kind NotFound. The caller
// closes the file.
func (s *Service) OpenBlob(ctx context.Context, sum string) (io.ReadCloser, llm.File, error) {
	f := llm.File{SHA256: sum}
	err := s.store.Read(ctx, func(tx *store.Tx) error {
		tx.Query(func(r *store.Row) bool {
			f.Name, f.MIME, f.Size = r.ColumnText(0), r.ColumnText(1), r.ColumnInt64(2)
			return false
		}, "SELECT name, mime, size FROM attachment WHERE sha256 = ? LIMIT 1", sum)
		return nil
	})
	if err == nil && f.MIME == "" {
		err = notFoundError("open", "file", sum)
	}
	if err != nil {
		return nil, f, err
	}
	file, err := os.Open(s.blobPath(sum))
	if errors.Is(err, fs.ErrNotExist) {
		err = notFoundError("open", "file", sum)
	}
	if err != nil {
		return nil, f, err // not file: a nil *os.File would be a reader that is not nil
	}
	return file, f, nil
}

// readBlob reads the file with this hash if the session has it.
func (s *Service) readBlob(ctx context.Context, session, sum string) ([]byte, error) {
	var there bool
	err := s.store.Read(ctx, func(tx *store.Tx) error {
		_, there = tx.Number("SELECT 1 FROM attachment WHERE session = ? AND sha256 = ?", session, sum)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, notFoundError("read", "file of this session", sum)
	}
	return os.ReadFile(s.blobPath(sum))
}

// loadData reads the data of a file. A file that is missing on disk is logged and left without data.
func (s *Service) loadData(f *llm.File) error {
	if len(f.SHA256) != 2*sha256.Size {
		return nil
	}
	data, err := os.ReadFile(s.blobPath(f.SHA256))
	if errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("a file of a conversation is gone", "sha256", f.SHA256)
		return nil
	}
	f.Data = data
	return err
}

// removeUnused deletes the files of a deleted session that no other session has. It runs in the transaction that
// deletes the session.
func (s *Service) removeUnused(tx *store.Tx, sums []string) {
	for _, sum := range sums {
		if _, there := tx.Number("SELECT 1 FROM attachment WHERE sha256 = ? LIMIT 1", sum); !there && tx.Err() == nil {
			if err := os.Remove(s.blobPath(sum)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				s.log.Warn("a file stays that nobody has", "error", err)
			}
		}
	}
}
