package gateway

import (
	"net"
	"strconv"
	"strings"

	"collie/internal/config"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// otherNames applies the environment variables of another MCP server for SiYuan notes, for people who switch from it. A
// variable applies if neither a flag nor the settings set the same. collie config show --help lists the variables.
func (p commands) otherNames(cfg *config.Config, f *serveFlags) error {
	host, port := p.Env.Get("SIYUAN_MCP_HOST"), p.Env.Get("SIYUAN_MCP_PORT")
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 0 || n > 65535) {
		return root.Usage("SIYUAN_MCP_PORT is %q, expected a port from 0 to 65535; --http ADDR sets the same", port)
	}
	if path := p.Env.Get("SIYUAN_MCP_PATH"); path != "" && path != "/mcp" {
		return root.Usage("SIYUAN_MCP_PATH is %q, and a gateway is always at /mcp; unset it", path)
	}
	if f.addr == "" && !cfg.HTTP.AddrSet && host+port != "" {
		f.addr = net.JoinHostPort(output.FirstNonEmpty(strings.Trim(host, "[]"), "127.0.0.1"), output.FirstNonEmpty(port, "7420"))
	}
	cert, key := p.Env.Get("SIYUAN_MCP_TLS_CERT"), p.Env.Get("SIYUAN_MCP_TLS_KEY")
	if (cert == "") != (key == "") {
		return root.Usage("SIYUAN_MCP_TLS_CERT and SIYUAN_MCP_TLS_KEY go together, and one of them is not set")
	}
	if f.cert+f.key+cfg.HTTP.TLSCert == "" {
		f.cert, f.key = cert, key
	}
	if cfg.HTTP.AllowedOrigins == nil {
		for name := range strings.SplitSeq(p.Env.Get("SIYUAN_MCP_ALLOWED_ORIGINS"), ",") {
			if name = strings.TrimSpace(name); name != "" {
				f.origins = append(f.origins, name)
			}
		}
	}
	pid := p.Env.Get("SIYUAN_MCP_PARENT_PID")
	n, err := strconv.Atoi(pid)
	if pid != "" && (err != nil || n <= 0) {
		return root.Usage("SIYUAN_MCP_PARENT_PID is %q, expected a process id; --parent-pid sets the same", pid)
	}
	if f.parent == 0 {
		f.parent = n
	}
	f.token = p.Env.Get("SIYUAN_MCP_TOKEN")
	if f.token != "" && len(f.token) < shortestToken {
		return root.Usage("SIYUAN_MCP_TOKEN has %d characters, expected at least %d; if it is unset, a token is generated", len(f.token), shortestToken)
	}
	return nil
}

// shortestToken is the minimum length of a token that a person chooses, so that it is hard to guess.
const shortestToken = 16
