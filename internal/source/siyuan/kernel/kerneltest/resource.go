package kerneltest

import (
	"archive/zip"
	"bytes"
	"crypto/md5" //nolint:gosec // a name, as the kernel makes it
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// resourceFamily answers the packing of files of the workspace.
func resourceFamily(k *Kernel) {
	k.handle("/api/export/exportResources", exportResources)
}

// exportResources packs whatever lies in the workspace into temp/export.
func exportResources(k *Kernel, req request) reply {
	if !req.Get("paths").IsArray() {
		return reply{code: 1, msg: "[paths] is required", data: ""}
	}
	refused := func(msg string) reply { return reply{code: 1, msg: msg, data: map[string]any{"closeTimeout": 7000}} }
	var buf bytes.Buffer
	out := zip.NewWriter(&buf)
	files := k.all()
	for _, p := range req.strs("paths") {
		full := path.Join(machineRoot, p)
		if !strings.HasPrefix(full, machineRoot+"/") {
			return refused("resource path [" + p + "] is not in workspace")
		}
		inside := strings.TrimPrefix(full, machineRoot)
		if files[inside] == nil {
			return refused("Export failed: lstat " + full + ": no such file or directory")
		}
		names := []string{}
		for name, f := range files {
			if !f.dir && (name == inside || strings.HasPrefix(name, inside+"/")) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			w, err := out.Create(path.Base(inside) + strings.TrimPrefix(name, inside))
			if err == nil {
				_, err = w.Write(files[name].data)
			}
			if err != nil {
				return refused(err.Error())
			}
		}
	}
	if err := out.Close(); err != nil {
		return refused(err.Error())
	}
	name := req.optStr("name")
	if name == "" {
		name = "export-" + time.Now().Format("2006-01-02_15-04-05")
	}
	p := fmt.Sprintf("temp/export/%x-%s.zip", md5.Sum(buf.Bytes()), name) //nolint:gosec // a name
	k.makeDirs("/temp/export")
	k.files["/"+p] = &storedFile{data: buf.Bytes(), changed: time.Now()}
	return ok(map[string]any{"path": p})
}
