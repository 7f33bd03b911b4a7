package app

import (
	"slices"
	"strings"
	"testing"

	"collie/internal/config"
	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/tool"
)

// NotesMissing says why there are no notes, and NotesOffered whether the tools for notes are listed all the same.
func TestWhyThereAreNoNotes(t *testing.T) {
	t.Parallel()
	const server = `fs` // a server with the name of a tool for notes
	for _, tt := range []struct {
		raw, env string
		server   string
		off      bool
		vault    bool
		flags    KernelFlags
		kind     tool.ErrorKind // empty: there are notes
		offered  bool
	}{
		{kind: tool.Unavailable},
		{vault: true, offered: true},
		{vault: true, server: "mine", offered: true},
		{vault: true, server: server, offered: true}, // the server is not offered itself
		{vault: true, off: true, kind: tool.Disabled},
		{server: server, kind: tool.Unavailable},
		{server: server, vault: true, env: "http://k", offered: true},
		{off: true, env: "http://k", kind: tool.Disabled},
		{env: "http://k", offered: true},
		{env: "k", kind: tool.Invalid, offered: true},
		{flags: KernelFlags{Token: "x"}, kind: tool.Invalid, offered: true},
		{flags: KernelFlags{Connection: "x"}, kind: tool.NotFound, offered: true},
		{raw: `{"connections":{"a":{"url":"http://k"}}}`, offered: true},
		{raw: `{"connections":{"a":{"url":"ftp://k"}}}`, kind: tool.Invalid, offered: true},
		{raw: `{"connections":{"a":{"url":"http://k"}},"writeSafety":"maybe"}`, kind: tool.Invalid, offered: true},
		{vault: true, raw: `{"writeSafety":"maybe"}`, kind: tool.Invalid, offered: true},
		{vault: true, raw: `{"newNotebookPermission":"RW"}`, offered: true},
		{vault: true, raw: `{"newNotebookPermission":"none"}`, kind: tool.Invalid, offered: true},
		{vault: true, raw: `{"newNotebookPermission":"all"}`, kind: tool.Invalid, offered: true},
	} {
		cfg := &config.Config{SiYuan: config.SiYuan{Enabled: !tt.off, Raw: []byte(tt.raw)}, Vault: config.Vault{Enabled: tt.vault}}
		if tt.server != "" {
			cfg.Servers = []config.ServerEntry{{Name: tt.server}}
		}
		env := config.EnvOf("SIYUAN_API_URL=" + tt.env)
		err := NotesMissing(t.Context(), cfg, env, tt.flags)
		if (err == nil) != (tt.kind == "") || err != nil && tool.KindOf(err) != tt.kind {
			t.Errorf("%+v: %v", tt, err)
		}
		if got := NotesOffered(cfg, env, tt.flags); got != tt.offered {
			t.Errorf("%+v: offered %t", tt, got)
		}
	}
}

// NotesTool finds the tool for notes in a name as callers write it, and knows all of them.
func TestNamesOfNotesTools(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"fs": "fs", "fs/read": "fs", "fs__read": "fs", "fsx": "", "": "", "filesystem": "", "my/fs": ""} {
		if got, ok := NotesTool(name); ok != (want != "") || ok && got != want {
			t.Errorf("NotesTool(%q) is %q, %t", name, got, ok)
		}
	}
	for _, s := range notesadmin.SwitchNames() {
		if name, _, action := strings.Cut(s, "."); action && !slices.Contains(config.NotesTools(), name) && name != "writeSafety" && name != "debug" && name != "errorReporting" {
			t.Errorf("%s is a tool and not among the names", name)
		}
	}
}
