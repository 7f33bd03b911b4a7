package live

import (
	"strings"
)

// trySearch is the step of the tour that searches by text, pattern, SQL and reference, and transfers references.
func (s *smoke) trySearch() {
	goal := s.block("Plan", s.word)
	s.mustWrite("Refers", "See (("+goal+" 'the goal')).")
	s.mustContain("fulltext", s.mustCall("search.fulltext", args{"query": s.word}).Raw, goal)
	for _, method := range []args{
		{"query": s.word + "*", "method": "query_syntax"},
		{"query": s.word + ".*tag", "method": "regex"},
		{"query": "SELECT * FROM blocks WHERE content LIKE '%" + s.word + "%' AND type = 'p'", "method": "sql"},
		{"query": goal},
	} {
		s.mustContain("fulltext "+method["query"].(string), s.mustCall("search.fulltext", method).Raw, goal)
	}
	s.mustContain("grep", s.mustCall("fs.search", args{"path": "/" + s.name, "query": "only goal"}).Raw, s.path("Plan"))
	if hits := s.mustCall("fs.search", args{"path": "/" + s.name, "query": "100%_none"}); hits.Get("total").Int() != 0 {
		s.t.Fatalf("signs of LIKE count: %s", hits.Raw)
	}
	rows := s.mustCall("search.query_sql", args{"stmt": "SELECT DISTINCT id FROM blocks WHERE box = '" + s.notebook + "' AND content LIKE '%" + s.word + "%' AND type = 'p' LIMIT 5"})
	s.mustContain("query_sql", rows.Raw, goal)
	s.mustRefuse("search.query_sql", args{"stmt": "DELETE FROM blocks"}, "validation_error", "permission_denied")
	s.mustContain("backlinks", s.mustCall("search.get_backlinks", args{"id": goal}).Raw, "Refers")
	s.mustContain("search_refs", s.mustCall("search.search_refs", args{"id": goal, "k": "A changed line"}).Raw, "A changed line")
	s.mustCall("block.transfer_references", args{"fromID": goal, "toID": s.block("Plan", "A changed line.")})
	if left := s.mustCall("search.get_backlinks", args{"id": goal, "mode": "links"}); strings.Contains(left.Raw, "Refers") {
		s.t.Fatalf("after the transfer: %s", left.Raw)
	}
	s.mustCall("search.list_invalid_refs", args{"pageSize": 5})
	s.mustCall("search.search_assets", args{"query": s.word})
	s.mustCall("search.fulltext_asset_content", args{"query": s.word})
}

// replaceEverywhere is the step that replaces a word with search.find_replace.
func (s *smoke) replaceEverywhere() {
	line := s.block("Plan", "A changed line.")
	s.mustCall("search.find_replace", args{"k": "changed", "r": "found", "ids": []string{line}})
	s.mustContain("after the replacement", s.text("Plan"), "A found line.")
}

// tryTag is the step that lists, renames and removes a tag.
func (s *smoke) tryTag() {
	s.mustContain("tags", s.mustCall("tag.list", args{"query": s.word}).Raw, s.word)
	s.mustCall("tag.rename", args{"oldLabel": s.word + "/tag", "newLabel": s.word + "/标签"})
	s.mustContain("tags", s.mustCall("tag.list", args{"query": s.word}).Raw, "标签")
	s.mustCall("tag.remove", args{"label": s.word + "/标签"})
	s.mustContain("the text", s.text("Plan"), "only goal")
}
