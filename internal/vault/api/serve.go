package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"runtime/debug"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/vault/workspace"
)

// This file answers HTTP requests as SiYuan 3.7.3 does, each in one transaction.

const (
	// maxBody bounds the body of a request, in bytes. maxJSON bounds one that is not a form, since it is in memory more
	// than once. SiYuan has no limit.
	maxBody = 256 << 20
	maxJSON = 64 << 20
	// maxForm bounds the memory for a multipart form, in bytes; larger parts go to files.
	maxForm = 64 << 20
)

// openGET lists the routes that also accept GET.
var openGET = map[string]bool{"/api/system/version": true, "/api/system/bootProgress": true}

// bodylessRoutes lists the routes that read no body, for which an empty body is not an error.
var bodylessRoutes = map[string]bool{
	"/api/notebook/lsNotebooks": true, "/api/sqlite/flushTransaction": true,
	"/api/ui/reloadIcon": true, "/api/ui/reloadFiletree": true, "/api/ui/reloadTag": true,
	"/api/block/getRecentUpdatedBlocks": true,
	"/api/system/version":               true, "/api/system/bootProgress": true, "/api/system/currentTime": true,
	"/api/system/getWorkspaceInfo": true, "/api/system/getNetwork": true,
}

// repeatErrorRoutes lists the routes that write the error for an empty body twice, so that the answer is not a single
// JSON value.
var repeatErrorRoutes = map[string]bool{"/api/file/readDir": true, "/api/file/removeFile": true}

// ServeHTTP handles one call, and answers it as SiYuan 3.7.3 does. A panic of a handler or of the storage is logged and answered
// by [WriteError]: one bad request must not end the program.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := r.URL.Path
	defer func() {
		if cause := recover(); cause != nil {
			err := fmt.Errorf("its handler panicked: %v", cause)
			m.log.ErrorContext(r.Context(), "the vault could not answer", "path", at, "error", err, "stack", string(debug.Stack()))
			WriteError(w, err)
		}
	}()
	if trimmed, ok := strings.CutSuffix(at, "/"); ok {
		if _, exists := m.routes[trimmed]; exists {
			http.Redirect(w, r, trimmed, http.StatusTemporaryRedirect) //nolint:gosec // to a path of this server
			return
		}
	}
	for _, folder := range []string{"/assets/", "/templates/"} {
		if !strings.HasPrefix(at, folder) {
			continue
		}
		if clean := path.Clean(at); strings.HasPrefix(clean, folder) {
			m.serveFile(w, r, "/data"+clean)
		} else {
			w.WriteHeader(http.StatusForbidden) // .. leads out of the folder
		}
		return
	}
	route, exists := m.routes[at]
	if !exists || r.Method != http.MethodPost && (r.Method != http.MethodGet || !openGET[at]) {
		refuseRoute(w, r)
		return
	}
	if r.ContentLength > maxBody { // refused without reading any of it
		write(w, parseFailure(at, &http.MaxBytesError{Limit: maxBody}))
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	req, err := readRequest(r)
	if req.Form != nil {
		defer func() { _ = req.Form.RemoveAll() }()
	}
	if err != nil && !(errors.Is(err, io.EOF) && bodylessRoutes[at]) {
		write(w, parseFailure(at, err))
		return
	}
	rep, err := m.answer(r.Context(), route, req)
	if err != nil {
		m.log.ErrorContext(r.Context(), "the vault could not answer", "path", at, "error", err)
		WriteError(w, err)
		return
	}
	if at == "/api/file/getFile" && rep.Code != 0 {
		rep.Status = http.StatusAccepted // as SiYuan answers errors of this route
	}
	write(w, rep)
}

// TroubleHeader is the header of an answer that says what is wrong with the file of the vault.
const TroubleHeader = "Vault-Trouble"

// WriteError answers a call for which the vault itself failed: status 500, code -1. A client then cannot know whether a
// write was done, unless TroubleHeader is set: it means that nothing was written.
func WriteError(w http.ResponseWriter, err error) {
	if t := workspace.TroubleOf(err); t != "" {
		w.Header().Set(TroubleHeader, string(t))
	}
	write(w, Reply{Status: http.StatusInternalServerError, Code: -1, Msg: "the vault could not answer: " + err.Error()})
}

var (
	// errRefused makes Update roll back a call that did not answer code 0.
	errRefused = errors.New("refused")
	// errNeedsWrite ends a View whose handler turns out to need to write; the call is run again with Update.
	errNeedsWrite = errors.New("the call changes the workspace")
)

// answer runs the handler of a route.
func (m *Mux) answer(ctx context.Context, route route, req Request) (rep Reply, err error) {
	if route.access == writeAccess {
		return runHandler(ctx, m.workspace.Update, route.handler, req)
	}
	rep, err = runHandler(ctx, m.workspace.View, route.handler, req)
	if route.access == readFirst && errors.Is(err, errNeedsWrite) {
		return runHandler(ctx, m.workspace.Update, route.handler, req)
	}
	return rep, err
}

// runHandler runs a handler in one transaction.
func runHandler(ctx context.Context, run transaction, h Handler, req Request) (rep Reply, err error) {
	err = run(ctx, func(tx *workspace.Tx) error {
		req.tx = tx
		rep = h(tx, req)
		if tx.Err() == nil && rep.Code != 0 {
			return errRefused
		}
		return nil // run returns an error of tx, which handlers need not check
	})
	if aborted, ok := errors.AsType[*abortedError](err); ok {
		return aborted.reply, nil
	}
	if errors.Is(err, errRefused) {
		err = nil
	}
	return rep, err
}

// transaction is Workspace.View or Workspace.Update.
type transaction func(context.Context, func(*workspace.Tx) error) error

// refuseRoute answers an unknown route or method. If the client accepts gzip, as Go's does by default, SiYuan sends
// neither the status nor the text.
func refuseRoute(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && strings.HasPrefix(r.URL.Path, "/api/") {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(http.StatusOK)
		return
	}
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, "404 page not found")
}

// serveFile serves a static file of the workspace.
func (m *Mux) serveFile(w http.ResponseWriter, r *http.Request, at string) {
	var data []byte
	isFile := false
	err := m.workspace.View(r.Context(), func(tx *workspace.Tx) error {
		if f := tx.Stat(at); f != nil && !f.Dir {
			isFile, data = true, tx.ReadFile(at)
		}
		return nil
	})
	switch {
	case err != nil:
		m.log.Error("the vault could not answer", "path", at, "error", err)
		w.WriteHeader(http.StatusInternalServerError)
	case !isFile:
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Header().Set("Content-Type", ContentType(at, data))
		_, _ = w.Write(data)
	}
}

// ContentType returns the media type of a file by its extension, or else by its content.
func ContentType(name string, data []byte) string {
	if byName := mime.TypeByExtension(path.Ext(name)); byName != "" {
		return byName
	}
	return http.DetectContentType(data)
}

// readRequest parses a body: a multipart form, or else the first JSON value, whatever the content type says. Text after the
// value is ignored.
func readRequest(r *http.Request) (Request, error) {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		if err := r.ParseMultipartForm(maxForm); err != nil { //nolint:gosec // the body is bounded before
			return Request{}, err
		}
		return Request{Form: r.MultipartForm}, nil
	}
	data, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxJSON))
	if err != nil {
		return Request{}, err
	}
	data = bytes.ToValidUTF8(data, []byte("\uFFFD")) // as a JSON decoder does
	var object map[string]json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&object); err != nil {
		return Request{Result: gjson.Result{Raw: string(data)}}, err
	}
	return Request{Result: gjson.ParseBytes(data[:dec.InputOffset()])}, nil
}

// parseFailure returns the kernel's answer to a request whose body cannot be read.
func parseFailure(at string, err error) Reply {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the request body is empty or truncated (%w)", err)
	}
	// The kernel decodes the body into a map of interface {}, which appears in its messages.
	message := strings.ReplaceAll(err.Error(), "json.RawMessage", "interface {}")
	rep := Fail(-1, fmt.Sprintf("Parses request [%s] failed: %s", at, message))
	if at == "/api/file/getFile" {
		rep.Status = http.StatusAccepted
	}
	if repeatErrorRoutes[at] {
		rep.Raw = append(rep.encode(), rep.encode()...)
		rep.ContentType = "application/json; charset=utf-8"
	}
	return rep
}

func write(w http.ResponseWriter, rep Reply) {
	if rep.Raw == nil {
		rep.ContentType = "application/json; charset=utf-8"
	}
	body := rep.encode() // before the header: if it panics, another status can still be sent
	w.Header().Set("Content-Type", rep.ContentType)
	w.WriteHeader(rep.httpStatus())
	_, _ = w.Write(body)
}
