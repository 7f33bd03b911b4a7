package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"collie/internal/atomicfile"
	"collie/internal/tool"
)

// This file reads, writes and deletes single files of a person's library.

// A Kind says what a file defines. It is also the name of the folder for such files.
type Kind string

// The kinds of files.
const (
	Agents  Kind = agentsFolder
	Context Kind = entryFolder
	Skills  Kind = skillFolder
)

// path returns the path of a file in the folder config. name is without extension.
func (k Kind) path(config, name string) (string, error) {
	if why := checkName(name); why != "" {
		return "", &tool.Error{Op: "file", Kind: tool.Invalid, Subject: "name", Message: why}
	}
	switch k {
	case Agents, Context:
		return filepath.Join(config, string(k), name+".md"), nil
	case Skills:
		return filepath.Join(config, skillFolder, name, skillFile), nil
	}
	return "", &tool.Error{Op: "file", Kind: tool.Invalid, Subject: "kind", Message: fmt.Sprintf("it is %q, expected %s, %s or %s", string(k), Agents, Context, Skills)}
}

// Source returns the text and path of a file in the folder config. If there is none, the error is of kind NotFound.
func Source(config string, k Kind, name string) (text, file string, err error) {
	if file, err = k.path(config, name); err != nil {
		return "", "", err
	}
	r, err := os.OpenRoot(config)
	if err == nil {
		defer r.Close()
		var rel string
		if rel, err = filepath.Rel(config, file); err == nil {
			text, err = readText(r, filepath.ToSlash(rel), maxFile)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", missingError(k, name)
	}
	return text, file, err
}

// Put writes a file into the folder config and returns its path. If the text is not valid, the error is of kind
// Invalid, its Facts name the line and the field, and nothing is written.
func Put(config string, k Kind, name, text string) (file string, err error) {
	if file, err = k.path(config, name); err != nil {
		return "", err
	}
	if wrong := new(Library).add(string(k), name, file, text, false, "", ""); wrong != nil {
		return "", &tool.Error{
			Op: "file", Kind: tool.Invalid, Subject: "text", Message: wrong.Message,
			Facts: map[string]any{"line": wrong.Line, "field": wrong.Field},
		}
	}
	if len(text) > maxFile {
		return "", &tool.Error{Op: "file", Kind: tool.Invalid, Subject: "text", Message: fmt.Sprintf("it has %d bytes, at most %d", len(text), maxFile)}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	return file, atomicfile.Write(file, []byte(text), 0o600)
}

// Delete deletes a file in the folder config and returns its path. The other files of a skill are kept.
func Delete(config string, k Kind, name string) (file string, err error) {
	if file, err = k.path(config, name); err != nil {
		return "", err
	}
	err = os.Remove(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", missingError(k, name)
	}
	if err == nil && k == Skills {
		_ = os.Remove(filepath.Dir(file)) // fails if there are other files
	}
	return file, err
}

func missingError(k Kind, name string) error {
	return &tool.Error{Op: "file", Kind: tool.NotFound, Subject: name, Message: "there is no such file among your " + string(k)}
}
