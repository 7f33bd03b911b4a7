package kerneltest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"collie/internal/vault"
)

// This file answers requests as the recorded kernel did.

// maxForm is what a multipart form may keep in memory.
const maxForm = 64 << 20

// openRoutes lists the routes that need no token on a kernel with an access code.
var openRoutes = map[string]bool{
	"/api/system/version": true, "/api/system/bootProgress": true, "/api/system/currentTime": true,
	"/api/system/getWorkspaceInfo": true, "/api/system/getNetwork": true,
}

// known returns the routes that the vault answers, and the one of plugins.
var known = sync.OnceValue(func() map[string]bool {
	routes := map[string]bool{}
	for _, path := range vault.Endpoints() {
		routes[path] = true
	}
	routes[pluginRoute] = true
	return routes
})

// ServeHTTP answers one call the way the recorded kernel did.
func (k *Kernel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if cause != http.ErrAbortHandler { //nolint:errorlint // net/http compares so too; that one is a fault that was asked for
			k.t.Errorf("kerneltest: %s panicked: %v\n%s", r.URL.Path, cause, debug.Stack())
		}
		panic(cause)
	}()
	w.Header().Set("Access-Control-Allow-Origin", "*")
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	path := r.URL.Path
	if !known()[path] {
		if strings.HasPrefix(path, "/api/") && !known()[strings.TrimSuffix(path, "/")] {
			k.recordUnknown(r)
		}
		k.backend.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	k.record(callOf(r, body))
	f := k.takeFault(path)
	if f.before(w, r) {
		return
	}
	if refused := k.authorize(r); refused != "" {
		writeJSON(w, http.StatusUnauthorized, map[string]any{"code": -1, "msg": refused})
		return
	}
	answer := k.answer(r)
	if f.after() {
		return
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// answer lets the vault answer a call, unless the kernel is read-only.
func (k *Kernel) answer(r *http.Request) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	k.mu.Lock()
	refused := k.readOnly && guarded(r.URL.Path)
	k.mu.Unlock()
	switch {
	case refused:
		writeJSON(answer, http.StatusOK, readOnlyAnswer)
	case !k.answerPlugin(answer, r) && !k.answerLate(answer, r) && !k.answerFrozen(answer, r):
		k.backend.ServeHTTP(answer, r)
	}
	if r.URL.Path == "/api/file/readDir" {
		return k.markLinks(answer)
	}
	return answer
}

// callOf returns the record of a call. It leaves the body of r unread.
func callOf(r *http.Request, body []byte) Call {
	c := Call{Path: r.URL.Path}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "multipart/form-data" {
		// Only the first JSON value is recorded: the kernel reads no further.
		var first json.RawMessage
		if json.NewDecoder(bytes.NewReader(body)).Decode(&first) == nil {
			c.Body = string(first)
		} else {
			c.Body = string(body)
		}
		return c
	}
	c.Form = map[string]string{}
	form, err := multipart.NewReader(bytes.NewReader(body), params["boundary"]).ReadForm(maxForm)
	if err != nil {
		return c
	}
	defer func() { _ = form.RemoveAll() }()
	for name, values := range form.Value {
		c.Form[name] = strings.Join(values, ",")
	}
	for name, parts := range form.File {
		for _, part := range parts {
			c.Form[name] = string(partBytes(part))
		}
	}
	return c
}

func partBytes(part *multipart.FileHeader) []byte {
	f, err := part.Open()
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	data, _ := io.ReadAll(f)
	return data
}

// authorize returns the reason to refuse r, "" if there is none.
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
	return host != "" && !slices.Contains([]string{"127.0.0.1", "localhost", "[::1]"}, host)
}

// readOnlyAnswer is the refusal of a kernel started with --readonly; it has the form of a push event.
var readOnlyAnswer = map[string]any{
	"cmd": "", "reqId": 0, "app": "", "sid": "", "pushMode": 0, "callback": "", "code": -1,
	"msg":  "This operation is not supported in read-only mode",
	"data": map[string]any{"closeTimeout": 5000},
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(mustJSON(body))
}

// mustJSON encodes v, which consists of plain maps, slices and structs.
func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("kerneltest: " + err.Error())
	}
	return data
}
