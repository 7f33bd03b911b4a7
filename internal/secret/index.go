package secret

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"collie/internal/atomicfile"
)

// This file keeps the index of secrets: where they are stored, and the names of those in the keyring.

// index is the content of secrets.json. It holds no secrets.
type index struct {
	Version int      `json:"version"`
	Kind    Kind     `json:"kind,omitempty"`
	Names   []string `json:"names,omitempty"` // names in the keyring, which cannot list them; sorted
}

const version = 1

type indexFile struct{ file atomicfile.File }

func (f indexFile) read() (index, error) {
	raw, err := os.ReadFile(f.file.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return index{Version: version}, nil
	}
	if err != nil {
		return index{}, err
	}
	return f.parse(raw)
}

func (f indexFile) parse(raw []byte) (index, error) {
	x := index{Version: version}
	if raw == nil {
		return x, nil
	}
	err := json.Unmarshal(raw, &x)
	switch {
	case err != nil:
		return x, fmt.Errorf("%s is damaged: remove it to choose the secret store again: %w", f.file.Path, err)
	case x.Version > version:
		return x, fmt.Errorf("%s is of version %d, this program knows %d: update it", f.file.Path, x.Version, version)
	case x.Kind != "" && x.Kind != Keyring && x.Kind != File:
		return x, fmt.Errorf("%s: kind is %q, expected %s or %s", f.file.Path, x.Kind, Keyring, File)
	}
	slices.Sort(x.Names)
	return x, nil
}

// update changes the index while holding its lock, during edit too.
func (f indexFile) update(ctx context.Context, edit func(*index) error) error {
	return f.file.Update(ctx, func(old []byte) ([]byte, error) {
		x, err := f.parse(old)
		if err != nil {
			return nil, err
		}
		if err := edit(&x); err != nil {
			return nil, err
		}
		raw, err := json.Marshal(x)
		return append(raw, '\n'), err
	})
}

func (f indexFile) names() ([]string, error) {
	x, err := f.read()
	return x.Names, err
}

func (x *index) add(name string) {
	if i, found := slices.BinarySearch(x.Names, name); !found {
		x.Names = slices.Insert(x.Names, i, name)
	}
}

func (x *index) remove(name string) {
	if i, found := slices.BinarySearch(x.Names, name); found {
		x.Names = slices.Delete(x.Names, i, i+1)
	}
}
