package connection

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"collie/internal/tool"
)

// codeOtherWorkspace is the code of the error of [Choice.Verify].
const codeOtherWorkspace = "other_workspace"

// Verify returns an error if the kernel does not have the workspace that was recorded with the
// connection: another kernel may have got that port, and must get no notes. seen is what
// the kernel says, such as workspaceDir of system/getWorkspaceInfo, which needs no token on this
// machine; one match is enough. Where nothing is recorded every workspace is right.
func (c Choice) Verify(seen ...string) error {
	if c.Workspace == "" || slices.ContainsFunc(seen, func(s string) bool { return plainWorkspace(s) == plainWorkspace(c.Workspace) }) {
		return nil
	}
	seen = slices.DeleteFunc(slices.Clone(seen), func(s string) bool { return s == "" })
	got := "does not say which workspace it has"
	if len(seen) > 0 {
		got = "has the workspace " + strings.Join(seen, ", ")
	}
	return &tool.Error{
		Op: "check connection", Kind: tool.Unavailable, Code: codeOtherWorkspace, Subject: c.Name,
		Message: fmt.Sprintf("the kernel at %s %s, expected %s", c.URL, got, c.Workspace),
		Hint:    fmt.Sprintf("another kernel has that port: correct siyuan.connections.%s.url, or its workspace if that has moved", c.Name),
	}
}

// plainWorkspace is a folder without what people write differently.
func plainWorkspace(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), `\`, "/")
	if s == "" {
		return ""
	}
	if len(s) > 1 && s[1] == ':' { // a drive of Windows, where case does not count
		s = strings.ToLower(s)
	}
	return path.Clean(s)
}
