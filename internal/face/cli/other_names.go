package cli

import (
	"net"
	"strconv"
	"strings"

	"collie/internal/config"
)

// otherNames takes the variables of another server for SiYuan notes, for whoever comes from it:
// each counts where neither a flag nor the settings say the same. collie config show names them.
func (p *program) otherNames(cfg *config.Config, f *serveFlags) error {
	host, port := p.env.Get("SIYUAN_MCP_HOST"), p.env.Get("SIYUAN_MCP_PORT")
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 0 || n > 65535) {
		return usage("SIYUAN_MCP_PORT is %q, expected a port from 0 to 65535; --http ADDR says the same", port)
	}
	if path := p.env.Get("SIYUAN_MCP_PATH"); path != "" && path != "/mcp" {
		return usage("SIYUAN_MCP_PATH is %q, and a gateway is always at /mcp; unset it", path)
	}
	if f.addr == "" && !cfg.HTTP.AddrSet && host+port != "" {
		f.addr = net.JoinHostPort(first(strings.Trim(host, "[]"), "127.0.0.1"), first(port, "7420"))
	}
	cert, key := p.env.Get("SIYUAN_MCP_TLS_CERT"), p.env.Get("SIYUAN_MCP_TLS_KEY")
	if (cert == "") != (key == "") {
		return usage("SIYUAN_MCP_TLS_CERT and SIYUAN_MCP_TLS_KEY go together, and one of them is not set")
	}
	if f.cert+f.key+cfg.HTTP.TLSCert == "" {
		f.cert, f.key = cert, key
	}
	if cfg.HTTP.AllowedOrigins == nil {
		for name := range strings.SplitSeq(p.env.Get("SIYUAN_MCP_ALLOWED_ORIGINS"), ",") {
			if name = strings.TrimSpace(name); name != "" {
				f.origins = append(f.origins, name)
			}
		}
	}
	pid := p.env.Get("SIYUAN_MCP_PARENT_PID")
	n, err := strconv.Atoi(pid)
	if pid != "" && (err != nil || n <= 0) {
		return usage("SIYUAN_MCP_PARENT_PID is %q, expected the number of a process; --parent-pid says the same", pid)
	}
	if f.parent == 0 {
		f.parent = n
	}
	f.token = p.env.Get("SIYUAN_MCP_TOKEN")
	if f.token != "" && len(f.token) < shortestToken {
		return usage("SIYUAN_MCP_TOKEN has %d characters, expected at least %d; without it a token is made", len(f.token), shortestToken)
	}
	return nil
}

// shortestToken bounds how easily a token that a person chose is guessed.
const shortestToken = 16

// otherNamesHelp lists the variables for people.
const otherNamesHelp = "Variables: COLLIE_HOME, COLLIE_CONFIG and COLLIE_CACHE_FILE are --home, --config and cache.file;\n" +
	"SIYUAN_API_URL and SIYUAN_TOKEN name the SiYuan kernel. \"collie serve\" also takes those of another\n" +
	"server for SiYuan, where neither a flag nor a setting says the same: SIYUAN_MCP_HOST and\n" +
	"SIYUAN_MCP_PORT (http.addr), SIYUAN_MCP_TOKEN (the token file), SIYUAN_MCP_ALLOWED_ORIGINS\n" +
	"(http.allowedOrigins), SIYUAN_MCP_TLS_CERT and SIYUAN_MCP_TLS_KEY (http.tlsCert, http.tlsKey) and\n" +
	"SIYUAN_MCP_PARENT_PID (--parent-pid)."
