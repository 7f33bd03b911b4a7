package app

import (
	"context"
	"io"
	"iter"
	"path/filepath"

	"collie/internal/config"
	"collie/internal/source/upstream"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/serverlog"
	"collie/internal/tool"
)

// OpenLog returns the log file of a gateway, which is rotated, or why it cannot be written.
// Each Write is one line or several. Several processes may have it, and it needs no Close.
func OpenLog(l config.Log) (io.Writer, error) {
	f := &serverlog.File{Path: l.File, MaxSize: l.MaxSize, Files: l.Files}
	return f, f.Check()
}

// logFiles says where servers' logs go.
func logFiles(cfg *config.Config) upstream.LogFiles {
	l := cfg.MCP.Logs
	if !l.Enabled {
		return upstream.LogFiles{}
	}
	return upstream.LogFiles{Dir: filepath.Join(cfg.Paths.State, "logs", "mcp"), MaxSize: l.MaxSize, Files: l.Files}
}

// ServerLog is where the log of a server is kept; empty for what cannot be a server's name.
func ServerLog(paths config.Paths, server string) string {
	if len(entry.CheckNames([]string{server}, nil)) > 0 {
		return ""
	}
	return filepath.Join(paths.State, "logs", "mcp", server+".log")
}

// TailServerLog yields what f wants of a server's log file, oldest first, whoever wrote it,
// for commands that need no [App]. A log that nobody has written to is empty.
func TailServerLog(ctx context.Context, paths config.Paths, server string, f tool.LogFilter) iter.Seq2[tool.LogLine, error] {
	return serverlog.Tail(ctx, ServerLog(paths, server), f)
}

// Tail yields what f wants of a server's log, oldest first, and with f.Follow what comes,
// until ctx ends.
func (s Servers) Tail(ctx context.Context, name string, f tool.LogFilter) (iter.Seq2[tool.LogLine, error], error) {
	srv, err := s.find(name)
	if err != nil {
		return nil, err
	}
	return srv.Tail(ctx, f), nil
}
