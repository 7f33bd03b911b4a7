package live

import (
	"strings"
)

// search is the step of the tour that searches by text, pattern, SQL and reference, and transfers references.
func (s *smoke) search() {
	goal := s.block("Plan", s.word)
	s.write("Refers", "See (("+goal+" 'the goal')).")
	s.want("fulltext", s.do("search.fulltext", args{"query": s.word}).Raw, goal)
	for _, method := range []args{
		{"query": s.word + "*", "method": "query_syntax"},
		{"query": s.word + ".*tag", "method": "regex"},
		{"query": "SELECT * FROM blocks WHERE content LIKE '%" + s.word + "%' AND type = 'p'", "method": "sql"},
		{"query": goal},
	} {
		s.want("fulltext "+method["query"].(string), s.do("search.fulltext", method).Raw, goal)
	}
	s.want("grep", s.do("fs.search", args{"path": "/" + s.name, "query": "only goal"}).Raw, s.path("Plan"))
	if hits := s.do("fs.search", args{"path": "/" + s.name, "query": "100%_none"}); hits.Get("total").Int() != 0 {
		s.t.Fatalf("signs of LIKE count: %s", hits.Raw)
	}
	rows := s.do("search.query_sql", args{"stmt": "SELECT DISTINCT id FROM blocks WHERE box = '" + s.notebook + "' AND content LIKE '%" + s.word + "%' AND type = 'p' LIMIT 5"})
	s.want("query_sql", rows.Raw, goal)
	s.refused("search.query_sql", args{"stmt": "DELETE FROM blocks"}, "validation_error", "permission_denied")
	s.want("backlinks", s.do("search.get_backlinks", args{"id": goal}).Raw, "Refers")
	s.want("search_refs", s.do("search.search_refs", args{"id": goal, "k": "A changed line"}).Raw, "A changed line")
	s.do("block.transfer_references", args{"fromID": goal, "toID": s.block("Plan", "A changed line.")})
	if left := s.do("search.get_backlinks", args{"id": goal, "mode": "links"}); strings.Contains(left.Raw, "Refers") {
		s.t.Fatalf("after the transfer: %s", left.Raw)
	}
	s.do("search.list_invalid_refs", args{"pageSize": 5})
	s.do("search.search_assets", args{"query": s.word})
	s.do("search.fulltext_asset_content", args{"query": s.word})
}

// replaceEverywhere is the step that replaces a word with search.find_replace.
func (s *smoke) replaceEverywhere() {
	line := s.block("Plan", "A changed line.")
	s.do("search.find_replace", args{"k": "changed", "r": "found", "ids": []string{line}})
	s.want("after the replacement", s.text("Plan"), "A found line.")
}

// tag is the step that lists, renames and removes a tag.
func (s *smoke) tag() {
	s.want("tags", s.do("tag.list", args{"query": s.word}).Raw, s.word)
	s.do("tag.rename", args{"oldLabel": s.word + "/tag", "newLabel": s.word + "/标签"})
	s.want("tags", s.do("tag.list", args{"query": s.word}).Raw, "标签")
	s.do("tag.remove", args{"label": s.word + "/标签"})
	s.want("the text", s.text("Plan"), "only goal")
}
