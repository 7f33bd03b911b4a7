package web

import (
	"net/http"
	"strings"

	"collie/internal/tool"
)

// panelHeader is on every request of the panel: the pages in a frame of another program's window. What surrounds a frame can lay
// something over it and have a person click what they do not see, so little can be changed there by clicks. No script out there
// can take the header away, since the page in the frame is ours.
const panelHeader = "Collie-Panel"

// checkFrame returns why a request of the panel is refused: it changes something, and is not among what may be changed there. What
// makes a switch or a level dangerous takes a name typed, there as elsewhere.
func checkFrame(r *http.Request, route *Route) error {
	if r.Header.Get(panelHeader) == "" || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	path := r.PathValue("path") // of a setting
	if route.about.framed && (path == "" || strings.HasPrefix(path, "context.")) {
		return nil
	}
	return &tool.Error{
		Op: "ask", Kind: tool.Denied, Code: "in_a_frame", Message: "this is not done in another program's window, which could show it as something else",
		Hint: "open the pages in a browser: collie open",
	}
}
