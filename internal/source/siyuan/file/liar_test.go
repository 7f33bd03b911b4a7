package file_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// cannedAnswer answers one endpoint itself and does nothing.
type cannedAnswer struct{ path, data string }

func (l cannedAnswer) RoundTrip(r *http.Request) (*http.Response, error) {
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
	p := w.writeLocal("x.png", "x")
	for _, tt := range []struct {
		cannedAnswer
		name, args string
		kind       tool.ErrorKind
	}{
		{cannedAnswer{"/api/asset/removeUnusedAsset", `{"path":"/x"}`}, "delete_asset", args("path", unusedAsset), kernel.Mismatch},
		{cannedAnswer{"/api/asset/renameAsset", `{"newPath":"assets/x-20240101120000-aaaaaaa.png"}`}, "rename_asset", args("oldPath", shownAsset, "newName", "x"), kernel.Mismatch},
		{cannedAnswer{"/api/asset/renameAsset", `{"newPath":""}`}, "rename_asset", args("oldPath", shownAsset, "newName", "x"), tool.Invalid}, // nothing was left of the name
		{cannedAnswer{"/api/asset/upload", `{"errFiles":null,"succMap":{}}`}, "upload_asset", args("localFilePath", p), kernel.Mismatch},
		{cannedAnswer{"/api/asset/upload", `{"errFiles":["x.png"],"succMap":{}}`}, "upload_asset", args("localFilePath", p), kernel.Mismatch},
		{cannedAnswer{"/api/asset/upload", `{"errFiles":null,"succMap":{"x.png":"../conf/x.png"}}`}, "upload_asset", args("localFilePath", p), kernel.Mismatch},
		{cannedAnswer{"/api/export/exportResources", `{"path":"conf/conf.json"}`}, "export_resources", args("paths", []string{shownAsset}, "outputPath", "y.zip"), kernel.API},
		{cannedAnswer{"/api/export/exportResources", `{"path":"temp/export/../x.zip"}`}, "export_resources", args("paths", []string{shownAsset}, "outputPath", "y.zip"), kernel.API},
		{cannedAnswer{"/api/export/exportMdContent", `{"hPath":"","content":""}`}, "export_md", args("id", w.openDoc), kernel.API},
	} {
		w.Client = kernel.New(w.URL(), kernel.Options{Transport: tt.cannedAnswer})
		w.Refused(t, findAction(t, tt.name), tt.args, tt.kind)
		w.Client.Close()
	}
	if localFileExists(w.localDir + "/y.zip") {
		t.Error("something was written though the archive is none")
	}
}
