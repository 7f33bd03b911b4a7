package sqlguard

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// tables are the tables that may be read, with their columns in order, as kernel 3.7.3 has
// them.
var tables = map[string][]string{
	"blocks": {
		"id", "parent_id", "root_id", "hash", "box", "path", "hpath", "name", "alias", "memo", "tag", "content", "fcontent",
		"markdown", "length", "type", "subtype", "ial", "sort", "created", "updated",
	},
	"attributes": {"id", "name", "value", "type", "block_id", "root_id", "box", "path"},
	"refs": {
		"id", "def_block_id", "def_block_parent_id", "def_block_root_id", "def_block_path", "block_id", "root_id", "box",
		"path", "content", "markdown", "type",
	},
	"spans":                {"id", "block_id", "root_id", "box", "path", "content", "markdown", "type", "ial"},
	"assets":               {"id", "block_id", "root_id", "box", "docpath", "path", "name", "title", "hash"},
	"file_annotation_refs": {"id", "file_path", "annotation_id", "block_id", "root_id", "box", "path", "content", "type"},
	"stat":                 {"key", "value"},
	"blocks_fts":           nil, // those of blocks, and blocks_fts and rank for MATCH
}

// indexes are those that decide how a statement is carried out.
var indexes = []string{
	"assets(root_id)", "attributes(block_id)", "attributes(root_id)", "blocks(id)", "blocks(parent_id)", "blocks(root_id)",
	"blocks(root_id, id, hash)", "spans(root_id)",
}

// Tables are the names of the tables that may be read, in order.
func Tables() []string { return slices.Sorted(maps.Keys(tables)) }

func isTable(name string) bool {
	_, ok := tables[name]
	return ok
}

// columns are the columns of a table.
func columns(table string) []string {
	if table == "blocks_fts" {
		table = "blocks"
	}
	return tables[table]
}

// modules are the tables that are functions and need no table.
var modules = []string{"json_each", "json_tree"}

// functions are those that may be called. What makes large values of small ones (zeroblob,
// randomblob, printf), reads files or loads code is not among them, and nor is what nobody
// knows yet.
var functions = setOf(`
	abs char coalesce concat concat_ws glob hex if ifnull iif instr length like likelihood likely lower ltrim max min nullif
	octet_length quote random regexp replace round rtrim sign substr substring trim typeof unhex unicode unlikely upper
	avg count group_concat median string_agg sum total
	cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
	date datetime julianday strftime time timediff unixepoch
	json json_array json_array_length json_each json_error_position json_extract json_group_array json_group_object
	json_object json_patch json_pretty json_quote json_remove json_replace json_set json_tree json_type json_valid
	acos asin atan atan2 ceil ceiling cos degrees exp floor ln log log10 log2 mod pi pow power radians sin sqrt tan trunc
	bm25 highlight snippet match`)

// before are the keywords that may stand before a bracket that is not a call.
var before = setOf(`
	all and as between by case cast collate distinct else end escape except exists filter from glob group having in
	intersect is isnull join like limit match materialized not notnull offset on or order over partition regexp select
	then union using values when where window with`)

func setOf(list string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(list) {
		set[name] = true
	}
	return set
}

// nearest is the name that a wrong one was most likely meant to be, empty if none comes close.
func nearest(wrong string, names []string) string {
	wrong = strings.ToLower(wrong)
	if len(wrong) < 3 {
		return ""
	}
	most := max(1, len(wrong)/3)
	best, bestName := most+1, ""
	for _, name := range names {
		d := distance(wrong, name)
		if d > 1 && (strings.HasPrefix(name, wrong) || strings.HasSuffix(name, "_"+wrong)) {
			d = 1
		}
		if d < best {
			best, bestName = d, name
		}
	}
	return bestName
}

// distance counts the letters that have to be put in, left out or changed.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// sortedByUse puts the tables that a statement names first.
func sortedByUse(used map[string]bool) []string {
	names := Tables()
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rank(used[a]), rank(used[b])) })
	return names
}

func rank(used bool) int {
	if used {
		return 0
	}
	return 1
}
