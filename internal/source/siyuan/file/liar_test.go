package file_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// liar answers one endpoint itself and does nothing.
type liar struct{ path, data string }

func (l liar) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path != l.path {
		return http.DefaultTransport.RoundTrip(r)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader(`{"code":0,"msg":"","data":` + l.data + `}`)),
	}, nil
}

// TestReadBack: the kernel reports success for much that it does not do, so the actions check the result.
func TestReadBack(t *testing.T) {
	w := newWorkspace(t)
	p := w.local("x.png", "x")
	for _, tt := range []struct {
		liar
		name, args string
		kind       tool.ErrorKind
	}{
		{liar{"/api/asset/removeUnusedAsset", `{"path":"/x"}`}, "delete_asset", args("path", loose), kernel.Mismatch},
		{liar{"/api/asset/renameAsset", `{"newPath":"assets/x-20240101120000-aaaaaaa.png"}`}, "rename_asset", args("oldPath", shown, "newName", "x"), kernel.Mismatch},
		{liar{"/api/asset/renameAsset", `{"newPath":""}`}, "rename_asset", args("oldPath", shown, "newName", "x"), tool.Invalid}, // nothing was left of the name
		{liar{"/api/asset/upload", `{"errFiles":null,"succMap":{}}`}, "upload_asset", args("localFilePath", p), kernel.Mismatch},
		{liar{"/api/asset/upload", `{"errFiles":["x.png"],"succMap":{}}`}, "upload_asset", args("localFilePath", p), kernel.Mismatch},
		{liar{"/api/asset/upload", `{"errFiles":null,"succMap":{"x.png":"../conf/x.png"}}`}, "upload_asset", args("localFilePath", p), kernel.Mismatch},
		{liar{"/api/export/exportResources", `{"path":"conf/conf.json"}`}, "export_resources", args("paths", []string{shown}, "outputPath", "y.zip"), kernel.API},
		{liar{"/api/export/exportResources", `{"path":"temp/export/../x.zip"}`}, "export_resources", args("paths", []string{shown}, "outputPath", "y.zip"), kernel.API},
		{liar{"/api/export/exportMdContent", `{"hPath":"","content":""}`}, "export_md", args("id", w.doc), kernel.API},
	} {
		w.Client = kernel.New(w.URL(), kernel.Options{Transport: tt.liar})
		w.Refused(t, act(t, tt.name), tt.args, tt.kind)
		w.Client.Close()
	}
	if exists(w.dir + "/y.zip") {
		t.Error("something was written though the archive is none")
	}
}
