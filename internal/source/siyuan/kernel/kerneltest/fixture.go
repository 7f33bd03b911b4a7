package kerneltest

import (
	"path"
	"time"
)

// Notebook creates an open notebook and returns its id. It is not among the calls.
func (k *Kernel) Notebook(name string) string {
	k.t.Helper()
	rep := k.do("/api/notebook/createNotebook", map[string]any{"name": name})
	return rep.Get("data.notebook.id").Str
}

// Doc creates a document at a path by titles, with the parents that are missing, and returns its id. It is not among
// the calls.
func (k *Kernel) Doc(notebook, hpath, markdown string) string {
	k.t.Helper()
	rep := k.do("/api/filetree/createDocWithMd", map[string]any{"notebook": notebook, "path": hpath, "markdown": markdown})
	return rep.Get("data").Str
}

// File writes a file into the workspace; p begins with /data, /temp or another folder of the workspace.
func (k *Kernel) File(p string, content []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.makeDirs(path.Dir(p))
	k.files[p] = &storedFile{data: content, changed: time.Now()}
}

// Symlink makes a symbolic link in the workspace; what it leads to has content, which is nil for a folder.
func (k *Kernel) Symlink(p string, content []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.makeDirs(path.Dir(p))
	k.files[p] = &storedFile{data: content, dir: content == nil, link: true, changed: time.Now()}
}
