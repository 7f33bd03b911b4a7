package gateway

import (
	"context"

	"collie/internal/agent/library"
	"collie/internal/app"
)

// agentFiles implements [web.Agents], with which pages read and change the files of agents, skills and context entries in
// the folder of the settings.
type agentFiles struct{ *serving }

// Library reads the files as a turn of a conversation reads them.
func (s agentFiles) Library() *library.Library { return app.Library(s.cfg, s.Env) }

// Source returns the text of a file.
func (s agentFiles) Source(kind library.Kind, name string) (text, file string, err error) {
	return library.Source(s.cfg.Paths.Config, kind, name)
}

// Put writes a file and puts the change on record.
func (s agentFiles) Put(ctx context.Context, kind library.Kind, name, text string) (file string, err error) {
	if file, err = library.Put(s.cfg.Paths.Config, kind, name, text); err == nil {
		s.OnRecord(ctx, s.cfg, "agent put", map[string]any{"kind": kind, "name": name, "file": file})
	}
	return file, err
}

// Delete deletes a file and puts the change on record.
func (s agentFiles) Delete(ctx context.Context, kind library.Kind, name string) (file string, err error) {
	if file, err = library.Delete(s.cfg.Paths.Config, kind, name); err == nil {
		s.OnRecord(ctx, s.cfg, "agent delete", map[string]any{"kind": kind, "name": name, "file": file})
	}
	return file, err
}
