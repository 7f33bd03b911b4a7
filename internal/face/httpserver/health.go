package httpserver

import (
	"net/http"
)

// health serves /healthz and /readyz, which need no token.
type health struct {
	version string
	ready   func() (bool, any)
}

// page returns the handler of path, or nil if it is not a health page.
func (h *health) page(path string) func(http.ResponseWriter) {
	switch path {
	case "/healthz":
		return h.alive
	case "/readyz":
		return h.isReady
	}
	return nil
}

func (h *health) alive(w http.ResponseWriter) {
	writeJSON(w, http.StatusOK, struct {
		Status  string `json:"status"`
		Version string `json:"version"`
	}{"ok", h.version})
}

func (h *health) isReady(w http.ResponseWriter) {
	body := struct {
		Status string `json:"status"`
		Detail any    `json:"detail,omitempty"`
	}{Status: "ready"}
	ok := true
	if h.ready != nil {
		ok, body.Detail = h.ready()
	}
	status := http.StatusOK
	if !ok {
		status, body.Status = http.StatusServiceUnavailable, "starting"
	}
	writeJSON(w, status, body)
}
