package kerneltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// maxForm is what a multipart form may keep in memory.
const maxForm = 64 << 20

// openGET lists the routes that also answer GET.
var openGET = map[string]bool{"/api/system/version": true, "/api/system/bootProgress": true}

// openRoutes lists the routes that need no token on a kernel with an access code.
var openRoutes = map[string]bool{
	"/api/system/version": true, "/api/system/bootProgress": true, "/api/system/currentTime": true,
	"/api/system/getWorkspaceInfo": true, "/api/system/getNetwork": true,
}

// bodyless lists the routes that read no body, so that an empty one is no error.
var bodyless = map[string]bool{
	"/api/notebook/lsNotebooks": true, "/api/sqlite/flushTransaction": true, "/api/ui/reloadUI": true,
	"/api/ui/reloadIcon": true, "/api/ui/reloadTheme": true, "/api/ui/reloadFiletree": true, "/api/ui/reloadTag": true,
	"/api/block/getRecentUpdatedBlocks": true,
}

// twice lists the routes that write the error of an empty body two times, so that it is not one JSON value.
var twice = map[string]bool{"/api/file/readDir": true, "/api/file/renameFile": true, "/api/file/removeFile": true}

// ServeHTTP answers one call the way the recorded kernel did.
func (k *Kernel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	w.Header().Set("Access-Control-Allow-Origin", "*")
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if trimmed := strings.TrimSuffix(path, "/"); trimmed != path && k.routes[trimmed] != nil {
		http.Redirect(w, r, trimmed, http.StatusTemporaryRedirect)
		return
	}
	if strings.HasPrefix(path, "/assets/") || strings.HasPrefix(path, "/templates/") {
		k.serveAsset(w, path)
		return
	}
	h := k.routes[path]
	if h == nil || r.Method != http.MethodPost && (r.Method != http.MethodGet || !openGET[path]) {
		k.recordUnknown(r)
		k.refuseRoute(w, r)
		return
	}
	req, parseErr := readRequest(r)
	call := Call{Path: path, Body: req.Raw, Form: formOf(req)}
	k.record(call)
	f := k.takeFault(path)
	if f.before(w, r) {
		return
	}
	if refused := k.authorize(r); refused != "" {
		writeJSON(w, http.StatusUnauthorized, mustJSON(map[string]any{"code": -1, "msg": refused}))
		return
	}
	rep := k.answer(path, h, req, parseErr)
	if f.after() {
		return
	}
	write(w, rep)
}

// answer runs a handler with the workspace locked and turns its panics into what the kernel makes of them.
func (k *Kernel) answer(path string, h handler, req request, parseErr error) (rep reply) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.readOnly && guarded(path) {
		return readOnlyReply()
	}
	if parseErr != nil && !(errors.Is(parseErr, io.EOF) && (bodyless[path] || openRoutes[path])) {
		return parseFailure(path, parseErr)
	}
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case panicked:
			rep = done()
		case reply:
			rep = cause
		default:
			panic(cause)
		}
		if path == "/api/file/getFile" && rep.code != 0 {
			rep.status = http.StatusAccepted
		}
	}()
	if Writes(path) {
		k.settle()
		k.touch()
	}
	return h(k, req)
}

// refuseRoute answers an unknown route or method. With gzip, which Go's client asks for by default, the kernel loses
// both the status and the text.
func (k *Kernel) refuseRoute(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && strings.HasPrefix(r.URL.Path, "/api/") {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(http.StatusOK)
		return
	}
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, "404 page not found")
}

// serveAsset answers a static file below data/assets or data/templates.
func (k *Kernel) serveAsset(w http.ResponseWriter, path string) {
	k.mu.Lock()
	f := k.files["/data"+path]
	k.mu.Unlock()
	if f == nil || f.dir {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", contentType(path, f.data))
	_, _ = w.Write(f.data)
}

// authorize returns the reason to refuse r, or "".
func (k *Kernel) authorize(r *http.Request) string {
	k.mu.Lock()
	required := k.tokenRequired
	k.mu.Unlock()
	scheme, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
	if found && (strings.EqualFold(scheme, "token") || strings.EqualFold(scheme, "bearer")) {
		if token != Token {
			return "Auth failed [header: Authorization]"
		}
		return ""
	}
	if token := r.URL.Query().Get("token"); token != "" {
		if token != Token {
			return "Auth failed [query: token]"
		}
		return ""
	}
	switch {
	case required && !openRoutes[r.URL.Path]:
		return "Auth failed [session]"
	case foreign(r.Header.Get("Origin")) || foreign(r.Header.Get("X-Forwarded-Host")):
		return "Auth failed: for security reasons, please set [Lock screen password] when using non-127.0.0.1 access\n\n" +
			"为安全起见，使用非 127.0.0.1 访问时请设置 [锁屏密码]"
	}
	return ""
}

// foreign reports whether an Origin or host names another machine.
func foreign(origin string) bool {
	host := strings.TrimPrefix(strings.TrimPrefix(origin, "http://"), "https://")
	host, _, _ = strings.Cut(host, ":")
	return host != "" && host != "127.0.0.1" && host != "localhost" && host != "[::1]"
}

// readRequest parses a body: a multipart form, or the first JSON value of anything else. The content type is ignored
// otherwise, and so is text after the value.
func readRequest(r *http.Request) (request, error) {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		if err := r.ParseMultipartForm(maxForm); err != nil {
			return request{}, err
		}
		return request{form: r.MultipartForm}, nil
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return request{}, err
	}
	var object map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&object); err != nil {
		return request{Result: gjson.Result{Raw: string(data)}}, err
	}
	return request{Result: gjson.ParseBytes(data[:dec.InputOffset()])}, nil
}

func parseFailure(path string, err error) reply {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the request body is empty or truncated (%w)", err)
	}
	rep := fail(-1, fmt.Sprintf("Parses request [%s] failed: %v", path, err))
	if path == "/api/file/getFile" {
		rep.status = http.StatusAccepted
	}
	if twice[path] {
		rep.raw = append(rep.body(), rep.body()...)
		rep.contentType = "application/json; charset=utf-8"
	}
	return rep
}

// readOnlyReply is the refusal of a kernel that was started with --readonly; its envelope is that of a push event.
func readOnlyReply() reply {
	return file(mustJSON(map[string]any{
		"cmd": "", "reqId": 0, "app": "", "sid": "", "pushMode": 0, "callback": "", "code": -1,
		"msg":  "This operation is not supported in read-only mode",
		"data": map[string]any{"closeTimeout": 5000},
	}), "application/json; charset=utf-8")
}

func write(w http.ResponseWriter, rep reply) {
	if rep.raw != nil {
		w.Header().Set("Content-Type", rep.contentType)
		w.WriteHeader(rep.httpStatus())
		_, _ = w.Write(rep.raw)
		return
	}
	writeJSON(w, rep.httpStatus(), rep.body())
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
