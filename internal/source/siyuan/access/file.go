package access

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// The folders of a workspace that hold the tool config and the levels. One is that of a plugin which anybody can install in
// SiYuan, and which this package calls the public plugin. The other is our own.
const (
	pluginFolder = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/"
	ownFolder    = "/data/storage/petal/collie/"
)

// readFile returns the content of a workspace file without a byte order mark; nil if the file is missing or empty.
func readFile(ctx context.Context, k *kernel.Client, path string) ([]byte, error) {
	raw, err := k.ReadFile(ctx, path)
	if err != nil {
		if tool.KindOf(err) == tool.NotFound {
			return nil, nil
		}
		return nil, err
	}
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))
	if len(raw) == 0 {
		return nil, nil
	}
	return raw, nil
}

// readBackError returns the error for a file that was written and cannot be read back, so that what it holds now is
// unknown.
func readBackError(path string, err error) error {
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Kind == tool.LevelsUnknown {
		err = e.Err // without the message, which says that nothing is written
	}
	return &tool.Error{
		Op: "read back", Kind: kernel.OutcomeUnknown, OutcomeUnknown: true, Subject: path, Err: err,
		Message: "the file was written, and what it holds now cannot be read",
		Hint:    "read the setting again before you repeat the change",
	}
}

// isFileUnknown reports whether an error of reading says nothing about the file: there is no kernel, it refuses our
// token, or the caller gave up.
func isFileUnknown(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return true
	}
	switch tool.KindOf(err) {
	case tool.Unauthorized, tool.Unavailable, tool.Busy, tool.Canceled:
		return true
	default:
		return false
	}
}

// member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// members returns the members of an object in order, duplicates included; none for any other value. raw must be valid
// JSON.
func members(raw []byte) []member {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []member
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		m := member{name: name}
		if err != nil || !ok || d.Decode(&m.value) != nil {
			return nil // not valid JSON
		}
		out = append(out, m)
	}
	return out
}

// ConfigFiles returns the tool configs of a workspace in order of precedence: ours, then the public plugin's.
func ConfigFiles() []string { return []string{ownFolder + configFile, pluginFolder + configFile} }

// LevelFiles returns the files of levels of a workspace: ours and the public plugin's. If both list a notebook, the
// lower level counts.
func LevelFiles() []string { return []string{ownFolder + levelsFile, pluginFolder + levelsFile} }
