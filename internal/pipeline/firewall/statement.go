package firewall

import (
	"regexp"
	"strings"
	"sync"

	"collie/internal/sqlguard"
)

// This file judges SQL in arguments: statements that change or leave the database are asked about or denied.

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

// Words of SQL: what statements that read begin with, what changes something, what leaves the database, functions that act though
// they stand in a query, and ones that read the files which their arguments name.
const (
	sqlReads  = " select with explain show describe desc values table "
	sqlWrites = " insert update delete replace merge upsert drop alter create truncate grant revoke attach detach pragma vacuum reindex rename copy call exec execute do set lock import export load install into handler begin commit rollback "
	sqlEscape = " load_extension writefile readfile edit xp_cmdshell sp_oacreate openrowset opendatasource pg_read_file pg_read_binary_file pg_ls_dir lo_import lo_export dblink dblink_exec load_file sys_eval sys_exec outfile dumpfile program utl_http utl_file httpfs "
	sqlActs   = " set_config setval nextval pg_terminate_backend pg_cancel_backend pg_reload_conf pg_rotate_logfile pg_switch_wal pg_drop_replication_slot lo_unlink lo_create lo_put dbms_scheduler dbms_job sp_executesql "
	sqlFiles  = " read_csv read_csv_auto read_json read_json_auto read_text read_blob read_parquet parquet_scan sqlite_scan postgres_scan mysql_scan glob "
)

// maxKeyword is more than the length of any word in sqlReads and sqlWrites.
const maxKeyword = 16

// beginsSQL reports whether a string begins like an SQL statement.
func beginsSQL(s string) bool {
	word := strings.TrimLeft(s, " \t\r\n(;")
	if strings.HasPrefix(word, "--") || strings.HasPrefix(word, "/*") {
		return true
	}
	if i := strings.IndexAny(word, " \t\r\n(;"); i > 0 {
		word = word[:i]
	}
	return len(word) <= maxKeyword && strings.Contains(sqlReads+sqlWrites, " "+strings.ToLower(word)+" ")
}

// sqlShape matches what is a statement of SQL and hardly a sentence of English.
var sqlShape = sync.OnceValue(func() *regexp.Regexp {
	const name = "[`\"\\[]?[\\w.]+[`\"\\]]?"
	return regexp.MustCompile(`(?is)^[\s(;]*(?:/\*.*?\*/\s*|--[^\n]*\n\s*)*(?:` +
		`delete\s+from\s+` + name + `\s*(?:;|$|where\b|returning\b|using\b)|insert\s+(?:or\s+\w+\s+)?into\s+` + name + `\s*(?:\(|values\b|select\b|default\b)|` +
		`replace\s+into\s+` + name + `\s*(?:\(|values\b|select\b)|update\s+` + name + `\s+set\s+` + name + `\s*=|` +
		`(?:drop|alter|create)\s+(?:or\s+replace\s+)?(?:temp\w*\s+|unique\s+)?(?:table|database|schema|index|view|trigger|function|procedure|user|role|extension)\s+(?:if\s+(?:not\s+)?exists\s+)?` + name + `\s*(?:;|$|\(|as\b|on\b|cascade\b|add\b|drop\b|rename\b|with\b|is\b|--)|` +
		`truncate\s+(?:table\s+)?` + name + `\s*(?:;|$)|attach\s+(?:database\s+)?'|pragma\s+\w+\s*(?:=|\(|;|$)|vacuum\s*(?:into\b|;|$)|grant\s+\w+.*\son\s|copy\s+.*\s(?:from|to)\s|` +
		`select\s+[\w` + "`" + `"\[\]]+\s*\(|(?:explain\s+)?select\s.*\sfrom\s|with\s+(?:recursive\s+)?\w+\s*(?:\([^)]*\)\s*)?as\s*\()`)
})

// isShapedLikeSQL reports whether a text is a statement of SQL, whoever it is for.
func isShapedLikeSQL(s string) bool {
	return beginsSQL(s) && sqlShape().MatchString(s[:min(len(s), maxShape)])
}

// maxShape is how many bytes tell whether a text is a statement.
const maxShape = 2 << 10

// readsFile reports whether a statement has a file in the place of a table: from '/tmp/x.csv'.
func readsFile(s string) bool {
	for i := 0; ; {
		n := strings.IndexByte(s[i:], '\'')
		if n < 0 {
			return false
		}
		i += n + 1
		before := strings.TrimRight(s[:i-1], " \t\r\n")
		if len(before) < 4 || !strings.EqualFold(before[len(before)-4:], "from") && !strings.EqualFold(before[len(before)-4:], "join") {
			continue
		}
		if text, _, ok := strings.Cut(s[i:], "'"); ok && strings.ContainsAny(text, "./") {
			return true
		}
	}
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
		case called && strings.Contains(sqlFiles, " "+word+" "):
			j.report(Ask, "sql.escape", "it reads files: "+word)
		case writes != "":
		case called && strings.Contains(sqlActs, " "+word+" "):
			writes = word
		case first && !strings.Contains(sqlReads, " "+word+" "), !called && strings.Contains(sqlWrites, " "+word+" ") && word != "set" && word != "do" && word != "begin":
			writes = word
		}
		first = false
	}
	if readsFile(s) {
		j.report(Ask, "sql.escape", "it reads from a file")
	}
	if writes != "" {
		j.report(Ask, "sql.write", "it may change the database: "+writes)
	}
}
