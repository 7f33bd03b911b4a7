package firewall

import (
	"strings"

	"collie/internal/sqlguard"
)

// speaksSQL reports whether the names of a server or its tool suggest a database.
func speaksSQL(names ...string) bool {
	for _, name := range names {
		name = strings.ToLower(name)
		for _, word := range []string{"sql", "postgres", "database", "duckdb", "bigquery", "snowflake", "db", "maria", "clickhouse"} {
			if strings.Contains(name, word) {
				return true
			}
		}
	}
	return false
}

const (
	sqlReads  = " select with explain show describe desc values table "
	sqlWrites = " insert update delete replace merge upsert drop alter create truncate grant revoke attach detach pragma vacuum reindex rename copy call exec execute do set lock import export load install into handler begin commit rollback "
	sqlEscape = " load_extension writefile readfile edit xp_cmdshell sp_oacreate openrowset opendatasource pg_read_file pg_read_binary_file pg_ls_dir lo_import lo_export dblink dblink_exec load_file sys_eval sys_exec outfile dumpfile program utl_http utl_file httpfs read_csv_auto "
)

// beginsSQL reports whether a string begins like an SQL statement.
func beginsSQL(s string) bool {
	word := strings.ToLower(strings.TrimLeft(s, " \t\r\n(;"))
	if strings.HasPrefix(word, "--") || strings.HasPrefix(word, "/*") {
		return true
	}
	if i := strings.IndexAny(word, " \t\r\n(;"); i > 0 {
		word = word[:i]
	}
	return strings.Contains(sqlReads+sqlWrites, " "+word+" ")
}

// maxStatement is how many bytes of SQL are judged.
const maxStatement = 64 << 10

// judgeSQL judges SQL for some server's database: reading is allowed, writing is asked about, and reaching files,
// programs or other servers from the database is denied.
func (j *judgement) judgeSQL(s string) {
	if len(s) > maxStatement || strings.Contains(s, "/*!") || strings.Contains(s, "$$") {
		j.report(Ask, "sql.unreadable", "the statement cannot be read for sure")
	}
	s = s[:min(len(s), maxStatement)]
	writes, first := "", true
	for word, called := range sqlguard.Keywords(s) {
		switch {
		case word == ";":
			first = true
			continue
		case strings.Contains(sqlEscape, " "+word+" "):
			j.report(Deny, "sql.escape", "it leaves the database: "+word)
			return
		case writes != "":
		case first && !strings.Contains(sqlReads, " "+word+" "), !called && strings.Contains(sqlWrites, " "+word+" ") && word != "set" && word != "do" && word != "begin":
			writes = word
		}
		first = false
	}
	if writes != "" {
		j.report(Ask, "sql.write", "it may change the database: "+writes)
	}
}
