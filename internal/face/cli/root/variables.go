package root

// VariablesHelp is the paragraph of a help page that lists the environment variables.
const VariablesHelp = "Environment: COLLIE_HOME, COLLIE_CONFIG and COLLIE_CACHE_FILE set --home, --config and cache.file;\n" +
	"SIYUAN_API_URL and SIYUAN_TOKEN name the SiYuan kernel. \"collie serve\" also reads those of another\n" +
	"server for SiYuan, unless a flag or a setting says the same: SIYUAN_MCP_HOST and\n" +
	"SIYUAN_MCP_PORT (http.addr), SIYUAN_MCP_TOKEN (the token file), SIYUAN_MCP_ALLOWED_ORIGINS\n" +
	"(http.allowedOrigins), SIYUAN_MCP_TLS_CERT and SIYUAN_MCP_TLS_KEY (http.tlsCert, http.tlsKey) and\n" +
	"SIYUAN_MCP_PARENT_PID (--parent-pid)."
