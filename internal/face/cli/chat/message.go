package chat

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"collie/internal/face/cli/conversation"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/tool"
)

// This file builds the next message from what was typed, and uploads the files that it mentions.

// message is a message to send.
type message struct {
	text  string
	files []conversation.File // in addition to those mentioned in the text
	edits string              // id of the message that this one replaces
	steer bool                // for the model that is answering, at its next step
	again string              // id of an answer to write again; then there is no text
}

// compose returns the next message with this text. It replaces the message that is being edited, if there is one, and ends
// the editing.
func (k *talk) compose(text string) message {
	k.mu.Lock()
	defer k.mu.Unlock()
	m := message{text: text, edits: k.editing}
	k.editing = ""
	return m
}

func (k *talk) setEditing(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.editing = id
}

// isEditing reports whether the next message replaces an earlier one.
func (k *talk) isEditing() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.editing != ""
}

// config returns the settings for messages.
func (k *talk) config() map[string]any {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.overrides)
}

// answer sends m and follows the answer to its end, which it returns. event gets the events of the answer, note a text for
// each mentioned file or resource that does not exist.
func (k *talk) answer(ctx context.Context, m message, asker conversation.Asker, note func(string), event func(json.RawMessage)) (json.RawMessage, error) {
	session, err := k.ensureSession(ctx)
	if err != nil {
		return nil, err
	}
	config := k.config()
	if m.steer {
		config["busyPolicy"] = "steer"
	}
	if m.again != "" {
		return k.api.Again(ctx, m.again, config, asker, event)
	}
	files, err := k.attach(ctx, session, m.text, note)
	if err != nil {
		return nil, err
	}
	files = append(files, m.files...)
	if m.edits != "" {
		return k.api.Edit(ctx, m.edits, m.text, files, config, asker, event)
	}
	return k.api.Say(ctx, session, m.text, files, config, asker, event)
}

// mention matches @FILE, @"FILE" and @URI in a message.
var mention = regexp.MustCompile(`(?:^|\s)@(?:"([^"\n]+)"|(\S+))`)

// attach uploads the files that a text mentions. It ignores commands for tools.
func (k *talk) attach(ctx context.Context, session, text string, note func(string)) (files []conversation.File, err error) {
	if strings.HasPrefix(text, "/") {
		return nil, nil
	}
	for _, found := range mention.FindAllStringSubmatch(text, -1) {
		name := found[1] + found[2]
		if found[2] != "" {
			name = strings.TrimRight(name, ".,;:!?)。，；：！？）")
		}
		kept, err := k.attachNamed(ctx, session, name)
		switch {
		case os.IsNotExist(err):
			note(locale.Sprintf("there is no file %s here, so that is sent as text", output.OneLine(name)))
		case tool.KindOf(err) == tool.NotFound:
			note(locale.Sprintf("no server has the resource %s, so that is sent as text", output.OneLine(name)))
		case err != nil:
			return nil, err
		default:
			files = append(files, kept)
		}
	}
	return files, nil
}

// attachNamed uploads a file, or a resource of a server.
func (k *talk) attachNamed(ctx context.Context, session, name string) (conversation.File, error) {
	if k.isResource(ctx, name) {
		return k.attachResource(ctx, session, name)
	}
	return k.attachFile(ctx, session, k.path(name))
}

func (k *talk) attachFile(ctx context.Context, session, path string) (conversation.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a folder, or a pipe without a writer
		return nil, &os.PathError{Op: "attach", Path: path, Err: os.ErrNotExist}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return k.api.Attach(ctx, session, filepath.Base(path), f)
}

// path returns a path that was typed with ~/ at its beginning replaced by the user's folder.
func (k *talk) path(typed string) string {
	if rest, ok := strings.CutPrefix(typed, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return typed
}
