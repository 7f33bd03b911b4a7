package dirstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/tool"
)

// format is what this package writes; a head of a higher one is not touched.
const format = 1

// manifest is the head of a generation: everything that is kept.
type manifest struct {
	Format      int             `json:"format"`
	ID          string          `json:"id"`
	Parent      string          `json:"parent,omitempty"` // ID of the generation below
	TotalWrites uint64          `json:"totalWrites"`
	Entries     map[string]part `json:"entries"`
}

// part is where an entry lies.
type part struct {
	File   string `json:"file"` // "000000000042/github-1a2b.json", below generations
	SHA256 string `json:"sha256"`
}

// manifest reads that of generation n. found is false where there is none that can be read:
// the generation was removed, or a power cut left its name only.
func (s *Store) manifest(n uint64) (m manifest, found bool, err error) {
	raw, err := os.ReadFile(filepath.Join(s.generations.path(n), head))
	if errors.Is(err, fs.ErrNotExist) {
		return manifest{}, false, nil
	}
	if err != nil {
		return manifest{}, false, err
	}
	if err := json.Unmarshal(raw, &m); err != nil || m.Format == 0 {
		return manifest{}, false, nil //nolint:nilerr // damage is no failure: see standing
	}
	if m.Format > format {
		return manifest{}, false, &tool.Error{
			Op: "read shared tool cache", Kind: tool.Unavailable, Subject: s.generations.dir,
			Message: "was written by a newer version of this program",
			Hint:    "update this one, or give it a folder of its own",
		}
	}
	return m, true, nil
}

// errMoved means that a generation was replaced, and removed, since it was the newest.
var errMoved = errors.New("replaced by a newer generation")

// standing returns what generation n, the newest, keeps. Where its head is damaged, that is
// what the newest generation with a whole head keeps: the next commit mends it.
func (s *Store) standing(ctx context.Context, n uint64) (manifest, error) {
	m, found, err := s.manifest(n)
	if found || err != nil || n == 0 {
		return m, err
	}
	all, err := s.generations.numbers()
	if err != nil {
		return m, err
	}
	if len(all) == 0 || all[len(all)-1] != n {
		return m, errMoved
	}
	s.opts.Logger.Warn("shared tool cache: the newest generation is damaged, using an older one",
		"dir", s.generations.dir, "generation", n)
	for _, older := range slices.Backward(all[:len(all)-1]) {
		if m, found, err := s.manifest(older); found || err != nil {
			return m, err
		}
		if err := ctx.Err(); err != nil {
			return manifest{}, err
		}
	}
	return manifest{}, nil
}

// path of an entry's file; empty for one that lies elsewhere, as no writer of ours names it.
func (s *Store) path(p part) string {
	generation, file, ok := strings.Cut(p.File, "/")
	if !ok || !filepath.IsLocal(p.File) || path.Base(p.File) != file || strings.ContainsAny(file, `/\`) || generation == ".." {
		return ""
	}
	return filepath.Join(s.generations.dir, generation, file)
}

func (m manifest) clone() manifest {
	m.Entries = maps.Clone(m.Entries)
	if m.Entries == nil {
		m.Entries = map[string]part{}
	}
	return m
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
