package httpserver

import (
	"net/http"
	"strings"
)

// What pages of an allowed origin may send and read. The Mcp- names are those of the Streamable HTTP
// transport, 2025-11-25 and 2026-07-28.
const (
	corsMethods = "GET, POST, PUT, PATCH, DELETE, OPTIONS"
	corsHeaders = "Authorization, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID"
	corsExposed = "Mcp-Session-Id, Retry-After, WWW-Authenticate"
	corsMaxAge  = "600" // seconds
)

// isPreflight reports whether r is a browser's CORS preflight request.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && len(r.Header["Origin"]) > 0 &&
		r.Header.Get("Access-Control-Request-Method") != ""
}

func shareWith(h http.Header, origin string) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", corsExposed)
}

// answerPreflight answers a preflight of an allowed origin.
func answerPreflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", corsHeaders+paramHeaders(r.Header.Values("Access-Control-Request-Headers")))
	h.Set("Access-Control-Max-Age", corsMaxAge)
	h.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
	w.WriteHeader(http.StatusNoContent)
}

// paramHeaders returns those of the wanted header names that carry tool parameters (Mcp-Param-*, 2026-07-28),
// each preceded by a comma. Their names come from tool schemas, so there is no fixed list.
func paramHeaders(wanted []string) string {
	const prefix = "mcp-param-"
	var b strings.Builder
	for _, line := range wanted {
		for name := range strings.SplitSeq(line, ",") {
			name = strings.TrimSpace(name)
			if len(name) > len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) && isName(name) {
				b.WriteString(", " + name)
			}
		}
	}
	return b.String()
}
