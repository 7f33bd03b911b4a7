package sqlguard

import (
	"fmt"
	"slices"
	"strings"
)

// This file has the tables that SiYuan documents, which statements may read.

// documentedTables are the tables that may be read, with their columns in the order in which kernel 3.7.3 declares
// them. blocks_fts has the columns of blocks; for MATCH it also has blocks_fts and rank.
var documentedTables = []struct {
	name    string
	columns string
}{
	{"blocks", "id parent_id root_id hash box path hpath name alias memo tag content fcontent markdown length type subtype ial sort created updated"},
	{"spans", "id block_id root_id box path content markdown type ial"},
	{"assets", "id block_id root_id box docpath path name title hash"},
	{"attributes", "id name value type block_id root_id box path"},
	{"refs", "id def_block_id def_block_parent_id def_block_root_id def_block_path block_id root_id box path content markdown type"},
	{"file_annotation_refs", "id file_path annotation_id block_id root_id box path content type"},
	{"stat", "key value"},
}

// fullText is the virtual table over blocks.
const fullText = "blocks_fts"

// searchedColumns are the columns of fullText that have an index of words.
var searchedColumns = setOf("name alias memo tag content fcontent ial")

// indexes are those indexes that matter for plans. Each is a table and its columns.
var indexes = [][2]string{
	{"blocks", "id"},
	{"blocks", "parent_id"},
	{"blocks", "root_id"},
	{"blocks", "root_id id hash"},
	{"spans", "root_id"},
	{"assets", "root_id"},
	{"attributes", "block_id"},
	{"attributes", "root_id"},
}

// schemaLayout says how a scratch database differs from SiYuan's.
type schemaLayout struct {
	tables, indexes string // prefixes of the names of tables and indexes
	// flat makes the full text table an ordinary table, since half of the time is spent on creating the virtual one.
	flat bool
}

// script returns the statements that create the tables and indexes.
func (l schemaLayout) script() string {
	var b strings.Builder
	for _, t := range documentedTables {
		fmt.Fprintf(&b, "CREATE TABLE %s%s (%s);\n", l.tables, t.name, strings.Join(columns(t.name), ", "))
	}
	if l.flat {
		fmt.Fprintf(&b, "CREATE TABLE %s%s (%s);\n", l.tables, fullText, strings.Join(columns(fullText), ", "))
	} else {
		b.WriteString(fullTextScript())
	}
	for _, index := range indexes {
		names := strings.Fields(index[1])
		fmt.Fprintf(&b, "CREATE INDEX %sidx_%s_%s ON %s%s(%s);\n", l.indexes, index[0], strings.Join(names, "_"), l.tables, index[0], strings.Join(names, ", "))
	}
	return b.String()
}

func fullTextScript() string {
	names := columns(fullText)
	for i, name := range names {
		if !searchedColumns[name] {
			names[i] += " UNINDEXED"
		}
	}
	return fmt.Sprintf("CREATE VIRTUAL TABLE %s USING fts5(%s, content='blocks', content_rowid='rowid', tokenize='trigram');\n", fullText, strings.Join(names, ", "))
}

// tables returns the names of the tables that may be read, in order.
func tables() []string {
	names := []string{fullText}
	for _, t := range documentedTables {
		names = append(names, t.name)
	}
	slices.Sort(names)
	return names
}

func isTable(name string) bool { return columns(name) != nil }

// columns returns the columns of a table in a new slice, nil if there is no such table.
func columns(table string) []string {
	if table == fullText {
		table = "blocks"
	}
	for _, t := range documentedTables {
		if t.name == table {
			return strings.Fields(t.columns)
		}
	}
	return nil
}
