package call

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/output"
	"collie/internal/rawjson"
	"collie/internal/tool"
)

// This file writes images, audio and files of a result to disk (--save).

// save writes the first image, sound or file of a result to the file of --save. Others are written beside it, with
// numbers in their names.
func (p commands) save(r tool.Result) error {
	if p.SaveTo == "" || r.IsError {
		return nil
	}
	var parts []string
	for _, part := range rawjson.List(rawjson.Member(gjson.ParseBytes(r.Raw), "content")) {
		data := rawjson.Member(part, "data").String()
		if blob := rawjson.Member(rawjson.Member(part, "resource"), "blob"); blob.Exists() {
			data = blob.String()
		}
		if data != "" {
			parts = append(parts, data)
		}
	}
	if len(parts) == 0 {
		return &tool.Error{
			Op: "save", Kind: tool.NotFound, Subject: p.SaveTo, Message: "the result has no picture, sound or file in it",
			Hint: "use > FILE for the text, or --json for the whole result",
		}
	}
	next := 0
	for _, data := range parts {
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return &tool.Error{Op: "save", Kind: tool.Upstream, Subject: p.SaveTo, Message: "the server sent no valid base64", Err: err}
		}
		file, err := writeNumbered(p.SaveTo, &next, raw)
		if err != nil {
			return fmt.Errorf("save %s: %w", file, err)
		}
		p.Note("saved %s, %s", file, output.DecimalSize(len(raw)))
	}
	return nil
}

// writeNumbered writes raw to the first file, or to one with the next free number. It overwrites only the
// first file: that is the only one the person has named, and the server decides how many there are.
func writeNumbered(name string, next *int, raw []byte) (file string, err error) {
	for {
		file = numberedName(name, *next)
		flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
		if *next == 0 {
			flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
		}
		*next++
		f, err := os.OpenFile(file, flags, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return file, err
		}
		_, err = f.Write(raw)
		return file, errors.Join(err, f.Close())
	}
}

// numberedName returns the name for file i: name itself for the first, else with a number before its extension.
func numberedName(name string, i int) string {
	if i == 0 {
		return name
	}
	ext := filepath.Ext(name)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), i+1, ext)
}
